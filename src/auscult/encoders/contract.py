"""Protocols of models that encode or score passages, and the arrays that they return."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from auscult.documents.document import Document
    from auscult.understanding.query import Query

FloatArray = npt.NDArray[np.float32]

Precision = Literal["float32", "bf16"]
"""Number format in which transformers compute scores."""


@runtime_checkable
class DocumentEncoder(Protocol):
    """A model that encodes sentences and queries in one space, in which the inner product is the score.

    Sentence vectors and query vectors have unit length, so a passage's score (mean sentence cosine, arnold2020
    Eq. 14) is one inner product with the mean of its sentence vectors.

    Attributes:
        dim: Dimension of the vectors.
        parts: The columns of a vector for the entity ("entity") and for the aspect ("aspect"), where it has such parts.
        fingerprint: Hash of weights and configuration; an index can be opened only with its own.
    """

    name: str
    dim: int
    parts: Mapping[str, slice]
    fingerprint: str

    def encode_documents(self, documents: Sequence[Document]) -> list[FloatArray]:
        """Return one float32 array (sentences, dim) per document, with rows of unit length in sentence order."""
        ...

    def encode_queries(self, queries: Sequence[Query]) -> FloatArray:
        """Return a float32 array (queries, dim) with rows of unit length."""
        ...


@runtime_checkable
class PassageEncoder(DocumentEncoder, Protocol):
    """A document encoder with passage vectors of its own, instead of the mean of the sentence vectors."""

    def encode_passages(self, documents: Sequence[Document]) -> list[tuple[FloatArray, FloatArray]]:
        """Return for each document the vectors of its sentences, (sentences, dim), and passages, (passages, dim)."""
        ...


Terms = tuple[npt.NDArray[np.uint16], FloatArray]
"""Numbers and weights of a query's weighted terms."""


class Expansion(NamedTuple):
    """Weighted terms of passages by windows: the words in them and words that mean the same (formal2021).

    Attributes:
        windows: Number of windows of each passage, (passages,).
        starts: Position of the first term of each window, and at the end the number of terms, (windows + 1,).
        terms: Numbers of the terms, at most 65,535, (terms,).
        weights: Weights of the terms, above 0 and below 4, float32 (terms,).
    """

    windows: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    terms: npt.NDArray[np.uint16]
    weights: FloatArray


class EncodedDocument(NamedTuple):
    """Vectors and terms of a document.

    Attributes:
        sentences: Vectors of its sentences, (sentences, dim), with rows of unit length.
        passages: Vectors of its passages, (passages, dim).
        expansion: Weighted terms of its passages, from an encoder with terms (`ExpandsTexts`).
    """

    sentences: FloatArray
    passages: FloatArray
    expansion: Expansion | None = None


@runtime_checkable
class ExpandsTexts(Protocol):
    """An encoder that also gives weighted terms for documents and queries."""

    @property
    def expands(self) -> bool:
        """Whether this encoder gives terms."""
        ...

    def expand_documents(self, documents: Sequence[Document]) -> list[Expansion]:
        """Return for each document the terms of its passages."""
        ...

    def expand_query(self, query: Query) -> Terms:
        """Return the numbers and weights of a query's terms; the weights have unit length as a vector."""
        ...


@runtime_checkable
class ReadsLanguages(Protocol):
    """An encoder that says which languages it reads."""

    @property
    def languages(self) -> Sequence[str]:
        """Codes of ISO 639-1 of the languages that it reads."""
        ...


def languages_of(encoder: DocumentEncoder) -> frozenset[str]:
    """Return the codes of the languages that an encoder reads; English for one that does not say."""
    return frozenset(encoder.languages if isinstance(encoder, ReadsLanguages) else ("en",))


@runtime_checkable
class Scorer(Protocol):
    """Anything that scores passages for a query: BM25, an encoder, a cross-encoder.

    A scorer gets whole documents first, as some models score a passage in the context of its document, and term-based
    ones need statistics of the collection.
    """

    name: str

    def prepare(self, documents: Iterable[Document]) -> None:
        """Read the collection whose passages will be scored (statistics, or vectors)."""
        ...

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Return the scores of passages of the prepared collection, shape (passages,); higher is better."""
        ...


@runtime_checkable
class ReadsDocuments(Protocol):
    """A scorer that says whether a passage's score depends on the other passages of its document."""

    @property
    def reads_documents(self) -> bool:
        """Whether `prepare` needs whole documents even if only few of their passages are scored."""
        ...
