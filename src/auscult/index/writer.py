"""Building and changing an index, so that a kill at any moment leaves the old generation whole or the new one."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self
from uuid import uuid4

import numpy as np

from auscult import __version__
from auscult.documents.passage_rows import encode_passages
from auscult.errors import DataError, IndexFolderError, ModelError
from auscult.index.knowledge import write_knowledge
from auscult.index.manifest import STORE, Counts, Manifest, ModelRecord, Numbers
from auscult.index.passage_index import check_fingerprint
from auscult.index.reader import open_current
from auscult.index.segment import Segment, SegmentWriter, merge, plan
from auscult.index.storage import (
    Current,
    FolderLock,
    new_store,
    prepare_folder,
    publish,
    read_current,
    remove_leftovers,
    storage_errors,
    sync_directory,
    write_current,
)
from auscult.index.store import DocumentRecord, Store, content_hash
from auscult.interfaces import DocumentEncoder, EncodedDocument, FloatArray

if TYPE_CHECKING:
    from auscult.concepts import KnowledgeBase
    from auscult.documents import Document

#: How far a sentence vector's length may be from one.
_UNIT_TOLERANCE = 1e-3
#: Most keys of passages that a writer leaves out before its own. Two such numbers seldom meet, and 2**63 suffice.
_MOST_SKIPPED = 2**31

Standing = Literal["new", "changed", "unchanged"]


class _Transaction:
    """What both writers share: the lock, a store that is written, a segment of new documents, and the end."""

    def __init__(self, folder: str | Path, encoder: DocumentEncoder | None) -> None:
        self.folder = Path(folder)
        self.encoder = encoder
        self._store: Store | None = None
        self._segment: SegmentWriter | None = None
        self._manifest: Manifest
        with storage_errors(self.folder):
            prepare_folder(self.folder)
            self._lock = FolderLock(self.folder)

    @property
    def counts(self) -> Counts:
        """Number of documents, passages and sentences, with what was added so far."""
        return self._manifest.counts

    def _begin(self, path: Path, manifest: Manifest, mode: str) -> None:
        """Open a store to write, with a segment for what is added."""
        self._store = Store(path / STORE, mode)
        self._store.row_seed = manifest.row_seed
        if mode == "rw":
            if self._store.manifest() != manifest:
                raise self._store.damaged("another generation than a moment ago")
            # A copy of the index that is changed, too, gives other keys: none of its rows is taken for one of this.
            manifest = replace(manifest, next_passage=manifest.next_passage + secrets.randbelow(_MOST_SKIPPED))
        self._manifest = replace(manifest, next_segment=manifest.next_segment + 1)
        self._segment = SegmentWriter(path / f"segment-{manifest.next_segment:06d}", manifest.model.dim)

    def _opened(self) -> tuple[Store, SegmentWriter]:
        if self._store is None or self._segment is None:
            raise RuntimeError("this index writer has been closed")
        return self._store, self._segment

    def put_files(self, origin: str, records: Mapping[str, str]) -> None:
        """Keep this of the files that were read somewhere (`Store.put_files`)."""
        with storage_errors(self.folder):
            self._opened()[0].put_files(origin, records)

    def _encode_into(self, documents: Sequence[Document], origin: str) -> None:
        if self.encoder is None:
            raise RuntimeError("an update without an encoder only deletes")
        self._opened()
        try:
            encoded = encode_passages(self.encoder, documents)
            with storage_errors(self.folder):
                for document, read in zip(documents, encoded, strict=True):
                    check_vectors(self._manifest.model, document, read.sentences)
                    self._insert(document, read, origin)
        except BaseException:
            # Part of the batch may be written, and what it replaces deleted: no commit may follow.
            self.close()
            raise

    def _insert(self, document: Document, read: EncodedDocument, origin: str) -> None:
        store, segment = self._opened()
        manifest = self._manifest
        key, first = manifest.next_document, manifest.next_passage
        store.insert(document, key, first, read, origin)
        record = DocumentRecord(
            document.doc_id,
            document.title,
            document.source,
            document.url,
            document.entity_ids,
            document.metadata,
        )
        texts = [(each, document.slice(each)) for each in document.passages]
        segment.add(key, first, record, texts, read.passages, read.expansion)
        self._manifest = replace(
            manifest,
            next_document=key + 1,
            next_passage=first + len(texts),
            counts=manifest.counts + Counts(1, len(texts), len(read.sentences)),
        )

    def close(self) -> None:
        """Give up what has not been committed and let the next writer in; harmless when called twice."""
        if not self._lock.held:
            return
        # Closing writes what is still in memory, which a full disk refuses; the file is closed all the same.
        if self._segment is not None:
            with suppress(OSError):
                self._segment.discard()
        if self._store is not None:
            with suppress(OSError, IndexFolderError):
                self._store.close()
        self._store = self._segment = None
        # What cannot be removed now (a failing disk may be why we are here) is removed by the next writer.
        with suppress(OSError, IndexFolderError):
            remove_leftovers(self.folder)
        self._lock.release()
        # Fails on anything but an empty folder, which a first index that was never committed leaves behind.
        with suppress(OSError):
            self.folder.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class IndexWriter(_Transaction):
    """Writes an index from nothing, or in place of the one in the folder.

    Nothing is seen by readers before `commit`. Left without one (an error, a kill), the folder's old index
    stays; a batch that could not be added closes the writer. Memory holds one batch and the words.

    Args:
        folder: Made when missing; refused when it holds other files.
        encoder: Its vectors and fingerprint go into the index.
        corpus: Name of the corpus, for the manifest.
        model_path: What `load_model` takes to load the encoder again.
        numbers: Of a part of a larger index; by default those of an index of its own.

    Raises:
        IndexFolderError: Another writer is at work, or the folder cannot be written.
    """

    def __init__(
        self,
        folder: str | Path,
        encoder: DocumentEncoder,
        *,
        corpus: str = "",
        model_path: str = "",
        numbers: Numbers | None = None,
    ) -> None:
        super().__init__(folder, encoder)
        numbers = numbers or Numbers(identity=uuid4().hex)
        try:
            with storage_errors(self.folder):
                self._path = new_store(self.folder)
                manifest = Manifest(
                    auscult_version=__version__,
                    created=now(),
                    identity=numbers.identity,
                    corpus=corpus,
                    model=ModelRecord.of(encoder, model_path),
                    generation=1,
                    counts=Counts(0, 0, 0),
                    segments=(),
                    removed=(),
                    next_document=numbers.document,
                    next_passage=numbers.passage,
                    next_segment=numbers.segment,
                    known=numbers.document,
                    bound=True,
                )
                self._begin(self._path, manifest, "rwc")
        except BaseException:
            self.close()
            raise

    def add(self, documents: Sequence[Document], *, origin: str = "") -> None:
        """Encode and write one batch.

        Args:
            documents: With ids that were not added before.
            origin: Where they were read (`IndexUpdate.ids_from`).

        Raises:
            DataError: A document or passage id comes a second time.
            ModelError: The encoder's vectors are not what it promises.
            IndexFolderError: The disk refuses.
        """
        self._encode_into(documents, origin)

    def commit(self, knowledge_base: KnowledgeBase | None = None) -> Manifest:
        """Publish what was added as the folder's index, and remove the one it replaces.

        Args:
            knowledge_base: Copied into the index, to resolve entities at query time.
        """
        store, segment = self._opened()
        with storage_errors(self.folder):
            manifest = replace(self._manifest, segments=(segment.close(),), known=self._manifest.next_document)
            if knowledge_base is not None:
                store.put_knowledge(knowledge_base.to_bytes())
                manifest = with_knowledge_file(manifest, self._path, knowledge_base)
            manifest = store.commit(manifest, last=True)
            checksum = store.checksum()
            store.close()
            publish(self.folder, self._path, manifest.generation, checksum)
            self._store = self._segment = None
            remove_leftovers(self.folder)
        return manifest


class IndexUpdate(_Transaction):
    """Adds, deletes and replaces documents of an existing index; readers see all of it or none.

    What is added becomes one more segment, with which small ones before it are joined (`index.segment.plan`). The time
    that a change takes depends on its size, and on that of the index by its logarithm. A document that could not be
    added closes the update, and the index stays as it was.

    Args:
        folder: An index.
        encoder: Must be the one that made the index; None to delete only.

    Raises:
        IndexFolderError: There is no index, its model is another, or another writer is at work.
    """

    def __init__(self, folder: str | Path, encoder: DocumentEncoder | None = None) -> None:
        # Before the lock, so that asking for an update of nothing doesn't leave a folder behind.
        reader = open_current(Path(folder))
        if encoder is not None:
            check_fingerprint(reader, encoder)
        reader.close()
        super().__init__(folder, encoder)
        try:
            with storage_errors(self.folder):
                # Again: it may have been replaced while we waited for the lock.
                reader = open_current(self.folder)
                if encoder is not None:
                    check_fingerprint(reader, encoder)
                self._path, old = reader.path, reader.manifest
                told = Current(self._path.name, old.generation, reader.checksum)
                reader.close()
                if read_current(self.folder) != told:
                    # A writer was killed between its commit and CURRENT.
                    write_current(self.folder, told)
                remove_leftovers(self.folder, old.derived_files)
                self._begin(self._path, old, "rw")
        except BaseException:
            self.close()
            raise
        self._removed = set(old.removed)

    def standing(self, document: Document) -> Standing:
        """Return whether the index lacks a document, has it, or has another of its id."""
        store, _ = self._opened()
        key = store.key_of(document.doc_id)
        if key is None:
            return "new"
        return "unchanged" if store.hash_of(key) == content_hash(document) else "changed"

    def holds(self, doc_id: str) -> bool:
        """Return whether a document has an id."""
        return self._opened()[0].key_of(doc_id) is not None

    def files(self, origin: str) -> dict[str, str]:
        """Return what is kept of the files that were read somewhere (`Store.files`)."""
        return self._opened()[0].files(origin)

    def file_origins(self) -> list[str]:
        """Return the places that something is kept of (`Store.file_origins`)."""
        return self._opened()[0].file_origins()

    def ids_from(self, origin: str) -> list[str]:
        """Return the ids of the documents that were read somewhere, in the order in which they were added."""
        return self._opened()[0].ids_from(origin)

    def add(self, documents: Sequence[Document], *, origin: str = "") -> None:
        """Encode and add documents whose ids are not in the index.

        Raises:
            DataError: A document id is already there (use `replace`), or a passage id comes a second time.
        """
        store, _ = self._opened()
        for document in documents:
            if store.key_of(document.doc_id) is not None:
                raise DataError("the id of a new document", f"'{document.doc_id}', which the index has", "use replace")
        self._encode_into(documents, origin)

    def delete(self, doc_ids: Iterable[str]) -> None:
        """Delete documents, all or none.

        Raises:
            DataError: An id is not in the index.
        """
        store, _ = self._opened()
        keys = {doc_id: self._key(doc_id) for doc_id in doc_ids}
        with storage_errors(self.folder):
            for key in keys.values():
                self._manifest = replace(self._manifest, counts=self._manifest.counts - store.delete(key))
        self._removed.update(keys.values())

    def replace(self, documents: Sequence[Document], *, origin: str = "") -> None:
        """Add documents, in place of those of the same ids where there are any."""
        store, _ = self._opened()
        self.delete([document.doc_id for document in documents if store.key_of(document.doc_id) is not None])
        self.add(documents, origin=origin)

    def rewrite(self, doc_id: str, change: Callable[[Document], Document], *, origin: str) -> None:
        """Write a document once more, changed in what is said of it; its text and its vectors stay.

        Args:
            doc_id: Of a document of the index.
            change: Returns it as it is to be; with another id it is a copy.
            origin: Where it was read.

        Raises:
            DataError: No document has the id.
        """
        key = self._key(doc_id)
        try:
            document, read = self._opened()[0].whole(key)
            document = change(document)
            if document.doc_id == doc_id:
                self.delete([doc_id])
            with storage_errors(self.folder):
                self._insert(document, read, origin)
        except BaseException:
            self.close()
            raise

    def _key(self, doc_id: str) -> int:
        key = self._opened()[0].key_of(doc_id)
        if key is None:
            raise DataError("the id of a document in the index", f"'{doc_id}'", "check the id")
        return key

    def commit(self, knowledge_base: KnowledgeBase | None = None) -> Manifest:
        """Publish the changed index.

        Args:
            knowledge_base: In place of the index' own, which stays where none is given and does not know what new
                documents are about (`GenerationReader.newcomers`).
        """
        store, segment = self._opened()
        with storage_errors(self.folder):
            records = [*self._manifest.segments, segment.close()]
            segments = [Segment(self._path, record, self._removed) for record in records]
            manifest = settle(segments, self._removed, self._path, self._manifest)
            if knowledge_base is not None:
                store.put_knowledge(knowledge_base.to_bytes())
                manifest = with_knowledge_file(manifest, self._path, knowledge_base)
                manifest = replace(manifest, known=manifest.next_document)
            sync_directory(self._path)
            manifest = store.commit(manifest)
            write_current(self.folder, Current(self._path.name, manifest.generation, store.checksum()))
            store.write_through()
            store.close()
            self._store = self._segment = None
            remove_leftovers(self.folder, manifest.derived_files)
        return manifest


def settle(
    segments: Sequence[Segment],
    removed: Collection[int],
    folder: Path,
    manifest: Manifest,
    at_hand: Callable[[Segment], Segment] = lambda segment: segment,
) -> Manifest:
    """Join segments as is due, and return the next generation's manifest; its counts are those of the one before.

    Args:
        segments: Of all documents, in order, without those that were removed.
        removed: Keys of documents that were removed.
        folder: Where joined segments are written.
        manifest: Of the generation before.
        at_hand: Called with each segment that is to be joined; returns one that is read quickly.
    """
    records, left = [], []
    for group in plan([(len(each.keys), len(each.living_rows)) for each in segments]):
        first, *others = (segments[number] for number in group)
        if not others and 2 * len(first.living_rows) >= len(first.keys):
            records.append(first.record)
            left.append(first.keys)
            continue
        path = folder / f"segment-{manifest.next_segment:06d}"
        manifest = replace(manifest, next_segment=manifest.next_segment + 1)
        records.append(merge([*map(at_hand, (first, *others))], path, manifest.model.dim))
    records = [each for each in records if each.documents] or records[-1:]
    held = set(np.concatenate([np.zeros(0, np.int64), *left]).tolist())
    return replace(
        manifest,
        generation=manifest.generation + 1,
        created=now(),
        segments=tuple(records),
        removed=tuple(sorted(held.intersection(removed))),
    )


def with_knowledge_file(manifest: Manifest, path: Path, known: KnowledgeBase) -> Manifest:
    """Write a knowledge base into a store's folder, and return a manifest that names its file.

    Args:
        manifest: Of the store.
        path: Of the folder.
        known: As the store has it.
    """
    written = write_knowledge(path / f"knowledge-{manifest.next_segment:06d}", known)
    return replace(manifest, knowledge_file=written, next_segment=manifest.next_segment + 1)


def check_vectors(model: ModelRecord, document: Document, vectors: FloatArray) -> None:
    """Refuse sentence vectors of a wrong shape, or that are not of unit length."""
    expected = (len(document.sentences), model.dim)
    if vectors.shape != expected:
        raise _wrong_vectors(model, document, f"shape {expected}", f"shape {vectors.shape}")
    lengths = np.linalg.norm(vectors, axis=1)
    # Written so that NaN counts as wrong.
    if not np.all(np.abs(lengths - 1) <= _UNIT_TOLERANCE):
        worst = lengths[np.argmax(np.nan_to_num(np.abs(lengths - 1), nan=np.inf))]
        raise _wrong_vectors(model, document, "unit length", f"length {worst:.4g}")


def now() -> str:
    """Return the time: UTC, ISO 8601."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _wrong_vectors(model: ModelRecord, document: Document, expected: str, got: str) -> ModelError:
    return ModelError(
        f"sentence vectors of {expected} from model '{model.name}'",
        f"{got} for document '{document.doc_id}'",
        "use another model: this one cannot be indexed",
    )
