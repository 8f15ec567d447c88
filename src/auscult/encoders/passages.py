"""Encode documents as the vectors and terms of their passages, with any encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auscult.documents.document import Document, Passage
from auscult.encoders.contract import DocumentEncoder, EncodedDocument, ExpandsTexts, FloatArray, PassageEncoder
from auscult.errors import ModelError


def encode_passages(encoder: DocumentEncoder, documents: Sequence[Document]) -> list[EncodedDocument]:
    """Return an encoder's vectors for each document.

    A passage's vector comes from the encoder itself if it has one (`PassageEncoder`), else it is its sentences' mean.

    Raises:
        ModelError: The encoder returned a wrong number of sentence vectors.
    """
    if isinstance(encoder, PassageEncoder):
        placed = encoder.encode_passages(documents)
    else:
        placed = [
            (vectors, passage_means(document.passages, _check_shape(encoder, document, vectors)))
            for document, vectors in zip(documents, encoder.encode_documents(documents), strict=True)
        ]
    if isinstance(encoder, ExpandsTexts) and encoder.expands:
        expansions = encoder.expand_documents(documents)
        return [EncodedDocument(*vectors, terms) for vectors, terms in zip(placed, expansions, strict=True)]
    return [EncodedDocument(*vectors) for vectors in placed]


def _check_shape(encoder: DocumentEncoder, document: Document, vectors: FloatArray) -> FloatArray:
    expected = (sum(len(passage.sentences) for passage in document.passages), encoder.dim)
    if vectors.shape != expected:
        raise ModelError(
            f"vectors of shape {expected} for document '{document.doc_id}'",
            f"shape {vectors.shape} from '{encoder.name}'",
            "mend the encoder: one row per sentence",
        )
    return vectors


def passage_means(passages: Sequence[Passage], vectors: FloatArray) -> FloatArray:
    """Return the mean of each passage's unit sentence vectors, shape (passages, dim), not normalised again.

    The inner product of a query with it is the passage's mean sentence cosine (arnold2020 Eq. 14). A passage
    without sentences gets zeros; search leaves it out.
    """
    means = np.zeros((len(passages), vectors.shape[1]), np.float32)
    first = 0
    for row, passage in enumerate(passages):
        last = first + len(passage.sentences)
        if last > first:
            means[row] = vectors[first:last].mean(axis=0, dtype=np.float64)
        first = last
    return means
