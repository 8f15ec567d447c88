"""Opening an index and reading documents, passages and vectors back from it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np
import numpy.typing as npt

from auscult.concepts import KnowledgeBase
from auscult.documents import Document, Original, Passage
from auscult.errors import IndexFolderError
from auscult.index.blocks import REPAIR, BlockFile
from auscult.index.codes import add_products, has_codes
from auscult.index.expansion import Expansions
from auscult.index.fields import Column, seen
from auscult.index.knowledge import open_knowledge
from auscult.index.log import check_log
from auscult.index.manifest import CURRENT, FORMAT_VERSION, STORE, Counts, Manifest
from auscult.index.segment import Segment
from auscult.index.storage import STORE_NAME, Current, read_current
from auscult.index.store import DocumentRecord, Store, StoredDocument, StoredPassage
from auscult.index.titles import Titles
from auscult.index.words import Words
from auscult.interfaces import FloatArray

#: Passages, and documents without their text, that are kept in memory after they were read: some answers'.
_KEPT = 256
#: Documents of which it is kept in memory where their text stands in their files.
_KEPT_LAYOUTS = 64
_Read = Callable[[int], StoredDocument]


class VectorRows:
    """Rows of vectors that lie in several files, read as if they were one array; checked when they are read.

    Args:
        files: One after the other; each holds its rows as "vectors", (rows, dim).
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
        found = np.empty((len(numbers), self._files[0].width("vectors")), np.float32)
        places = np.searchsorted(self._begins, numbers, "right") - 1
        for place in np.flatnonzero(np.bincount(places)).tolist():
            here = places == place
            found[here] = self._files[place].rows("vectors", numbers[here] - self._begins[place])
        return found

    def products(self, query: FloatArray, columns: tuple[int, int]) -> FloatArray:
        """Return the products of some columns, (first, one past the last), with a query, (rows,)."""
        # A vector at a time: a thin matrix product is several times as slow.
        parts = [file.array("vectors")[:, slice(*columns)] @ query for file in self._files]
        found: FloatArray = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return found

    def __matmul__(self, query: FloatArray) -> FloatArray:
        return self.products(query, (0, len(query)))


