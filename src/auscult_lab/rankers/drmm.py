"""DRMM, DRMM-TKS and aNMM: similarities of a query word to all words of the passage, whatever their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from auscult.errors import ConfigError
from auscult_lab.modules.attention import TermGate
from auscult_lab.modules.interaction import bin_counts, bin_sums, cosine_matrix, k_max
from auscult_lab.modules.layers import tanh_layers
from auscult_lab.modules.vocabulary import Vocabulary, WordEmbedding, WordIdf
from auscult_lab.rankers.base import Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class DrmmConfig(RankerConfig):
    """Settings of `Drmm`; the defaults are those of the paper's best variant, LCH x IDF.

    Attributes:
        bins: Bins of the histogram; the last is for exact matches.
        hidden: Sizes of the hidden layers.
        gate: Input of a query word's weight: its idf or its word vector.
    """

    bins: int = 30
    hidden: tuple[int, ...] = (5,)
    gate: Literal["idf", "vector"] = "idf"

    def __post_init__(self) -> None:
        """Check the values; raise a `ConfigError` for a gate of another name, or fewer than two bins."""
        if self.gate not in ("idf", "vector"):
            raise ConfigError("gate 'idf' or 'vector'", repr(self.gate), "correct 'gate'")
        if self.bins < 2:
            raise ConfigError("at least 2 bins", str(self.bins), "raise 'bins'")


class Drmm(Ranker):
    """DRMM: a histogram of similarities per query word, and a gate that weights the words (guo2016).

        h_i = ln(1 + number of passage words j with cos(v(q_i), v(d_j)) in bin b), for each bin b     LCH
        z_i = tanh(w2 tanh(W1 h_i + b1) + b2)
        g_i = exp(w x_i) / sum over j of exp(w x_j),  x_i the idf of q_i, or its word vector
        s(q,d) = sum over i of g_i z_i

    Cost: one cosine for each pair of a query word and a passage word; the network sees 30 numbers for each query word.

    Word vectors are not trained, as in the paper: a histogram has no gradient. One is added to a count before its
    logarithm, which the paper does not mention, because an empty bin has no logarithm. Cosines within 1e-6 of 1 are
    exact matches, because of rounding. They are computed in double precision, so that rounding does not change a bin.

    Published code: MatchZoo-py gates by word vector only, adds a linear layer to the final number, and in versions
    without a mask gives padded query words a share of the gate. OpenNIR has 11 bins, relu for tanh, ln(1e-5 + count)
    like CEDR, and an idf gate without the weight w, whose softmax includes padding.

    Recorded trainings: a rate of 0.01; the adapted model is tuned on validation, and has nine wrong passages a query.
    """

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


@dataclass(frozen=True, slots=True, kw_only=True)
class DrmmTksConfig(RankerConfig):
    """Settings of `DrmmTks`.

    Attributes:
        top_k: Number of similarities per query word.
        hidden: Sizes of the hidden layers.
        gate: Input of a query word's weight: its word vector or its idf.
        train_words: Train the word vectors too.
    """

    top_k: int = 10
    hidden: tuple[int, ...] = (5,)
    gate: Literal["vector", "idf"] = "vector"
    train_words: bool = True

    def __post_init__(self) -> None:
        """Check the values; raise a `ConfigError` for a gate of another name, or no similarities to look at."""
        if self.gate not in ("idf", "vector"):
            raise ConfigError("gate 'idf' or 'vector'", repr(self.gate), "correct 'gate'")
        if self.top_k < 1:
            raise ConfigError("a 'top_k' of at least 1", str(self.top_k), "raise 'top_k'")


class DrmmTksHead(nn.Module):
    """DRMM-TKS from the interaction matrix on; for one matrix or several, such as one per layer of a network.

    Args:
        config: k and hidden layers.
        gate_width: Length of the gate's input per query word.
        matrices: Number of interaction matrices of a pair.
        context_width: Length of a vector of the pair that joins each query word's last hidden layer, such as the state
            of [CLS] in wang2021; 0 for none. (In the published code of CEDR, macavaney2019, it joins the first.)
    """

    def __init__(self, config: DrmmTksConfig, gate_width: int, matrices: int = 1, *, context_width: int = 0) -> None:
        super().__init__()
        self.top_k = config.top_k
        sizes = (matrices * config.top_k, *config.hidden)
        self.layers = tanh_layers(*sizes, 1)
        if context_width:
            self.layers[-2] = nn.Linear(sizes[-1] + context_width, 1)
        self.gate = TermGate(gate_width)

    def forward(
        self, similarities: Tensor, query: Tensor, passage: Tensor, known: Tensor, *, context: Tensor | None = None
    ) -> Tensor:
        """Return scores, (batch,).

        Args:
            similarities: (batch, matrices, query words, passage words).
            query: Bool mask (batch, query words).
            passage: Bool mask (batch, passage words).
            known: The gate's input, (batch, query words, gate width): vectors, or idf.
            context: Context vector of the pair, (batch, context width), or None.
        """
        largest = k_max(similarities, passage[:, None, None, :], self.top_k)
        hidden: Tensor = self.layers[:-2](largest.transpose(1, 2).flatten(2))
        if context is not None:
            hidden = torch.cat([hidden, context.unsqueeze(1).expand(-1, hidden.shape[1], -1)], dim=2)
        matches: Tensor = self.layers[-2:](hidden).squeeze(-1)
        weights: Tensor = self.gate(known, query)
        return (weights * matches).sum(1)


class DrmmTks(Ranker):
    """DRMM-TKS: DRMM with the k largest similarities of each query word in place of the histogram (yang2018).

        t_i = the k largest of cos(v(q_i), v(d_j)) over the words j of the passage, in descending order
        z_i = tanh(w2 tanh(W1 t_i + b1) + b2)
        g_i = exp(w x_i) / sum over j of exp(w x_j),  x_i the word vector of q_i, or its idf
        s(q,d) = sum over i of g_i z_i

    Cost: as DRMM, and a partial sort. Unlike a histogram it has a gradient, so word vectors can be trained.

    k and the size of the hidden layer are those of MatchZoo, whose model made the name known. Where a passage has fewer
    than k words, missing values are 0.

    Published code: MatchZoo-py lets the 0 of padding displace negative similarities of real words, fails on passages of
    fewer than k words, and adds a linear layer to the final number.

    Recorded trainings: a rate of 0.01; the adapted model is tuned on validation, and has one wrong passage a query.
    """

    kind = "drmm-tks"
    title = "DRMM-TKS"

    def __init__(self, config: DrmmTksConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: DrmmTksConfig = config
        self.words = WordEmbedding(vocabulary, trainable=config.train_words)
        self.idf = WordIdf(vocabulary) if config.gate == "idf" else None
        self.head = DrmmTksHead(config, 1 if self.idf is not None else vocabulary.dim)

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        query_words = self.words(query.ids)
        similarities = cosine_matrix(query_words, self.words(passage.ids))
        known = query_words if self.idf is None else self.idf(query.ids).unsqueeze(-1)
        scores: Tensor = self.head(similarities.unsqueeze(1), query.mask, passage.mask, known)
        return scores


@dataclass(frozen=True, slots=True, kw_only=True)
class AnmmConfig(RankerConfig):
    """Settings of `Anmm`; the defaults are those of aNMM-1, as far as known.

    Attributes:
        bins: Bins of similarities; the last is for exact matches.
        train_words: Train the word vectors too.
    """

    bins: int = 600
    train_words: bool = False

    def __post_init__(self) -> None:
        """Check the values; raise a `ConfigError` for fewer than two bins."""
        if self.bins < 2:
            raise ConfigError("at least 2 bins", str(self.bins), "raise 'bins'")


class Anmm(Ranker):
    """aNMM-1: similarities weighted by value, not by place, and attention over the query's words (yang2016).

        x_ik = sum of those cos(v(q_i), v(d_j)) over the passage's words j that lie in bin k
        h_i  = sigmoid(sum over k of w_k x_ik)
        g_i  = exp(v . v(q_i)) / sum over j of exp(v . v(q_j))
        s(q,d) = sum over i of g_i h_i

    Cost: one cosine for each pair of a query word and a passage word; one weight for each bin, one for each dimension.

    Cosines are computed in double precision, because with 600 bins rounding would often change a bin. Those within 1e-6
    of 1 are exact matches, which have their own bin.

    Recorded trainings: the adapted model is tuned on validation (rate 0.05, nine wrong passages, frozen word vectors);
    the zero-shot model has a rate of 0.001, not tuned. MatchZoo, whose aNMM arnold2020 and zhu2019 measured, trains
    word vectors.

    Published code: MatchZoo-py has a hidden layer of 100 units with relu after the bins, relu for the sigmoid, a linear
    layer on the final number, and trains word vectors (here with `train_words`).
    """

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
