"""Filling one generation with documents and their vectors, one document at a time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from auscult import __version__
from auscult.errors import DataError, ModelError
from auscult.index import layout
from auscult.index.manifest import Counts, Manifest, ModelRecord
from auscult.index.storage import ArrayFile, ByteFile, file_records, sync_tree, write_synced
from auscult.index.titles import TITLES, TitleTable
from auscult.index.words import WordCounter
from auscult.interfaces import FloatArray

if TYPE_CHECKING:
    from auscult.concepts import KnowledgeBase
    from auscult.documents import Document, Passage, Sentence

#: How far a sentence vector's length may be from one.
_UNIT_TOLERANCE = 1e-3


class GenerationWriter:
    """Writes the files of one generation; memory grows with ids and the number of words, not with vectors.

    Args:
        path: The generation's folder, empty.
        model: The encoder whose vectors will be appended.
    """

    def __init__(self, path: Path, model: ModelRecord) -> None:
        self.path = path
        self.model = model
        self._means = ArrayFile(path / layout.PASSAGE_VECTORS, layout.PASSAGE_DTYPE, model.dim)
        self._vectors = ArrayFile(path / layout.SENTENCE_VECTORS, layout.SENTENCE_DTYPE, model.dim)
        self._documents = ArrayFile(path / layout.DOCUMENTS, layout.DOCUMENT_ROW)
        self._passages = ArrayFile(path / layout.PASSAGES, layout.PASSAGE_ROW)
        self._sentences = ArrayFile(path / layout.SENTENCES, layout.SENTENCE_ROW)
        self._document_records = ByteFile(path / layout.DOCUMENT_RECORDS)
        self._passage_records = ByteFile(path / layout.PASSAGE_RECORDS)
        self._texts = ByteFile(path / layout.TEXTS)
        self._words = WordCounter()
        self._titles = TitleTable()
        self._counts = Counts(0, 0, 0)
        self._sources: dict[str, int] = {}
        self._documents_by_id: dict[str, tuple[int, list[str]]] = {}
        self._passage_ids: set[str] = set()

    @property
    def counts(self) -> Counts:
        """What has been appended so far."""
        return self._counts

    def row_of(self, doc_id: str) -> int | None:
        """The row of an appended document."""
        entry = self._documents_by_id.get(doc_id)
        return entry[0] if entry else None

    def forget(self, doc_id: str) -> None:
        """Let an appended document's ids be used again; its row stays, for the caller to leave out."""
        _, passage_ids = self._documents_by_id.pop(doc_id)
        self._passage_ids.difference_update(passage_ids)

    def append(self, document: Document, vectors: FloatArray, passages: FloatArray) -> None:
        """Append a document with what an encoder made of it (`models.passage_rows.encode_passages`).

        Args:
            document: New here.
            vectors: Unit vectors of its sentences, (sentences, dim).
            passages: Vectors of its passages, (passages, dim).

        Raises:
            DataError: Its id, or one of its passages', is already here.
            ModelError: The vectors have a wrong shape, are not finite, or not of unit length.
        """
        self._check_ids(document)
        expected = (sum(len(passage.sentences) for passage in document.passages), self.model.dim)
        if vectors.shape != expected:
            raise _wrong_vectors(self.model, document, f"shape {expected}", f"shape {vectors.shape}")
        lengths = np.linalg.norm(vectors, axis=1)
        # Written so that NaN counts as wrong.
        if not np.all(np.abs(lengths - 1) <= _UNIT_TOLERANCE):
            worst = lengths[np.argmax(np.nan_to_num(np.abs(lengths - 1), nan=np.inf))]
            raise _wrong_vectors(self.model, document, "unit length", f"length {worst:.4g}")
        self._append(document, passages, vectors)

    def append_stored(self, document: Document, means: FloatArray, vectors: npt.NDArray[np.float16]) -> None:
        """Append a document with the vectors that another generation stores for it."""
        self._check_ids(document)
        self._append(document, means, vectors)

    def finish(self, *, corpus: str, knowledge_base: KnowledgeBase | bytes | None) -> Manifest:
        """Close every file, copy the knowledge base, and write the manifest; the generation is then complete.

        Args:
            corpus: Name of the corpus.
            knowledge_base: To be saved, or one as another generation holds it.
        """
        self._documents.append(self._document_row(source=-1))
        self._passages.append(self._passage_row(None, document=self._counts.documents))
        for file in self._files():
            file.close()
        write_synced(self.path / TITLES, self._titles.file())
        for name, content in self._words.files().items():
            if isinstance(content, bytes):
                write_synced(self.path / name, content)
            else:
                np.save(self.path / name, content)
        saved = save_knowledge_base(knowledge_base, self.path)
        manifest = Manifest(
            auscult_version=__version__,
            created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            corpus=corpus,
            model=self.model,
            counts=self._counts,
            sources=tuple(self._sources),
            knowledge_base=saved,
            files=file_records(self.path),
        )
        write_synced(self.path / layout.MANIFEST, manifest.to_json().encode())
        return manifest

    def discard(self) -> None:
        """Close every file; what was written is not a generation."""
        for file in self._files():
            # Closing writes what is still in memory, which a full disk refuses; the file is closed all the same.
            with suppress(OSError):
                file.discard()

    def _files(self) -> Iterable[ArrayFile | ByteFile]:
        yield from (self._means, self._vectors, self._documents, self._passages, self._sentences)
        yield from (self._document_records, self._passage_records, self._texts)

    def _check_ids(self, document: Document) -> None:
        ids = [passage.passage_id for passage in document.passages]
        if document.doc_id in self._documents_by_id:
            raise _duplicate("document", document.doc_id)
        for passage_id, times in Counter(ids).items():
            if times > 1 or passage_id in self._passage_ids:
                raise _duplicate("passage", passage_id)

    def _append(self, document: Document, means: FloatArray, vectors: npt.NDArray[Any]) -> None:
        source = self._sources.setdefault(document.source, len(self._sources))
        self._documents.append(self._document_row(source))
        text = document.text.encode("utf-8", "surrogatepass")
        byte_of = _byte_offsets(document, len(text))
        row = self._counts.documents
        sentences = self._counts.sentences
        for passage in document.passages:
            self._passages.append(self._passage_row(passage, row, byte_of, sentences))
            self._passage_records.append(_line([passage.passage_id, passage.heading, passage.aspect]))
            sentences += len(passage.sentences)
        self._sentences.append(_sentence_rows(document.sentences))
        self._means.append(means)
        self._vectors.append(vectors)
        self._texts.append(text)
        self._document_records.append(_document_line(document))
        passages = ((each.heading, document.text[each.start : each.end]) for each in document.passages)
        self._words.add(document.title, passages)
        self._titles.add(row, document.title, document.entity_ids)
        passage_ids = [passage.passage_id for passage in document.passages]
        self._documents_by_id[document.doc_id] = (row, passage_ids)
        self._passage_ids.update(passage_ids)
        self._counts = Counts(row + 1, self._counts.passages + len(document.passages), sentences)

    def _document_row(self, source: int) -> npt.NDArray[Any]:
        row = (self._document_records.size, self._texts.size, self._counts.passages, source)
        return np.array([row], layout.DOCUMENT_ROW)

    def _passage_row(
        self,
        passage: Passage | None,
        document: int,
        byte_of: Mapping[int, int] | None = None,
        sentences: int | None = None,
    ) -> npt.NDArray[Any]:
        begin = self._texts.size
        first = self._counts.sentences if sentences is None else sentences
        if passage is None or byte_of is None:
            row = (self._passage_records.size, document, 0, 0, begin, begin, first)
        else:
            span = (begin + byte_of[passage.start], begin + byte_of[passage.end])
            row = (self._passage_records.size, document, passage.start, passage.end, *span, first)
        return np.array([row], layout.PASSAGE_ROW)


