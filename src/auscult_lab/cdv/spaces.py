"""The vector spaces that queries and discourse vectors share: where an entity and an aspect become target vectors.

Two ways to make them:

- `BloomSpace`, the paper's: embeddings of a trained BLSTM encoder (arnold2020, Eq. 1-6), averaged over the
  descriptions of each known concept, from the mention alone for an unknown one (Eq. 5).
- `AverageSpace`, a departure: the mean of the word vectors of the name, minus the mean over all training names, at
  unit length. Only the word vectors are learned, so unknown names are placed as well as known ones.

Entity and aspect encoders (arnold2020, section 3, Eq. 1-6): a BLSTM that predicts a Bloom-filter hash of an ID.

    p(id | s) ≈ p(bloom(id) | BLSTM(w_1 … w_N))     (Eq. 2)
    ε(s)      = (g→_T + g←_1) / 2                   (Eq. 3, 4)
    ε_E       = mean of ε(s) over the descriptions of E, or ε(mention) for an unseen E  (Eq. 5; aspects: Eq. 6)

The Bloom filter (serra2017) writes an ID as k of m bits, so 27,000 entities need 1,024 outputs. Between embedding and
output stands section 5.2's dense tanh layer; the embedding itself is Eq. 4's mean of the two end states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import mmh3
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from auscult.concepts import normalise_name
from auscult.encoders.contract import FloatArray
from auscult_lab.modules.recurrent import BidirectionalLstm, pack
from auscult_lab.modules.word_vectors import WordVectors, tokenize


@dataclass(frozen=True, kw_only=True)
class BloomConfig:
    """Sizes of an entity or aspect encoder; defaults are section 5.2's, and word vectors as they are.

    Attributes:
        input_scale: Factor on word vectors (a departure).
    """

    word_dim: int = 128
    lstm_dim: int = 128
    dense_dim: int = 128
    bits: int = 1024
    hashes: int = 5
    dropout: float = 0.5
    input_scale: float = 1.0


def bloom_bits(identifier: str, *, bits: int, hashes: int) -> FloatArray:
    """Return the Bloom-filter code of an identifier.

    Args:
        identifier: Any string.
        bits: Length m of the code.
        hashes: Number k of hash functions; two of them may meet in one bit.

    Returns:
        Shape (bits,), 1.0 where set.
    """
    code = np.zeros(bits, dtype=np.float32)
    for seed in range(hashes):
        code[mmh3.hash(identifier, seed, signed=False) % bits] = 1.0
    return code


class BloomEncoder(nn.Module):
    """Encodes a text as the mean of a BLSTM's end states, and predicts the Bloom code of its ID."""

    def __init__(self, config: BloomConfig) -> None:
        super().__init__()
        self.config = config
        self.words = BidirectionalLstm(config.word_dim, config.lstm_dim)
        self.dense = nn.Linear(config.lstm_dim, config.dense_dim)
        self.output = nn.Linear(config.dense_dim, config.bits)
        self.dropout = nn.Dropout(config.dropout)

    def embed(self, words: PackedSequence) -> Tensor:
        """Return embeddings ε(s) (Eq. 4): packed word vectors to (texts, lstm_dim), components in (-1, 1)."""
        scaled = words._replace(data=words.data * self.config.input_scale)
        forward, backward = self.words.end_states(scaled)
        return (forward + backward) / 2

    def forward(self, words: PackedSequence) -> Tensor:
        """Return bit probabilities, (texts, bits)."""
        hidden = torch.tanh(self.dense(self.dropout(self.embed(words))))
        return torch.sigmoid(self.output(self.dropout(hidden)))


_MAX_WORDS = 96
_NO_NAMES: Mapping[str, str] = MappingProxyType({})


class TargetSpace(Protocol):
    """Places texts, and concepts known by a key, in one vector space."""

    kind: str
    dim: int

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Return vectors of texts, shape (texts, dim); a text without words is a row of zeros."""
        ...

    def place(self, key: str, text: str) -> FloatArray:
        """Return the vector (dim,) of a known concept or heading, or else of its text."""
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
        """Return vectors of texts, shape (texts, dim), unit length; a text without known words is a row of zeros."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            mean = mean_word_vector(self.vectors, tokenize(text))
            if mean is not None:
                rows[row] = mean - self.centre
        lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return np.asarray(rows / lengths, dtype=np.float32)

    def place(self, key: str, text: str) -> FloatArray:
        """Return the vector of the text; this space knows no keys."""
        vector: FloatArray = self.embed([text])[0]
        return vector


def mean_word_vector(vectors: WordVectors, words: Sequence[str]) -> FloatArray | None:
    """Return the mean vector (dim,) of the words that have one, or None where none has."""
    rows = vectors.lookup(words)
    known = rows.any(axis=1)
    return None if not known.any() else np.asarray(rows[known].mean(axis=0), dtype=np.float32)


class BloomSpace:
    """Embeddings of a trained Bloom encoder, with a table of known concepts.

    Args:
        encoder: The trained BLSTM, in evaluation mode from here on.
        vectors: The word vectors that it reads.
        known: Mean embedding (dim,) over the descriptions of each known key (Eq. 5, first case).
        names: `normalise_name` of a name -> its known key. It serves queries by a name, or by an identifier of another
            vocabulary.
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
        """Return embeddings ε(s) of texts (Eq. 4), shape (texts, dim); a text without known words is a row of zeros."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        read = (self.vectors.lookup(tokenize(text)[:_MAX_WORDS]) for text in texts)
        matrices = [words[words.any(axis=1)] for words in read]
        filled = [row for row, matrix in enumerate(matrices) if len(matrix)]
        with torch.inference_mode():
            for start in range(0, len(filled), 256):
                part = filled[start : start + 256]
                packed = pack([torch.from_numpy(matrices[row]) for row in part])
                rows[part] = self.encoder.embed(packed).numpy()
        return rows

    def place(self, key: str, text: str) -> FloatArray:
        """Return the vector of the concept of that key or name, or else the text's own embedding (Eq. 5)."""
        known = key if key in self.known else self.names.get(normalise_name(text), "")
        if known in self.known:
            return self.known[known]
        vector: FloatArray = self.embed([text])[0]
        return vector