class GenerationReader:
    """One generation: opening reads tables of contents, not text or vectors.

    All files are opened at once and the database is seen as it was then, so that a reader keeps its generation whatever
    a writer does. What it holds is checked when it is read first. Rows number documents and passages over all
    segments, those that were removed among them.

    Args:
        path: Of its store's folder.
        store: Of the texts and vectors, opened.
        where: The index, for people; None for its folder.
        opens: Opens a file of what is derived from the documents.

    Attributes:
        words: Which text holds which word.
        expansions: Which passage has which weighted term, where the model reads terms.
        titles: Documents by what they are called.

    Raises:
        IndexFolderError: A file is damaged or of another format, or commits are missing.
        FileNotFoundError: A file is not there.
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
        # Of a view, the reader that keeps the store open.
        self._whole: GenerationReader | None = None
        manifest, self.checksum = self.store.manifest(), self.store.checksum()
        self.store.row_seed = manifest.row_seed
        if manifest.format_version < FORMAT_VERSION:
            remedy = f"derive its words again: auscult verify {path.parent} --repair"
            if where is not None:
                remedy = "derive the words of its folder again (auscult verify INDEX --repair), and publish that"
            got = f"format {manifest.format_version}"
            raise IndexFolderError(f"an index of format {FORMAT_VERSION} at {self.where}", got, remedy)
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
        self._documents = [*accumulate((len(each.keys) for each in self.segments), initial=0)]
        self._passages = np.cumsum([0, *(each.starts[-1] for each in self.segments)])
        self.words = Words([each.words for each in self.segments])
        # Of documents of several articles, how many headings above them all articles share.
        self._shared: dict[int, int | None] = {}
        self.expansions = Expansions([(each.file, int(each.starts[-1])) for each in self.segments])
        # What is kept does not hold the reader, so that the database is closed when nobody reads any more.
        self.titles = Titles(
            [each.file for each in self.segments],
            [each.living for each in self.segments],
            partial(_title, self.segments, self.store, self._kept_documents),
        )

    def seen_by(self, groups: Collection[str]) -> GenerationReader:
        """Return what some groups may see: others' documents are as if they had been removed (`index.fields`).

        The view shares files and store with this reader. Its manifest counts what is seen and says nothing of how the
        rest is stored, and its knowledge base has nothing of any document (`newcomers` are all that are seen).

        Args:
            groups: Names; with none, documents that are open to all are seen.

        Returns:
            This reader, where nothing is hidden.
        """
        segments = [seen(each, groups) for each in self.segments]
        if all(ours is theirs for ours, theirs in zip(segments, self.segments, strict=True)):
            return self
        return self._view(segments, self.store.seen_by(groups))

    def without(self, hidden: npt.NDArray[np.bool_], store: Store) -> GenerationReader:
        """Return a view in which some documents are as if they had been removed (`seen_by`).

        Args:
            hidden: Which, (documents,).
            store: Of the rows of all others.
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
        counts = sum((each.counts for each in segments), Counts(0, 0, 0))
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

    def add_products(self, found: FloatArray, columns: tuple[int, int], query: FloatArray, part: float) -> None:
        """Add to numbers of passages about the products of their vectors with a query: see `codes.add_products`."""
        for begin, end, segment in zip(self._passages[:-1], self._passages[1:], self.segments, strict=True):
            if has_codes(segment.file):
                add_products(found[begin:end], segment.file, columns, query, part)
            else:
                found[begin:end] += segment.vectors[:, slice(*columns)] @ query

    @cached_property
    def _starts(self) -> npt.NDArray[np.int64]:
        """First passage of each document, and one more."""
        ends = [each.starts[1:] + begin for each, begin in zip(self.segments, self._passages, strict=False)]
        return np.concatenate([np.zeros(1, np.int64), *ends])

    @cached_property
    def passage_documents(self) -> npt.NDArray[np.int64]:
        """Row of each passage's document, shape (passages,), non-decreasing."""
        return np.repeat(np.arange(len(self._starts) - 1), np.diff(self._starts))

    @cached_property
    def document_keys(self) -> npt.NDArray[np.int64]:
        """The store's key of each document, (documents,), rising."""
        return np.concatenate([np.zeros(0, np.int64), *(each.keys for each in self.segments)])

    @cached_property
    def passage_keys(self) -> npt.NDArray[np.int64]:
        """The store's key of each passage, (passages,), rising."""
        firsts = np.concatenate([np.zeros(0, np.int64), *(each.firsts for each in self.segments)])
        rows = np.arange(self._starts[-1])
        return (firsts - self._starts[:-1])[self.passage_documents] + rows

    @cached_property
    def living(self) -> npt.NDArray[np.bool_]:
        """Which documents were not removed, shape (documents,)."""
        return np.concatenate([each.living for each in self.segments])

    @cached_property
    def documents(self) -> npt.NDArray[np.int64]:
        """Rows of the documents that were not removed."""
        return np.flatnonzero(self.living)

    @cached_property
    def wordless(self) -> npt.NDArray[np.int64]:
        """Rows of passages that are never found: without a sentence, or removed."""
        sentences = np.concatenate([each.sentences for each in self.segments])
        return np.flatnonzero((sentences == 0) | ~self.living[self.passage_documents])

    @cached_property
    def document_rows(self) -> Mapping[str, int]:
        """Row of every document by its id; read when first asked for."""
        return {self.document_record(row).doc_id: row for row in self.documents.tolist()}

    def row_of(self, doc_id: str) -> int | None:
        """Return a document's row by its id, without reading others; None where no document has it."""
        key = self.store.key_of(doc_id)
        place = int(np.searchsorted(self.document_keys, key)) if key is not None else len(self.document_keys)
        if place == len(self.document_keys) or self.document_keys[place] != key or not self.living[place]:
            return None
        return place

    def values(self, field: str) -> tuple[list[str], npt.NDArray[np.int32]]:
        """Return a field's values (`index.fields`) in order, and the number of each document's, -1 for none.

        Removed documents have none; a value that no document has is left out.
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
    def fields(self) -> list[str]:
        """Names of the fields that documents have."""
        names = sorted({name for each in self.segments for name in each.file.notes["fields"]})
        # Only where some are removed or hidden are there fields that nobody has: their columns are read.
        return names if all(each.is_whole for each in self.segments) else [n for n in names if self.values(n)[0]]

    def document_record(self, row: int) -> DocumentRecord:
        """Return a document's id, title, source and further fields."""
        segment, place = self._place(row)
        return self._document(segment, place).record

    def document(self, row: int) -> Document:
        """Read a whole document, equal to the one that was added; `original` has its file."""
        segment, place = self._place(row)
        stored = self._document(segment, place)
        passages = [self.stored(passage) for passage in self.passages_of(row)]
        return Document(
            doc_id=stored.record.doc_id,
            title=stored.record.title,
            text="".join((*(each.before + each.text for each in passages), stored.tail)),
            passages=tuple(each.passage for each in passages),
            source=stored.record.source,
            url=stored.record.url,
            entity_ids=stored.record.entity_ids,
            metadata=stored.record.metadata,
        )

    def original(self, row: int) -> Original | None:
        """Read the file that a document was read from; None where it is not kept."""
        segment, place = self._place(row)
        return self.store.original(int(segment.keys[place]))

    def original_layout(self, row: int) -> Original | None:
        """Return `original` without its content: where the text stands in it, quickly, again and again."""
        segment, place = self._place(row)
        return self._layouts(int(segment.keys[place]))

    def article_title(self, row: int) -> str:
        """Return the heading of the article that a passage is of; empty where its document is one article.

        It is the outermost heading that articles of the document do not share (`index.articles`).
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
        """Yield the documents that the knowledge base does not know."""
        for row in np.flatnonzero(self.living)[::-1].tolist():
            segment, place = self._place(row)
            if segment.keys[place] < self.manifest.known:
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

    def sentence_vectors(self, row: int) -> npt.NDArray[np.float16]:
        """Return unit vectors of a passage's sentences, float16 (sentences, dim)."""
        return self.stored(row).vectors

    @property
    def knowledge_base(self) -> bytes | None:
        """The index' knowledge base as `KnowledgeBase.save` wrote it; None when it has none.

        Raises:
            IndexFolderError: A view is asked, and the knowledge base does not say what it has of documents.
        """
        saved = self.store.knowledge()
        if saved is None or self._whole is None:
            return saved
        return vocabulary_of(KnowledgeBase.from_bytes(saved, f"in the index at {self.where}"), self.where).to_bytes()

    def known(self) -> KnowledgeBase | None:
        """Open the index' knowledge base: its file where there is one, else all of what the store has.

        Documents that were added later are not in it (`newcomers`). None where the index has none.

        Raises:
            IndexFolderError: It is damaged; or a view is asked (`knowledge_base`).
        """
        if self._knowledge is not None:
            return open_knowledge(self._knowledge)
        saved = self.knowledge_base
        return None if saved is None else KnowledgeBase.from_bytes(saved, f"in the index at {self.where}")

    def verify(self) -> None:
        """Check all of the store and of every segment.

        Raises:
            IndexFolderError: At the first thing that is not what was written; it names the file and what mends it.
        """
        if self._whole is not None:
            self._whole.verify()
            return
        check_log(self.store.path)
        for _ in self.store.verify():
            pass
        if self._knowledge is not None:
            self._knowledge.verify()
        held = []
        for segment in self.segments:
            segment.file.verify()
            held += segment.keys[segment.living].tolist()
            for place in segment.living_rows.tolist():
                self._document(segment, place)
        if held != self.store.keys():
            raise IndexFolderError(f"segments of all documents of {self.store.path}", "others", REPAIR)
        found = Counter(self.store.document(key).passages for key in held)
        if sum(size * times for size, times in found.items()) != self.manifest.counts.passages:
            raise IndexFolderError(f"{self.manifest.counts.passages} passages in {self.path}", "others", REPAIR)

    def _document(self, segment: Segment, place: int) -> StoredDocument:
        return _stored_document(self.store, self._kept_documents, segment, place)

    def _place(self, row: int) -> tuple[Segment, int]:
        number = bisect_right(self._documents, row) - 1
        if self._whole is not None and not self.living[row]:
            # Nothing asks for it; should something ever do, it gets nothing.
            raise IndexError(row)
        return self.segments[number], int(row) - self._documents[number]

    def read_ahead(self, rows: npt.NDArray[np.int64]) -> None:
        """Let a store that is far away read passages at once which are then asked for one by one."""
        self.store.read_ahead(self.passage_keys[rows].tolist())

    def stored(self, row: int) -> StoredPassage:
        """Return a passage with its text and its sentences' vectors, read once."""
        document = self.passage_documents[row]
        segment, place = self._place(document)
        return self._kept(int(segment.firsts[place]) + int(row) - int(self._starts[document]))


