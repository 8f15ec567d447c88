"""Entity and aspect encoders (arnold2020, section 3, Eq. 1-6): a BLSTM that predicts a Bloom-filter hash of an ID.

    p(id | s) ≈ p(bloom(id) | BLSTM(w_1 … w_N))     (Eq. 2)
    ε(s)      = (g→_T + g←_1) / 2                   (Eq. 3, 4)
    ε_E       = mean of ε(s) over the descriptions of E, or ε(mention) for an unseen E  (Eq. 5; aspects: Eq. 6)

The Bloom filter (serra2017) writes an ID as k of m bits, so 27,000 entities need 1,024 outputs. Between embedding and
output stands section 5.2's dense tanh layer; the embedding itself is Eq. 4's mean of the two end states.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import mmh3
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from auscult.interfaces import FloatArray
from auscult_lab.modules.recurrent import BidirectionalLstm


@dataclass(frozen=True, kw_only=True)
class BloomConfig:
    """Sizes of an entity or aspect encoder; defaults are section 5.2's."""

    word_dim: int = 128
    lstm_dim: int = 128
    dense_dim: int = 128
    bits: int = 1024
    hashes: int = 5
    dropout: float = 0.5

    def as_dict(self) -> dict[str, object]:
        """The fields, as JSON can hold them."""
        return asdict(self)


def bloom_bits(identifier: str, *, bits: int, hashes: int) -> FloatArray:
    """The Bloom-filter code of an identifier.

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
        """Embeddings ε(s) (Eq. 4): packed word vectors to (texts, lstm_dim), components in (-1, 1)."""
        forward, backward = self.words.end_states(words)
        return (forward + backward) / 2

    def forward(self, words: PackedSequence) -> Tensor:
        """Bit probabilities, (texts, bits)."""
        hidden = torch.tanh(self.dense(self.dropout(self.embed(words))))
        return torch.sigmoid(self.output(self.dropout(hidden)))
