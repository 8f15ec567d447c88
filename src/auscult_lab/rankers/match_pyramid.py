"""MatchPyramid and PACRR: convolution over the matrix of similarities between query words and passage words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from auscult.errors import ConfigError
from auscult_lab.modules.interaction import (
    cells,
    cosine_matrix,
    dynamic_max_pool,
    identity_matrix,
    k_max,
    masked_softmax,
)
from auscult_lab.modules.layers import GridConvolution
from auscult_lab.modules.vocabulary import Vocabulary, WordEmbedding, WordIdf
from auscult_lab.rankers.base import Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchPyramidConfig(RankerConfig):
    """Settings of `MatchPyramid`.

    Attributes:
        similarity: Similarity of a query word and a passage word.
        maps: Feature maps of the first and of the second convolution.
        windows: Sides of their square windows.
        grid: Rows (query) and columns (passage) of the dynamic pooling, even.
        hidden: Size of the hidden layer.
        train_words: Train the word vectors too, where the similarity uses them.
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
    """MatchPyramid: convolution and dynamic pooling over the interaction matrix, as over an image (pang2016).

        Z0_ij  = v(q_i) . v(d_j), or their cosine, or 1 where q_i = d_j
        Z1     = relu(convolution of Z0 with 8 kernels of 5 x 5)
        Z2     = the maxima of Z1 over a grid laid over the example's own words (dynamic pooling)
        Z3     = the maxima over 2 x 2 cells of relu(convolution of Z2 with 16 kernels of 3 x 3)
        s(q,d) = w2 relu(W1 Z3 + b1) + b2

    Cost: 200 multiplications for each pair of a query word and a passage word, and little after the pooling.

    The paper's two-class output is one score here, for ranking. The paper's grid depends on its data; ours, 6 x 20,
    becomes MatchZoo's 3 x 10 after the second pooling. A window belongs to its first cell, and has zeros beyond a text.

    Published code: MatchZoo-py pools by adaptive average over the whole padded matrix, so that scores depend on the
    batch, after a single layer of convolution; OpenNIR cuts a matrix of fixed size into fixed cells. Both ignore the
    end of a text.

    Recorded trainings: the adapted model is tuned on validation (rate 0.01, nine wrong passages); the zero-shot model
    has a rate of 0.001, not tuned.
    """

    kind = "match-pyramid"
    title = "MatchPyramid"

    def __init__(self, config: MatchPyramidConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: MatchPyramidConfig = config
        # Equality of words needs no vectors, and an unused table would get no gradient.
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
        # relu keeps the order, so it can follow the maximum, on far fewer cells.
        pooled = dynamic_max_pool(maps, query.mask, passage.mask, self.config.grid).relu()
        scores: Tensor = self.score(self.second(pooled)).squeeze(-1)
        return scores


_DENSE = 32
"""Units of PACRR's hidden dense layers, as in CEDR's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacrrConfig(RankerConfig):
    """Settings of `Pacrr`, which names the source of the defaults.

    Attributes:
        longest: Side of the largest windows (the paper's l_g).
        filters: Filters of each window size (n_f).
        top_k: Largest matches per query word and window size (n_s).
        reader: Computes a score from the matches of all query words: an LSTM of one unit, or three dense layers.
        query_words: Number of query words that the dense layers read (the paper's l_q); others are cut.
        train_words: Train the word vectors too; the paper does not.
    """

    longest: int = 3
    filters: int = 32
    top_k: int = 3
    reader: Literal["lstm", "dense"] = "lstm"
    query_words: int = 16
    train_words: bool = False

    def __post_init__(self) -> None:
        """Check the values; a `ConfigError` is raised for no windows, no matches kept, no words or another reader."""
        least = {"longest": self.longest, "top_k": self.top_k, "query_words": self.query_words}
        for name, value in least.items():
            if value < 1:
                raise ConfigError(f"'{name}' of at least 1", str(value), "raise it")
        if self.reader not in ("lstm", "dense"):
            raise ConfigError("'reader' lstm or dense", repr(self.reader), "choose one of them")


class PacrrHead(nn.Module):
    """PACRR from the interaction matrix on; for one matrix or several, such as one per layer of a network.

    Each matrix has its own unigram matches, and the filters read all matrices.

    Args:
        config: Windows, filters, number of matches.
        matrices: Number of interaction matrices of a pair.
        context_width: Length of a vector of the pair, such as the state of [CLS] in wang2021; 0 for none. Dense layers
            read it with the matches. With an LSTM, a linear layer computes the score from it and the last output.
    """

    def __init__(self, config: PacrrConfig, matrices: int = 1, *, context_width: int = 0) -> None:
        super().__init__()
        self.top_k = config.top_k
        self.windows = nn.ModuleList(nn.Conv2d(matrices, config.filters, side) for side in range(2, config.longest + 1))
        width = (matrices + config.longest - 1) * config.top_k + 1
        self.query_words = config.query_words
        self.reader: nn.LSTM | nn.Sequential
        if config.reader == "lstm":
            self.reader = nn.LSTM(width, 1, batch_first=True)
        else:
            first = nn.Linear(config.query_words * width + context_width, _DENSE)
            self.reader = nn.Sequential(first, nn.ReLU(), nn.Linear(_DENSE, _DENSE), nn.ReLU(), nn.Linear(_DENSE, 1))
        self.combine = nn.Linear(1 + context_width, 1) if context_width and config.reader == "lstm" else None

    def forward(
        self, similarities: Tensor, query: Tensor, passage: Tensor, idf: Tensor, *, context: Tensor | None = None
    ) -> Tensor:
        """Return scores, (batch,); an LSTM's are in (-1, 1) without context.

        Args:
            similarities: (batch, matrices, query words, passage words).
            query: Bool mask (batch, query words); words come first, then padding.
            passage: Bool mask (batch, passage words).
            idf: Idf of the query's words, (batch, query words).
            context: Context vector of the pair, (batch, context width), or None.
        """
        similarities = similarities.masked_fill(~cells(query, passage).unsqueeze(1), 0.0)
        phrases = [_phrases(window, side, similarities) for side, window in enumerate(self.windows, start=2)]
        best = k_max(torch.cat([similarities, *phrases], dim=1), passage[:, None, None, :], self.top_k)
        rarity = masked_softmax(idf, query, dim=1).unsqueeze(-1)
        matches = torch.cat([best.transpose(1, 2).flatten(2), rarity], dim=2)
        if isinstance(self.reader, nn.Sequential):
            return self._densely(matches.masked_fill(~query.unsqueeze(-1), 0.0), context)
        outputs, _ = self.reader(matches)
        last = (query.sum(1) - 1).clamp(min=0)
        scores: Tensor = outputs[torch.arange(len(last), device=last.device), last, 0]
        if self.combine is not None and context is not None:
            scores = self.combine(torch.cat([scores.unsqueeze(1), context], dim=1)).squeeze(1)
        return scores

    def _densely(self, matches: Tensor, context: Tensor | None) -> Tensor:
        """Return scores of dense layers from matches, (batch, words, matches), which are 0 at padding."""
        missing = max(0, self.query_words - matches.shape[1])
        read = nn.functional.pad(matches[:, : self.query_words], (0, 0, 0, missing)).flatten(1)
        scores: Tensor = self.reader(read if context is None else torch.cat([read, context], dim=1)).squeeze(1)
        return scores


def _phrases(window: nn.Module, side: int, similarities: Tensor) -> Tensor:
    before, after = (side - 1) // 2, side // 2
    maps: Tensor = window(nn.functional.pad(similarities, (before, after, before, after)))
    # relu keeps the order, so it can follow the maximum, on one map instead of 32.
    return maps.max(dim=1, keepdim=True).values.relu()


class Pacrr(Ranker):
    """PACRR: convolutions find matches of phrases, and an LSTM reads the best of each query word (hui2017).

        C^1    = the matrix of cosines of query words i and passage words j
        C^n    = relu(the largest over 32 filters of the convolution of C^1 with n x n windows),  n = 2, 3
        p_i    = [the 3 largest of C^1_i, C^2_i, C^3_i over the passage; softmax over the query of idf_i]
        s(q,d) = the last output of an LSTM of one unit that reads p_1, p_2, ...

    Cost: 13 multiplications and 32 filters for each pair of a query word and a passage word.

    This is the paper's "firstk" variant, which reads the passage's first words. The numbers of filters, window sizes
    and largest values are those of the authors' code, and so is the relu. A window belongs to the cell in its middle
    (for n = 2, at its upper left). The LSTM reads only the query's words; the paper's also reads padding up to 16.
    Where a passage has fewer than 3 words, missing values are 0. Word vectors are frozen unless `train_words` is set.


    Recorded trainings: the adapted model is tuned on validation (rate 0.05, one wrong passage, trained word vectors);
    the zero-shot model has a rate of 0.01 and frozen word vectors.

    With `reader: dense`, three dense layers of 32, 32 and 1 units read p_1, ..., p_16 in place of the LSTM, as in later
    versions of the authors' code, in OpenNIR and in CEDR, whose PACRR wang2021 uses. p_i is 0 after a query's end.

    Published code: the authors' gates are hard sigmoids, their softmax over idf includes padding, and so do the maxima
    (windows over padding have the bias only, 0 or more after relu).
    """

    kind = "pacrr"
    title = "PACRR"

    def __init__(self, config: PacrrConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: PacrrConfig = config
        self.words = WordEmbedding(vocabulary, trainable=config.train_words)
        self.idf = WordIdf(vocabulary)
        self.head = PacrrHead(config)

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        similarities = cosine_matrix(self.words(query.ids), self.words(passage.ids))
        scores: Tensor = self.head(similarities.unsqueeze(1), query.mask, passage.mask, self.idf(query.ids))
        return scores
