"""Number the passages of a collection for scorers and indexes, and compute their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from auscult.documents import Document, Passage
from auscult.errors import DataError, ModelError
from auscult.interfaces import DocumentEncoder, EncodedDocument, ExpandsTexts, FloatArray, PassageEncoder


def distinct_passages(documents: Iterable[Document]) -> Iterator[tuple[Document, Passage]]:
    """Yield every passage of a collection with its document.

    Raises:
        DataError: A passage id occurs twice.
    """
    seen: set[str] = set()
    for document in documents:
        for passage in document.passages:
            if passage.passage_id in seen:
                raise DataError(
                    "a collection whose passage ids are unique",
                    f"'{passage.passage_id}' twice (second in document '{document.doc_id}')",
                    "give every passage its own id",
                )
            seen.add(passage.passage_id)
            yield document, passage


def rows_of(positions: dict[str, int], passage_ids: Sequence[str], name: str) -> npt.NDArray[np.int64]:
    """Return the rows of some passages, int64, (passages,).

    Args:
        positions: Rows by passage id; empty before a collection was prepared.
        passage_ids: Ids of the passages, in any order.
        name: Name of the scorer, for error messages.

    Raises:
        ModelError: No collection was prepared.
        DataError: A passage is not of the prepared collection.
    """
    if not positions:
        raise ModelError("a prepared collection", "none yet", f"call prepare() of '{name}' first")
    try:
        return np.fromiter((positions[each] for each in passage_ids), dtype=np.int64, count=len(passage_ids))
    except KeyError as error:
        raise DataError(
            "passages of the prepared collection", f"'{error.args[0]}'", "prepare the collection it is from"
        ) from None


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
            (vectors, passage_means(document.passages, _checked(encoder, document, vectors)))
            for document, vectors in zip(documents, encoder.encode_documents(documents), strict=True)
        ]
    if isinstance(encoder, ExpandsTexts) and encoder.expands:
        expansions = encoder.expand_documents(documents)
        return [EncodedDocument(*vectors, terms) for vectors, terms in zip(placed, expansions, strict=True)]
    return [EncodedDocument(*vectors) for vectors in placed]


def _checked(encoder: DocumentEncoder, document: Document, vectors: FloatArray) -> FloatArray:
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
