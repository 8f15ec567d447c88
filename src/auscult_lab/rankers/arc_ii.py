"""ARC-II: convolution over the grid of all pairs of windows of two texts (hu2014, section 3.2).

    z1_ij = relu(W [x_i; x_i+1; x_i+2; y_j; y_j+1; y_j+2] + b)          Eq. 3
    z2_ij = max of z1 over 2 x 2 cells                                  Eq. 4
    z3_ij = relu(W z2 over 3 x 3 cells + b), pooled again, and so on    Eq. 5
    f(q, d) = MLP(z)

Cost: (query words x passage words / 4) windows of 9 maps x maps weights; the first layer costs no more than a
convolution over each text. Its window is two windows side by side, so W z is the sum of a part of the query and a
part of the passage, and the maximum of such sums over a square is the sum of the two maxima over its sides: the grid
is first made after its first pooling, a quarter of the size, with the same numbers.

Departures: 32 feature maps rather than the 200 to 500 of section 5, which take forty times as long on a processor.
A window counts as soon as it begins in both texts, and reaches beyond their ends over zeros; one that begins outside
is zero, like the gate of Eq. 2. The final maps are laid out for the longest texts of the configuration, as the
paper's are for its longest sentence: longer texts are cut, and the padding of a batch is never read. The paper's
dropout rate is not given; 0.2 is ours. Published code: MatchZoo convolves over padding as over words, and its first
layer has neither the activation nor the pooling.

Recorded trainings: the learning rate of 0.001 was not chosen on validation; word vectors are frozen, where MatchZoo
trains them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from auscult_lab.modules.convolution import (
    GridConvolution,
    TextConvolution,
    pool_grid,
    pool_text,
    pooled_length,
    to_length,
)
from auscult_lab.modules.dense import Dense
from auscult_lab.modules.embedding import WordEmbedding
from auscult_lab.modules.interaction import cells
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.rankers.base import Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcIIConfig(RankerConfig):
    """Settings of `ArcII`; the defaults are section 5's, but for what the file's head says.

    Attributes:
        maps: Feature maps of each convolution, the first over words and the others over cells; three in the paper.
        width: Words, or cells along a side, in a window.
        pool: Cells along a side of a pooled one.
        hidden: Units of the hidden layer of the network at the end.
        dropout: Share of that network's inputs that training leaves out.
        train_words: Train the word vectors too.
    """

    maps: tuple[int, ...] = (32, 32, 32)
    width: int = 3
    pool: int = 2
    hidden: int = 128
    dropout: float = 0.2
    train_words: bool = False


class ArcII(Ranker):
    """Convolution over the interaction of two texts."""

    kind = "arc-ii"
    title = "ARC-II"
    words_per_place: int

    def __init__(self, config: ArcIIConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: ArcIIConfig = config
        self.words = WordEmbedding(vocabulary, trainable=config.train_words)
        self.words_per_place = config.pool
        first, width = config.maps[0], config.width
        self.query = TextConvolution(vocabulary.dim, first, width)
        # Both parts are added up, so one bias is all there is to learn.
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

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        return self.compare(query, passage, self.read_passage(passage))

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
        """A text's part of the first layer, pooled: (batch, places, maps), and which places are of the text."""
        maps = convolution.over_words(*self.words.distinct(text.ids, text.mask))
        return pool_text(maps, text.mask, self.config.pool)
