"""MatchPyramid: the interaction matrix read as an image, by convolution and dynamic pooling (pang2016).

    Z0_ij  = v(q_i) . v(d_j), or their cosine, or 1 where q_i = d_j
    Z1     = relu(convolution of Z0 with 8 kernels of 5 x 5)
    Z2     = the maxima of Z1 over a grid laid over the example's own words (dynamic pooling)
    Z3     = the maxima over 2 x 2 cells of relu(convolution of Z2 with 16 kernels of 3 x 3)
    s(q,d) = w2 relu(W1 Z3 + b1) + b2

Cost: 200 multiplications for each pair of a query word and a passage word, and little after the pooling.

The paper's two-class output is one score here, for ranking. Its grid depends on its data; ours, 6 x 20, comes out of
the second pooling as the 3 x 10 that MatchZoo has. A window belongs to the cell it begins at; beyond a text are zeros.

Published code: MatchZoo-py pools by adaptive average over the whole padded matrix, so that scores depend on the batch,
after one layer of convolution only; OpenNIR cuts a matrix of fixed size into fixed cells. Both are blind to where a
text ends.

Recorded trainings: the adapted one is tuned on validation (rate 0.01, nine wrong passages); the zero-shot one has
0.001, not chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn

from auscult.errors import ConfigError
from auscult_lab.modules.interaction import cells, cosine_matrix, dynamic_max_pool, identity_matrix
from auscult_lab.modules.layers import GridConvolution
from auscult_lab.modules.vocabulary import Vocabulary, WordEmbedding
from auscult_lab.rankers.base import Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchPyramidConfig(RankerConfig):
    """Settings of `MatchPyramid`.

    Attributes:
        similarity: Of a query word and a passage word.
        maps: Feature maps of the first and of the second convolution.
        windows: Sides of their square windows.
        grid: Rows (query) and columns (passage) of the dynamic pooling, even.
        hidden: Size of the hidden layer.
        train_words: Train the word vectors too, where the similarity has any.
    """

    similarity: Literal["dot", "cosine", "identity"] = "dot"
    maps: tuple[int, int] = (8, 16)
    windows: tuple[int, int] = (5, 3)
    grid: tuple[int, int] = (6, 20)
    hidden: int = 128
    train_words: bool = True

    def __post_init__(self) -> None:
        """Check the values; a `ConfigError` is raised for another similarity or a grid that cannot be halved."""
        if self.similarity not in ("dot", "cosine", "identity"):
            raise ConfigError("similarity 'dot', 'cosine' or 'identity'", repr(self.similarity), "correct 'similarity'")
        if any(side < 2 or side % 2 for side in self.grid):
            raise ConfigError("a grid with even sides", str(self.grid), "correct 'grid'")


class MatchPyramid(Ranker):
    """Text matching as image recognition."""

    kind = "match-pyramid"
    title = "MatchPyramid"

    def __init__(self, config: MatchPyramidConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: MatchPyramidConfig = config
        # Equality of words needs no vectors, and a table without a part in the score would never learn.
        counted = config.similarity == "identity"
        self.words = None if counted else WordEmbedding(vocabulary, trainable=config.train_words)
        first, second = config.maps
        self.first = GridConvolution(1, first, config.windows[0])
        self.second = nn.Sequential(
            nn.Conv2d(first, second, config.windows[1], padding="same"), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
        )
        rows, columns = config.grid
        self.score = nn.Sequential(
            nn.Linear(second * (rows // 2) * (columns // 2), config.hidden), nn.ReLU(), nn.Linear(config.hidden, 1)
        )

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        if self.words is None:
            similarities = identity_matrix(query.ids, passage.ids)
        else:
            asked, read = self.words(query.ids), self.words(passage.ids)
            cosines = self.config.similarity == "cosine"
            similarities = cosine_matrix(asked, read) if cosines else asked @ read.transpose(1, 2)
        maps: Tensor = self.first(similarities.unsqueeze(1), cells(query.mask, passage.mask))
        # The largest after relu is the relu of the largest, which is computed for far fewer cells.
        pooled = dynamic_max_pool(maps, query.mask, passage.mask, self.config.grid).relu()
        scores: Tensor = self.score(self.second(pooled)).squeeze(-1)
        return scores
