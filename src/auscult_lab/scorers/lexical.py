"""Term-based scorers over passages: BM25 and TF-IDF with Lucene's formulas, and query likelihood.

BM25 (robertson1995), as Lucene computes it since version 8, with passage length |P| and mean length avg:

    score(q, P) = sum over t in q of ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 (1 - b + b |P| / avg))

TF-IDF is Lucene 8's `ClassicSimilarity`:

    score(q, P) = sum over t in q of sqrt(f) * (1 + ln((N + 1) / (n + 1))) / sqrt(|P|)

Query likelihood with Dirichlet smoothing (zhai2001, section 3.2, Eq. 6), without terms that are equal for all passages:

    score(q, P) = sum over t in q of (ln(1 + f / (mu p(t))) + ln(mu / (|P| + mu)))

p(t) is the share of t among all words of the collection; unknown terms are left out of both sums.

f is the frequency of the term t in the passage, n the number of passages with t, N the number of passages. Repeated
terms of a query count repeatedly.

Cost: one pass over the collection to prepare; a query reads the postings of its terms only. Neither model
learns, so neither belongs to a training track.

Departures: passage lengths are exact; Lucene rounds them to one byte. For `ClassicSimilarity`, Lucene's documentation
has a squared idf, but the code of version 8 multiplies by it once, and so did the published run: with one factor R@10
on MedQuAD is 82.8 (published 82.84), with two it is 84.6. Query likelihood is the paper's: Lucene's
`LMDirichletSimilarity` adds one to the counts of p(t) and raises negative parts to 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from auscult.documents import Document, Passage
from auscult.documents.analysis import Analyzer
from auscult.encoders.contract import FloatArray
from auscult.errors import ConfigError, DataError, ModelError
from auscult.telemetry import naming_extra
from auscult.understanding import Query, query_text
from auscult_lab.scorers.passage_rows import distinct_passages, rows_of

if TYPE_CHECKING:
    from scipy.sparse import csc_array


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25Config:
    """Settings of `Bm25Scorer`; the defaults are Lucene's, which the published figures used.

    Attributes:
        k1: Saturation of a term's frequency, >= 0.
        b: Strength of length normalisation, in [0, 1].
        min_characters: Shorter passages are left out of the statistics and score 0.
        analyzer: Text to terms.
    """

    k1: float = 1.2
    b: float = 0.75
    min_characters: int = 10
    analyzer: Analyzer = field(default_factory=Analyzer)


@dataclass(frozen=True, slots=True, kw_only=True)
class TfIdfConfig:
    """Settings of `TfIdfScorer`.

    Attributes:
        min_characters: Shorter passages are left out of the statistics and score 0.
        analyzer: Text to terms.
    """

    min_characters: int = 10
    analyzer: Analyzer = field(default_factory=Analyzer)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLikelihoodConfig:
    """Settings of `QueryLikelihoodScorer`.

    Attributes:
        mu: Strength of smoothing in words, > 0; the default is Lucene's.
        min_characters: Shorter passages are left out of the statistics and score like the lowest passage.
        analyzer: Text to terms.
    """

    mu: float = 2000.0
    min_characters: int = 10
    analyzer: Analyzer = field(default_factory=Analyzer)

    def __post_init__(self) -> None:
        """Check that mu is positive; otherwise raise a `ConfigError`."""
        if self.mu <= 0:
            raise ConfigError("mu above 0", str(self.mu), "give about the mean length of a passage, or 2000")


class _TermIndex(Protocol):
    lowest_is_zero: bool
    """Whether a passage without any term of the query scores 0, and none less."""

    def score_all(self, terms: Sequence[str]) -> FloatArray:
        """Return scores of every indexed passage, shape (passages,)."""


class _TermScorer:
    """Base of the scorers: reads passages, and selects scores."""

    def __init__(
        self,
        name: str,
        config: Bm25Config | TfIdfConfig | QueryLikelihoodConfig,
        build: Callable[[list[list[str]]], _TermIndex],
    ) -> None:
        self.name = name
        self._analyzer = config.analyzer
        self._min_characters = config.min_characters
        self._build = build
        self._positions: dict[str, int] = {}
        self._index: _TermIndex | None = None

    def prepare(self, documents: Iterable[Document]) -> None:
        """Read the collection: passage text only, no title, no heading, no question.

        Args:
            documents: The collection whose passages will be scored; read once, as a stream.

        Raises:
            DataError: A passage id occurs twice, or no passage has a word.
        """
        passages: list[list[str]] = []
        positions: dict[str, int] = {}
        for document, passage in distinct_passages(documents):
            text = document.slice(passage).strip()
            indexed = len(text) >= self._min_characters
            positions[passage.passage_id] = len(passages) if indexed else -1
            if indexed:
                passages.append(self._analyzer(text))
        if not any(passages):
            raise DataError("a collection with words", "no passage that holds one", "check the corpus and its split")
        self._positions = positions
        self._index = self._build(passages)

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Return scores for passages of the prepared collection; the query's words are its entity and aspects.

        Args:
            query: The query.
            passage_ids: In any order; the order does not matter to a passage's score.

        Returns:
            Float32, shape (passages,). BM25 and TF-IDF: >= 0, and 0 without a term of the query. Query likelihood: any
            sign.

        Raises:
            ModelError: `prepare` has not been called.
            DataError: A passage is not of the prepared collection.
        """
        rows = rows_of(self._positions, passage_ids, self.name)
        if self._index is None:
            raise ModelError("a prepared collection", "none yet", f"call prepare() of '{self.name}' first")
        everything = self._index.score_all(self._analyzer(query_text(query, question="never")))
        # A passage too short to be indexed has row -1, which would otherwise select the last passage's score.
        lowest = np.float32(0) if self._index.lowest_is_zero else everything.min()
        return np.where(rows < 0, lowest, everything[rows])


