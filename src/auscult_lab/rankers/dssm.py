"""DSSM: texts as bags of letter trigrams, drawn by one deep network into a space of meanings (huang2013).

    l1 = tanh(W1 x + b1), x the letter-trigram counts of a text          Eq. 1 to 3, section 3.2
    y  = tanh(W3 tanh(W2 l1 + b2) + b3)
    R(q, d) = cos(y_q, y_d)                                              Eq. 4
    f(q, d) = gamma R(q, d)                                              the exponent of Eq. 5

Cost: the grams of each text once, whatever it is compared with, and one cosine for each pair.

Departures: the paper sets the smoothing factor gamma on validation data and does not give it; 10 is ours. It does not
change the order. Trigrams are those of the vocabulary's words; the paper's 30,000 come from 500,000 words. Titles of
web pages were the paper's documents; whole passages are ours. Published code: MatchZoo has one network for queries
and another for documents, with rectifiers rather than tanh, and a linear layer after the cosine in gamma's place.

Recorded trainings: a rate of 0.0003, tuned on validation in the adapted track.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from auscult_lab.modules.dense import Dense
from auscult_lab.modules.letter_grams import LetterGrams
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.rankers.base import Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class DssmConfig(RankerConfig):
    """Settings of `Dssm`; the defaults are section 3.4's.

    Attributes:
        sizes: Units of each layer; the last is the length of a text's vector.
        smoothing: The factor gamma that the cosine is multiplied by.
    """

    sizes: tuple[int, ...] = (300, 300, 128)
    smoothing: float = 10.0


class Dssm(Ranker):
    """Deep structured semantic model."""

    kind = "dssm"
    title = "DSSM"
    keeps_passages = True

    def __init__(self, config: DssmConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: DssmConfig = config
        self.grams = LetterGrams(vocabulary, config.sizes[0])
        self.bias = nn.Parameter(torch.zeros(config.sizes[0]))
        self.layers = Dense(config.sizes, activation=torch.tanh)

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        return self.match(query, self.encode_passage(passage))

    def encode_passage(self, passage: Tokens) -> Tensor:
        """The passages' vectors y, (batch, sizes[-1])."""
        return self._read(passage)

    def match(self, query: Tokens, encoded: Tensor) -> Tensor:
        """Scores, (batch,); row i of the query goes with passage i of `encode_passage`."""
        return self.config.smoothing * nn.functional.cosine_similarity(self._read(query), encoded, dim=-1)

    def _read(self, text: Tokens) -> Tensor:
        """A text's vector, (batch, sizes[-1])."""
        first = torch.tanh(self.grams.bags(text.ids.masked_fill(~text.mask, 0)) + self.bias)
        return torch.tanh(self.layers(first))
