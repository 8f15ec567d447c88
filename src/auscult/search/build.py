"""From a corpus to an index: batches of documents through an encoder into a writer."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from auscult.concepts import KnowledgeBase
from auscult.documents import Document
from auscult.errors import DataError
from auscult.files.limits import check_memory
from auscult.index import Counts, IndexUpdate, IndexWriter
from auscult.index.titles import subject
from auscult.interfaces import DocumentEncoder

#: A batch ends early when it holds so many sentences: memory is bounded by sentences, not by documents.
_SENTENCES_PER_BATCH = 8_192


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What an index build did.

    Attributes:
        counts: Documents, passages and sentences written.
        seconds: Wall-clock time from the first document to the committed index.
    """

    counts: Counts
    seconds: float

    @property
    def sentences_per_second(self) -> float:
        """Reading, encoding and writing together."""
        return self.counts.sentences / self.seconds


def build_index(
    documents: Iterable[Document],
    encoder: DocumentEncoder,
    folder: str | Path,
    *,
    knowledge_base: KnowledgeBase | None = None,
    corpus: str = "",
    model_path: str = "",
    origin: str | Callable[[Document], str] = "",
    files: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    batch_size: int = 32,
    progress: Callable[[Counts], None] | None = None,
) -> BuildReport:
    """Build an index, or build it again in place of the one in the folder.

    Args:
        documents: Streamed; one batch is in memory at a time.
        encoder: Makes the vectors.
        folder: Made when missing. Until the end readers see the old index, and after a kill too.
        knowledge_base: Copied into the index together with the entities the documents are about.
        corpus: Name for the manifest.
        model_path: What `load_model` takes to load the encoder again.
        origin: Where the documents were read (`update_index`): all, or each.
        files: Of each origin what is kept of its files (`sources.files`).
        batch_size: Documents encoded at once.
        progress: Called with what has been written, after every batch.

    Raises:
        DataError: There are no documents, an id comes twice, or too much memory was taken (`files.limits`).
        IndexFolderError: Another writer is at work, or the folder cannot be written.
    """
    begun = time.perf_counter()
    subjects: list[Document] = []
    with IndexWriter(folder, encoder, corpus=corpus, model_path=model_path) as writer:
        for batch in _batches(documents, batch_size):
            check_memory()
            for place, those in groupby(batch, origin if callable(origin) else lambda document: origin):
                writer.add([*those], origin=place)
            check_memory([document.doc_id for document in batch])
            if knowledge_base is not None:
                subjects += [subject(document, knowledge_base) for document in batch if document.entity_ids]
            if progress is not None:
                progress(writer.counts)
        if not writer.counts.documents:
            raise DataError("at least one document to index", "none", "check the corpus and its split")
        for place, records in files.items():
            writer.put_files(place, records)
        known = knowledge_base.with_documents(subjects) if knowledge_base is not None else None
        manifest = writer.commit(known)
    return BuildReport(manifest.counts, time.perf_counter() - begun)


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What an update of an index did.

    Attributes:
        new: Documents that the index did not have.
        changed: Documents that took the place of others of the same ids.
        unchanged: Documents that the index had; they were not encoded.
        gone: Ids of documents that came from the same places before and no more.
        counts: What the index holds now.
        seconds: Wall-clock time.
    """

    new: int
    changed: int
    unchanged: int
    gone: tuple[str, ...]
    counts: Counts
    seconds: float


def update_index(
    sources: Mapping[str, Iterable[Document]],
    encoder: DocumentEncoder | None,
    folder: str | Path,
    *,
    prune: bool = False,
    kept: Collection[str] = (),
    dropped: Collection[str] = (),
    files: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    batch_size: int = 32,
    progress: Callable[[Counts], None] | None = None,
) -> UpdateReport:
    """Add documents to an index, replace those that have changed, and find out which are gone.

    Args:
        sources: Documents by where they are read; streamed.
        encoder: That made the index; None where the sources give no documents.
        folder: Of the index. Until the end readers see it as it was, and after a kill too.
        prune: Remove documents that are gone.
        kept: Ids of further documents of these sources, which the index has as they are.
        dropped: Ids of documents that are removed in any case: their file says something else now.
        files: Of each origin what is kept of its files (`sources.files`).
        batch_size: Documents encoded at once.
        progress: Called with what the index will hold, after every batch.

    Raises:
        DataError: An id comes twice, or too much memory was taken (`files.limits`).
        IndexFolderError: There is no index, another model made it, or another writer is at work.
    """
    begun = time.perf_counter()
    standings: Counter[str] = Counter()
    standings["unchanged"] = len(kept)
    seen: set[str] = set(kept)
    gone: list[str] = []
    with IndexUpdate(folder, encoder) as update:

        def differing(documents: Iterable[Document]) -> Iterator[Document]:
            for document in documents:
                if document.doc_id in seen:
                    name = f"'{document.doc_id}' a second time"
                    raise DataError("every document id once", name, "give each document an id of its own")
                seen.add(document.doc_id)
                standing = update.standing(document)
                standings[standing] += 1
                if standing != "unchanged":
                    yield document

        for origin, documents in sources.items():
            for batch in _batches(differing(documents), batch_size):
                check_memory()
                update.replace(batch, origin=origin)
                check_memory([document.doc_id for document in batch])
                if progress is not None:
                    progress(update.counts)
        for origin in sources:
            gone += [doc_id for doc_id in update.ids_from(origin) if doc_id not in seen]
        stale = [doc_id for doc_id in gone if doc_id in dropped]
        gone = [doc_id for doc_id in gone if doc_id not in dropped]
        update.delete(stale + gone if prune else stale)
        learned = {place: records for place, records in files.items() if update.files(place) != records}
        for place, records in learned.items():
            update.put_files(place, records)
        if standings["new"] or standings["changed"] or stale or (prune and gone) or learned:
            update.commit()
        counts = update.counts
    taken = time.perf_counter() - begun
    return UpdateReport(standings["new"], standings["changed"], standings["unchanged"], tuple(gone), counts, taken)


def _batches(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    batch: list[Document] = []
    sentences = 0
    for document in documents:
        length = sum(len(passage.sentences) for passage in document.passages)
        if batch and (len(batch) >= size or sentences + length > _SENTENCES_PER_BATCH):
            yield batch
            batch, sentences = [], 0
        batch.append(document)
        sentences += length
    if batch:
        yield batch
