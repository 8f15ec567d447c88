"""What `auscult index`, `auscult add` and `auscult.build_index` read: known corpora, and files of any kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from auscult.concepts import KnowledgeBase
from auscult.documents import Document
from auscult.encoders import HUB, SHIPPED
from auscult.errors import ConfigError, printable
from auscult.files.records import left_out
from auscult.files.writing import check_file
from auscult.index import Counts
from auscult.index.reader import GenerationReader, open_current
from auscult.index.store import Store
from auscult.interfaces import Corpus, DocumentEncoder
from auscult.readers.records.rows import Columns
from auscult.readers.report import Report
from auscult.search.build import BuildReport, build_index
from auscult.sources.file_records import MAPPED, NO_PLACES, REMOVED, FileRecord, Index, digest_of_id
from auscult.sources.files import Choices, FilesCorpus
from auscult.sources.gathering import Gathered
from auscult.sources.opening import open_corpus, opens_as_files

NO_KNOWLEDGE = "no knowledge base on this machine (auscult data show knowledge-base): names go by words"
Stream = Callable[[Iterable[Document]], Iterable[Document]]
_TABLES = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".json")


@dataclass(slots=True)
class Sources:
    """What was named.

    Attributes:
        known: Corpora of formats of their own, by where they are read.
        files: All else.
        columns: What columns of tables mean.
        origins: Where each document of the known corpora is from, as far as they were read.
    """

    known: Mapping[str, Corpus]
    files: FilesCorpus | None
    columns: Columns = field(default_factory=Columns)
    origins: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the first that was named."""
        return self.files.name if self.files is not None and not self.known else next(iter(self.known.values())).name

    @contextmanager
    def gathered(
        self,
        index: Index | None,
        progress: Callable[[Report], None],
        *,
        prune: bool = False,
        restored: Collection[str] | None = (),
    ) -> Iterator[Gathered]:
        """The files, read; see `FilesCorpus.gather`."""
        if self.files is None:
            yield Gathered(restored={*map(digest_of_id, restored or ())})
        else:
            with self.files.gather(index, progress, prune=prune, restored=restored) as gathered:
                yield gathered

    def records(self, gathered: Gathered) -> dict[str, dict[str, str]]:
        """What an index keeps of files and of how they are read (`Gathered.files`)."""
        kept = {MAPPED: {"map": self.columns.to_json()}} if self.columns else {}
        return gathered.files() | kept

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

    def left_out(self) -> list[str]:
        """Return what was left out and why, a line each, as a person reads it; counts of files come first."""
        lines = [f"skipped: {line}" for corpus in self.known.values() for line in left_out(corpus)]
        if self.files is not None and self.files.report.files:
            lines += map(printable, self.files.report.lines())
        return lines


def open_sources(
    named: Sequence[str], choices: Choices, *, index: Path | None, skip_bad: bool, report: Path | None
) -> Sources:
    """Open what was named.

    Args:
        named: Names of corpora, files, folders and patterns.
        choices: How files are read.
        index: The index folder, which is never read from; None where there is none.
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
    files = FilesCorpus(*own, choices=choices, skip_bad=skip_bad, without=[index] if index else []) if own else None
    return Sources(known, files, choices.columns)


def with_kept_columns(choices: Choices, index: Path) -> Choices:
    """Return choices with what an index knows of columns, as far as they do not say it themselves.

    Raises:
        IndexFolderError: There is no index, or it is damaged.
    """
    reader = open_current(index)
    try:
        kept = reader.store.files(MAPPED).get("map")
    finally:
        reader.close()
    return replace(choices, columns=choices.columns.over(Columns.from_json(kept))) if kept else choices


def _must_be_files(named: str, choices: Choices) -> bool:
    """Whether tables and JSON lines are read as all files are, since what is asked for is done to files only."""
    asked = bool(choices.deidentify or choices.access)
    return asked and named.lower().endswith(_TABLES) and Path(named).is_file()


def held_files(reader: GenerationReader, files: FilesCorpus | None) -> Index:
    """Return what an index knows of files, as far as those need it that are to be read.

    Raises:
        IndexFolderError: The index is damaged.
    """
    store = reader.store
    if files is None:
        return Index()
    rows = np.flatnonzero(reader.values("also")[1] >= 0).tolist()
    repeated = map(reader.document_record, rows)
    return Index(
        records=file_records(store),
        ids={origin: frozenset(store.ids_from(origin)) for origin in files.origins},
        taken=lambda doc_id: store.key_of(doc_id) is not None,
        also={each.doc_id: each.metadata["also"] for each in repeated},
        removed=frozenset(store.files(REMOVED)),
    )


def file_records(store: Store) -> dict[str, dict[str, FileRecord]]:
    """Return what an index keeps of all files that its documents are from, by origin and key.

    Raises:
        IndexFolderError: The index is damaged.
    """
    return {
        origin: {name: FileRecord.from_json(record) for name, record in store.files(origin).items()}
        for origin in store.file_origins()
        if origin not in NO_PLACES
    }


def origin_of(corpus: str) -> str:
    """What says where documents were read: a path from anywhere, or the name of a corpus."""
    return str(Path(corpus).resolve()) if Path(corpus).exists() else corpus


def index_sources(
    sources: Sources,
    reading: AbstractContextManager[tuple[DocumentEncoder, Stream]],
    folder: Path,
    *,
    knowledge_base: KnowledgeBase | None,
    model_path: str,
    split: str | None = None,
    batch_size: int = 32,
    on_file: Callable[[Report], None] = lambda report: None,
    on_batch: Callable[[Counts], None] = lambda counts: None,
) -> BuildReport:
    """Read sources and build an index of them, in place of the one in the folder.

    Args:
        sources: What is read.
        reading: Entered once files are read: the encoder, and what documents pass through on their way to it.
        folder: Of the index.
        knowledge_base: Copied into the index.
        model_path: What `load_model` takes to load the encoder again (`lasting_name`).
        split: Only this split of known corpora.
        batch_size: Documents encoded at once.
        on_file: Called after every file.
        on_batch: Called with what has been written, after every batch.

    Raises:
        AuscultError: Sources cannot be read, hold no document, or the folder cannot be written.
    """
    with sources.gathered(None, on_file) as gathered, reading as (encoder, stream):
        return build_index(
            stream(sources.documents(gathered, split)),
            encoder,
            folder,
            knowledge_base=knowledge_base,
            corpus=sources.name,
            origin=sources.origin(gathered),
            files=sources.records(gathered),
            model_path=model_path,
            batch_size=batch_size,
            progress=on_batch,
        )


def lasting_name(model: str) -> str:
    """Return what finds a model from any folder: a shipped model's or the hub's name, or an absolute path."""
    return model if model in SHIPPED or model.startswith(HUB) else str(Path(model).resolve())
