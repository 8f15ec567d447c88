"""ARC-I and ARC-II: convolution over each of two texts, or over the grid between them (hu2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from auscult_lab.modules.interaction import cells
from auscult_lab.modules.layers import (
    Dense,
    GridConvolution,
    TextConvolution,
    pool_grid,
    pool_text,
    pooled_length,
    to_length,
)
from auscult_lab.modules.vocabulary import Vocabulary, WordEmbedding
from auscult_lab.rankers.base import RankerConfig, ReadsPassagesAlone, ReadsPassagesFirst, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcIConfig(RankerConfig):
    """Settings of `ArcI`; the defaults are section 5's, except for departures listed there.

    Attributes:
        maps: Feature maps of each convolution, one number per convolution.
        width: Words in a window.
        pool: Windows per pooled window.
        hidden: Units of the comparing network's hidden layer.
        dropout: Dropout of the comparing network's inputs.
        train_words: Train the word vectors too.
    """

    maps: tuple[int, ...] = (64, 64)
    width: int = 3
    pool: int = 2
    hidden: int = 128
    dropout: float = 0.2
    train_words: bool = False


class ArcI(ReadsPassagesAlone[Tensor]):
    """ARC-I: two texts become two vectors by convolution, and a network compares the vectors (hu2014, section 3.1).

        z_i = relu(W [x_i; x_i+1; x_i+2] + b)                       Eq. 1, a window of words, or of what lies below
        z_j = max(z_2j, z_2j+1)                                     pooling over neighbouring windows, twice in turn
        f(q, d) = MLP([z(q); z(d)])

    Cost: two convolutions per text, and one small network per pair. The network's first layer is a sum over query and
    passage, so that only its hidden units are stored for a passage.

    Departures: 64 feature maps rather than the 200 to 500 of section 5, which take ten times as long on a processor.
    The gate that sets windows of padding to zero (Eq. 2) tests whether a window begins in the text, not whether its
    numbers are all zero, so that a window without active maps keeps its bias. A text's last pooled window may have a
    single place. The final maps have the size of the longest texts of the configuration, as the paper's have that of
    its longest sentence. The paper gives no dropout rate; 0.2 is ours. Published code: MatchZoo has no gate, so biases
    over padding reach the score, and it has separate convolutions for query and passage; the paper's are shared.

    Recorded trainings: the learning rate of 0.001 was not chosen on validation; word vectors are frozen, where MatchZoo
    trains them.
    """

    kind = "arc-i"
    title = "ARC-I"

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

    def encode_passage(self, passage: Tokens) -> Tensor:
        """Return the passages' part of the comparing network's hidden layer, (batch, hidden)."""
        return self._share(passage, 1)

    def match(self, query: Tokens, encoded: Tensor) -> Tensor:
        """Return scores, (batch,); row i of the query belongs to passage i of `encode_passage`."""
        first, last = self._layers()
        hidden = self.compare.activation(self._share(query, 0) + encoded + first.bias)
        scores: Tensor = last(self.compare.dropout(hidden)).squeeze(-1)
        return scores

    def _layers(self) -> tuple[nn.Linear, nn.Linear]:
        """Return the comparing network's two layers."""
        first, last = self.compare.layers
        return cast("nn.Linear", first), cast("nn.Linear", last)

    def _share(self, text: Tokens, side: int) -> Tensor:
        """Return W_s z(s), (batch, hidden), of query (0) or passage (1): W [z(q); z(d)] = W_q z(q) + W_d z(d)."""
        sizes = [places * self.config.maps[-1] for places in self.places]
        weight = self._layers()[0].weight.narrow(1, sum(sizes[:side]), sizes[side])
        values, mask = self.words(text.ids), text.mask
        for convolution in self.convolutions:
            values, mask = pool_text(torch.relu(convolution(values, mask)), mask, self.config.pool)
        maps = to_length(values, self.places[side], 1).flatten(1)
        return nn.functional.linear(self.compare.dropout(maps), weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcIIConfig(RankerConfig):
    """Settings of `ArcII`; the defaults are section 5's, except for departures listed there.

    Attributes:
        maps: Feature maps of each convolution, the first over words and the others over cells; three in the paper.
        width: Words, or cells along a side, in a window.
        pool: Windows along a side of a pooled window.
        hidden: Units of the hidden layer of the network at the end.
        dropout: Dropout of that network's inputs.
        train_words: Train the word vectors too.
    """

    maps: tuple[int, ...] = (32, 32, 32)
    width: int = 3
    pool: int = 2
    hidden: int = 128
    dropout: float = 0.2
    train_words: bool = False


class ArcII(ReadsPassagesFirst):
    """ARC-II: convolution over the grid of all pairs of windows of two texts (hu2014, section 3.2).

        z1_ij = relu(W [x_i; x_i+1; x_i+2; y_j; y_j+1; y_j+2] + b)          Eq. 3
        z2_ij = max of z1 over 2 x 2 cells                                  Eq. 4
        z3_ij = relu(W z2 over 3 x 3 cells + b), pooled again, and so on    Eq. 5
        f(q, d) = MLP(z)

    Cost: (query words x passage words / 4) windows of 9 maps x maps weights; the first layer costs no more than a
    convolution over each text. Its window joins one window of each text, so W z is the sum of a part of the query and a
    part of the passage, and the maximum of such sums over a square is the sum of the maxima over its sides. The grid is
    therefore computed after its first pooling, at a quarter of the size, with the same result.

    Departures: 32 feature maps rather than the 200 to 500 of section 5, which take forty times as long on a processor.
    Windows that begin in both texts count, with zeros beyond the ends; windows that begin outside are zero, like the
    gate of Eq. 2. The final maps have the size of the longest texts of the configuration, as the paper's have that of
    its longest sentence: longer texts are cut, and the padding of a batch is never read. The paper gives no dropout
    rate; 0.2 is ours. Published code: MatchZoo treats padding like words, and its first layer has neither the
    activation nor the pooling.

    Recorded trainings: the learning rate of 0.001 was not chosen on validation; word vectors are frozen, where MatchZoo
    trains them.
    """

    kind = "arc-ii"
    title = "ARC-II"

    def __init__(self, config: ArcIIConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: ArcIIConfig = config
        self.words = WordEmbedding(vocabulary, trainable=config.train_words)
        self.words_per_place = config.pool
        first, width = config.maps[0], config.width
        self.query = TextConvolution(vocabulary.dim, first, width)
        # The parts are added, so a single bias suffices.
        self.passage = TextConvolution(vocabulary.dim, first, width, bias=False)
        self.convolutions = nn.ModuleList(
            GridConvolution(below, maps, width) for below, maps in zip(config.maps, config.maps[1:], strict=False)
        )
        self.rows, self.columns = (
            pooled_length(config.max_query_words, config.pool, len(config.maps)),
            pooled_length(config.max_passage_words, config.pool, len(config.maps)),
        )
        size = self.rows * self.columns * config.maps[-1]
        self.judge = Dense((size, config.hidden, 1), activation=torch.relu, dropout=config.dropout)

    def read_passage(self, passage: Tokens) -> Tensor:
        """See `ReadsPassagesFirst`: the passage's part of the first layer, pooled."""
        return self._part(self.passage, passage)[0]

    def compare(self, query: Tokens, passage: Tokens, read: Tensor) -> Tensor:
        """See `ReadsPassagesFirst`."""
        rows, row_mask = self._part(self.query, query)
        mask = cells(row_mask, passage.mask[:, :: self.config.pool])
        grid = rows.transpose(1, 2).unsqueeze(3) + read.transpose(1, 2).unsqueeze(2)
        grid = grid.relu_().masked_fill(~mask.unsqueeze(1), 0.0)
        for convolution in self.convolutions:
            grid, mask = pool_grid(torch.relu(convolution(grid, mask)), mask, self.config.pool)
        grid = to_length(to_length(grid, self.rows, 2), self.columns, 3)
        scores: Tensor = self.judge(grid.flatten(1)).squeeze(-1)
        return scores

    def _part(self, convolution: TextConvolution, text: Tokens) -> tuple[Tensor, Tensor]:
        """Return a text's part of the first layer, pooled: (batch, places, maps), and the mask of its places."""
        maps = convolution.over_words(*self.words.distinct(text.ids, text.mask))
        return pool_text(maps, text.mask, self.config.pool)