class Bm25Scorer(_TermScorer):
    """BM25 over passages."""

    def __init__(self, config: Bm25Config | None = None, name: str = "BM25") -> None:
        self.config = config or Bm25Config()
        super().__init__(name, self.config, lambda passages: Bm25Index(passages, self.config.k1, self.config.b))


class TfIdfScorer(_TermScorer):
    """TF-IDF over passages (Lucene's `ClassicSimilarity`, as for arnold2020's figures).

    zhu2019 (section 5.2) ranks by the cosine of TF-IDF vectors instead.
    """

    def __init__(self, config: TfIdfConfig | None = None, name: str = "TF-IDF") -> None:
        self.config = config or TfIdfConfig()
        super().__init__(name, self.config, _TfIdfIndex)


class QueryLikelihoodScorer(_TermScorer):
    """Query likelihood with Dirichlet smoothing over passages."""

    def __init__(self, config: QueryLikelihoodConfig | None = None, name: str = "QL") -> None:
        self.config = config or QueryLikelihoodConfig()
        super().__init__(name, self.config, lambda passages: _QueryLikelihoodIndex(passages, self.config.mu))


class Bm25Index:
    """BM25 over passages given as terms."""

    lowest_is_zero = True

    def __init__(self, passages: list[list[str]], k1: float, b: float) -> None:
        # Imported here because it takes a third of a second.
        import bm25s

        self._size = len(passages)
        self._model = bm25s.BM25(k1=k1, b=b, method="lucene")
        self._model.index(passages, show_progress=False)

    def score_all(self, terms: Sequence[str]) -> FloatArray:
        """Return scores of every passage, shape (passages,)."""
        known = self._model.get_tokens_ids(list(terms))
        if not known:
            return np.zeros(self._size, dtype=np.float32)
        return np.asarray(self._model.get_scores_from_ids(known), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _TermCounts:
    """Frequencies of terms in passages.

    Attributes:
        columns: Term to column.
        counts: (passages, terms), column by column.
        lengths: (passages,), in terms.
    """

    columns: dict[str, int]
    counts: csc_array
    lengths: npt.NDArray[np.int64]

    def repeats(self, terms: Sequence[str]) -> tuple[list[int], npt.NDArray[np.float64]]:
        """Return columns of a query's known terms, and how often each occurs."""
        found = Counter(self.columns[term] for term in terms if term in self.columns)
        return list(found), np.fromiter(found.values(), dtype=np.float64, count=len(found))


def _sparse() -> Any:
    # Imported here because a search does not need it.
    with naming_extra("lab", "scipy"):
        from scipy import sparse
    return sparse


def _count_terms(passages: list[list[str]]) -> _TermCounts:
    vocabulary: dict[str, int] = {}
    for terms in passages:
        for term in terms:
            vocabulary.setdefault(term, len(vocabulary))
    columns = np.fromiter((vocabulary[term] for terms in passages for term in terms), dtype=np.int64)
    lengths = np.array([len(terms) for terms in passages], dtype=np.int64)
    rows = np.repeat(np.arange(len(passages)), lengths)
    shape = (len(passages), len(vocabulary))
    counts = _sparse().coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsc()
    counts.sum_duplicates()
    return _TermCounts(vocabulary, counts, lengths)


class _TfIdfIndex:
    lowest_is_zero = True

    def __init__(self, passages: list[list[str]]) -> None:
        self._terms = terms = _count_terms(passages)
        counts = terms.counts
        holders = np.diff(counts.indptr)
        idf = 1.0 + np.log((len(passages) + 1) / (holders + 1))
        norms = 1.0 / np.sqrt(np.maximum(terms.lengths, 1))
        weights = np.sqrt(counts.data) * norms[counts.indices] * np.repeat(idf, holders)
        self._weights = _sparse().csc_array((weights, counts.indices, counts.indptr), shape=counts.shape)

    def score_all(self, terms: Sequence[str]) -> FloatArray:
        columns, repeats = self._terms.repeats(terms)
        if not columns:
            return np.zeros(self._weights.shape[0], dtype=np.float32)
        return np.asarray(self._weights[:, columns] @ repeats, dtype=np.float32)


class _QueryLikelihoodIndex:
    lowest_is_zero = False

    def __init__(self, passages: list[list[str]], mu: float) -> None:
        self._terms = terms = _count_terms(passages)
        counts = terms.counts
        shares = np.asarray(counts.sum(axis=0)).ravel() / counts.sum()
        gains = np.log1p(counts.data / (mu * np.repeat(shares, np.diff(counts.indptr))))
        self._gains = _sparse().csc_array((gains, counts.indices, counts.indptr), shape=counts.shape)
        self._length_loss = np.log(mu / (terms.lengths + mu))

    def score_all(self, terms: Sequence[str]) -> FloatArray:
        columns, repeats = self._terms.repeats(terms)
        if not columns:
            return np.zeros(len(self._length_loss), dtype=np.float32)
        return np.asarray(self._gains[:, columns] @ repeats + repeats.sum() * self._length_loss, dtype=np.float32)


_analyse = Analyzer()


def query_words(query: Query) -> list[str]:
    """Return the words of a query for a ranker: entity and aspects, or the question where it has neither."""
    return _analyse(query_text(query))


def passage_words(document: Document, passage: Passage) -> list[list[str]]:
    """Return the words of a passage for a ranker, by sentence: its text only, no title and no heading."""
    return [_analyse(document.slice(sentence)) for sentence in passage.sentences]