def vocabulary_of(known: KnowledgeBase, where: str) -> KnowledgeBase:
    """Return a knowledge base without what documents brought.

    Args:
        known: Of an index.
        where: That index, for people.

    Raises:
        IndexFolderError: It does not say what that is: an earlier version wrote it.
    """
    if known.brought is None:
        remedy = "build the index again with this version"
        raise IndexFolderError(f"a knowledge base in {where} that tells what documents brought", "an older one", remedy)
    return known.vocabulary


def _title(segments: Sequence[Segment], store: Store, read: _Read, number: int, place: int) -> str:
    """Return the title of a segment's document."""
    return _stored_document(store, read, segments[number], place).record.title


def _stored_document(store: Store, read: _Read, segment: Segment, place: int) -> StoredDocument:
    """Read the row of a segment's document; refuse one that another copy of the index wrote under the same key."""
    stored = read(int(segment.keys[place]))
    if stored.first != segment.firsts[place]:
        raise store.damaged(f"row {stored.key} of another index in documents")
    return stored


def _opened(path: Path, current: Current) -> GenerationReader:
    """Open a store whose generation is the one that CURRENT names, or the next one."""
    store = Store(path / STORE)
    try:
        # Before the segments: those of an older generation may have been removed.
        current.check(store.manifest(), store.checksum(), store.path)
        return GenerationReader(path, store)
    except BaseException:
        store.close()
        raise


def open_current(folder: Path) -> GenerationReader:
    """Open the last generation of an index folder.

    Raises:
        IndexFolderError: The folder holds no index, or a damaged one.
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
            return _opened(store, current)
        except FileNotFoundError as error:
            # A writer may have removed a segment, or this store, after we had read of it.
            name = error.filename
            if missing == (store, name):
                remedy = REPAIR if Path(name).name != STORE else "put a backup in its place, or build the index again"
                raise IndexFolderError(f"the file {name}", "no such file", remedy) from error
            missing = (store, name)
        except IndexFolderError:
            # A writer may have committed more than one generation since CURRENT was read.
            if read_current(folder) == current:
                raise
