"""From a corpus to an index: batches of documents through an encoder into a writer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.documents.document import Document
from auscult.encoders.contract import DocumentEncoder
from auscult.errors import DataError
from auscult.files.limits import check_memory
from auscult.index.manifest import Counts
from auscult.index.titles import subject
from auscult.index.writer import IndexWriter

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
        """Sentences per second of reading, encoding and writing together."""
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
        origin: Where the documents were read (`update_index`): one origin for all, or a function of the document.
        files: Records of the files of each origin (`ingest.files`), to keep in the index.
        batch_size: Documents encoded at once.
        progress: Called with what has been written, after every batch.

    Raises:
        DataError: There are no documents, an id comes twice, or too much memory was taken (`files.limits`).
        IndexFolderError: Another writer is at work, or the folder cannot be written.
    """
    begun = time.perf_counter()
    subjects: list[Document] = []
    with IndexWriter(folder, encoder, corpus=corpus, model_path=model_path) as writer:
        for batch in batches(documents, batch_size):
            check_memory()
            for place, group in groupby(batch, origin if callable(origin) else lambda document: origin):
                writer.add([*group], origin=place)
            check_memory([document.doc_id for document in batch])
            if knowledge_base is not None:
                subjects += [subject(document, knowledge_base) for document in batch if document.entity_ids]
            if progress is not None:
                progress(writer.counts)
        if not writer.counts.documents:
            raise DataError("at least one document to index", "none", "check the paths and the split")
        for place, records in files.items():
            writer.put_files(place, records)
        knowledge = knowledge_base.with_documents(subjects) if knowledge_base is not None else None
        manifest = writer.commit(knowledge)
    return BuildReport(manifest.counts, time.perf_counter() - begun)


def batches(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    """Yield at most so many documents at once, and fewer where they have many sentences."""
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
