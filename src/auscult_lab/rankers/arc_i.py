"""ARC-I: two texts become two vectors by convolution, and a network compares the vectors (hu2014, section 3.1).

    z_i = relu(W [x_i; x_i+1; x_i+2] + b)                       Eq. 1, a window of words, or of what lies below
    z_j = max(z_2j, z_2j+1)                                     pooling over neighbouring windows, twice each in turn
    f(q, d) = MLP([z(q); z(d)])

Cost: two convolutions for each text, whatever it is compared with, and one small network for each pair. The network's
first layer is a sum over query and passage, so that of a kept passage its hidden units are enough.

Departures: 64 feature maps rather than the 200 to 500 of section 5, which take ten times as long on a processor.
The gate that turns windows of padding to zero (Eq. 2) asks whether a window begins in the text, not whether all its
numbers are zero, so that a window where no map fires keeps its bias. A text's last pooled window may hold one place
only. The final maps are laid out for the longest texts of the configuration, as the paper's are for its longest
sentence. The paper's dropout rate is not given; 0.2 is ours. Published code: MatchZoo has no gate, so biases over
padding reach the score, and gives query and passage each a convolution of its own, where the paper's is siamese.

Recorded trainings: the learning rate of 0.001 was not chosen on validation; word vectors are frozen, where MatchZoo
trains them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from auscult_lab.modules.convolution import TextConvolution, pool_text, pooled_length, to_length
from auscult_lab.modules.dense import Dense
from auscult_lab.modules.embedding import WordEmbedding
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.rankers.base import Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcIConfig(RankerConfig):
    """Settings of `ArcI`; the defaults are section 5's, but for what the file's head says.

    Attributes:
        maps: Feature maps of each convolution; there are as many convolutions as numbers.
        width: Words in a window.
        pool: Windows in a pooled one.
        hidden: Units of the comparing network's hidden layer.
        dropout: Share of the comparing network's inputs that training leaves out.
        train_words: Train the word vectors too.
    """

    maps: tuple[int, ...] = (64, 64)
    width: int = 3
    pool: int = 2
    hidden: int = 128
    dropout: float = 0.2
    train_words: bool = False


class ArcI(Ranker):
    """Convolutional sentence models, compared by a network."""

    kind = "arc-i"
    title = "ARC-I"
    keeps_passages = True

    def __init__(self, config: ArcIConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: ArcIConfig = config
        self.words = WordEmbedding(vocabulary, trainable=config.train_words)
        below = (vocabulary.dim, *config.maps[:-1])
        self.convolutions = nn.ModuleList(
            TextConvolution(size, maps, config.width) for size, maps in zip(below, config.maps, strict=True)
        )
        self.places = [
            pooled_length(config.max_query_words, config.pool, len(config.maps)),
            pooled_length(config.max_passage_words, config.pool, len(config.maps)),
        ]
        size = sum(self.places) * config.maps[-1]
        self.compare = Dense((size, config.hidden, 1), activation=torch.relu, dropout=config.dropout)

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        return self.match(query, self.encode_passage(passage))

    def encode_passage(self, passage: Tokens) -> Tensor:
        """What the passages add to the comparing network's hidden layer, (batch, hidden)."""
        return self._share(passage, 1)

    def match(self, query: Tokens, encoded: Tensor) -> Tensor:
        """Scores, (batch,); row i of the query goes with passage i of `encode_passage`."""
        first, last = self._layers()
        hidden = self.compare.activation(self._share(query, 0) + encoded + first.bias)
        scores: Tensor = last(self.compare.dropout(hidden)).squeeze(-1)
        return scores

    def _layers(self) -> tuple[nn.Linear, nn.Linear]:
        """The comparing network's two layers."""
        first, last = self.compare.layers
        return cast("nn.Linear", first), cast("nn.Linear", last)

    def _share(self, text: Tokens, side: int) -> Tensor:
        """W_s z(s), (batch, hidden), of the query (side 0) or the passage (1): W [z(q); z(d)] = W_q z(q) + W_d z(d)."""
        sizes = [places * self.config.maps[-1] for places in self.places]
        weight = self._layers()[0].weight.narrow(1, sum(sizes[:side]), sizes[side])
        return nn.functional.linear(self.compare.dropout(self._read(text, self.places[side])), weight)

    def _read(self, text: Tokens, places: int) -> Tensor:
        """A text's final maps, (batch, places * maps)."""
        values, mask = self.words(text.ids), text.mask
        for convolution in self.convolutions:
            values, mask = pool_text(torch.relu(convolution(values, mask)), mask, self.config.pool)
        return to_length(values, places, 1).flatten(1)
