"""Building and updating an index, so that a kill at any moment leaves the old one whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from auscult.errors import DataError, IndexFolderError
from auscult.index.generation import GenerationWriter
from auscult.index.lock import FolderLock
from auscult.index.manifest import Counts, Manifest, ModelRecord
from auscult.index.passage_index import check_fingerprint
from auscult.index.reader import GenerationReader, open_current
from auscult.index.storage import new_generation, prepare_folder, publish, remove_leftovers, storage_errors
from auscult.interfaces import DocumentEncoder
from auscult.models.passage_rows import encode_passages

if TYPE_CHECKING:
    from auscult.concepts import KnowledgeBase
    from auscult.documents import Document


class _Transaction:
    """What both writers share: the lock, a generation in the making, and its end."""

    def __init__(self, folder: str | Path, encoder: DocumentEncoder) -> None:
        self.folder = Path(folder)
        self.encoder = encoder
        with storage_errors(self.folder):
            prepare_folder(self.folder)
            self._lock = FolderLock(self.folder)
        self._writer: GenerationWriter | None = None

    def _begin(self, model: ModelRecord, suffix: str = "") -> GenerationWriter:
        with storage_errors(self.folder):
            remove_leftovers(self.folder)
            return GenerationWriter(new_generation(self.folder, suffix), model)

    def _open_writer(self) -> GenerationWriter:
        if self._writer is None:
            raise RuntimeError("this index writer has been closed")
        return self._writer

    def _encode_into(self, writer: GenerationWriter, documents: Sequence[Document]) -> None:
        try:
            encoded = encode_passages(self.encoder, documents)
            with storage_errors(self.folder):
                for document, (sentences, passages) in zip(documents, encoded, strict=True):
                    writer.append(document, sentences, passages)
        except BaseException:
            # Part of the batch may be written, and what it replaces deleted: no commit may follow.
            self.close()
            raise

    def close(self) -> None:
        """Give up what has not been committed and let the next writer in; harmless when called twice."""
        if not self._lock.held:
            return
        if self._writer is not None:
            self._writer.discard()
            self._writer = None
        # What cannot be removed now (a failing disk may be why we are here) is removed by the next writer.
        with suppress(OSError, IndexFolderError):
            remove_leftovers(self.folder)
        self._lock.release()
        # Fails on anything but an empty folder, which a first index that was never committed leaves behind.
        with suppress(OSError):
            self.folder.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class IndexWriter(_Transaction):
    """Writes an index from nothing, or in place of the one in the folder.

    Nothing is seen by readers before `commit`. Left without one (an error, a kill), the folder's old index
    stays; a batch that could not be added closes the writer. Memory holds one batch and the ids.

    Args:
        folder: Made when missing; refused when it holds other files.
        encoder: Its vectors and fingerprint go into the index.
        corpus: Name of the corpus, for the manifest.
        model_path: What `load_model` takes to load the encoder again.

    Raises:
        IndexFolderError: Another writer is at work, or the folder cannot be written.
    """

    def __init__(self, folder: str | Path, encoder: DocumentEncoder, *, corpus: str = "", model_path: str = "") -> None:
        super().__init__(folder, encoder)
        self._corpus = corpus
        try:
            self._writer = self._begin(ModelRecord.of(encoder, model_path))
        except BaseException:
            self.close()
            raise

    @property
    def counts(self) -> Counts:
        """What has been added so far."""
        return self._open_writer().counts

    def add(self, documents: Sequence[Document]) -> None:
        """Encode and write one batch.

        Raises:
            DataError: A document or passage id comes a second time.
            ModelError: The encoder's vectors are not what it promises.
            IndexFolderError: The disk refuses.
        """
        self._encode_into(self._open_writer(), documents)

    def commit(self, knowledge_base: KnowledgeBase | None = None) -> Manifest:
        """Publish what was added as the folder's index, and remove the one it replaces.

        Args:
            knowledge_base: Copied into the index, to resolve entities at query time.
        """
        writer = self._open_writer()
        with storage_errors(self.folder):
            manifest = writer.finish(corpus=self._corpus, knowledge_base=knowledge_base)
            publish(self.folder, writer.path)
            self._writer = None
            remove_leftovers(self.folder)
        return manifest


class IndexUpdate(_Transaction):
    """Adds, deletes and replaces documents of an existing index; readers see all of it or none.

    The new generation re-uses the stored vectors of every document that stays, so that only new documents are
    encoded; copying costs time in proportion to the whole index. Kept documents come first, in their order. A
    document that could not be added closes the update, and the index stays as it was.

    Args:
        folder: An index.
        encoder: Must be the one that made the index.

    Raises:
        IndexFolderError: There is no index, its model is another, or another writer is at work.
    """

    def __init__(self, folder: str | Path, encoder: DocumentEncoder) -> None:
        # Before the lock, so that asking for an update of nothing doesn't leave a folder behind.
        check_fingerprint(open_current(Path(folder)), encoder)
        super().__init__(folder, encoder)
        try:
            # Again: it may have been replaced while we waited for the lock.
            self._old = open_current(self.folder)
            check_fingerprint(self._old, encoder)
            self._writer = self._begin(self._old.manifest.model, suffix=".added")
        except BaseException:
            self.close()
            raise
        self._dropped: set[int] = set()
        self._dropped_new: set[int] = set()

    def add(self, documents: Sequence[Document]) -> None:
        """Encode and add documents whose ids are not in the index.

        Raises:
            DataError: A document id is already there (use `replace`), or a passage id comes a second time.
        """
        for document in documents:
            if self._find(document.doc_id) is not None:
                raise DataError("the id of a new document", f"'{document.doc_id}', which the index has", "use replace")
        self._encode_into(self._open_writer(), documents)

    def delete(self, doc_ids: Iterable[str]) -> None:
        """Delete documents, all or none.

        Raises:
            DataError: An id is not in the index.
        """
        places: dict[str, tuple[set[int], int]] = {}
        for doc_id in doc_ids:
            place = self._find(doc_id)
            if place is None:
                raise DataError("the id of a document in the index", f"'{doc_id}'", "check the id")
            places[doc_id] = place
        for doc_id, (dropped, row) in places.items():
            dropped.add(row)
            if dropped is self._dropped_new:
                self._open_writer().forget(doc_id)

    def replace(self, documents: Sequence[Document]) -> None:
        """Add documents, in place of those of the same ids where there are any."""
        self.delete([document.doc_id for document in documents if self._find(document.doc_id) is not None])
        self.add(documents)

    def commit(self, knowledge_base: KnowledgeBase | None = None) -> Manifest:
        """Publish the updated index.

        Args:
            knowledge_base: In place of the index' own, which stays where none is given and knows nothing of
                identifiers that only new documents have (`KnowledgeBase.with_documents`).
        """
        added = self._open_writer()
        with storage_errors(self.folder):
            added.finish(corpus="", knowledge_base=None)
            self._writer = None
            manifest = self._merge(GenerationReader(added.path), knowledge_base)
            remove_leftovers(self.folder)
        return manifest

    def _merge(self, new: GenerationReader, knowledge_base: KnowledgeBase | None) -> Manifest:
        old = self._old
        self._writer = merged = GenerationWriter(new_generation(self.folder), old.manifest.model)
        parts = chain(_kept(old, self._dropped), _kept(new, self._dropped_new))
        for reader, row in parts:
            passages = reader.passages_of(row)
            document = reader.document(row)
            first = reader.sentences_of(passages.start).start if passages else 0
            sentences = slice(first, first + len(document.sentences))
            merged.append_stored(
                document,
                np.asarray(reader.passage_vectors[passages.start : passages.stop]),
                np.asarray(reader.sentence_vectors[sentences]),
            )
        manifest = merged.finish(
            corpus=old.manifest.corpus, knowledge_base=old.knowledge_base if knowledge_base is None else knowledge_base
        )
        publish(self.folder, merged.path)
        self._writer = None
        return manifest

    def _find(self, doc_id: str) -> tuple[set[int], int] | None:
        """Where a document is that has not been deleted: the set that would delete it, and its row."""
        row = self._open_writer().row_of(doc_id)
        if row is not None:
            return self._dropped_new, row
        row = self._old.document_rows.get(doc_id)
        if row is not None and row not in self._dropped:
            return self._dropped, row
        return None


def _kept(reader: GenerationReader, dropped: set[int]) -> Iterable[tuple[GenerationReader, int]]:
    rows = range(reader.manifest.counts.documents)
    return ((reader, row) for row in rows if row not in dropped)
