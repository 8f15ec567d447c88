"""Maintenance of an index: rewrite it without deleted documents, repair derived data, and make backups."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.errors import IndexFolderError
from auscult.index.blocks import BlockFile
from auscult.index.expansion import from_bytes
from auscult.index.manifest import STORE, KnowledgeRecord, Manifest, SegmentRecord
from auscult.index.reader import open_current
from auscult.index.segment import Segment, SegmentWriter, merge
from auscult.index.storage import (
    Current,
    current_store,
    lock_folder,
    new_store,
    prepare_folder,
    publish,
    read_current,
    remove_leftovers,
    storage_errors,
    sync,
    write_current,
    write_synced,
)
from auscult.index.store import Store
from auscult.index.titles import with_subjects
from auscult.index.writer import with_knowledge_file


def optimize(folder: str | Path) -> Manifest:
    """Rewrite the index without deleted documents, in one segment. Their bytes are gone afterwards.

    It needs the space of a second index until the end. Searches continue meanwhile; the old space becomes free when the
    last reader of the old index is closed.

    Raises:
        IndexFolderError: There is no index, it is damaged, or another process is writing it.
    """
    with _locked(Path(folder)) as place:
        reader = open_current(place)
        path = new_store(place)
        reader.store.copy_into(path / STORE, compact=True)
        old = reader.manifest
        segment = merge(reader.segments, path / "segment-000001", old.model.dim)
        known = _saved_knowledge(reader.store, reader.path)
        grown = known is not None and bool(known.brought)
        if known is not None and grown:
            # Without what deleted documents have added.
            known = with_subjects(known.vocabulary, map(reader.document_record, reader.documents.tolist()))
        checksum = reader.checksum
        manifest = replace(old, generation=old.generation + 1, segments=(segment,), removed=(), next_segment=2)
        if known is not None:
            manifest = with_knowledge_file(manifest, path, known)
        reader.close()
        store = Store(path / STORE, "rw")
        if store.checksum() != checksum:
            raise store.damaged("a copy of another generation")
        # Replaced only if documents have added to it.
        if known is not None and grown:
            store.put_knowledge(known.to_bytes())
            manifest = replace(manifest, known=manifest.next_document)
        manifest = store.commit(manifest, last=True)
        checksum = store.checksum()
        store.close()
        publish(place, path, manifest.generation, checksum)
        remove_leftovers(place)
    return manifest


def _saved_knowledge(store: Store, path: Path) -> KnowledgeBase | None:
    """Return the knowledge base that a store has; None where it has none."""
    saved = store.knowledge()
    return None if saved is None else KnowledgeBase.from_bytes(saved, f"in the index at {path}")


def backup(folder: str | Path, target: str | Path) -> Manifest:
    """Copy an index as it is now, also during writes. The copy is an index; copy its folder back to restore it.

    Args:
        folder: The index folder.
        target: A new folder, or one with an earlier copy, which is replaced.

    Raises:
        IndexFolderError: There is no index, it is damaged, or the copy cannot be written.
    """
    reader = open_current(Path(folder))
    with storage_errors(Path(target)):
        prepare_folder(Path(target))
    with _locked(Path(target)) as place:
        path = new_store(place)
        reader.store.copy_into(path / STORE, compact=False)
        for segment in reader.segments:
            write_synced(path / segment.record.name, segment.file.content())
        if (record := reader.manifest.knowledge_file) is not None:
            write_synced(path / record.name, BlockFile(reader.path / record.name, record.end).content())
        publish(place, path, reader.manifest.generation, reader.checksum)
        remove_leftovers(place)
    reader.close()
    return reader.manifest


def repair(folder: str | Path) -> list[str]:
    """Rebuild from the store every segment that is missing, damaged or does not match the store's documents.

    The file of the knowledge base is rebuilt if it is missing or damaged.

    Returns:
        Names of the rebuilt segments, and of the file of the knowledge base if it was rebuilt.

    Raises:
        IndexFolderError: There is no index, its store is damaged or misses commits, or another process is writing it.
    """
    with _locked(Path(folder)) as place:
        current = read_current(place)
        if current is None:
            open_current(place)
            return []
        path = place / current.store
        store = Store(path / STORE, "rw")
        try:
            current.check(store.manifest(), store.checksum(), store.path)
            for _ in store.verify():
                pass
            manifest, renewed = _with_whole_segments(store, path, store.manifest())
            if (lost := manifest.knowledge_file) is not None and not _is_whole_file(path, lost):
                known = _saved_knowledge(store, path)
                if known is not None:
                    manifest = with_knowledge_file(manifest, path, known)
                    renewed.append(lost.name)
            if renewed:
                sync(path)
                manifest = store.commit(replace(manifest, generation=manifest.generation + 1))
            new_current = Current(current.store, manifest.generation, store.checksum())
            if new_current != current:
                write_current(place, new_current)
            if renewed:
                store.write_through()
        finally:
            store.close()
        remove_leftovers(place, manifest.derived_files)
    return renewed


def _with_whole_segments(store: Store, path: Path, manifest: Manifest) -> tuple[Manifest, list[str]]:
    """Rebuild the segments that are missing or damaged, or do not match the documents of the store.

    Returns:
        The manifest with the new segments, and the names of those that they replace.
    """
    intact = [record for record in manifest.segments if _is_whole(store, path, record, manifest)]
    renewed = [record.name for record in manifest.segments if record not in intact]
    if not renewed:
        return manifest, []
    segments, number = list[SegmentRecord](), manifest.next_segment
    for record in manifest.segments:
        if record in intact:
            segments.append(record)
            continue
        segments.append(_derive(store, path / f"segment-{number:06d}", record, manifest.model.dim))
        number += 1
    # Rebuilt segments have no deleted documents.
    removed = tuple(key for key in manifest.removed if any(record.first <= key <= record.last for record in intact))
    return replace(manifest, segments=tuple(segments), removed=removed, next_segment=number), renewed


def _is_whole_file(path: Path, record: KnowledgeRecord) -> bool:
    """Return whether a file of derived data is there and undamaged."""
    try:
        BlockFile(path / record.name, record.end).verify()
    except (FileNotFoundError, IndexFolderError):
        return False
    return True


def _is_whole(store: Store, path: Path, record: SegmentRecord, manifest: Manifest) -> bool:
    try:
        segment = Segment(path, record, manifest.removed)
        segment.file.verify()
    except (FileNotFoundError, IndexFolderError):
        return False
    keys: list[int] = segment.keys[segment.living].tolist()
    return keys == store.keys(record.first, record.last)


def _derive(store: Store, path: Path, record: SegmentRecord, dim: int) -> SegmentRecord:
    writer = SegmentWriter(path, dim)
    try:
        for key in store.keys(record.first, record.last):
            document = store.document(key)
            passages = [store.passage(document.first + number) for number in range(document.passages)]
            texts = [(passage.passage, passage.text) for passage in passages]
            terms = [passage.terms for passage in passages]
            expansion = from_bytes(terms) if any(terms) else None
            vectors = [passage.vector for passage in passages]
            writer.add(key, document.first, document.record, texts, vectors, expansion)
        return replace(writer.close(), first=record.first, last=record.last)
    except BaseException:
        writer.file.discard()
        raise


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """Lock an index folder for one writer, and yield it."""
    if current_store(folder) is None and not folder.is_dir():
        open_current(folder)
    with storage_errors(folder):
        lock = lock_folder(folder)
    try:
        with storage_errors(folder):
            yield folder
    finally:
        lock.release()
