"""DSSM and C-DSSM: texts as the letter trigrams of their words, compared as vectors (huang2013, shen2014)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from auscult_lab.modules.layers import Dense, maximum_of_text
from auscult_lab.modules.letter_grams import LetterGrams, windows_of
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.rankers.base import RankerConfig, ReadsPassagesAlone, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class DssmConfig(RankerConfig):
    """Settings of `Dssm`; the defaults are section 3.4's.

    Attributes:
        sizes: Units of each layer; the last is the length of a text's vector.
        smoothing: The factor gamma of the cosine.
    """

    sizes: tuple[int, ...] = (300, 300, 128)
    smoothing: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CdssmConfig(RankerConfig):
    """Settings of `Cdssm`; the defaults are the paper's.

    Attributes:
        maps: Features per window.
        width: Words in a window.
        size: Length of a text's vector.
        smoothing: The factor gamma of the cosine.
    """

    maps: int = 300
    width: int = 3
    size: int = 128
    smoothing: float = 10.0


class _LetterRanker(ReadsPassagesAlone[Tensor]):
    """Encodes queries like passages, and compares their vectors by the cosine."""

    config: DssmConfig | CdssmConfig

    @abstractmethod
    def _read(self, text: Tokens) -> Tensor:
        """Return vectors y of texts, (batch, dim)."""

    def encode_passage(self, passage: Tokens) -> Tensor:
        """Return vectors y of passages, (batch, dim)."""
        return self._read(passage)

    def match(self, query: Tokens, encoded: Tensor) -> Tensor:
        """Return scores, (batch,); row i of the query goes with passage i of `encode_passage`."""
        return self.config.smoothing * nn.functional.cosine_similarity(self._read(query), encoded, dim=-1)


class Dssm(_LetterRanker):
    """DSSM: texts as bags of letter trigrams, encoded by one deep network (huang2013).

        l1 = tanh(W1 x + b1), x the letter-trigram counts of a text          Eq. 1 to 3, section 3.2
        y  = tanh(W3 tanh(W2 l1 + b2) + b3)
        R(q, d) = cos(y_q, y_d)                                              Eq. 4
        f(q, d) = gamma R(q, d)                                              the exponent of Eq. 5

    Cost: the grams of each text once, and one cosine per pair.

    Departures: the paper chooses the smoothing factor gamma on validation data and does not give it; 10 is ours. It
    does not change the order. Trigrams are those of the vocabulary's words; the paper's 30,000 come from 500,000 words.
    The paper's documents are titles of web pages; ours are whole passages. Published code: MatchZoo has separate
    networks for queries and documents, with rectifiers instead of tanh, and a linear layer after the cosine instead of
    gamma.

    Recorded trainings: a rate of 0.0003, tuned on validation in the adapted track.
    """

    kind = "dssm"
    title = "DSSM"

    def __init__(self, config: DssmConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: DssmConfig = config
        self.grams = LetterGrams(vocabulary, config.sizes[0])
        self.bias = nn.Parameter(torch.zeros(config.sizes[0]))
        self.layers = Dense(config.sizes, activation=torch.tanh)

    def _read(self, text: Tokens) -> Tensor:
        first = torch.tanh(self.grams.bags(text.ids.masked_fill(~text.mask, 0)) + self.bias)
        return torch.tanh(self.layers(first))


class Cdssm(_LetterRanker):
    """C-DSSM: letter trigrams in windows of three words, and the maximum of each feature (shen2014).

        h_t = tanh(W_c [f_t-1; f_t; f_t+1] + b), f_t the letter-trigram counts of word t     Eq. 2
        v_i = max over t of h_t(i)                                                           Eq. 3
        y   = tanh(W_s v + b_s)                                                              Eq. 4
        f(q, d) = gamma cos(y_q, y_d)                                                        Eq. 5, exponent of Eq. 6

    Cost: three sums of 300 numbers per word of each text, and one cosine per pair.

    Departures: beyond a text's ends windows are empty; the paper's figure has a sentence mark there. The convolution
    has a bias. The paper chooses the smoothing factor gamma on validation data and does not give it; 10 is ours. It
    does not change the order. Published code: MatchZoo's maximum includes windows of padding, windows begin at their
    word instead of having it in the middle, query and document have separate networks, with rectifiers and dropout, and
    a linear layer follows the cosine instead of gamma.

    Recorded trainings: the learning rate of 0.001 was not chosen on validation.
    """

    kind = "cdssm"
    title = "C-DSSM"

    def __init__(self, config: CdssmConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config: CdssmConfig = config
        self.grams = LetterGrams(vocabulary, config.maps, places=config.width)
        self.bias = nn.Parameter(torch.zeros(config.maps))
        self.meaning = Dense((config.maps, config.size), activation=torch.tanh)

    def _read(self, text: Tokens) -> Tensor:
        windows = self.grams.windows(windows_of(text.ids.masked_fill(~text.mask, 0), self.config.width))
        # Bias and tanh keep the order, so they can follow the maximum, on far fewer numbers.
        strongest = torch.tanh(maximum_of_text(windows, text.mask) + self.bias)
        return torch.tanh(self.meaning(strongest))
