"""aNMM-1: similarities weighted by their value, not their place, and attention over the query's words (yang2016).

    x_ik = sum of those cos(v(q_i), v(d_j)) over the passage's words j that lie in bin k
    h_i  = sigmoid(sum over k of w_k x_ik)
    g_i  = exp(v . v(q_i)) / sum over j of exp(v . v(q_j))
    s(q,d) = sum over i of g_i h_i

Cost: one cosine for each pair of a query word and a passage word; one weight for each bin, one for each dimension.

Cosines are taken in double precision, as with 600 bins a rounding error would often change one; those within 1e-6 of 1
are exact matches, which have a bin of their own.

Recorded trainings: the adapted one is tuned on validation (rate 0.05, nine wrong passages, frozen words); the zero-shot
one has a rate of 0.001, not chosen. MatchZoo, whose aNMM arnold2020's and zhu2019's figures are of, trains words.

Published code: MatchZoo-py puts a hidden layer of 100 units with relu after the bins, relu for the sigmoid, a last
linear layer on the one number that comes out, and trains word vectors (here with `train_words`).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from auscult.errors import ConfigError
from auscult_lab.modules.attention import TermGate
from auscult_lab.modules.embedding import WordEmbedding
from auscult_lab.modules.interaction import bin_sums, cosine_matrix
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.rankers.base import Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class AnmmConfig(RankerConfig):
    """Settings of `Anmm`; the defaults are those known of aNMM-1.

    Attributes:
        bins: Of similarities; the last is for exact matches.
        train_words: Train the word vectors too.
    """

    bins: int = 600
    train_words: bool = False

    def __post_init__(self) -> None:
        """Refuse values that make no network.

        Raises:
            ConfigError: Fewer than two bins.
        """
        if self.bins < 2:
            raise ConfigError("at least 2 bins", str(self.bins), "raise 'bins'")


class Anmm(Ranker):
    """Attention-based neural matching model with one set of value-shared weights."""

    kind = "anmm"
    title = "aNMM"

    def __init__(self, config: AnmmConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: AnmmConfig = config
        self.words = WordEmbedding(vocabulary, trainable=config.train_words)
        self.bin_weights = nn.Linear(config.bins, 1, bias=False)
        self.attention = TermGate(vocabulary.dim)

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        query_words = self.words(query.ids)
        similarities = cosine_matrix(query_words.double(), self.words(passage.ids).double())
        sums = bin_sums(similarities, passage.mask, self.config.bins)
        matches = torch.sigmoid(self.bin_weights(sums).squeeze(-1))
        weights: Tensor = self.attention(query_words, query.mask)
        return (weights * matches).sum(1)
