"""What `auscult index` and `auscult add` read: corpora that are known, and files of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from auscult.cli.options import pairs_of
from auscult.documents import Document
from auscult.errors import ConfigError
from auscult.files.records import left_out
from auscult.files.writing import check_file, write_json
from auscult.index.reader import GenerationReader
from auscult.interfaces import Corpus
from auscult.readers.records.columns import Columns
from auscult.readers.report import Report
from auscult.search.explain import printable
from auscult.sources.file_records import FileRecord, Index
from auscult.sources.files import Choices, FilesCorpus
from auscult.sources.gathering import Gathered
from auscult.sources.opening import open_corpus, opens_as_files

HowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="KEY=VALUE",
        help="How files are read; repeatable. `map=title=Name,text=Body,date=Datum`: what columns of tables and fields "
        "of JSON mean. `deidentify=presidio`, `presidio:PIPELINE` or `MODULE:OBJECT`: what takes out who documents are "
        "about, before anything is stored. `originals=no`: do not keep the files. `access=GROUP`: who may see them.",
    ),
]
ReportOption = Annotated[
    Path | None, typer.Option("--report", help="Write what was read, and what was not and why, as JSON.")
]
_KEYS = ("map", "deidentify", "originals", "access")
_TABLES = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".json")


def reading_choices(given: Sequence[str] | None) -> Choices:
    """What `--read` says.

    Raises:
        ConfigError: A key is unknown or named twice, or its value is none.
    """
    told: dict[str, str] = {}
    for key, value in pairs_of("--read", given):
        if key not in _KEYS or key in told:
            got = f"'{key}=' twice" if key in told else f"'{key}='"
            raise ConfigError(f"--read with {', '.join(f'{name}=' for name in _KEYS)}", got, "name each once")
        told[key] = value
    originals = told.get("originals", "yes")
    if originals not in ("yes", "no"):
        raise ConfigError("--read originals=yes or originals=no", repr(originals), "say one of them")
    return Choices(
        columns=Columns.parse(told.get("map", "")),
        deidentify=told.get("deidentify", ""),
        originals=originals == "yes",
        access=told.get("access", ""),
    )


@dataclass(slots=True)
class Sources:
    """What was named.

    Attributes:
        known: Corpora of formats of their own, by where they are read.
        files: All else.
        origins: Where each document of the known corpora is from, as far as they were read.
    """

    known: Mapping[str, Corpus]
    files: FilesCorpus | None
    origins: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the first that was named."""
        return self.files.name if self.files is not None and not self.known else next(iter(self.known.values())).name

    @contextmanager
    def gathered(self, index: Index | None, progress: Callable[[Report], None]) -> Iterator[Gathered]:
        """The files, read; see `FilesCorpus.gather`."""
        if self.files is None:
            yield Gathered()
        else:
            with self.files.gather(index, progress) as gathered:
                yield gathered

    def documents(self, gathered: Gathered, split: str | None) -> Iterator[Document]:
        """Of all that was named; files are of the split "train"."""
        for origin, corpus in self.known.items():
            for document in corpus.documents(split):
                if len(self.known) > 1 or self.files is not None:
                    self.origins[document.doc_id] = origin
                yield document
        if split in (None, "train"):
            yield from gathered.documents()

    def origin(self, gathered: Gathered) -> str | Callable[[Document], str]:
        """Where documents are from: all, or each."""
        if self.files is None and len(self.known) == 1:
            return next(iter(self.known))
        return lambda document: gathered.origins.get(document.doc_id) or self.origins[document.doc_id]

    def tell(self, report: Path | None) -> None:
        """Say on stderr what was left out and why, and write the report where one is asked for."""
        for corpus in self.known.values():
            for line in left_out(corpus):
                typer.echo(f"skipped: {line}", err=True)
        if self.files is None:
            return
        for line in self.files.report.lines() if self.files.report.files else ():
            typer.echo(printable(line), err=True)
        if report is not None:
            write_json(report, self.files.report.to_json())


def open_sources(
    named: Sequence[str], choices: Choices, *, index: Path, skip_bad: bool, report: Path | None
) -> Sources:
    """Open what was named.

    Args:
        named: Names of corpora, files, folders and patterns.
        choices: How files are read.
        index: The index folder, which is never read from.
        skip_bad: Leave unreadable records out.
        report: That is to be written.

    Raises:
        AuscultError: There is no such corpus or path, or it cannot be read as is asked for.
    """
    if report is not None:
        check_file(report)
    own = [each for each in named if opens_as_files(each) or _must_be_files(each, choices)]
    opened = [(each, open_corpus(each, skip_bad=skip_bad, choices=choices)) for each in named if each not in own]
    known = {origin_of(each): corpus for each, corpus in opened}
    if known and (choices.deidentify or choices.access):
        expected = "files and folders for --read deidentify= and access="
        first = next(each for each in named if each not in own)
        raise ConfigError(expected, f"'{first}', a corpus of its own format", "leave it out")
    files = FilesCorpus(*own, choices=choices, skip_bad=skip_bad, without=[index]) if own else None
    return Sources(known, files)


def _must_be_files(named: str, choices: Choices) -> bool:
    """Whether tables and JSON lines are read as all files are, since what is asked for is done to files only."""
    asked = bool(choices.deidentify or choices.access)
    return asked and named.lower().endswith(_TABLES) and Path(named).is_file()


def held_files(reader: GenerationReader, files: FilesCorpus | None) -> Index | None:
    """What an index knows of files that are to be read; None where there are none.

    Raises:
        IndexFolderError: The index is damaged.
    """
    if files is None:
        return None
    store = reader.store
    return Index(
        records={
            origin: {name: FileRecord.from_json(record) for name, record in store.files(origin).items()}
            for origin in files.origins
        },
        ids={origin: frozenset(store.ids_from(origin)) for origin in files.origins},
        taken=lambda doc_id: store.key_of(doc_id) is not None,
    )


def origin_of(corpus: str) -> str:
    """What says where documents were read: a path from anywhere, or the name of a corpus."""
    return str(Path(corpus).resolve()) if Path(corpus).exists() else corpus


def progressed(report: Report) -> str:
    """How far reading is, in words."""
    return f"read {report.files:,} of {report.total:,} files, {report.documents.total():,} documents"
