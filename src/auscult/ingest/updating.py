"""Add documents to an index, replace changed ones, and remove them."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from auscult.documents.document import Document
from auscult.encoders.contract import DocumentEncoder
from auscult.errors import DataError
from auscult.files.limits import check_memory
from auscult.index.manifest import Counts, Manifest
from auscult.index.writer import IndexUpdate
from auscult.ingest.building import batches
from auscult.ingest.file_records import NO_PLACES, REMOVED, FileRecord, digest_of_id
from auscult.ingest.gathered import Gathered


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What an update of an index did.

    Attributes:
        new: Documents that the index did not have.
        changed: Documents that took the place of others of the same ids.
        unchanged: Documents that the index had; they were not encoded.
        gone: Ids of documents that came from the same places before and no more.
        removed: Documents of tables and corpora that were removed from the index before, and stay so.
        counts: What the index holds now.
        seconds: Wall-clock time.
    """

    new: int
    changed: int
    unchanged: int
    gone: tuple[str, ...]
    removed: int
    counts: Counts
    seconds: float


def update_index(
    sources: Mapping[str, Iterable[Document]],
    encoder: DocumentEncoder | None,
    folder: str | Path,
    *,
    prune: bool = False,
    gathered: Gathered | None = None,
    files: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    batch_size: int = 32,
    progress: Callable[[Counts], None] | None = None,
) -> UpdateReport:
    """Add new documents to an index, replace changed ones, and find the ones that are gone.

    Args:
        sources: Documents by where they are read; streamed.
        encoder: The model that made the index; None where the sources give no documents.
        folder: The index folder. Until the end readers see it as it was, and after a kill too.
        prune: Remove documents that are gone.
        gathered: What reading the files found out besides their new documents.
        files: Records of the files of each origin (`ingest.files`), to keep in the index.
        batch_size: Documents encoded at once.
        progress: Called with what the index will hold, after every batch.

    Raises:
        DataError: An id comes twice, or too much memory was taken (`files.limits`).
        IndexFolderError: There is no index, another model made it, or another writer is at work.
    """
    begun = time.perf_counter()
    restores = gathered is not None
    gathered = gathered or Gathered()
    with IndexUpdate(folder, encoder) as update:
        # As they are now: documents may have been removed while files were read.
        marks = update.store.files(REMOVED) if restores else {}
        removed = {mark: "" for mark in marks if mark not in gathered.restored}
        comparison = _Comparison(update, gathered, removed.keys())
        for rewrite in gathered.rewrites:
            if update.store.key_of(rewrite.source) is not None:
                update.rewrite(rewrite.source, rewrite.apply, origin=rewrite.origin)
        for origin, documents in sources.items():
            for batch in batches(comparison.differing(documents), batch_size):
                check_memory()
                update.replace(batch, origin=origin)
                check_memory([document.doc_id for document in batch])
                if progress is not None:
                    progress(update.counts)
        stale, gone = comparison.stale(), comparison.gone(sources)
        update.delete(stale + gone if prune else stale)
        files = {**files, **({REMOVED: removed} if removed != marks else {})}
        new_records = {place: records for place, records in files.items() if update.store.files(place) != records}
        for place, records in new_records.items():
            update.put_files(place, records)
        standings = comparison.standings
        if standings["new"] or standings["changed"] or gathered.rewrites or stale or (prune and gone) or new_records:
            update.commit()
        counts = update.counts
    return UpdateReport(
        new=standings["new"],
        changed=standings["changed"],
        unchanged=standings["unchanged"],
        gone=tuple(gone),
        removed=standings["removed"],
        counts=counts,
        seconds=time.perf_counter() - begun,
    )


class _Comparison:
    """Compares the documents of the sources with those of an index.

    Args:
        update: The update of the index.
        gathered: What reading the files found out.
        removed: Digests of ids of removed documents, which stay out of the index.

    Attributes:
        standings: Numbers of documents that are "new", "changed", "unchanged" or "removed".
    """

    def __init__(self, update: IndexUpdate, gathered: Gathered, removed: Collection[str]) -> None:
        self._update = update
        self._gathered = gathered
        self._removed = removed
        self._seen = set(gathered.kept)
        self._rewritten = {rewrite.doc_id for rewrite in gathered.rewrites}
        renewed = self._rewritten & self._seen
        self.standings = Counter(unchanged=len(self._seen) - len(renewed), changed=len(renewed))

    def differing(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield new and changed documents, and count all.

        Raises:
            DataError: An id comes twice.
        """
        for document in documents:
            if document.doc_id in self._seen:
                name = f"'{document.doc_id}' a second time"
                raise DataError("every document id once", name, "give each document an id of its own")
            self._seen.add(document.doc_id)
            if self._removed and digest_of_id(document.doc_id) in self._removed:
                self.standings["removed"] += 1
                continue
            standing = self._update.standing(document)
            self.standings[standing] += 1
            if standing != "unchanged":
                yield document

    def stale(self) -> list[str]:
        """Return the ids of documents whose file has changed or whose text another has, after all were compared."""
        return sorted(filter(self._is_indexed, self._gathered.dropped - self._seen))

    def gone(self, origins: Iterable[str]) -> list[str]:
        """Return the ids of documents that their sources no longer have, after all were compared."""
        indexed = (doc_id for origin in origins for doc_id in self._update.store.ids_from(origin))
        unseen = [doc_id for doc_id in indexed if doc_id not in self._seen]
        missing = self._gathered.missing - self._seen
        copies = self._rewritten - self._seen - missing
        gone = dict.fromkeys([*unseen, *sorted(filter(self._is_indexed, missing))])
        return [doc_id for doc_id in gone if doc_id not in self._gathered.dropped and doc_id not in copies]

    def _is_indexed(self, doc_id: str) -> bool:
        return self._update.store.key_of(doc_id) is not None


def remove_documents(folder: str | Path, doc_ids: Collection[str]) -> Manifest:
    """Remove documents from an index, so that reading their files again does not bring them back.

    Raises:
        DataError: An id is not in the index.
        IndexFolderError: There is no index, or another writer is at work.
    """
    with IndexUpdate(folder) as update:
        remove_from(update, doc_ids)
        return update.commit()


def remove_from(update: IndexUpdate, doc_ids: Collection[str]) -> None:
    """Remove documents as `remove_documents` does, in an update that the caller commits.

    Raises:
        DataError: An id is not in the index.
    """
    names = [json.dumps(doc_id) for doc_id in doc_ids]
    update.delete(doc_ids)
    removed = [
        document
        for origin in update.store.file_origins()
        for record in (update.store.files(origin).values() if origin not in NO_PLACES else ())
        if any(name in record for name in names)
        for document in FileRecord.from_json(record).said
        if document.doc_id in doc_ids
    ]
    marks = {*map(digest_of_id, doc_ids), *(document.text for document in removed)}
    update.put_files(REMOVED, update.store.files(REMOVED) | dict.fromkeys(sorted(marks), ""))
