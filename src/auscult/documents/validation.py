"""Checks of a document against the promises its records make."""

from __future__ import annotations

from auscult.documents.document import Document, Passage
from auscult.errors import DataError


def check_document(document: Document) -> Document:
    """Check that ids are given and unique, and that all offsets are ordered and inside what holds them.

    Args:
        document: Any document; those of `build_document` pass by construction.

    Returns:
        The same document.

    Raises:
        DataError: The first broken promise, naming the document and passage.
    """
    if not document.doc_id:
        raise DataError("a document with an id", "an empty doc_id", "give every document a unique id")
    seen: set[str] = set()
    at = 0
    for passage in document.passages:
        where = f"passage {passage.passage_id!r} of document {document.doc_id!r}"
        if not passage.passage_id or passage.passage_id in seen:
            raise DataError("unique passage ids", where, "give every passage an id of its own")
        seen.add(passage.passage_id)
        if not at <= passage.start <= passage.end <= len(document.text):
            raise DataError(
                "passages in order inside the text",
                f"{where} at [{passage.start}, {passage.end})",
                "correct its offsets",
            )
        at = passage.end
        _check_sentences(document, passage, where)
    return document


def _check_sentences(document: Document, passage: Passage, where: str) -> None:
    at = passage.start
    for sentence in passage.sentences:
        if not at <= sentence.start < sentence.end <= passage.end:
            raise DataError(
                "sentences in order inside their passage",
                f"[{sentence.start}, {sentence.end}) in {where}",
                "correct its offsets",
            )
        if document.text[at : sentence.start].strip():
            raise DataError(
                "sentences that cover all words",
                f"words before offset {sentence.start} in {where}",
                "segment the passage with segment_passage",
            )
        at = sentence.end
    if passage.sentences and document.text[at : passage.end].strip():
        raise DataError(
            "sentences that cover all words",
            f"words after offset {at} in {where}",
            "segment the passage with segment_passage",
        )


__all__ = ["check_document"]