def save_knowledge_base(knowledge_base: KnowledgeBase | bytes | None, generation: Path) -> str:
    """Put a knowledge base into a generation; its path there, empty for none."""
    if knowledge_base is None:
        return ""
    target = generation / layout.KNOWLEDGE_BASE
    if isinstance(knowledge_base, bytes):
        target.write_bytes(knowledge_base)
    else:
        knowledge_base.save(target)
    sync_tree(target)
    return target.name


def _byte_offsets(document: Document, size: int) -> Mapping[int, int]:
    """UTF-8 offset of every character position at which a passage starts or ends."""
    positions = sorted({position for p in document.passages for position in (p.start, p.end)})
    if size == len(document.text):
        return {position: position for position in positions}
    offsets = {}
    reached = offset = 0
    for position in positions:
        offset += len(document.text[reached:position].encode("utf-8", "surrogatepass"))
        reached = position
        offsets[position] = offset
    return offsets


def _sentence_rows(sentences: Sequence[Sentence]) -> npt.NDArray[Any]:
    rows = [
        (
            sentence.start,
            sentence.end,
            layout.BEGINS_PARAGRAPH * sentence.begins_paragraph
            + layout.ENDS_PARAGRAPH * sentence.ends_paragraph
            + layout.LIST_ITEM * sentence.list_item,
        )
        for sentence in sentences
    ]
    return np.array(rows, layout.SENTENCE_ROW)


def _document_line(document: Document) -> bytes:
    record = {"doc_id": document.doc_id, "title": document.title, "url": document.url}
    return _line({**record, "entity_ids": document.entity_ids, "metadata": dict(document.metadata)})


def _line(record: Any) -> bytes:
    # ASCII, so that any string survives, even one with half a surrogate pair.
    return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"


def _duplicate(kind: str, identifier: str) -> DataError:
    return DataError(f"every {kind} id once", f"'{identifier}' a second time", f"give each {kind} an id of its own")


def _wrong_vectors(model: ModelRecord, document: Document, expected: str, got: str) -> ModelError:
    return ModelError(
        f"sentence vectors of {expected} from model '{model.name}'",
        f"{got} for document '{document.doc_id}'",
        "use another model: this one cannot be indexed",
    )
