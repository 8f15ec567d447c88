"""The architecture on one page: the protocols the rooms meet at, and the records they hand on.

    corpora -> documents -> labels -> model -> vectors -> index -> candidates -> scores -> passages -> measures

Data flows one way; every record is frozen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from auscult.schema import Assertion

if TYPE_CHECKING:
    from auscult.documents.document import Document
    from auscult.understanding.query import Query

FloatArray = npt.NDArray[np.float32]

_SHOWN = 80
"""Characters of the answer that a printed hit shows."""

Precision = Literal["float32", "bf16"]
"""What transformers compute in where they score."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One line of a qrels file: a person (or a corpus) says how relevant a passage is to a query."""

    query_id: str
    passage_id: str
    relevance: int = 1


@dataclass(frozen=True, slots=True)
class Ranking:
    """One query's ranked passages, best first.

    Attributes:
        query_id: The query that was ranked for.
        passage_ids: Best first.
        scores: Same length, non-increasing; higher is better.
    """

    query_id: str
    passage_ids: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """How well one sentence answers: a half-open character range of the document text and its scores.

    Attributes:
        score: The model's, the cosine with the query, in [-1, 1]; where all evidence scored, plus the share of the
            asked words that the sentence holds.
        entity_score: The share of the entity half in the model's.
        aspect_score: The share of the aspect half.
        marked: Whether it is among those that answer (`search.marks`).
        assertions: What it says of its mentions of the entity (`search.assertions`); empty where it has none.
    """

    start: int
    end: int
    text: str
    score: float
    entity_score: float
    aspect_score: float
    marked: bool = False
    assertions: tuple[Assertion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One retrieved passage with its evidence.

    Attributes:
        rank: From 1.
        score: Sum of all evidence. By the model alone, its own score: for CDV the mean sentence cosine, in [-1, 1]
            (arnold2020 Eq. 14).
        entity_score: Share of the entity half of the vectors in the model's score.
        aspect_score: Share of the aspect half.
        start: Offset of the passage in the document text; end is exclusive.
        sentences: All sentences of the passage with their scores, in order.
        metadata: Further fields of the document.
        evidence: What each reason adds to the score (`search.evidence`); empty if the model alone scored.
        probability: Probability that the passage answers; None if the model alone scored.
        above: Headings above its own, outermost first.
        title: Title of the document; in a book of many articles, of the article.
        book: Title of the document, if `title` is an article's.
        file: Name of the file, below the folder that was read; empty for documents without one.
        place: Where in the file the answer is: "page 3", "slide 2", "sheet Doses", "row 7" or "line 12"; empty if
            unknown.
    """

    rank: int
    passage_id: str
    doc_id: str
    title: str
    heading: str
    source: str
    url: str
    text: str
    start: int
    end: int
    score: float
    entity_score: float
    aspect_score: float
    sentences: tuple[SentenceScore, ...] = field(default=())
    metadata: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, float] = field(default_factory=dict)
    probability: float | None = None
    above: tuple[str, ...] = ()
    book: str = ""
    file: str = ""
    place: str = ""

    @property
    def answer(self) -> SentenceScore | None:
        """The best of the marked sentences, or of all where none is marked; None where there is none."""
        marked = [sentence for sentence in self.sentences if sentence.marked]
        return max(marked or self.sentences, key=lambda sentence: sentence.score, default=None)

    def __str__(self) -> str:
        """Return the score, where the passage stands, and the first words of its best sentence, on one line."""
        place = " › ".join(filter(None, (self.title or self.doc_id, *self.above, self.heading)))
        words = " ".join((self.answer.text if self.answer else self.text).split())
        return (
            f"{self.score:.2f}  {place}: {words if len(words) <= _SHOWN else words[:_SHOWN].rsplit(' ', 1)[0] + ' …'}"
        )


@runtime_checkable
class Corpus(Protocol):
    """Documents, and where a corpus has them, queries, judgements and given candidates. Lazy and offline."""

    name: str

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Stream documents, in a stable order; of one split, or all."""
        ...

    def queries(self, split: str) -> Sequence[Query]:
        """Queries of a split, in a stable order; empty where the corpus has none."""
        ...

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Relevance judgements of a split."""
        ...

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """query_id -> passage_ids to re-rank. The order carries no information and must not be used."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """Anything that scores passages for a query: BM25, an encoder, a cross-encoder.

    A scorer sees whole documents first (`fit`-free models ignore them), because some score a passage in the
    context of its document and term-based ones need collection statistics.
    """

    name: str

    def prepare(self, documents: Iterable[Document]) -> None:
        """Read the collection whose passages will be scored (statistics, or vectors)."""
        ...

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Scores, shape (passages,), higher is better, for passages of the prepared collection."""
        ...


@runtime_checkable
class ReadsDocuments(Protocol):
    """A scorer that says whether a passage's score depends on the other passages of its document."""

    @property
    def reads_documents(self) -> bool:
        """Whether `prepare` must be given whole documents, even where few of their passages are asked for."""
        ...


@runtime_checkable
class DocumentEncoder(Protocol):
    """A model that places sentences and queries in one space where the inner product is the score.

    Sentence vectors and query vectors have unit length, so a passage's score (mean sentence cosine, arnold2020
    Eq. 14) is one inner product with the mean of its sentence vectors.

    Attributes:
        dim: Length of a vector.
        parts: Which columns of a vector speak for the entity and which for the aspect.
        fingerprint: A hash of weights and configuration; an index refuses another model's.
    """

    name: str
    dim: int
    parts: Mapping[str, slice]
    fingerprint: str

    def encode_documents(self, documents: Sequence[Document]) -> list[FloatArray]:
        """One float32 array (sentences, dim) per document, rows of unit length, in sentence order."""
        ...

    def encode_queries(self, queries: Sequence[Query]) -> FloatArray:
        """Float32 array (queries, dim), rows of unit length."""
        ...


@runtime_checkable
class PassageEncoder(DocumentEncoder, Protocol):
    """A document encoder that places passages itself, and not by the mean of their sentences."""

    def encode_passages(self, documents: Sequence[Document]) -> list[tuple[FloatArray, FloatArray]]:
        """Return each document's vectors: of its sentences, (sentences, dim), and of its passages, unit rows."""
        ...


Terms = tuple[npt.NDArray[np.uint16], FloatArray]
"""Numbers and weights of a query's weighted terms."""


class Expansion(NamedTuple):
    """Weighted terms of passages, read in windows: the words they hold and words that mean the same (formal2021).

    Attributes:
        windows: How many windows each passage has, (passages,).
        starts: First term of each window, and the number of terms, (windows + 1,).
        terms: Numbers of terms, at most 65,535, (terms,).
        weights: Above 0 and below 4, float32 (terms,).
    """

    windows: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    terms: npt.NDArray[np.uint16]
    weights: FloatArray


class EncodedDocument(NamedTuple):
    """What an encoder makes of a document.

    Attributes:
        sentences: Vectors of its sentences, (sentences, dim), unit rows.
        passages: Vectors of its passages, (passages, dim).
        expansion: Of its passages, where the encoder reads terms (`ExpandsTexts`).
    """

    sentences: FloatArray
    passages: FloatArray
    expansion: Expansion | None = None


@runtime_checkable
class ExpandsTexts(Protocol):
    """An encoder that also reads weighted terms, of documents and of queries."""

    @property
    def expands(self) -> bool:
        """Whether this one has a reader of terms."""
        ...

    def expand_documents(self, documents: Sequence[Document]) -> list[Expansion]:
        """Return the terms of each document's passages."""
        ...

    def expand_query(self, query: Query) -> Terms:
        """Return the numbers and weights of a query's terms, weights as one vector of unit length."""
        ...


@runtime_checkable
class SentenceSplitter(Protocol):
    """Finds sentences in one paragraph of text."""

    name: str

    def split(self, text: str) -> list[tuple[int, int]]:
        """Half-open character ranges, in order, without surrounding white space; all other text is covered."""
        ...


__all__ = [
    "Assertion",
    "Corpus",
    "DocumentEncoder",
    "EncodedDocument",
    "ExpandsTexts",
    "Expansion",
    "FloatArray",
    "Hit",
    "Judgement",
    "PassageEncoder",
    "Precision",
    "Ranking",
    "ReadsDocuments",
    "Scorer",
    "SentenceScore",
    "SentenceSplitter",
]
