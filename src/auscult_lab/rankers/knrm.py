"""KNRM and CONV-KNRM: kernel pooling over similarities of words, or of n-grams (xiong2017, dai2018)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor, nn

from auscult_lab.modules.interaction import KernelPooling, cosine_matrix
from auscult_lab.modules.layers import TextConvolution
from auscult_lab.modules.vocabulary import Vocabulary, WordEmbedding
from auscult_lab.rankers.base import LATER, Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class KnrmConfig(RankerConfig):
    """Settings of `Knrm`; the defaults are section 4.3's. The last three reproduce MatchZoo's code.

    Attributes:
        kernels: Number of kernels: one at 1 with width `exact_sigma`, the others evenly from 0.9 to -0.9 with width
            `sigma`.
        train_words: Train the word vectors with the kernels, which the paper finds essential.
        log_plus_one: See `KernelPooling`.
        count_padding: Pad texts to `max_query_words` and `max_passage_words`, and treat padding as a word: its vector
            is trained, and it counts.
        one_unknown: Treat all words that were not in training as the same word.
    """

    kernels: int = 11
    sigma: float = 0.1
    exact_sigma: float = 1e-3
    train_words: bool = True
    log_plus_one: bool = field(default=False, metadata=LATER)
    count_padding: bool = field(default=False, metadata=LATER)
    one_unknown: bool = field(default=False, metadata=LATER)


class KnrmHead(nn.Module):
    """KNRM from the interaction matrix on; for one matrix or several, such as one per layer of a network.

    Args:
        config: Kernels.
        matrices: Number of interaction matrices of a pair.
        context_width: Length of a vector of the pair that joins the soft counts before the last layer, as the state of
            [CLS] does in CEDR (macavaney2019) and wang2021; 0 for none.
    """

    def __init__(self, config: KnrmConfig, matrices: int = 1, *, context_width: int = 0) -> None:
        super().__init__()
        self.pooling = KernelPooling(
            config.kernels, sigma=config.sigma, exact_sigma=config.exact_sigma, log_plus_one=config.log_plus_one
        )
        self.score = nn.Linear(matrices * config.kernels + context_width, 1)

    def forward(self, similarities: Tensor, query: Tensor, passage: Tensor, *, context: Tensor | None = None) -> Tensor:
        """Return scores, (batch,).

        Args:
            similarities: (batch, matrices, query words, passage words), in [-1, 1].
            query: Bool mask (batch, query words).
            passage: Bool mask (batch, passage words).
            context: Context vector of the pair, (batch, context width), or None.
        """
        features: Tensor = self.pooling(similarities, query, passage).flatten(1)
        if context is not None:
            features = torch.cat([features, context], dim=1)
        scores: Tensor = self.score(features).squeeze(-1)
        return scores


class Knrm(Ranker):
    """KNRM: kernel pooling over an interaction matrix of word vectors (xiong2017).

        M_ij   = cos(v(q_i), v(d_j))                                        Eq. 2
        K_k(M_i) = sum over j of exp(-(M_ij - mu_k)^2 / (2 sigma_k^2))      Eq. 4
        phi(M) = sum over i of log K(M_i)                                   Eq. 3
        f(q,d) = tanh(w phi(M) + b)                                         Eq. 1

    Cost: one cosine for each pair of a query word and a passage word, and eleven exponentials for each.

    Departures, both as in the authors' published code: the tanh is left out, since it keeps the order and only
    saturates. The log is scaled by 0.01, and its argument is at least 1e-10.

    Published code: MatchZoo-py and CEDR sum kernels over the zeros of padding, so a shorter passage of a batch gets
    soft counts of words it does not have (in the kernels near 0). MatchZoo-py also has log(1 + K) for log K. MatchZoo,
    with which arnold2020 measured KNRM, has that too; there, padding has a random vector, which is trained, and so
    matches itself exactly, and words unknown in training are one word. `KnrmConfig` has a setting for each. CEDR and
    OpenNIR train the centres and widths. Here masks exclude padding, and kernels are fixed, as in the paper.

    Recorded trainings: the adapted model is tuned on validation (rate 0.05); the zero-shot model has a rate of 0.01, of
    those from 0.0003 to 0.01.
    """

    kind = "knrm"
    title = "KNRM"

    def __init__(self, config: KnrmConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config = config
        self.words = WordEmbedding(vocabulary, trainable=config.train_words)
        self.head = KnrmHead(config)
        self.padding = nn.Parameter(_random_vector(vocabulary.dim)) if config.count_padding else None
        self.register_buffer("unknown", _random_vector(vocabulary.dim) if config.one_unknown else None)
        self.unknown: Tensor | None

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        query_vectors, query_mask = self._read(query, self.config.max_query_words)
        passage_vectors, passage_mask = self._read(passage, self.config.max_passage_words)
        similarities = cosine_matrix(query_vectors, passage_vectors)
        scores: Tensor = self.head(similarities.unsqueeze(1), query_mask, passage_mask)
        return scores

    def _read(self, text: Tokens, length: int) -> tuple[Tensor, Tensor]:
        """Return the vectors of words, (batch, words, dim), and the mask of those that count, (batch, words)."""
        vectors: Tensor = self.words(text.ids)
        if self.unknown is not None:
            vectors = torch.where(self.words.known(text.ids).unsqueeze(-1), vectors, self.unknown)
        if self.padding is None:
            return vectors, text.mask
        missing = length - text.ids.shape[1]
        vectors = nn.functional.pad(vectors, (0, 0, 0, missing))
        mask = nn.functional.pad(text.mask, (0, missing))
        return torch.where(mask.unsqueeze(-1), vectors, self.padding), torch.ones_like(mask)


def _random_vector(dim: int) -> Tensor:
    """Return the vector that MatchZoo gives padding and unknown words: components drawn between -0.2 and 0.2."""
    return torch.empty(dim).uniform_(-0.2, 0.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvKnrmConfig(RankerConfig):
    """Settings of `ConvKnrm`; the defaults are the paper's.

    Attributes:
        longest: Words of the longest n-grams.
        filters: Length of an n-gram vector.
        kernels: See `KnrmConfig`; also for the widths.
        sigma: Width of all kernels but the first.
        exact_sigma: Width of the kernel for exact matches.
        train_words: Train the word vectors too.
    """

    longest: int = 3
    filters: int = 128
    kernels: int = 11
    sigma: float = 0.1
    exact_sigma: float = 1e-3
    train_words: bool = True


class ConvKnrm(Ranker):
    """CONV-KNRM: kernel pooling over the similarities of n-grams of all lengths (dai2018).

        g_i^n      = relu(W^n [v_i; ...; v_i+n-1] + b^n)                for n = 1, 2, 3, the same for query and passage
        M^(n,m)_ij = cos(g_i^n of the query, g_j^m of the passage)      for every n and m: cross-matching
        s(q,d)     = w [phi(M^(1,1)); phi(M^(1,2)); ...] + b            phi: kernel pooling, as in KNRM

    Cost: n-gram vectors of every passage word (they can be computed beforehand), and nine times KNRM's.

    Departures: the tanh of the score is left out and the log scaled, as in `Knrm`. N-grams that reach beyond the end of
    a text are filled with zeros, so that texts shorter than n can be matched; MatchZoo-py and OpenNIR do the same.

    Published code: MatchZoo-py sums kernels over padding, where the bias even gives n-grams a direction, and has
    log(1 + K) for log K; OpenNIR leaves out the relu and also sums over padding, as cosine 0.

    Recorded trainings: the learning rate of 0.001 was not chosen on validation.
    """

    kind = "conv-knrm"
    title = "CONV-KNRM"

    def __init__(self, config: ConvKnrmConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: ConvKnrmConfig = config
        self.words = WordEmbedding(vocabulary, trainable=config.train_words)
        self.ngrams = nn.ModuleList(
            TextConvolution(vocabulary.dim, config.filters, length) for length in range(1, config.longest + 1)
        )
        self.pooling = KernelPooling(config.kernels, sigma=config.sigma, exact_sigma=config.exact_sigma)
        self.score = nn.Linear(config.longest**2 * config.kernels, 1)

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        query_ngrams = torch.cat([nn.functional.normalize(ngrams, dim=-1) for ngrams in self._ngrams(query)], dim=1)
        # For each length of the passage's n-grams, their cosines with the query's n-grams of all lengths.
        cosines = [
            (ngrams @ query_ngrams.transpose(1, 2)) / ngrams.norm(dim=-1, keepdim=True).clamp(min=1e-12)
            for ngrams in self._ngrams(passage)
        ]
        shape = len(query.ids), self.config.longest, query.ids.shape[1], passage.ids.shape[1]
        matrices = torch.stack([matrix.transpose(1, 2).reshape(shape) for matrix in cosines], dim=2).flatten(1, 2)
        features = self.pooling(matrices, query.mask, passage.mask)
        scores: Tensor = self.score(features.flatten(1)).squeeze(-1)
        return scores

    def _ngrams(self, text: Tokens) -> list[Tensor]:
        """Return vectors of the n-grams that begin at each word, (batch, words, filters), for each length."""
        vectors, rows = self.words.distinct(text.ids, text.mask)
        convolutions = (cast("TextConvolution", each) for each in self.ngrams)
        return [each.over_words(vectors, rows).relu_() for each in convolutions]
