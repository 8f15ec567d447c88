"""Opening an index and reading documents, passages and vectors back from it."""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from auscult.documents import Document, Passage, Sentence
from auscult.errors import IndexFolderError
from auscult.index import layout
from auscult.index.manifest import Manifest
from auscult.index.storage import current_generation, file_record
from auscult.index.titles import TITLES, Titles
from auscult.index.words import FIELDS, TERMS, Words, array_name
from auscult.index.words import file_names as word_files
from auscult.interfaces import FloatArray

_REBUILD = "the index is damaged: build it again"


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What an index says about a document without reading its text."""

    doc_id: str
    title: str
    source: str
    url: str
    entity_ids: tuple[str, ...]
    metadata: Mapping[str, str]


class GenerationReader:
    """One generation, memory-mapped: opening reads tables of contents, not text or vectors.

    All files are opened at once, so that a reader keeps its generation even after a writer has replaced it.

    Args:
        path: The generation's folder.

    Attributes:
        passage_vectors: Float32, shape (passages, dim): means of unit sentence vectors.
        sentence_vectors: Float16, shape (sentences, dim).
        words: Which text holds which word.
        titles: Documents by what they are called.

    Raises:
        IndexFolderError: A file is missing, or disagrees with the manifest.
        FileNotFoundError: The generation itself is gone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = Manifest.read(path)
        counts, dim = self.manifest.counts, self.manifest.model.dim
        self._check_sizes()
        self.passage_vectors: FloatArray = self._array(
            layout.PASSAGE_VECTORS, layout.PASSAGE_DTYPE, (counts.passages, dim)
        )
        self.sentence_vectors: npt.NDArray[np.float16] = self._array(
            layout.SENTENCE_VECTORS, layout.SENTENCE_DTYPE, (counts.sentences, dim)
        )
        self._documents = self._array(layout.DOCUMENTS, layout.DOCUMENT_ROW, (counts.documents + 1,))
        self._passages = self._array(layout.PASSAGES, layout.PASSAGE_ROW, (counts.passages + 1,))
        self._sentences = self._array(layout.SENTENCES, layout.SENTENCE_ROW, (counts.sentences,))
        self._document_records = self._bytes(layout.DOCUMENT_RECORDS)
        self._passage_records = self._bytes(layout.PASSAGE_RECORDS)
        self._texts = self._bytes(layout.TEXTS)
        self._knowledge_base = self._bytes(self.manifest.knowledge_base) if self.manifest.knowledge_base else None
        self._check_ends()
        self.words = self._open_words()
        self.titles = Titles(self._bytes(TITLES)[:], lambda row: self.document_record(row).title)

    @cached_property
    def passage_documents(self) -> npt.NDArray[np.int64]:
        """Row of each passage's document, shape (passages,), non-decreasing."""
        return np.ascontiguousarray(self._passages["document"][:-1])

    @cached_property
    def document_sources(self) -> npt.NDArray[np.int32]:
        """Number of each document's source in the manifest, shape (documents,)."""
        return np.ascontiguousarray(self._documents["source"][:-1])

    @cached_property
    def wordless(self) -> npt.NDArray[np.int64]:
        """Rows of passages without a sentence."""
        return np.flatnonzero(np.diff(self._passages["sentences"]) == 0)

    @cached_property
    def document_rows(self) -> Mapping[str, int]:
        """Row of every document by its id; read when first asked for."""
        rows = range(self.manifest.counts.documents)
        return {self.document_record(row).doc_id: row for row in rows}

    def document_record(self, row: int) -> DocumentRecord:
        """A document's id, title, source and further fields."""
        begin, end = self._documents["record"][row : row + 2]
        data = self._record(layout.DOCUMENT_RECORDS, self._document_records, begin, end)
        source = self.manifest.sources[self._documents["source"][row]]
        entity_ids = tuple(data["entity_ids"])
        return DocumentRecord(
            data["doc_id"], data["title"], source, data["url"], entity_ids, MappingProxyType(data["metadata"])
        )

    def document(self, row: int) -> Document:
        """The whole document, equal to the one that was added."""
        record = self.document_record(row)
        begin, end = self._documents["text"][row : row + 2]
        return Document(
            doc_id=record.doc_id,
            title=record.title,
            text=self._text(begin, end),
            passages=tuple(self.passage(passage) for passage in self.passages_of(row)),
            source=record.source,
            url=record.url,
            entity_ids=record.entity_ids,
            metadata=record.metadata,
        )

    def passages_of(self, row: int) -> range:
        """Rows of a document's passages."""
        first, last = self._documents["passages"][row : row + 2]
        return range(int(first), int(last))

    def sentences_of(self, row: int) -> range:
        """Rows of a passage's sentences."""
        first, last = self._passages["sentences"][row : row + 2]
        return range(int(first), int(last))

    def passage_id(self, row: int) -> str:
        """A passage's id."""
        return str(self._passage_fields(row)[0])

    def passage(self, row: int) -> Passage:
        """A passage with its sentences; offsets refer to the document's text."""
        passage_id, heading, aspect = self._passage_fields(row)
        rows = self.sentences_of(row)
        sentences = tuple(
            Sentence(
                start,
                end,
                begins_paragraph=bool(flags & layout.BEGINS_PARAGRAPH),
                ends_paragraph=bool(flags & layout.ENDS_PARAGRAPH),
                list_item=bool(flags & layout.LIST_ITEM),
            )
            for start, end, flags in self._sentences[rows.start : rows.stop].tolist()
        )
        _, _, start, end, *_ = self._passages[row].tolist()
        return Passage(passage_id, heading, start, end, sentences, aspect)

    def passage_text(self, row: int) -> str:
        """The text a passage covers, without reading the rest of its document."""
        return self._text(self._passages["text_start"][row], self._passages["text_end"][row])

    @property
    def knowledge_base(self) -> bytes | None:
        """The index' knowledge base as `KnowledgeBase.save` wrote it; None when it has none."""
        return None if self._knowledge_base is None else self._knowledge_base[:]

    def verify(self) -> None:
        """Compare every file with its recorded checksum.

        Raises:
            IndexFolderError: A file differs; it names the file, what was recorded, and what is there.
        """
        for name, recorded in self.manifest.files.items():
            found = file_record(self.path / name)
            if found != recorded:
                raise IndexFolderError(
                    f"sha256 {recorded.sha256[:16]}… of {self.path / name}", f"{found.sha256[:16]}…", _REBUILD
                )

    def _open_words(self) -> Words:
        """All arrays opened at once, as everything else is."""
        counts = self.manifest.counts
        arrays = {}
        for name in word_files():
            if name == TERMS:
                continue
            arrays[name] = self._plain(name)
        for field in FIELDS:
            texts = counts.passages if field in ("text", "heading") else counts.documents
            found = len(arrays[array_name(field, "lengths")])
            if found != texts:
                raise IndexFolderError(f"words of {texts} texts in {self.path} ({field})", str(found), _REBUILD)
        return Words(arrays.__getitem__, self._bytes(TERMS)[:])

    def _passage_fields(self, row: int) -> tuple[str, str, str]:
        begin, end = self._passages["record"][row : row + 2]
        passage_id, heading, aspect = self._record(layout.PASSAGE_RECORDS, self._passage_records, begin, end)
        return passage_id, heading, aspect

    def _record(self, name: str, content: mmap.mmap | bytes, begin: int, end: int) -> Any:
        try:
            return json.loads(content[begin:end])
        except ValueError as error:
            raise IndexFolderError(
                f"a JSON record at byte {begin} of {self.path / name}", f"unreadable text ({error})", _REBUILD
            ) from error

    def _text(self, begin: int, end: int) -> str:
        try:
            return self._texts[begin:end].decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            where = int(begin) + error.start
            raise IndexFolderError(
                f"UTF-8 at byte {where} of {self.path / layout.TEXTS}", "other bytes", _REBUILD
            ) from error

    def _check_sizes(self) -> None:
        for name, recorded in self.manifest.files.items():
            path = self.path / name
            if not path.is_file():
                raise IndexFolderError(f"the file {path}", "no such file", _REBUILD)
            size = path.stat().st_size
            if size != recorded.bytes:
                raise IndexFolderError(f"{recorded.bytes} bytes in {path}", f"{size} bytes", _REBUILD)

    def _array(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        array = self._plain(name)
        if array.dtype != dtype or array.shape != shape:
            path = self.path / name
            raise IndexFolderError(f"{shape} of {dtype} in {path}", f"{array.shape} of {array.dtype}", _REBUILD)
        return array

    def _plain(self, name: str) -> npt.NDArray[Any]:
        path = self.path / name
        try:
            # A plain view: the memmap class costs microseconds at every slice.
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        except (ValueError, EOFError) as error:
            raise IndexFolderError(f"an array in {path}", f"unreadable bytes ({error})", _REBUILD) from error

    def _bytes(self, name: str) -> mmap.mmap | bytes:
        path = self.path / name
        if not self.manifest.files[name].bytes:
            return b""
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def _check_ends(self) -> None:
        documents, passages, counts = self._documents[-1], self._passages[-1], self.manifest.counts
        ends = [
            (layout.DOCUMENTS, documents["record"], len(self._document_records)),
            (layout.DOCUMENTS, documents["text"], len(self._texts)),
            (layout.DOCUMENTS, documents["passages"], counts.passages),
            (layout.PASSAGES, passages["record"], len(self._passage_records)),
            (layout.PASSAGES, passages["document"], counts.documents),
            (layout.PASSAGES, passages["sentences"], counts.sentences),
        ]
        for name, got, expected in ends:
            if got != expected:
                raise IndexFolderError(f"{expected} in the last row of {self.path / name}", str(got), _REBUILD)


def open_current(folder: Path) -> GenerationReader:
    """Open the live generation of an index folder.

    Raises:
        IndexFolderError: The folder holds no index, or a damaged one.
    """
    while True:
        generation = current_generation(folder)
        if generation is None:
            what = "a folder without one" if folder.is_dir() else "nothing there"
            raise IndexFolderError(f"an index at {folder}", what, "build one with: auscult index CORPUS --out FOLDER")
        try:
            return GenerationReader(generation)
        except (FileNotFoundError, IndexFolderError) as error:
            # A writer may have published and removed this generation between our two looks.
            if current_generation(folder) != generation:
                continue
            if isinstance(error, FileNotFoundError):
                raise IndexFolderError(f"the file {error.filename}", "no such file", _REBUILD) from error
            raise
