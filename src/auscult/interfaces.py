"""The protocols between the packages, and the records that they pass on: the architecture on one page.

    corpora -> documents -> labels -> model -> vectors -> index -> candidates -> scores -> passages -> measures

Data flows one way; every record is frozen.
"""

from __future__ import annotations

import re
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
"""Number of characters of the answer in a printed hit."""

# Between digits, as in a date, a hyphen stays.
_FOR_BLANK = re.compile(r"[\s_]+|(?<!\d)-+|-+(?!\d)")

Precision = Literal["float32", "bf16"]
"""Number format in which transformers compute scores."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How relevant a passage is to a query, by a person or a corpus: one line of a qrels file."""

    query_id: str
    passage_id: str
    relevance: int = 1


@dataclass(frozen=True, slots=True)
class Ranking:
    """One query's ranked passages, best first.

    Attributes:
        query_id: Id of the query.
        passage_ids: Ids of the passages, best first.
        scores: Their scores, non-increasing; higher is better.
    """

    query_id: str
    passage_ids: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """A sentence of a hit with its scores.

    Attributes:
        start: Offset in the document text.
        end: End of the half-open range.
        text: Text of the sentence.
        score: Cosine of the sentence with the query, in [-1, 1]. With all evidence, the share of the question's words
            that the sentence has is added.
        entity_score: The part of the cosine from the entity half of the vectors.
        aspect_score: The part of the cosine from the aspect half.
        marked: Whether the sentence answers, and is highlighted (`search.marks`).
        assertions: What it says about its mentions of the entity (`search.assertions`); empty without a mention.
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
        title: Title of the document; in a book of many articles, of the article.
        start: Offset of the passage in the document text; `end` is exclusive.
        score: The sum of all evidence. Where only the model scores: the mean sentence cosine (arnold2020 Eq. 14), in
            [-1, 1], or the cosine of a passage vector for a `PassageEncoder`.
        entity_score: The part of the model's score from the entity half of its vectors.
        aspect_score: The part from the aspect half.
        sentences: All sentences of the passage with their scores, in order.
        evidence: What each reason adds to the score (`search.evidence`); empty where only the model scores.
        probability: Probability that the passage answers; None where only the model scores.
        above: The headings above its own, outermost first.
        book: Title of the document, where `title` is that of an article.
        file: The file's path below the indexed one; may be empty.
        place: Where in the file the answer is, such as "page 3", "sheet Doses" or "line 12"; may be empty.
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
    def name(self) -> str:
        """The document's name for people (`display_name`); in a book of many articles, the book's title."""
        return self.book or display_name(self.title, self.doc_id, self.file)

    @property
    def answer(self) -> SentenceScore | None:
        """The best marked sentence, or the best of all where none is marked; None without sentences."""
        marked = [sentence for sentence in self.sentences if sentence.marked]
        return max(marked or self.sentences, key=lambda sentence: sentence.score, default=None)

    def __str__(self) -> str:
        """Return the score, the headings of the passage, and the first words of its best sentence, on one line."""
        place = " › ".join(filter(None, (self.title or self.name, *self.above, self.heading)))
        words = " ".join((self.answer.text if self.answer else self.text).split())
        return (
            f"{self.score:.2f}  {place}: {words if len(words) <= _SHOWN else words[:_SHOWN].rsplit(' ', 1)[0] + ' …'}"
        )


def display_name(title: str, doc_id: str, file: str) -> str:
    """Return a document's name for people: its title, else the name of its file in words ("note 3"), else its id.

    Args:
        title: The title; may be empty.
        doc_id: The id.
        file: The file's path; empty without a file. Only a document that is a whole file is called after it.
    """
    name = file.rpartition("/")[2] if doc_id.endswith(file) else ""
    return title or _FOR_BLANK.sub(" ", name.rpartition(".")[0] or name).strip() or doc_id


@runtime_checkable
class Corpus(Protocol):
    """Documents and, in some corpora, queries, judgements and candidates. Lazy and offline."""

    name: str

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Yield the documents of a split, or all, in a stable order."""
        ...

    def queries(self, split: str) -> Sequence[Query]:
        """Return the queries of a split in a stable order; empty where the corpus has none."""
        ...

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Return the relevance judgements of a split."""
        ...

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """Return the ids of the passages to re-rank by query id. Their order has no meaning and must not be used."""
        ...


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
class SentenceSplitter(Protocol):
    """Splits a paragraph into sentences."""

    name: str

    def split(self, text: str) -> list[tuple[int, int]]:
        """Return the sentences as half-open character ranges in order; only white space is outside them."""
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
    "display_name",
]
