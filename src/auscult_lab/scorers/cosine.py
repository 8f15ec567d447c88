"""Weighted cosine distance between averaged word vectors: CD, CD_idf and CD_q (galko2017).

    v(T) = sum over t in T of w(t) x(t) / sum over t in T of w(t)        Section 2.1
    score(Q, P) = cos(v(Q), v(P)) = 1 - CD(Q, P)

x(t) is the word vector of t; repeated words count repeatedly. The weight w(t) is

- CD: 1 for every word;
- CD_idf: the inverse document frequency of t over passages: those of the collection, or of a training set;
- CD_q: its inverse document frequency over a collection of questions (Section 2.2), for query and passage alike: "what"
  is rare in articles but says nothing in a question.

Cost: one vector per passage, computed once; a query is one inner product with each. Only the word vectors are learned.

Departures: the paper does not define idf; here it is ln((N + 1) / (n + 1)), which is finite for words in no text and,
like the paper's example figures, has no constant added. Words without a vector are left out of both sums.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from auscult.documents import Document
from auscult.documents.analysis import Analyzer
from auscult.encoders.contract import FloatArray
from auscult.errors import ConfigError, DataError
from auscult.understanding import Query, query_text
from auscult_lab.modules.word_vectors import WordVectors
from auscult_lab.scorers.passage_rows import distinct_passages, rows_of

NO_WORD_SCORE = -1.0
"""Score of a passage without a known word: the lowest a cosine can be, so that nothing ranks below it."""

_CHUNK = 4096


class InverseDocumentFrequencies:
    """Inverse document frequencies of a collection of texts: ln((N + 1) / (n + 1)) for a word in n of N texts.

    Args:
        holders: Number of texts with each word.
        texts: Number of texts, N.

    Raises:
        ConfigError: There is no text.
    """

    def __init__(self, holders: Counter[str], texts: int) -> None:
        if texts < 1:
            raise ConfigError("a collection of texts to count words in", "none", "give at least one text")
        self.texts = texts
        self._holders = holders

    @classmethod
    def of_texts(cls, texts: Iterable[str], analyzer: Analyzer | None = None) -> InverseDocumentFrequencies:
        """Count the words of texts (passages, or questions).

        Args:
            texts: Read once, as a stream.
            analyzer: Splits text into words; must be the scorer's.

        Raises:
            ConfigError: There is no text.
        """
        split = analyzer or Analyzer()
        return cls.of_words(map(split, texts))

    @classmethod
    def of_words(cls, texts: Iterable[Sequence[str]]) -> InverseDocumentFrequencies:
        """Count the words of texts, given as words.

        Raises:
            ConfigError: There is no text.
        """
        holders: Counter[str] = Counter()
        number = 0
        for number, words in enumerate(texts, start=1):  # noqa: B007 (the last number is how many there are)
            holders.update(set(words))
        return cls(holders, number)

    def __call__(self, word: str) -> float:
        """Return the idf of a word, >= 0; ln(N + 1) for a word in no text."""
        return math.log((self.texts + 1) / (self._holders[word] + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class CosineConfig:
    """Settings of `CosineScorer`.

    Attributes:
        min_characters: Shorter passages are left out of the statistics and score lowest.
        analyzer: Splits text into words; must be that of the word vectors.
    """

    min_characters: int = 1
    analyzer: Analyzer = field(default_factory=Analyzer)


class CosineScorer:
    """Cosine between the weighted means of the words of query and passage.

    Args:
        vectors: Word vectors of any kind.
        idf: None for equal weights (CD), "passages" for weights over the prepared collection (CD_idf), or weights over
            a collection of questions (CD_q).
        config: Further settings.
        name: Its name in tables; the paper's name by default.
    """

    def __init__(
        self,
        vectors: WordVectors,
        idf: InverseDocumentFrequencies | Literal["passages"] | None = None,
        *,
        config: CosineConfig | None = None,
        name: str | None = None,
    ) -> None:
        self.config = config or CosineConfig()
        self.name = name or ("CD" if idf is None else "CD_idf" if idf == "passages" else "CD_q")
        self._vectors = vectors
        self._given = idf
        self._idf = idf if isinstance(idf, InverseDocumentFrequencies) else None
        self._positions: dict[str, int] = {}
        self._units: FloatArray = np.zeros((0, vectors.dim), dtype=np.float32)

    def prepare(self, documents: Iterable[Document]) -> None:
        """Read the collection: passage text only, no title, no heading.

        Args:
            documents: The collection whose passages will be scored; read once, as a stream.

        Raises:
            DataError: A passage id occurs twice, or no passage has a word.
        """
        positions: dict[str, int] = {}
        passages: list[list[str]] = []
        for document, passage in distinct_passages(documents):
            positions[passage.passage_id] = len(passages)
            text = document.slice(passage).strip()
            passages.append(self.config.analyzer(text) if len(text) >= self.config.min_characters else [])
        if not any(passages):
            raise DataError("a collection with words", "no passage that holds one", "check the corpus and its split")
        if self._given == "passages":
            self._idf = InverseDocumentFrequencies.of_words(words for words in passages if words)
        chunks = range(0, len(passages), _CHUNK)
        self._units = np.concatenate([self._encode(passages[begin : begin + _CHUNK]) for begin in chunks])
        self._positions = positions

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Return cosines for passages of the prepared collection.

        Args:
            query: The query; its text where it has one, else its entity and aspects.
            passage_ids: In any order; the order does not matter to a passage's score.

        Returns:
            Float32, shape (passages,), in [-1, 1]: 1 minus the paper's distance. A passage without a known word
            scores `NO_WORD_SCORE`; a query without one scores the others 0.

        Raises:
            ModelError: `prepare` has not been called.
            DataError: A passage is not of the prepared collection.
        """
        rows = rows_of(self._positions, passage_ids, self.name)
        # CD_q has weights of words in questions, so it takes the question before entity and aspects.
        (vector,) = self._encode([self.config.analyzer(query_text(query, question="rather"))])
        units = self._units[rows]
        # Summed in double precision, so that the order of passages does not change a score by rounding.
        scores = (units.astype(np.float64) @ vector.astype(np.float64)).astype(np.float32)
        return np.where(units.any(axis=1), scores, np.float32(NO_WORD_SCORE))

    def _encode(self, texts: Sequence[Sequence[str]]) -> FloatArray:
        """Return unit vectors of texts, (texts, dim); zeros for a text without a known word of positive weight."""
        number = {word: row for row, word in enumerate(dict.fromkeys(word for text in texts for word in text))}
        table = self._vectors.lookup(list(number))
        weights = np.array([1.0 if self._idf is None else self._idf(word) for word in number], dtype=np.float32)
        means = np.zeros((len(texts), self._vectors.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            if text:
                words = np.fromiter((number[word] for word in text), dtype=np.int64, count=len(text))
                # Dividing by the sum of weights would not change the direction.
                means[row] = weights[words] @ table[words]
        norms = np.linalg.norm(means, axis=1, keepdims=True)
        units: FloatArray = np.divide(means, norms, out=np.zeros_like(means), where=norms > 0)
        return units
