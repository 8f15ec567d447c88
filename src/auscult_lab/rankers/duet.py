"""Duet: the sum of a network for exact matches and their places and one for learned representations (mitra2017).

    f(q, d) = f_local(q, d) + f_distributed(q, d)                                   Eq. 1
    local: X_ij = 1 where query word i is passage word j, z_i = tanh(W X_i + b), a score by an MLP over all z_i
    distributed: h_t = tanh(W [g_t-1; g_t; g_t+1] + b), g_t the letter n-graph counts of word t,
        for a query the maximum over the text and a layer, v_q = tanh(A max_t h_t + a),
        for a passage the maxima over windows of 100 words and a layer, V_w = tanh(B max_t h_t + c),
        a score by an MLP over all products v_q * V_w

Cost: 300 x query words x passage words for the local part, as much as C-DSSM for the distributed one.

Departures: 30 and 300 words are read instead of 10 and 1,000, as by all rankers here. Pooling windows begin every 20
words, not at each word: neighbours share 99 words of 100, and the next layer would have 18 million weights. All windows
that begin in the text count, so that a short passage has one. Grams of boundary marks only are left out. Values outside
a text are zero. The dropout rate of 0.5 is ours. Published code: MatchZoo's convolutions include padding, windows do
not overlap, the n-graphs are trigrams, each normalized, activations are rectifiers, and a layer follows the sum.

Recorded trainings: the learning rate of 0.001 was not chosen on validation.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from auscult.errors import ConfigError
from auscult_lab.modules.interaction import cells, identity_matrix
from auscult_lab.modules.layers import Dense, glorot, maximum_of_text, pool_text, to_length
from auscult_lab.modules.letter_grams import LetterGrams, windows_of
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.rankers.base import RankerConfig, ReadsPassagesFirst, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class DuetConfig(RankerConfig):
    """Settings of `Duet`; the defaults are section 4's, except for the departures of the module's docstring.

    Attributes:
        maps: Filters of each convolution, and units of each layer.
        width: Words in a window of the distributed part.
        grams: Number of known letter n-graphs.
        longest_gram: Letters of the longest n-graphs; the shortest have one.
        pool: Words per pooling window of a passage, a multiple of the stride.
        stride: Words from the beginning of a pooling window to that of the next.
        dropout: Dropout of the inputs of fully connected layers.
    """

    maps: int = 300
    width: int = 3
    grams: int = 2000
    longest_gram: int = 5
    pool: int = 100
    stride: int = 20
    dropout: float = 0.5

    def __post_init__(self) -> None:
        """Check the values; a `ConfigError` is raised for pooling windows that are no multiple of the stride."""
        if self.pool % self.stride:
            wanted = f"'pool' as a multiple of 'stride' ({self.stride})"
            raise ConfigError(wanted, str(self.pool), "correct one of them")


class Duet(ReadsPassagesFirst):
    """Matching with local and distributed representations."""

    kind = "duet"
    title = "Duet"

    def __init__(self, config: DuetConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: DuetConfig = config
        self.words_per_place = config.stride
        self.local = LocalPart(config)
        self.distributed = DistributedPart(config, vocabulary)

    def read_passage(self, passage: Tokens) -> Tensor:
        """See `ReadsPassagesFirst`: the pooled windows after their layer."""
        return self.distributed.read(passage)

    def compare(self, query: Tokens, passage: Tokens, read: Tensor) -> Tensor:
        """See `ReadsPassagesFirst`."""
        scores: Tensor = self.local(query, passage) + self.distributed(query, passage, read)
        return scores


class LocalPart(nn.Module):
    """Exact matches: the places in the passage of each query word."""

    def __init__(self, config: DuetConfig) -> None:
        super().__init__()
        self.config = config
        self.places = nn.Linear(config.max_passage_words, config.maps)
        glorot(self.places)
        sizes = (config.max_query_words * config.maps, config.maps, config.maps, 1)
        self.judge = Dense(sizes, activation=torch.tanh, dropout=config.dropout)

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """Return scores, (batch,)."""
        matches = identity_matrix(query.ids, passage.ids) * cells(query.mask, passage.mask)
        each = torch.tanh(self.places(to_length(matches, self.config.max_passage_words, 2)))
        each = each.masked_fill(~query.mask.unsqueeze(-1), 0.0)
        scores: Tensor = self.judge(to_length(each, self.config.max_query_words, 1).flatten(1)).squeeze(-1)
        return scores


class DistributedPart(nn.Module):
    """Letter n-graphs of words in windows, and a comparison of the query with parts of the passage."""

    def __init__(self, config: DuetConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config = config
        spelling = {"places": config.width, "shortest": 1, "longest": config.longest_gram, "most": config.grams}
        self.query_grams = LetterGrams(vocabulary, config.maps, **spelling)
        self.passage_grams = LetterGrams(vocabulary, config.maps, **spelling)
        self.query_bias = nn.Parameter(torch.zeros(config.maps))
        self.passage_bias = nn.Parameter(torch.zeros(config.maps))
        self.query_layer = nn.Linear(config.maps, config.maps)
        self.passage_layer = nn.Linear(config.maps, config.maps)
        glorot(self.query_layer)
        glorot(self.passage_layer)
        self.windows = -(-config.max_passage_words // config.stride)
        sizes = (self.windows * config.maps, config.maps, config.maps, 1)
        self.judge = Dense(sizes, activation=torch.tanh, dropout=config.dropout)

    def read(self, passage: Tokens) -> Tensor:
        """Return V_w of a passage's windows, (batch, windows, maps)."""
        # As in C-DSSM, bias and tanh keep the order, so they can follow the maxima, on far fewer numbers.
        maxima, _ = pool_text(
            self._convolve(self.passage_grams, passage), passage.mask, self.config.pool, self.config.stride
        )
        windows: Tensor = torch.tanh(self.passage_layer(torch.tanh(maxima + self.passage_bias)))
        return windows

    def forward(self, query: Tokens, passage: Tokens, read: Tensor) -> Tensor:
        """Return scores, (batch,), of passages from `read`."""
        strongest = maximum_of_text(self._convolve(self.query_grams, query), query.mask)
        wanted = torch.tanh(self.query_layer(torch.tanh(strongest + self.query_bias)))
        inside = passage.mask[:, :: self.config.stride].unsqueeze(-1)
        products = (wanted.unsqueeze(1) * read).masked_fill(~inside, 0.0)
        scores: Tensor = self.judge(to_length(products, self.windows, 1).flatten(1)).squeeze(-1)
        return scores

    def _convolve(self, grams: LetterGrams, text: Tokens) -> Tensor:
        """Return windows of words before bias and activation, (batch, words, maps)."""
        return grams.windows(windows_of(text.ids.masked_fill(~text.mask, 0), self.config.width))
