"""Build and change an index. A kill at any moment leaves either the old or the new generation, complete."""

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

from auscult.encoders.contract import DocumentEncoder, EncodedDocument, FloatArray
from auscult.encoders.passages import encode_passages
from auscult.errors import DataError, IndexFolderError, ModelError
from auscult.index.knowledge import write_knowledge
from auscult.index.manifest import STORE, Counts, Manifest, ModelRecord, Numbers
from auscult.index.reader import open_current
from auscult.index.segment import Segment, SegmentWriter, merge, plan
from auscult.index.storage import (
    Current,
    lock_folder,
    new_store,
    prepare_folder,
    publish,
    read_current,
    remove_leftovers,
    storage_errors,
    sync,
    write_current,
)
from auscult.index.store import DocumentRecord, Store, content_hash
from auscult.version import __version__

if TYPE_CHECKING:
    from auscult.concepts import KnowledgeBase
    from auscult.documents import Document

#: Largest deviation of a sentence vector's length from one.
_UNIT_TOLERANCE = 1e-3
#: A writer skips a random number of passage keys, up to this, so that diverged copies get different keys. There are
#: 2**63 keys.
_MOST_SKIPPED = 2**31

Standing = Literal["new", "changed", "unchanged"]


class _Transaction:
    """The common part of both writers: the lock, the store, a segment for new documents, and closing."""

    def __init__(self, folder: str | Path, encoder: DocumentEncoder | None) -> None:
        self.folder = Path(folder)
        self.encoder = encoder
        self._store: Store | None = None
        self._segment: SegmentWriter | None = None
        self._manifest: Manifest
        with storage_errors(self.folder):
            prepare_folder(self.folder)
            self._lock = lock_folder(self.folder)

    @property
    def counts(self) -> Counts:
        """Numbers of documents, passages and sentences, including what was added so far."""
        return self._manifest.counts

    def _begin(self, path: Path, manifest: Manifest, mode: str) -> None:
        """Open a store for writing, with a segment for new documents."""
        self._store = Store(path / STORE, mode)
        self._store.identity = manifest.identity
        if mode == "rw":
            if self._store.manifest() != manifest:
                raise self._store.damaged("another generation than a moment ago")
            # A copy of the index that is changed as well gets other keys, so their rows cannot be confused.
            manifest = replace(manifest, next_passage=manifest.next_passage + secrets.randbelow(_MOST_SKIPPED))
        self._manifest = replace(manifest, next_segment=manifest.next_segment + 1)
        self._segment = SegmentWriter(path / f"segment-{manifest.next_segment:06d}", manifest.model.dim)

    @property
    def store(self) -> Store:
        """The store with the changes so far, to read from."""
        return self._opened()[0]

    def _opened(self) -> tuple[Store, SegmentWriter]:
        if self._store is None or self._segment is None:
            raise RuntimeError("this index writer has been closed")
        return self._store, self._segment

    def put_files(self, origin: str, records: Mapping[str, str]) -> None:
        """Replace the records of the files of an origin (`Store.put_files`)."""
        with storage_errors(self.folder):
            self.store.put_files(origin, records)

    def add(self, documents: Sequence[Document], *, origin: str = "") -> None:
        """Encode and write one batch.

        Args:
            documents: Documents with new ids.
            origin: Where they were read (`Store.ids_from`).

        Raises:
            DataError: A document or passage id is not unique.
            ModelError: The encoder's vectors have a wrong shape or length.
            IndexFolderError: The index cannot be written.
        """
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
            # The batch may be half-written, and the documents it replaces deleted, so no commit may follow.
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
        """Discard what was not committed, and release the lock. A second call has no effect."""
        if not self._lock.held:
            return
        # Closing writes buffered data, which fails on a full disk; the file is closed nevertheless.
        if self._segment is not None:
            with suppress(OSError):
                self._segment.file.discard()
        if self._store is not None:
            with suppress(OSError, IndexFolderError):
                self._store.close()
        self._store = self._segment = None
        # What cannot be deleted now, for instance on a failing disk, is deleted by the next writer.
        with suppress(OSError, IndexFolderError):
            remove_leftovers(self.folder)
        self._lock.release()
        # Succeeds only for an empty folder, which is left by a first index that was never committed.
        with suppress(OSError):
            self.folder.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class IndexWriter(_Transaction):
    """Builds a new index, replacing one that is in the folder.

    Readers see nothing of it before `commit`. Without a commit (after an error or a kill), the old index stays. A batch
    that cannot be added closes the writer. Memory: one batch and the words.

    Args:
        folder: The index folder; created if missing, refused if it has other files.
        encoder: The encoder for the index.
        corpus: Name of the corpus, for the manifest.
        model_path: Argument for `load_model` to load the encoder again.
        numbers: First numbers of a part of a larger index; by default those of a separate index.

    Raises:
        IndexFolderError: Another process is writing the index, or the folder cannot be written.
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
                )
                self._begin(self._path, manifest, "rwc")
        except BaseException:
            self.close()
            raise

    def commit(self, knowledge_base: KnowledgeBase | None = None) -> Manifest:
        """Publish the new index, and delete the one that it replaces.

        Args:
            knowledge_base: The knowledge base to copy into the index, which resolves entities in queries.
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
    """Adds, deletes and replaces documents of an existing index. Readers see either all of it or nothing.

    New documents become a segment, which is merged with small ones before it (`index.segment.plan`). The time of a
    change depends on its size, and logarithmically on the size of the index. A document that cannot be added closes the
    update, and the index stays unchanged.

    Args:
        folder: The index folder.
        encoder: The encoder of the index; None to delete only.

    Raises:
        IndexFolderError: There is no index, it has another model, or another process is writing it.
    """

    def __init__(self, folder: str | Path, encoder: DocumentEncoder | None = None) -> None:
        # Before the lock, so that an update of a missing index does not create a folder.
        reader = open_current(Path(folder))
        if encoder is not None:
            reader.check_model(encoder)
        reader.close()
        super().__init__(folder, encoder)
        try:
            with storage_errors(self.folder):
                # Again, as it may have been replaced before the lock was acquired.
                reader = open_current(self.folder)
                if encoder is not None:
                    reader.check_model(encoder)
                self._path, old = reader.path, reader.manifest
                current = Current(self._path.name, old.generation, reader.checksum)
                reader.close()
                if read_current(self.folder) != current:
                    # A writer was killed between its commit and CURRENT.
                    write_current(self.folder, current)
                remove_leftovers(self.folder, old.derived_files)
                self._begin(self._path, old, "rw")
        except BaseException:
            self.close()
            raise
        self._removed = set(old.removed)

    def standing(self, document: Document) -> Standing:
        """Return whether a document is new, changed or unchanged compared with the index."""
        key = self.store.key_of(document.doc_id)
        if key is None:
            return "new"
        return "unchanged" if self.store.hash_of(key) == content_hash(document) else "changed"

    def add(self, documents: Sequence[Document], *, origin: str = "") -> None:
        """Encode and add documents whose ids are not in the index.

        Raises:
            DataError: A document id is already in the index (use `replace`), or a passage id is not unique.
        """
        for document in documents:
            if self.store.key_of(document.doc_id) is not None:
                raise DataError("the id of a new document", f"'{document.doc_id}', which the index has", "use replace")
        super().add(documents, origin=origin)

    def delete(self, doc_ids: Iterable[str]) -> None:
        """Delete documents: all of them, or none after an error.

        Raises:
            DataError: An id is not in the index.
        """
        keys = {doc_id: self._key(doc_id) for doc_id in doc_ids}
        with storage_errors(self.folder):
            for key in keys.values():
                self._manifest = replace(self._manifest, counts=self._manifest.counts - self.store.delete(key))
        self._removed.update(keys.values())

    def replace(self, documents: Sequence[Document], *, origin: str = "") -> None:
        """Add documents, replacing those with the same ids."""
        self.delete([document.doc_id for document in documents if self.store.key_of(document.doc_id) is not None])
        self.add(documents, origin=origin)

    def rewrite(self, doc_id: str, change: Callable[[Document], Document], *, origin: str) -> None:
        """Change the title or metadata of a document without encoding it again.

        Args:
            doc_id: Id of a document in the index.
            change: Returns the changed document; with another id, it is added as a copy.
            origin: Where it was read.

        Raises:
            DataError: The index has no such document.
        """
        key = self._key(doc_id)
        try:
            document, read = self.store.whole(key)
            document = change(document)
            if document.doc_id == doc_id:
                self.delete([doc_id])
            with storage_errors(self.folder):
                self._insert(document, read, origin)
        except BaseException:
            self.close()
            raise

    def _key(self, doc_id: str) -> int:
        key = self.store.key_of(doc_id)
        if key is None:
            raise DataError("the id of a document in the index", f"'{doc_id}'", "check the id")
        return key

    def commit(self, knowledge_base: KnowledgeBase | None = None) -> Manifest:
        """Publish the changed index.

        Args:
            knowledge_base: Replaces the index' own. By default that stays, without the entities of new documents
                (`GenerationReader.newcomers`).
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
            sync(self._path)
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
    """Merge segments where due, and return the manifest of the next generation, with the counts of the given one.

    Args:
        segments: The segments of all documents, in order.
        removed: Keys of deleted documents.
        folder: Folder for merged segments.
        manifest: The current manifest.
        at_hand: Called with each segment before it is merged; returns a segment that can be read fast.
    """
    records, kept_arrays = [], []
    living = [int(np.count_nonzero(segment.living)) for segment in segments]
    for group in plan([(len(segment.keys), count) for segment, count in zip(segments, living, strict=True)]):
        first, *others = (segments[number] for number in group)
        if not others and 2 * living[group[0]] >= len(first.keys):
            records.append(first.record)
            kept_arrays.append(first.keys)
            continue
        path = folder / f"segment-{manifest.next_segment:06d}"
        manifest = replace(manifest, next_segment=manifest.next_segment + 1)
        records.append(merge([*map(at_hand, (first, *others))], path, manifest.model.dim))
    records = [record for record in records if record.documents] or records[-1:]
    kept_keys = set(np.concatenate([np.zeros(0, np.int64), *kept_arrays]).tolist())
    return replace(
        manifest,
        generation=manifest.generation + 1,
        created=now(),
        segments=tuple(records),
        removed=tuple(sorted(kept_keys.intersection(removed))),
    )


def with_knowledge_file(manifest: Manifest, path: Path, known: KnowledgeBase) -> Manifest:
    """Write the file of a knowledge base to a store's folder, and return a manifest that names it.

    Args:
        manifest: The manifest of the store.
        path: The store's folder.
        known: The knowledge base that the store has.
    """
    written = write_knowledge(path / f"knowledge-{manifest.next_segment:06d}", known)
    return replace(manifest, knowledge_file=written, next_segment=manifest.next_segment + 1)


def check_vectors(model: ModelRecord, document: Document, vectors: FloatArray) -> None:
    """Refuse sentence vectors with a wrong shape or without unit length."""
    shape = (len(document.sentences), model.dim)
    if vectors.shape != shape:
        expected, got = f"shape {shape}", f"shape {vectors.shape}"
    else:
        lengths = np.linalg.norm(vectors, axis=1)
        # Written so that NaN counts as wrong.
        if np.all(np.abs(lengths - 1) <= _UNIT_TOLERANCE):
            return
        worst = lengths[np.argmax(np.nan_to_num(np.abs(lengths - 1), nan=np.inf))]
        expected, got = "unit length", f"length {worst:.4g}"
    raise ModelError(
        f"sentence vectors of {expected} from model '{model.name}'",
        f"{got} for document '{document.doc_id}'",
        "use another model: this one cannot be indexed",
    )


def now() -> str:
    """Return the current time in UTC, as ISO 8601."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
