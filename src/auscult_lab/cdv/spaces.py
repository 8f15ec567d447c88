"""The vector spaces that queries and discourse vectors share: where an entity and an aspect become target vectors.

Two ways to make them:

- `BloomSpace`, the paper's: embeddings of a trained BLSTM encoder (arnold2020, Eq. 1-6), averaged over the
  descriptions of each known concept, from the mention alone for an unknown one (Eq. 5).
- `AverageSpace`, a departure: the mean of the word vectors of the name, minus the mean over all training names, at
  unit length. Nothing is learnt beyond the word vectors, so a name never seen is placed as well as any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

import numpy as np
import torch

from auscult.concepts import normalise_name
from auscult.interfaces import FloatArray
from auscult_lab.cdv.bloom import BloomConfig, BloomEncoder
from auscult_lab.modules.averaged_words import tokenize
from auscult_lab.modules.recurrent import pack
from auscult_lab.modules.word_vectors import WordVectors

_MAX_WORDS = 96
_NO_NAMES: Mapping[str, str] = MappingProxyType({})


class TargetSpace(Protocol):
    """Places texts, and concepts known by a key, in one vector space."""

    kind: str
    dim: int

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Vectors of texts, shape (texts, dim); a text without words is a row of zeros."""
        ...

    def place(self, key: str, text: str) -> FloatArray:
        """The vector (dim,) of a known concept or heading, or else of its text."""
        ...


class AverageSpace:
    """Centred, length-normalised means of word vectors.

    Args:
        vectors: Word vectors.
        centre: Shape (dim,): the mean over training names, subtracted so that what all names share does not count.
    """

    kind = "average"

    def __init__(self, vectors: WordVectors, centre: FloatArray) -> None:
        self.vectors = vectors
        self.centre = centre.astype(np.float32)
        self.dim = vectors.dim

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Vectors of texts, shape (texts, dim), unit length; a text without known words is a row of zeros."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            mean = mean_word_vector(self.vectors, tokenize(text))
            if mean is not None:
                rows[row] = mean - self.centre
        lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return np.asarray(rows / lengths, dtype=np.float32)

    def place(self, key: str, text: str) -> FloatArray:
        """The vector of the text; this space knows no keys."""
        vector: FloatArray = self.embed([text])[0]
        return vector


def mean_word_vector(vectors: WordVectors, words: Sequence[str]) -> FloatArray | None:
    """Mean vector (dim,) of the words that have one, or None where none has."""
    rows = vectors.lookup(words)
    known = rows.any(axis=1)
    return None if not known.any() else np.asarray(rows[known].mean(axis=0), dtype=np.float32)


class BloomSpace:
    """Embeddings of a trained Bloom encoder, with a table of known concepts.

    Args:
        encoder: The trained BLSTM, in evaluation mode from here on.
        vectors: The word vectors that it reads.
        known: Mean embedding (dim,) over the descriptions of each known key (Eq. 5, first case).
        names: `normalise_name` of a name -> the known key it stands for, so that a query that brings a name, or an
            identifier of another vocabulary, finds what it is known by.
    """

    kind = "bloom"

    def __init__(
        self,
        encoder: BloomEncoder,
        vectors: WordVectors,
        known: Mapping[str, FloatArray],
        names: Mapping[str, str] = _NO_NAMES,
    ) -> None:
        self.encoder = encoder.eval()
        self.known = known
        self.names = names
        self.dim = encoder.config.lstm_dim
        self.vectors = vectors

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Embeddings ε(s) of texts (Eq. 4), shape (texts, dim); a text without known words is a row of zeros."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        matrices = [self._read(text) for text in texts]
        filled = [row for row, matrix in enumerate(matrices) if len(matrix)]
        with torch.inference_mode():
            for start in range(0, len(filled), 256):
                part = filled[start : start + 256]
                packed = pack([torch.from_numpy(matrices[row]) for row in part])
                rows[part] = self.encoder.embed(packed).numpy()
        return rows

    def place(self, key: str, text: str) -> FloatArray:
        """The vector of the concept known by key or by name, or else the text's own embedding (Eq. 5, second case)."""
        known = key if key in self.known else self.names.get(normalise_name(text), "")
        if known in self.known:
            return self.known[known]
        vector: FloatArray = self.embed([text])[0]
        return vector

    def _read(self, text: str) -> FloatArray:
        words = self.vectors.lookup(tokenize(text)[:_MAX_WORDS])
        return words[words.any(axis=1)]


def restore_bloom(
    config: Mapping[str, object],
    weights: Mapping[str, torch.Tensor],
    vectors: WordVectors,
    known: Mapping[str, FloatArray],
    names: Mapping[str, str],
) -> BloomSpace:
    """A Bloom space from its saved parts."""
    encoder = BloomEncoder(BloomConfig(**config))  # type: ignore[arg-type]
    encoder.load_state_dict(dict(weights))
    return BloomSpace(encoder, vectors, known, names)
