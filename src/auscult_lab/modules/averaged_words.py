"""Sentence encoders of CDV: word-vector averages (Eq. 8), pooled transformers (Eq. 9), and the structural flags.

arnold2020 section 4.1. Each encoder turns the sentences of a document into one matrix (sentences, dim), to which the
structural flags (begin/end of document, begin/end of paragraph, list item) are appended. The pooled transformer has
a file of its own, `transformer.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from auscult.documents import Document
from auscult.documents.analysis import Analyzer
from auscult.interfaces import FloatArray
from auscult_lab.modules.word_vectors import WordVectors

FLAGS = 5
_analyse = Analyzer()


class SentenceEncoder(Protocol):
    """Turns each sentence of a document into a vector, without looking at its neighbours."""

    dim: int

    def encode(self, document: Document, *, max_tokens: int | None = None) -> FloatArray:
        """Sentence vectors, shape (sentences, dim).

        Args:
            document: Whose sentences to encode.
            max_tokens: Read only the first words of each sentence (training uses 96); None reads all.
        """
        ...


def tokenize(text: str) -> list[str]:
    """The words of a text as the word vectors know them: folded to lower case without accents."""
    return _analyse(text)


def sentence_tokens(document: Document, max_tokens: int | None = None) -> list[list[str]]:
    """The words of every sentence of a document, in order, at most `max_tokens` each."""
    return [tokenize(document.slice(sentence))[:max_tokens] for sentence in document.sentences]


def structural_flags(document: Document) -> FloatArray:
    """Begin/end of document, begin/end of paragraph, list item; shape (sentences, 5), values 0 or 1."""
    sentences = document.sentences
    flags = np.zeros((len(sentences), FLAGS), dtype=np.float32)
    for row, sentence in enumerate(sentences):
        flags[row, 2:] = sentence.begins_paragraph, sentence.ends_paragraph, sentence.list_item
    if sentences:
        flags[0, 0] = flags[-1, 1] = 1.0
    return flags


class AveragedWords:
    """Mean of the word vectors of a sentence (Eq. 8), +avg-glove and +avg-fasttext.

    Departure, only with `frequencies`: a second mean in which a word counts a / (a + p(word)), so that rare words
    (names of diseases) outweigh common ones, is appended (the smooth inverse frequency of arora2017, a = 1e-3).

    Args:
        vectors: Word vectors of dimension d.
        frequencies: Relative frequency p of words in the training text, or None for the paper's encoder.
    """

    kind = "average"
    _smoothing = 1e-3

    def __init__(self, vectors: WordVectors, frequencies: Mapping[str, float] | None = None) -> None:
        self.vectors = vectors
        self.frequencies = frequencies
        self.dim = vectors.dim * (1 if frequencies is None else 2)
        self._rarest = min(frequencies.values(), default=0.0) if frequencies else 0.0

    def encode(self, document: Document, *, max_tokens: int | None = None) -> FloatArray:
        """Sentence vectors, shape (sentences, dim); a sentence without known words is a row of zeros."""
        return self.encode_tokens(sentence_tokens(document, max_tokens))

    def encode_tokens(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """Vectors of tokenised sentences, shape (sentences, dim)."""
        words = [word for sentence in sentences for word in sentence]
        vectors = self.vectors.lookup(words)
        known = vectors.any(axis=1).astype(np.float32)
        owners = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])
        counts = np.maximum(np.bincount(owners, weights=known, minlength=len(sentences)), 1.0)[:, None]
        means = [_sum_by_owner(vectors, owners, len(sentences)) / counts]
        if self.frequencies is not None:
            weighted = vectors * self._weights(words)[:, None]
            means.append(_sum_by_owner(weighted, owners, len(sentences)) / counts)
        return np.concatenate(means, axis=1).astype(np.float32)

    def _weights(self, words: Sequence[str]) -> FloatArray:
        known = self.frequencies or {}
        share = np.fromiter((known.get(word, self._rarest) for word in words), np.float32, count=len(words))
        return np.asarray(self._smoothing / (self._smoothing + share), dtype=np.float32)


def _sum_by_owner(vectors: FloatArray, owners: np.ndarray, size: int) -> FloatArray:
    """Sum rows by their owner; owners ascend, and an owner without rows sums to zero."""
    sums = np.zeros((size, vectors.shape[1]), dtype=np.float32)
    if len(owners):
        starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
        sums[owners[starts]] = np.add.reduceat(vectors, starts, axis=0)
    return sums
