"""Open an index, and read documents, passages and vectors from it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np
import numpy.typing as npt

from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.documents.document import Document, Passage
from auscult.documents.original import Original
from auscult.encoders.contract import DocumentEncoder, FloatArray
from auscult.errors import IndexFolderError
from auscult.index.blocks import REPAIR, BlockFile
from auscult.index.codes import add_products
from auscult.index.expansion import Expansions
from auscult.index.fields import Column, fields_of
from auscult.index.knowledge import open_knowledge
from auscult.index.languages import LANGUAGE, Languages
from auscult.index.log import check_log
from auscult.index.manifest import CURRENT, STORE, Counts, Manifest
from auscult.index.segment import Segment, restrict_to
from auscult.index.storage import STORE_NAME, Current, read_current
from auscult.index.store import DocumentRecord, Store, StoredDocument, StoredPassage
from auscult.index.titles import Titles
from auscult.index.words import Words

#: Number of passages, and of documents without their text, that are cached.
_KEPT = 256
#: Number of documents whose original layouts are cached.
_KEPT_LAYOUTS = 64


class VectorRows:
    """Vectors in several files, read as if they were one array, and checked when they are read.

    Args:
        files: The files in order; each has its rows as "vectors", (rows, dim).
    """

    def __init__(self, files: Sequence[BlockFile]) -> None:
        self._files = files
        self._begins = np.cumsum([0, *(file.length("vectors") for file in files)])

    def __len__(self) -> int:
        return int(self._begins[-1])

    def __getitem__(self, rows: Any) -> FloatArray:
        """Return rows by their numbers or a slice."""
        numbers = np.arange(*rows.indices(len(self))) if isinstance(rows, slice) else np.asarray(rows, np.int64)
        if len(self._files) == 1:
            return self._files[0].rows("vectors", numbers)
        vectors = np.empty((len(numbers), self._files[0].width("vectors")), np.float32)
        places = np.searchsorted(self._begins, numbers, "right") - 1
        for place in np.flatnonzero(np.bincount(places)).tolist():
            inside = places == place
            vectors[inside] = self._files[place].rows("vectors", numbers[inside] - self._begins[place])
        return vectors

    def products(self, query: FloatArray, columns: tuple[int, int]) -> FloatArray:
        """Return the products of some columns, (first, one past the last), with a query, (rows,)."""
        # One query at a time: a product with a thin matrix is several times as slow.
        parts = [file.array("vectors")[:, slice(*columns)] @ query for file in self._files]
        products: FloatArray = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return products

    def __matmul__(self, query: FloatArray) -> FloatArray:
        return self.products(query, (0, len(query)))


class GenerationReader:
    """A reader of one generation. Opening it reads tables of contents, but no text or vectors.

    All files are opened at once, and the database is read as of that moment. So a reader keeps its generation whatever
    a writer does. Data are checked when they are first read. Rows number the documents and passages of all segments,
    including deleted ones.

    Args:
        path: Folder of its store.
        store: The opened store with texts and vectors.
        where: Name of the index, for people; None for its folder.
        opens: Opens the file of a segment.

    Attributes:
        words: The words of all texts.
        expansions: The weighted terms of passages, where the model has terms.
        titles: Documents by their names.

    Raises:
        IndexFolderError: A file is damaged or of another format, or commits are missing.
        FileNotFoundError: A file is missing.
    """

    def __init__(
        self,
        path: Path,
        store: Store,
        where: str | None = None,
        opens: Callable[[Path, int], BlockFile] = BlockFile,
    ) -> None:
        self.path = path
        self.where = str(path.parent) if where is None else where
        self._read_from(store)
        self.close = finalize(self, self.store.close)
        # For a view, the reader that keeps the store open.
        self._whole: GenerationReader | None = None
        manifest, self.checksum = self.store.manifest(), self.store.checksum()
        self.store.identity = manifest.identity
        # Opened with all others, as a later generation may have another.
        known = manifest.knowledge_file
        self._knowledge = None if known is None else opens(path / known.name, known.end)
        self._show(manifest, [Segment(path, record, manifest.removed, opens) for record in manifest.segments])

    def _read_from(self, store: Store) -> None:
        self.store = store
        self._kept = lru_cache(maxsize=_KEPT)(store.passage)
        self._kept_documents = lru_cache(maxsize=_KEPT)(store.document)
        self._layouts = lru_cache(maxsize=_KEPT_LAYOUTS)(store.original_layout)

    def _show(self, manifest: Manifest, segments: list[Segment]) -> None:
        self.manifest = manifest
        self.segments = segments
        self._documents = [*accumulate((len(segment.keys) for segment in self.segments), initial=0)]
        self._passages = np.cumsum([0, *(segment.starts[-1] for segment in self.segments)])
        self.words = Words([segment.words for segment in self.segments])
        # By document with several articles, the number of headings that all articles share.
        self._shared: dict[int, int | None] = {}
        self.expansions = Expansions([(segment.file, int(segment.starts[-1])) for segment in self.segments])
        # The callback does not refer to the reader, so that the database is closed with the last reference to it.
        store, read = self.store, self._kept_documents
        self.titles = Titles(
            [segment.file for segment in segments],
            [segment.living for segment in segments],
            lambda number, place: _read_document(store, read, segments[number], place).record.title,
        )

    def check_model(self, encoder: DocumentEncoder) -> None:
        """Refuse an encoder whose vectors cannot be compared with the stored ones.

        Raises:
            IndexFolderError: Its fingerprint differs from the manifest's.
        """
        made_with = self.manifest.model
        if encoder.fingerprint != made_with.fingerprint:
            raise IndexFolderError(
                f"model '{made_with.name}' ({made_with.fingerprint[:12]}) that made {self.where}",
                f"model '{encoder.name}' ({encoder.fingerprint[:12]})",
                "search with the index' own model, or build the index again with this one: auscult export INDEX --out "
                "documents.jsonl, then auscult index documents.jsonl --out NEW",
            )

    def seen_by(self, groups: Collection[str]) -> GenerationReader:
        """Return a view for some groups, in which other groups' documents look deleted (`index.fields`).

        The view shares files and store with this reader. Its manifest counts only visible documents and does not
        reveal how the others are stored. Its knowledge base has nothing from documents (`newcomers` are all visible
        ones).

        Args:
            groups: Names of groups; without any, only documents without a group are visible.

        Returns:
            The view; this reader itself if nothing is hidden.
        """
        segments = [restrict_to(each, groups) for each in self.segments]
        if all(ours is theirs for ours, theirs in zip(segments, self.segments, strict=True)):
            return self
        return self._view(segments, self.store.seen_by(groups))

    def without(self, hidden: npt.NDArray[np.bool_], store: Store) -> GenerationReader:
        """Return a view in which some documents look deleted (`seen_by`).

        Args:
            hidden: Which documents to hide, (documents,).
            store: A store with the rows of all other documents.
        """
        return self._view(
            [
                segment.without(hidden[begin : begin + len(segment.keys)])
                for begin, segment in zip(self._documents, self.segments, strict=False)
            ],
            store,
        )

    def _view(self, segments: list[Segment], store: Store) -> GenerationReader:
        view = GenerationReader.__new__(GenerationReader)
        view.path, view.where, view._whole = self.path, self.where, self._whole or self
        view.checksum, view.close, view._knowledge = self.checksum, self.close, None
        if store is self.store:
            view.store, view._kept = store, self._kept
            view._kept_documents, view._layouts = self._kept_documents, self._layouts
        else:
            view._read_from(store)
        counts = sum((segment.counts for segment in segments), Counts(0, 0, 0))
        manifest = replace(
            self.manifest,
            counts=counts,
            segments=(),
            removed=(),
            next_document=0,
            next_passage=0,
            next_segment=0,
            known=0,
        )
        view._show(manifest, segments)
        return view

    @cached_property
    def passage_vectors(self) -> Any:
        """Float32, shape (passages, dim): `VectorRows`, read as an array."""
        return VectorRows([each.file for each in self.segments])

    def add_products(self, products: FloatArray, columns: tuple[int, int], query: FloatArray, part: float) -> None:
        """Add the estimated products of passage vectors with a query to numbers: see `codes.add_products`."""
        for begin, end, segment in zip(self._passages[:-1], self._passages[1:], self.segments, strict=True):
            # A segment without passages has no codes.
            if begin < end:
                add_products(products[begin:end], segment.file, columns, query, part)

    @cached_property
    def _starts(self) -> npt.NDArray[np.int64]:
        """First passage of each document, and at the end the number of passages."""
        ends = [each.starts[1:] + begin for each, begin in zip(self.segments, self._passages, strict=False)]
        return np.concatenate([np.zeros(1, np.int64), *ends])

    @cached_property
    def passage_documents(self) -> npt.NDArray[np.int64]:
        """Row of each passage's document, shape (passages,), non-decreasing."""
        return np.repeat(np.arange(len(self._starts) - 1), np.diff(self._starts))

    @cached_property
    def document_keys(self) -> npt.NDArray[np.int64]:
        """Key in the store of each document, (documents,), ascending."""
        return np.concatenate([np.zeros(0, np.int64), *(each.keys for each in self.segments)])

    @cached_property
    def passage_keys(self) -> npt.NDArray[np.int64]:
        """Key in the store of each passage, (passages,), ascending."""
        firsts = np.concatenate([np.zeros(0, np.int64), *(each.firsts for each in self.segments)])
        rows = np.arange(self._starts[-1])
        return (firsts - self._starts[:-1])[self.passage_documents] + rows

    @cached_property
    def living(self) -> npt.NDArray[np.bool_]:
        """Which documents were not deleted, shape (documents,)."""
        return np.concatenate([each.living for each in self.segments])

    @cached_property
    def documents(self) -> npt.NDArray[np.int64]:
        """Rows of the documents that were not deleted."""
        return np.flatnonzero(self.living)

    @cached_property
    def wordless(self) -> npt.NDArray[np.int64]:
        """Rows of passages that are never found: those without a sentence, and deleted ones."""
        sentences = np.concatenate([each.file.array("sentences") for each in self.segments])
        return np.flatnonzero((sentences == 0) | ~self.living[self.passage_documents])

    @cached_property
    def document_rows(self) -> Mapping[str, int]:
        """Row of every document by its id; computed at the first access."""
        return {self.document_record(row).doc_id: row for row in self.documents.tolist()}

    def row_of(self, doc_id: str) -> int | None:
        """Return the row of a document by its id, without reading others; None for an unknown id."""
        key = self.store.key_of(doc_id)
        place = int(np.searchsorted(self.document_keys, key)) if key is not None else len(self.document_keys)
        if place == len(self.document_keys) or self.document_keys[place] != key or not self.living[place]:
            return None
        return place

    def values(self, field: str) -> tuple[list[str], npt.NDArray[np.int32]]:
        """Return the sorted values of a field (`index.fields`), and the number of each document's value; -1 for none.

        Deleted documents have none, and values that only they had are left out.
        """
        columns = [Column(each.file, field) for each in self.segments]
        names = sorted({value for column in columns for value in column.values})
        places = {value: place for place, value in enumerate(names)}
        rows = np.concatenate(
            [np.array([*map(places.__getitem__, column.values), -1], np.int32)[column.rows] for column in columns]
        )
        rows[~self.living] = -1
        used = np.zeros(len(names) + 1, bool)
        used[rows] = True
        order = np.where(used, np.cumsum(used) - 1, -1)
        order[-1] = -1
        return [name for name, here in zip(names, used.tolist(), strict=False) if here], order[rows].astype(np.int32)

    @cached_property
    def languages(self) -> Languages:
        """The languages of the passages."""
        return Languages([each.file for each in self.segments])

    def fields_of_document(self, row: int) -> dict[str, str]:
        """Return the values of a document's fields: its source, its metadata and its language."""
        record = self.document_record(row)
        codes, rows = self._document_languages
        language = {LANGUAGE: codes[rows[row]]} if rows[row] >= 0 else {}
        return fields_of(record.source, {**language, **record.metadata})

    @cached_property
    def _document_languages(self) -> tuple[list[str], npt.NDArray[np.int32]]:
        return self.values(LANGUAGE)

    @cached_property
    def fields(self) -> list[str]:
        """Names of the fields that documents have."""
        names = sorted({name for each in self.segments for name in each.file.notes["fields"]})
        # Only after deletions or in a view can a field have no values, so columns are read only then.
        return names if self.living.all() else [name for name in names if self.values(name)[0]]

    def document_record(self, row: int) -> DocumentRecord:
        """Return a document's id, title, source and further fields."""
        return self._document(row).record

    def document(self, row: int) -> Document:
        """Read a whole document, equal to the one that was added. Its file is read by `original`."""
        return self._document(row).with_passages([self.stored(passage) for passage in self.passages_of(row)])

    def original(self, row: int) -> Original | None:
        """Read the file that a document was read from; None where the file is not stored."""
        return self.store.original(self._key(row))

    def original_layout(self, row: int) -> Original | None:
        """Return `original` without its content, which has the positions of the text; cached."""
        return self._layouts(self._key(row))

    def article_title(self, row: int) -> str:
        """Return the heading of a passage's article; empty where its document is one article.

        It is the outermost heading that the articles of the document do not share (`index.articles`).
        """
        document = int(self.passage_documents[row])
        rows = self.passages_of(document)
        if document not in self._shared:
            firsts = np.flatnonzero(np.diff(self.words.articles[rows.start : rows.stop], prepend=-1)) + rows.start
            paths = [path for path in map(self._path, firsts.tolist()) if path] if len(firsts) > 1 else []
            together = [len(set(headings)) == 1 for headings in zip(*paths, strict=False)]
            self._shared[document] = [*together, False].index(False) if len(paths) > 1 else None
        shared = self._shared[document]
        path = self._path(row)
        return path[shared] if shared is not None and len(path) > shared else ""

    def _path(self, row: int) -> list[str]:
        passage = self.passage(row)
        return [*filter(None, (*passage.above, passage.heading))]

    def newcomers(self) -> Iterator[DocumentRecord]:
        """Yield the documents that were added after the knowledge base was written."""
        for row in self.documents[::-1].tolist():
            if self.document_keys[row] < self.manifest.known:
                return
            yield self.document_record(row)

    def passages_of(self, row: int) -> range:
        """Return rows of a document's passages."""
        first, last = self._starts[row : row + 2].tolist()
        return range(first, last)

    def passage_id(self, row: int) -> str:
        """Return a passage's id."""
        return self.stored(row).passage.passage_id

    def passage(self, row: int) -> Passage:
        """Return a passage with its sentences; offsets refer to the document's text."""
        return self.stored(row).passage

    def passage_text(self, row: int) -> str:
        """Return the text a passage covers, without reading the rest of its document."""
        return self.stored(row).text

    def known(self) -> KnowledgeBase | None:
        """Open the index' knowledge base from its file, or for a view without what is from documents; None without one.

        Documents that were added later are not in it (`newcomers`).

        Raises:
            IndexFolderError: It is damaged.
        """
        if self._knowledge is not None:
            return open_knowledge(self._knowledge)
        saved = self.store.knowledge()
        return None if saved is None else KnowledgeBase.from_bytes(saved, f"in the index at {self.where}").vocabulary

    def verify(self) -> None:
        """Check all of the store and of every segment.

        Raises:
            IndexFolderError: Something is damaged; the error names the file and how to repair it.
        """
        if self._whole is not None:
            self._whole.verify()
            return
        check_log(self.store.path)
        for _ in self.store.verify():
            pass
        if self._knowledge is not None:
            self._knowledge.verify()
        keys = []
        for segment in self.segments:
            segment.file.verify()
            keys += segment.keys[segment.living].tolist()
            for place in np.flatnonzero(segment.living).tolist():
                _read_document(self.store, self._kept_documents, segment, place)
        if keys != self.store.keys():
            raise IndexFolderError(f"segments of all documents of {self.store.path}", "others", REPAIR)
        sizes = Counter(self.store.document(key).passages for key in keys)
        if sum(size * times for size, times in sizes.items()) != self.manifest.counts.passages:
            raise IndexFolderError(f"{self.manifest.counts.passages} passages in {self.path}", "others", REPAIR)

    def _document(self, row: int) -> StoredDocument:
        return _read_document(self.store, self._kept_documents, *self._place(row))

    def _key(self, row: int) -> int:
        segment, place = self._place(row)
        return int(segment.keys[place])

    def _place(self, row: int) -> tuple[Segment, int]:
        number = bisect_right(self._documents, row) - 1
        if self._whole is not None and not self.living[row]:
            # Hidden documents are never requested; refuse all the same.
            raise IndexError(row)
        return self.segments[number], int(row) - self._documents[number]

    def read_ahead(self, rows: npt.NDArray[np.int64]) -> None:
        """Let a remote store read passages at once before they are requested one by one."""
        self.store.read_ahead(self.passage_keys[rows].tolist())

    def stored(self, row: int) -> StoredPassage:
        """Return a passage with its text and the vectors of its sentences; cached."""
        document = self.passage_documents[row]
        segment, place = self._place(document)
        return self._kept(int(segment.firsts[place]) + int(row) - int(self._starts[document]))


