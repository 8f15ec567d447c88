"""CONV-KNRM: kernel pooling over the similarities of n-grams of all lengths with each other (dai2018).

    g_i^n      = relu(W^n [v_i; ...; v_i+n-1] + b^n)                for n = 1, 2, 3, the same for query and passage
    M^(n,m)_ij = cos(g_i^n of the query, g_j^m of the passage)      for every n and m: cross-matching
    s(q,d)     = w [phi(M^(1,1)); phi(M^(1,2)); ...] + b            phi: kernel pooling, as in KNRM

Cost: n-gram vectors of every passage word (they can be computed beforehand), and nine times KNRM's.

Departures: the tanh around the score is left out and the log scaled, for which see `knrm`. A word near the end of a
text starts n-grams that reach beyond it and are filled up with zeros, so that texts shorter than n can be matched;
MatchZoo-py and OpenNIR do the same.

Published code: MatchZoo-py sums kernels over padding, where the bias even gives n-grams of padding a direction of
their own, and takes log(1 + K) for log K; OpenNIR leaves out the relu and sums over padding too, as cosine 0.

Recorded trainings: the learning rate of 0.001 was not chosen on validation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from auscult_lab.modules.convolution import TextConvolution
from auscult_lab.modules.embedding import WordEmbedding
from auscult_lab.modules.interaction import KernelPooling
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.rankers.base import Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvKnrmConfig(RankerConfig):
    """Settings of `ConvKnrm`; the defaults are the paper's.

    Attributes:
        longest: The longest n-grams.
        filters: Length of an n-gram vector.
        kernels: As in `KnrmConfig`, and so are the widths.
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
    """Convolutional kernel-based neural ranking model, cross-matching."""

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
        asked = torch.cat([nn.functional.normalize(each, dim=-1) for each in self._ngrams(query)], dim=1)
        # For each length of the passage's n-grams, its words' cosines with the query's n-grams of all lengths.
        cosines = [
            (each @ asked.transpose(1, 2)) / each.norm(dim=-1, keepdim=True).clamp(min=1e-12)
            for each in self._ngrams(passage)
        ]
        shape = len(query.ids), self.config.longest, query.ids.shape[1], passage.ids.shape[1]
        matrices = torch.stack([each.transpose(1, 2).reshape(shape) for each in cosines], dim=2).flatten(1, 2)
        features = self.pooling(matrices, query.mask, passage.mask)
        scores: Tensor = self.score(features.flatten(1)).squeeze(-1)
        return scores

    def _ngrams(self, text: Tokens) -> list[Tensor]:
        """Vectors of the n-grams that begin at each word, (batch, words, filters), for each length."""
        vectors, rows = self.words.distinct(text.ids, text.mask)
        convolutions = (cast("TextConvolution", each) for each in self.ngrams)
        return [each.over_words(vectors, rows).relu_() for each in convolutions]
