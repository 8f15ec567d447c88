"""Sources of `auscult index`, `auscult add` and `auscult.build_index`: corpora, and files of any kind."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np

from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.documents.document import Document
from auscult.encoders.contract import DocumentEncoder
from auscult.encoders.folder import HUB, SHIPPED
from auscult.errors import ConfigError, printable
from auscult.files.records import left_out
from auscult.files.writing import check_file
from auscult.index.manifest import Counts
from auscult.index.reader import GenerationReader, open_current
from auscult.index.store import Store
from auscult.ingest.building import BuildReport, build_index
from auscult.ingest.choosing import AUTO, LOOKED_AT, Choice, choose_encoder
from auscult.ingest.corpus import Corpus
from auscult.ingest.file_records import MAPPED, NO_PLACES, REMOVED, FileRecord, Index, digest_of_id, place_in
from auscult.ingest.files import Choices, FilesCorpus
from auscult.ingest.gathered import Gathered
from auscult.ingest.opening import open_corpus, opens_as_files
from auscult.ingest.rows import CsvCorpus, JsonlCorpus
from auscult.readers.archives import plain
from auscult.readers.report import Report
from auscult.readers.rows import Columns

NO_KNOWLEDGE = "no knowledge base on this machine (auscult data show knowledge-base): names go by words"
Stream = Callable[[Iterable[Document]], Iterable[Document]]
_TABLES = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".json")


@dataclass(slots=True)
class Sources:
    """The sources of an index: corpora and files.

    Attributes:
        corpora: Corpora of formats of their own, by origin.
        files: All other files; None without any.
        columns: What columns of tables mean.
        origins: Origin of each document of the corpora that was read so far.
    """

    corpora: Mapping[str, Corpus]
    files: FilesCorpus | None
    columns: Columns = field(default_factory=Columns)
    origins: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the first source."""
        return (
            self.files.name if self.files is not None and not self.corpora else next(iter(self.corpora.values())).name
        )

    @contextmanager
    def gather(
        self,
        index: Index | None,
        progress: Callable[[Report], None],
        *,
        prune: bool = False,
        restored: Collection[str] | None = (),
    ) -> Iterator[Gathered]:
        """Read the files; see `FilesCorpus.gather`."""
        if self.files is None:
            yield Gathered(restored={*map(digest_of_id, restored or ())})
        else:
            with self.files.gather(index, progress, prune=prune, restored=restored) as gathered:
                yield gathered

    def records(self, gathered: Gathered) -> dict[str, dict[str, str]]:
        """Return the records of files, and of how they are read, to keep in the index (`Gathered.files`)."""
        columns = {MAPPED: {"map": self.columns.to_json()}} if self.columns else {}
        return gathered.files() | columns

    def documents(self, gathered: Gathered, split: str | None) -> Iterator[Document]:
        """Yield the documents of all sources; files belong to the split "train"."""
        for origin, corpus in self.corpora.items():
            for document in corpus.documents(split):
                if len(self.corpora) > 1 or self.files is not None:
                    self.origins[document.doc_id] = origin
                yield document
        if split in (None, "train"):
            yield from gathered.documents()

    def sample(self, gathered: Gathered, split: str | None, most: int) -> Iterator[Document]:
        """Yield up to so many documents of each source: the first of a corpus, some of the files, evenly spaced."""
        for corpus in self.corpora.values():
            yield from islice(corpus.documents(split), most)
        if split in (None, "train"):
            yield from gathered.sample(most)

    def origin(self, gathered: Gathered) -> str | Callable[[Document], str]:
        """Return the origin of all documents, or a function that returns the origin of a document."""
        if self.files is None and len(self.corpora) == 1:
            return next(iter(self.corpora))
        return lambda document: gathered.origins.get(document.doc_id) or self.origins[document.doc_id]

    def left_out(self) -> list[str]:
        """Return lines for people that say what was left out and why."""
        lines = [f"skipped: {line}" for corpus in self.corpora.values() for line in left_out(corpus)]
        if self.files is not None and self.files.report.files:
            lines += map(printable, self.files.report.lines())
        return lines


def open_sources(
    named: Sequence[str], choices: Choices, *, index: Path | None, skip_bad: bool, report: Path | None
) -> Sources:
    """Open sources by name.

    Args:
        named: Names of corpora, files, folders and patterns.
        choices: How files are read.
        index: The index folder, which is never read as a source; None where there is none.
        skip_bad: Leave unreadable records out.
        report: File for the report that will be written; checked now.

    Raises:
        AuscultError: There is no such corpus or path, or it cannot be read with these choices.
    """
    if report is not None:
        check_file(report)
    # Tables are read as files, too, if the choices apply to files only.
    only_files = bool(choices.deidentify or choices.access)
    paths = [
        name
        for name in named
        if opens_as_files(name) or (only_files and name.lower().endswith(_TABLES) and Path(name).is_file())
    ]
    opened = [(name, open_corpus(name, skip_bad=skip_bad, choices=choices)) for name in named if name not in paths]
    corpora = {origin_of(name): corpus for name, corpus in opened}
    if corpora and only_files:
        expected = "files and folders for --read deidentify= and access="
        first = next(name for name in named if name not in paths)
        raise ConfigError(expected, f"'{first}', a corpus of its own format", "leave it out")
    files = FilesCorpus(*paths, choices=choices, skip_bad=skip_bad, without=[index] if index else []) if paths else None
    _name_rows(corpora, lambda origin: (), lambda stem: False)
    return Sources(corpora, files, choices.columns)


