"""MLP: position-encoded query and passage, concatenated and classified, a baseline of galko2017 (section 3.1).

    m(T) = sum over j of l_j * x_j, l_kj = (1 - j/J) - (k/d)(1 - 2j/J)     sukhbaatar2015, section 4.1
    f(q,d) = w relu(W [m(q); m(d)] + a) + b

Cost: one pass over the words of each text, and one hidden layer; words are never compared with each other.

Departures: the paper gives neither the hidden layer's size nor its activation; here twice the word vectors' length and
a rectifier. The score is the classifier's logit, which gives the same order as its probability. m(T) is scaled by 1/J,
like the paper's averages, because sums grow with the length of a text. The paper trains a classifier of pairs; recorded
trainings use the other rankers' pairwise hinge loss.

Recorded trainings: the learning rate of 0.001 was not chosen on validation; word vectors are frozen.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from auscult_lab.modules.interaction import encode_positions
from auscult_lab.modules.vocabulary import Vocabulary, WordEmbedding
from auscult_lab.rankers.base import Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionMlpConfig(RankerConfig):
    """Settings of `PositionMlp`.

    Attributes:
        hidden: Size of the hidden layer.
        train_words: Train the word vectors too; the paper's are fixed.
    """

    hidden: int = 100
    train_words: bool = False


class PositionMlp(Ranker):
    """Multi-layer perceptron on position-encoded texts."""

    kind = "position-mlp"
    title = "MLP"

    def __init__(self, config: PositionMlpConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config = config
        self.words = WordEmbedding(vocabulary, trainable=config.train_words)
        self.classify = nn.Sequential(
            nn.Linear(2 * vocabulary.dim, config.hidden), nn.ReLU(), nn.Linear(config.hidden, 1)
        )

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        scores: Tensor = self.classify(torch.cat([self._encode(query), self._encode(passage)], dim=-1)).squeeze(-1)
        return scores

    def _encode(self, text: Tokens) -> Tensor:
        lengths = text.mask.sum(dim=1, keepdim=True).clamp(min=1)
        return encode_positions(self.words(text.ids), text.mask) / lengths
