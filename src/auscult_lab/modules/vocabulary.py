"""The vocabulary of a ranker: word vectors, inverse document frequencies, and vectors of unknown words.

A subword table (floret) has a vector for any word. Words that a plain table (GloVe, word2vec) lacks get a vector
drawn at random, once for each spelling, as zhu2019 (section 5.3) does: equal words still match each other.

Word tables have a row for every known word, and room for words that were not in training.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from auscult.encoders.contract import FloatArray
from auscult_lab.modules.word_vectors import WordVectors


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words in the order of their ids (the first has id 1), with their data for rankers.

    Attributes:
        words: Distinct, folded as `documents.analysis.Analyzer` folds them.
        vectors: (words, dim), their word vectors.
        idf: (words,), inverse document frequencies over the training passages.
        source: Word vectors for unknown words.
        unseen_idf: Idf of a word that is in no training passage.
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


def build_vocabulary(
    passages: Iterable[Sequence[str]],
    source: WordVectors,
    *,
    queries: Iterable[Sequence[str]] = (),
    min_count: int = 1,
) -> Vocabulary:
    """Return the vocabulary of the training texts.

    Args:
        passages: The words of every training passage, for idf.
        source: Word vectors.
        queries: The words of the training queries; they count towards `min_count`, not towards idf.
        min_count: Rarer words are treated as unknown.
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
    """Return ln((N + 1) / (n + 1)) + 1 for a word in n of N passages; at least 1."""
    return math.log((passages + 1) / (holders + 1)) + 1.0


def look_up(source: WordVectors, words: Sequence[str]) -> FloatArray:
    """Return vectors of words, (words, dim); those without one are drawn at random, seeded by spelling.

    The draw is uniform over [-0.25, 0.25], as usual for words without a pre-trained vector.
    """
    vectors = np.array(source.lookup(words), dtype=np.float32).reshape(len(words), source.dim)
    for row in np.flatnonzero(~vectors.any(axis=1)).tolist():
        seed = int.from_bytes(hashlib.blake2b(words[row].encode(), digest_size=8).digest(), "big")
        vectors[row] = np.random.default_rng(seed).uniform(-0.25, 0.25, source.dim).astype(np.float32)
    return vectors


class WordTable(nn.Module, ABC):
    """A module with a row for every word, to which words that were not in training can be added."""

    @abstractmethod
    def add_words(self, words: Sequence[str]) -> None:
        """Add further words, whose ids follow the existing ones. They are not saved."""


class WordEmbedding(WordTable):
    """Word vectors, trainable or fixed.

    Args:
        vocabulary: Words and their vectors.
        trainable: Train the vectors with the network, except those of words added later.
    """

    def __init__(self, vocabulary: Vocabulary, *, trainable: bool) -> None:
        super().__init__()
        self._source = vocabulary.source
        self.dim = vocabulary.dim
        rows = torch.cat([torch.zeros(1, self.dim), torch.from_numpy(vocabulary.vectors).float()])
        self.rows = nn.Parameter(rows, requires_grad=trainable)
        self.register_buffer("added", torch.zeros(0, self.dim), persistent=False)
        self.added: Tensor

    def add_words(self, words: Sequence[str]) -> None:
        """Look up the vectors of further words."""
        found = torch.from_numpy(look_up(self._source, words)).to(self.rows)
        self.added = torch.cat([self.added, found])

    def forward(self, ids: Tensor) -> Tensor:
        """Return vectors, (*ids.shape, dim); the padding's are zeros, and get no gradient."""
        known = self.known(ids)
        vectors = nn.functional.embedding(torch.where(known, ids, 0), self.rows, padding_idx=0)
        if known.all():
            return vectors
        added = nn.functional.embedding(torch.where(known, 0, ids - len(self.rows)), self.added)
        return torch.where(known.unsqueeze(-1), vectors, added)

    def known(self, ids: Tensor) -> Tensor:
        """Return which ids are of words that were in training, or padding; bool, in the shape of the ids."""
        return ids < len(self.rows)

    def distinct(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return vectors of texts' distinct words, (distinct, dim), and the row of each word, in the shape of `ids`.

        The first row is zeros, for padding.
        """
        # Padding is prepended, so that it always exists and is the first.
        flat = nn.functional.pad(ids.masked_fill(~mask, 0).flatten(), (1, 0))
        words, rows = torch.unique(flat, return_inverse=True)
        vectors: Tensor = self(words)
        return vectors.masked_fill((words == 0).unsqueeze(1), 0.0), rows[1:].view_as(ids)


class WordIdf(WordTable):
    """Inverse document frequencies, which are not trained."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._unseen = vocabulary.unseen_idf
        self.register_buffer("idf", torch.cat([torch.zeros(1), torch.from_numpy(vocabulary.idf).float()]))
        self.register_buffer("added", torch.zeros(0), persistent=False)
        self.idf: Tensor
        self.added: Tensor

    def add_words(self, words: Sequence[str]) -> None:
        """Add words, as rare as a word that is in no training passage."""
        self.added = torch.cat([self.added, torch.full((len(words),), self._unseen).to(self.idf)])

    def forward(self, ids: Tensor) -> Tensor:
        """Return idf in the shape of the ids; 0 for padding."""
        return torch.cat([self.idf, self.added])[ids]