def keep_row_ids(sources: Sources, index: Path) -> None:
    """Name the rows of tables without ids as an index names them already, or else as it names no other rows.

    Raises:
        IndexFolderError: There is no index, or it is damaged.
    """
    with closing(open_current(index)) as reader:
        _name_rows(sources.corpora, reader.store.ids_from, reader.store.has_ids_below)


def _name_rows(
    corpora: Mapping[str, Corpus], ids_from: Callable[[str], Collection[str]], is_taken: Callable[[str], bool]
) -> None:
    """Set the beginning of the ids of each table's rows: the file's name, if no other table has it.

    Args:
        corpora: Tables and other corpora, by origin.
        ids_from: Returns the ids of an origin's documents in an index.
        is_taken: Returns whether an index has rows whose ids have this beginning.
    """
    used = set[str]()
    for origin, corpus in corpora.items():
        if not isinstance(corpus, CsvCorpus | JsonlCorpus):
            continue
        known, name = ids_from(origin), plain(Path(origin).name)
        stems = [name, plain(place_in(origin, name)), f"{name}~{hashlib.sha256(origin.encode()).hexdigest()[:8]}"]
        own = [stem for stem in stems if any(each.startswith(f"{stem}#") for each in known)]
        if not own and any(map(str.isdecimal, known)):
            # In version 0.1, ids of rows were bare numbers.
            corpus.stem = ""
            continue
        free = [stem for stem in stems if stem not in used and not is_taken(stem)]
        corpus.stem = (own or free or stems[-1:])[0]
        used.add(corpus.stem)


def with_kept_columns(choices: Choices, index: Path) -> Choices:
    """Return choices with the columns that an index has recorded; those of the choices take precedence.

    Raises:
        IndexFolderError: There is no index, or it is damaged.
    """
    with closing(open_current(index)) as reader:
        saved = reader.store.files(MAPPED).get("map")
    return replace(choices, columns=choices.columns.over(Columns.from_json(saved))) if saved else choices


def describe_index(reader: GenerationReader, files: FilesCorpus | None) -> Index:
    """Return the records of an index that reading these files needs.

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
        also={record.doc_id: record.metadata["also"] for record in repeated},
        removed=frozenset(store.files(REMOVED)),
    )


def file_records(store: Store) -> dict[str, dict[str, FileRecord]]:
    """Return an index's records of all files that its documents are from, by origin and key.

    Raises:
        IndexFolderError: The index is damaged.
    """
    return {
        origin: {name: FileRecord.from_json(record) for name, record in store.files(origin).items()}
        for origin in store.file_origins()
        if origin not in NO_PLACES
    }


def origin_of(corpus: str) -> str:
    """Return the origin of a corpus's documents: an absolute path, or the name of the corpus."""
    return str(Path(corpus).resolve()) if Path(corpus).exists() else corpus


def index_sources(
    sources: Sources,
    open_reading: Callable[[str], AbstractContextManager[tuple[DocumentEncoder, Stream]]],
    folder: Path,
    *,
    knowledge_base: KnowledgeBase | None,
    model: str,
    split: str | None = None,
    batch_size: int = 32,
    on_file: Callable[[Report], None] = lambda report: None,
    on_batch: Callable[[Counts], None] = lambda counts: None,
    say: Callable[[str], None] = lambda sentence: None,
) -> BuildReport:
    """Read sources and build an index of them, in place of the one in the folder.

    Args:
        sources: Sources to read.
        open_reading: Called with the name of a model, after the files were read. Gives the encoder, and a stream that
            documents pass before it.
        folder: The index folder.
        knowledge_base: Copied into the index.
        model: What `load_model` takes, or "auto" (`ingest.choosing`).
        split: Only this split of known corpora.
        batch_size: Documents encoded at once.
        on_file: Called after every file.
        on_batch: Called with what has been written, after every batch.
        say: Called with a sentence for people, if another encoder than the usual one was chosen.

    Raises:
        AuscultError: Sources cannot be read, hold no document, or the folder cannot be written.
    """
    with sources.gather(None, on_file) as gathered:
        choice = choose_encoder(sources.sample(gathered, split, LOOKED_AT)) if model == AUTO else Choice(model)
        if choice.why:
            say(choice.why)
        with open_reading(choice.model) as (encoder, stream):
            return build_index(
                stream(sources.documents(gathered, split)),
                encoder,
                folder,
                knowledge_base=knowledge_base,
                corpus=sources.name,
                origin=sources.origin(gathered),
                files=sources.records(gathered),
                model_path=lasting_name(choice.model),
                batch_size=batch_size,
                progress=on_batch,
            )


def lasting_name(model: str) -> str:
    """Return a name that loads a model from any folder: a shipped model's or the hub's name, or an absolute path."""
    return model if model in SHIPPED or model.startswith(HUB) else str(Path(model).resolve())
