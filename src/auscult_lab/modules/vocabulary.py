"""The words a ranker was trained with: their vectors, how rare they are, and what stands for words it never saw.

A subword table (floret) has a vector for any word. Words that a plain table (GloVe, word2vec) lacks get a vector
drawn at random, once for each spelling, as zhu2019 (section 5.3) does: equal words still match each other.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from auscult.interfaces import FloatArray
from auscult_lab.modules.word_vectors import WordVectors


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words in the order of their ids (the first has id 1), with what rankers need to know of them.

    Attributes:
        words: Distinct, folded as `documents.analysis.Analyzer` folds them.
        vectors: (words, dim), their word vectors.
        idf: (words,), inverse document frequencies over the training passages.
        source: The word vectors that unknown words are looked up in.
        unseen_idf: Of a word that no training passage holds.
    """

    words: tuple[str, ...]
    vectors: FloatArray
    idf: FloatArray
    source: WordVectors
    unseen_idf: float

    @property
    def dim(self) -> int:
        """Length of a word vector."""
        return int(self.vectors.shape[1])

    def look_up(self, words: Sequence[str]) -> FloatArray:
        """Vectors of any words, (words, dim)."""
        return look_up(self.source, words)


def build_vocabulary(
    passages: Iterable[Sequence[str]],
    source: WordVectors,
    *,
    queries: Iterable[Sequence[str]] = (),
    min_count: int = 1,
) -> Vocabulary:
    """The vocabulary of the training texts.

    Args:
        passages: The words of every training passage; idf is taken over them.
        source: Word vectors.
        queries: The words of the training queries; they count towards `min_count`, not towards idf.
        min_count: Rarer words are treated as words that training never saw.
    """
    counts: Counter[str] = Counter()
    holders: Counter[str] = Counter()
    number = 0
    for passage in passages:
        number += 1
        counts.update(passage)
        holders.update(set(passage))
    for query in queries:
        counts.update(query)
    words = tuple(sorted(word for word, count in counts.items() if count >= min_count))
    idf = np.array([inverse_document_frequency(number, holders[word]) for word in words], dtype=np.float32)
    unseen_idf = inverse_document_frequency(number, 0)
    return Vocabulary(words, look_up(source, words), idf, source, unseen_idf)


def inverse_document_frequency(passages: int, holders: int) -> float:
    """ln((N + 1) / (n + 1)) + 1, of a word that n of N passages hold; at least 1."""
    return math.log((passages + 1) / (holders + 1)) + 1.0


def look_up(source: WordVectors, words: Sequence[str]) -> FloatArray:
    """Vectors of words, (words, dim); those without one are drawn at random, seeded by spelling.

    The draw is uniform over [-0.25, 0.25], as is usual for words that pre-trained vectors lack.
    """
    vectors = np.array(source.lookup(words), dtype=np.float32).reshape(len(words), source.dim)
    for row in np.flatnonzero(~vectors.any(axis=1)).tolist():
        vectors[row] = _random_vector(words[row], source.dim)
    return vectors


def _random_vector(word: str, dim: int) -> FloatArray:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).uniform(-0.25, 0.25, dim).astype(np.float32)
