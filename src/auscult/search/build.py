"""From a corpus to an index: batches of documents through an encoder into a writer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from auscult.concepts import KnowledgeBase
from auscult.documents import Document
from auscult.errors import DataError
from auscult.index import Counts, IndexWriter
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
        batch_size: Documents encoded at once.
        progress: Called with what has been written, after every batch.

    Raises:
        DataError: There are no documents, or an id comes twice.
        IndexFolderError: Another writer is at work, or the folder cannot be written.
    """
    begun = time.perf_counter()
    subjects: list[Document] = []
    with IndexWriter(folder, encoder, corpus=corpus, model_path=model_path) as writer:
        for batch in _batches(documents, batch_size):
            writer.add(batch)
            if knowledge_base is not None:
                subjects += [_subject(document, knowledge_base) for document in batch if document.entity_ids]
            if progress is not None:
                progress(writer.counts)
        if not writer.counts.documents:
            raise DataError("at least one document to index", "none", "check the corpus and its split")
        known = knowledge_base.with_documents(subjects) if knowledge_base is not None else None
        manifest = writer.commit(known)
    return BuildReport(manifest.counts, time.perf_counter() - begun)


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


def _subject(document: Document, known: KnowledgeBase) -> Document:
    """What a document is about, without its text, and by its preferred name where the title is a synonym.

    `with_documents` joins a document to a concept by preferred name only; without this, "Heart attack" would stand
    beside "myocardial infarction". Of several concepts with the name, one that shares an identifier is meant.
    """
    named = known.by_name(document.title)
    ids = set(document.entity_ids)
    concept = next((c for c in named if ids & {c.concept_id, *c.xrefs}), named[0] if named else None)
    title = concept.name if concept else document.title
    return Document(document.doc_id, title, "", (), source=document.source, entity_ids=document.entity_ids)
