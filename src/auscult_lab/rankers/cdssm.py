"""C-DSSM: letter trigrams in windows of three words, and the strongest window of each feature (shen2014).

    h_t = tanh(W_c [f_t-1; f_t; f_t+1] + b), f_t the letter-trigram counts of word t     Eq. 2
    v_i = max over t of h_t(i)                                                           Eq. 3
    y   = tanh(W_s v + b_s)                                                              Eq. 4
    f(q, d) = gamma cos(y_q, y_d)                                                        Eq. 5, exponent of Eq. 6

Cost: three sums of 300 numbers for each word of a text, whatever it is compared with, and one cosine for each pair.

Departures: beyond a text's ends a window reads nothing, where the paper's figure has a sentence mark. The convolution
has a bias. The smoothing factor gamma is set on validation data in the paper and not given; 10 is ours. It does not
change the order. Published code: MatchZoo's maximum also runs over windows of padding, windows begin at their word
rather than have it in the middle, query and document have a network each, with rectifiers and dropout, and a linear
layer follows the cosine in gamma's place.

Recorded trainings: the learning rate of 0.001 was not chosen on validation.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from auscult_lab.modules.convolution import maximum_of_text
from auscult_lab.modules.dense import Dense
from auscult_lab.modules.letter_grams import LetterGrams, windows_of
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.rankers.base import Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class CdssmConfig(RankerConfig):
    """Settings of `Cdssm`; the defaults are the paper's.

    Attributes:
        maps: Features of a window.
        width: Words in a window.
        size: Length of a text's vector.
        smoothing: The factor gamma that the cosine is multiplied by.
    """

    maps: int = 300
    width: int = 3
    size: int = 128
    smoothing: float = 10.0


class Cdssm(Ranker):
    """Convolutional latent semantic model."""

    kind = "cdssm"
    title = "C-DSSM"
    keeps_passages = True

    def __init__(self, config: CdssmConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: CdssmConfig = config
        self.grams = LetterGrams(vocabulary, config.maps, places=config.width)
        self.bias = nn.Parameter(torch.zeros(config.maps))
        self.meaning = Dense((config.maps, config.size), activation=torch.tanh)

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        return self.match(query, self.encode_passage(passage))

    def encode_passage(self, passage: Tokens) -> Tensor:
        """The passages' vectors y, (batch, size)."""
        return self._read(passage)

    def match(self, query: Tokens, encoded: Tensor) -> Tensor:
        """Scores, (batch,); row i of the query goes with passage i of `encode_passage`."""
        return self.config.smoothing * nn.functional.cosine_similarity(self._read(query), encoded, dim=-1)

    def _read(self, text: Tokens) -> Tensor:
        """A text's vector, (batch, size)."""
        windows = self.grams.windows(windows_of(text.ids.masked_fill(~text.mask, 0), self.config.width))
        # The bias and tanh keep the order, so that they may follow the maximum, where there is far less to do.
        strongest = torch.tanh(maximum_of_text(windows, text.mask) + self.bias)
        return torch.tanh(self.meaning(strongest))
