"""Keeping an index well: what can be derived is derived again, what was removed is left behind, a copy is put away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from auscult.concepts import KnowledgeBase
from auscult.errors import IndexFolderError
from auscult.index.blocks import BlockFile
from auscult.index.expansion import from_bytes
from auscult.index.manifest import FORMAT_VERSION, STORE, Manifest, SegmentRecord
from auscult.index.reader import GenerationReader, open_current
from auscult.index.segment import Segment, SegmentWriter, merge
from auscult.index.storage import (
    Current,
    FolderLock,
    current_store,
    new_store,
    prepare_folder,
    publish,
    read_current,
    remove_leftovers,
    storage_errors,
    sync_directory,
    write_current,
    write_synced,
)
from auscult.index.store import Store
from auscult.index.titles import with_subjects
from auscult.index.writer import with_knowledge_file


def optimize(folder: str | Path) -> Manifest:
    """Write an index again without what was removed from it: then its bytes are gone, and all is in one segment.

    Takes the space of another index until the end. Readers go on; while one that opened the old one does, its space is
    not free.

    Raises:
        IndexFolderError: There is no index, it is damaged, or a writer is at work.
    """
    with _locked(Path(folder)) as place:
        reader = open_current(place)
        path = new_store(place)
        reader.store.copy_into(path / STORE, compact=True)
        old = reader.manifest
        segment = merge(reader.segments, path / "segment-000001", old.model.dim)
        known = _known_of_what_is_left(reader)
        checksum = reader.checksum
        manifest = replace(old, generation=old.generation + 1, segments=(segment,), removed=(), next_segment=2)
        if known is not None:
            manifest = with_knowledge_file(manifest, path, known)
        reader.close()
        store = Store(path / STORE, "rw")
        if store.checksum() != checksum:
            raise store.damaged("a copy of another generation")
        # Where nothing was brought it stays as it is; and where an earlier version wrote it, which did not note what.
        if known is not None and known.brought:
            store.put_knowledge(known.to_bytes())
            manifest = replace(manifest, known=manifest.next_document)
        manifest = store.commit(manifest, last=True)
        checksum = store.checksum()
        store.close()
        publish(place, path, manifest.generation, checksum)
        remove_leftovers(place)
    return manifest


def _known_of_what_is_left(reader: GenerationReader) -> KnowledgeBase | None:
    """Return the knowledge base without what removed documents brought; None where the index has none."""
    known = _saved_knowledge(reader.store, reader.path)
    if known is None or not known.brought:
        return known
    return with_subjects(known.vocabulary, map(reader.document_record, reader.documents.tolist()))


def _saved_knowledge(store: Store, path: Path) -> KnowledgeBase | None:
    """Return the knowledge base that a store has; None where it has none."""
    saved = store.knowledge()
    return None if saved is None else KnowledgeBase.from_bytes(saved, f"in the index at {path}")


def backup(folder: str | Path, target: str | Path) -> Manifest:
    """Copy an index as it is now, whatever a writer does; the copy is an index, and is put back by copying its folder.

    Args:
        folder: Of the index.
        target: For the copy: a new folder, or an earlier copy, which it replaces.

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
    """Derive again, from the store, every segment that is missing, damaged or of other documents than the store's.

    All segments of an index in an earlier format are derived again. So is the file of the knowledge base where it is
    missing or damaged, or an earlier version wrote none.

    Returns:
        Names of the segments that were derived again, and of the file of the knowledge base where that was.

    Raises:
        IndexFolderError: There is no index, its store is damaged or misses commits, or a writer is at work.
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
            old = manifest = store.manifest()
            segments = []
            for record in old.segments:
                if _is_whole(store, path, record, old):
                    segments.append(record)
                    continue
                fresh = path / f"segment-{manifest.next_segment:06d}"
                manifest = replace(manifest, next_segment=manifest.next_segment + 1)
                segments.append(_derive(store, fresh, record, old.model.dim))
            renewed = [each.name for each, now in zip(old.segments, segments, strict=True) if each != now]
            manifest, derived = _with_whole_knowledge(store, path, manifest)
            renewed += derived
            if renewed:
                sync_directory(path)
                # Of a segment that was derived again, removed documents are gone.
                kept = [each for each in old.segments if each.name not in renewed]
                removed = tuple(key for key in old.removed if any(each.first <= key <= each.last for each in kept))
                manifest = replace(
                    manifest,
                    generation=old.generation + 1,
                    segments=tuple(segments),
                    removed=removed,
                    format_version=FORMAT_VERSION,
                )
                manifest = store.commit(manifest)
            told = Current(current.store, manifest.generation, store.checksum())
            if told != current:
                write_current(place, told)
            if renewed:
                store.write_through()
        finally:
            store.close()
        remove_leftovers(place, manifest.derived_files)
    return renewed


def _with_whole_knowledge(store: Store, path: Path, manifest: Manifest) -> tuple[Manifest, list[str]]:
    """Derive the file of the knowledge base again where it is not whole.

    Returns:
        The manifest with the file, and the name of what was derived again; none where it was whole.
    """
    known = None if _knowledge_is_whole(store, path, manifest) else _saved_knowledge(store, path)
    if known is None:
        return manifest, []
    fresh = with_knowledge_file(manifest, path, known)
    lost = manifest.knowledge_file
    return fresh, [lost.name] if lost is not None else sorted(fresh.derived_files - manifest.derived_files)


def _knowledge_is_whole(store: Store, path: Path, manifest: Manifest) -> bool:
    """Return whether the file of the knowledge base is whole, or there is no knowledge base."""
    if manifest.knowledge_file is None:
        return store.knowledge() is None
    try:
        BlockFile(path / manifest.knowledge_file.name, manifest.knowledge_file.end).verify()
    except (FileNotFoundError, IndexFolderError):
        return False
    return True


def _is_whole(store: Store, path: Path, record: SegmentRecord, manifest: Manifest) -> bool:
    if manifest.format_version < FORMAT_VERSION:
        return False
    try:
        segment = Segment(path, record, manifest.removed)
        segment.file.verify()
    except (FileNotFoundError, IndexFolderError):
        return False
    held: list[int] = segment.keys[segment.living].tolist()
    return held == store.keys(record.first, record.last)


def _derive(store: Store, path: Path, record: SegmentRecord, dim: int) -> SegmentRecord:
    writer = SegmentWriter(path, dim)
    try:
        for key in store.keys(record.first, record.last):
            document = store.document(key)
            passages = [store.passage(document.first + number) for number in range(document.passages)]
            texts = [(each.passage, each.text) for each in passages]
            terms = [each.terms for each in passages]
            expansion = from_bytes(terms) if any(terms) else None
            vectors = [each.vector for each in passages]
            writer.add(key, document.first, document.record, texts, vectors, expansion)
        return replace(writer.close(), first=record.first, last=record.last)
    except BaseException:
        writer.discard()
        raise


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """Lock an index for one writer, and yield its folder."""
    if current_store(folder) is None and not folder.is_dir():
        open_current(folder)
    with storage_errors(folder):
        lock = FolderLock(folder)
    try:
        with storage_errors(folder):
            yield folder
    finally:
        lock.release()
