"""DRMM: a histogram of similarities for each query word, and a gate that says how much the word counts (guo2016).

    h_i = ln(1 + number of passage words j with cos(v(q_i), v(d_j)) in bin b), for each bin b     LCH
    z_i = tanh(w2 tanh(W1 h_i + b1) + b2)
    g_i = exp(w x_i) / sum over j of exp(w x_j),  x_i the idf of q_i, or its word vector
    s(q,d) = sum over i of g_i z_i

Cost: one cosine for each pair of a query word and a passage word; the network sees 30 numbers for each query word.

Word vectors are not trained, as in the paper: a histogram has no gradient. A count has one added before its logarithm,
on which the paper is silent and without which an empty bin has none. Words may be equal by rounding only, so cosines
within 1e-6 of 1 are exact matches; they are taken in double precision, as a rounding error must not change a bin.

Published code: MatchZoo-py gates by word vector only, adds a last linear layer to the one number that comes out, and
gives padded query words a share of the gate in versions without a mask; OpenNIR has 11 bins, relu for tanh, ln(1e-5 +
count) as CEDR has too, and an idf gate without the weight w, whose softmax runs over padding.

Recorded trainings: a rate of 0.01; the adapted one is tuned on validation, and has nine wrong passages a query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from auscult.errors import ConfigError
from auscult_lab.modules.attention import TermGate
from auscult_lab.modules.dense import tanh_layers
from auscult_lab.modules.embedding import WordEmbedding, WordIdf
from auscult_lab.modules.interaction import bin_counts, cosine_matrix
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.rankers.base import Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class DrmmConfig(RankerConfig):
    """Settings of `Drmm`; the defaults are those of the paper's best variant, LCH x IDF.

    Attributes:
        bins: Of the histogram; the last is for exact matches.
        hidden: Sizes of the hidden layers.
        gate: What the weight of a query word is learned from: its idf or its word vector.
    """

    bins: int = 30
    hidden: tuple[int, ...] = (5,)
    gate: Literal["idf", "vector"] = "idf"

    def __post_init__(self) -> None:
        """Refuse values that make no network.

        Raises:
            ConfigError: A gate of another name, or fewer than two bins.
        """
        if self.gate not in ("idf", "vector"):
            raise ConfigError("gate 'idf' or 'vector'", repr(self.gate), "correct 'gate'")
        if self.bins < 2:
            raise ConfigError("at least 2 bins", str(self.bins), "raise 'bins'")


class Drmm(Ranker):
    """Deep relevance matching model with log-count histograms."""

    kind = "drmm"
    title = "DRMM"

    def __init__(self, config: DrmmConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: DrmmConfig = config
        self.words = WordEmbedding(vocabulary, trainable=False)
        self.idf = WordIdf(vocabulary) if config.gate == "idf" else None
        self.layers = tanh_layers(config.bins, *config.hidden, 1)
        self.gate = TermGate(1 if self.idf is not None else vocabulary.dim)

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        query_words = self.words(query.ids)
        similarities = cosine_matrix(query_words.double(), self.words(passage.ids).double())
        counts = bin_counts(similarities, passage.mask, self.config.bins)
        matches: Tensor = self.layers(torch.log1p(counts)).squeeze(-1)
        known = query_words if self.idf is None else self.idf(query.ids).unsqueeze(-1)
        weights: Tensor = self.gate(known, query.mask)
        return (weights * matches).sum(1)