def _read_document(store: Store, read: Callable[[int], StoredDocument], segment: Segment, place: int) -> StoredDocument:
    """Read the row of a segment's document; refuse one that a diverged copy of the index wrote with the same key."""
    stored = read(int(segment.keys[place]))
    if stored.first != segment.firsts[place]:
        raise store.damaged(f"row {stored.key} of another index in documents")
    return stored


def _open_generation(path: Path, current: Current) -> GenerationReader:
    """Open a store whose generation is the one that CURRENT names, or the next one."""
    store = Store(path / STORE)
    try:
        # Check before opening the segments, as those of an older generation may have been deleted.
        current.check(store.manifest(), store.checksum(), store.path)
        return GenerationReader(path, store)
    except BaseException:
        store.close()
        raise


def open_current(folder: Path) -> GenerationReader:
    """Open the last generation of an index folder.

    Raises:
        IndexFolderError: The folder has no index, or a damaged one.
    """
    missing: tuple[Path, str | None] | None = None
    while True:
        current = read_current(folder)
        if current is None:
            what = "a folder without one" if folder.is_dir() else "nothing there"
            if folder.is_dir() and any(STORE_NAME.fullmatch(path.name) for path in folder.iterdir()):
                what = f"a folder without the file {CURRENT}, which a first build writes at its end"
            raise IndexFolderError(f"an index at {folder}", what, "build one with: auscult index CORPUS --out FOLDER")
        store = folder / current.store
        try:
            return _open_generation(store, current)
        except FileNotFoundError as error:
            # A writer may have deleted a segment, or this store, meanwhile: try again.
            name = error.filename
            if missing == (store, name):
                remedy = REPAIR if Path(name).name != STORE else "put a backup in its place, or build the index again"
                raise IndexFolderError(f"the file {name}", "no such file", remedy) from error
            missing = (store, name)
        except IndexFolderError:
            # A writer may have committed more than one generation since CURRENT was read.
            if read_current(folder) == current:
                raise
