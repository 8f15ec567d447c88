"""MV-LSTM: states of a bidirectional LSTM, compared in every pair of words, and a network on the best (wan2016).

    p_t = [forward state; backward state] of word t                          section 3.1
    s_ij = relu(u_i M_c v_j + w_c [u_i; v_j] + b_c), for each slice c         Eq. 5, tensor
    s_ij = u_i M v_j + b                                                     Eq. 4, bilinear
    s_ij = cos(u_i, v_j)                                                     Eq. 3
    f(q, d) = W2 relu(W1 [k largest s of each slice] + b1) + b2              section 3.3

Cost: one LSTM step per word and direction, sequentially; then per pair of words, one inner product of 100 numbers per
slice.

Departures: where a pair has fewer cells than k, missing values are 0 ("no match"), and never displace negative ones.
The number of tensor slices, 4, and the 32 hidden units of the final network are ours. Published code: MatchZoo runs the
LSTM over padding, which changes the backward states, includes padding in the maxima, compares by cosine only, and has
separate LSTMs for query and passage; the paper has one. zhu2019 (section 5.2) compares by cosine; recorded trainings by
the tensor, wan2016's best.

Recorded trainings: the learning rate of 0.001 was not chosen on validation.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from auscult.errors import ConfigError
from auscult_lab.modules.interaction import cells, cosine_matrix
from auscult_lab.modules.layers import Dense, to_length
from auscult_lab.modules.recurrent import BidirectionalLstm
from auscult_lab.modules.vocabulary import Vocabulary, WordEmbedding
from auscult_lab.rankers.base import RankerConfig, ReadsPassagesFirst, Tokens

SIMILARITIES = ("tensor", "bilinear", "cosine")


@dataclass(frozen=True, slots=True, kw_only=True)
class MvLstmConfig(RankerConfig):
    """Settings of `MvLstm`; the defaults are section 4's.

    Attributes:
        state: Length of each direction's state.
        similarity: "tensor" (the paper's best), "bilinear" or "cosine".
        slices: Slices of the tensor; the other similarities have one.
        strongest: k, the number of largest cells of each slice.
        hidden: Units of the hidden layer of the final network.
        train_words: Train the word vectors too.
    """

    state: int = 50
    similarity: str = "tensor"
    slices: int = 4
    strongest: int = 5
    hidden: int = 32
    train_words: bool = True


class MvLstm(ReadsPassagesFirst):
    """Matching with multiple positional sentence representations.

    Raises:
        ConfigError: There is no similarity of that name.
    """

    kind = "mv-lstm"
    title = "MVLSTM"
    words_per_place = 1

    def __init__(self, config: MvLstmConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        if config.similarity not in SIMILARITIES:
            raise ConfigError(
                f"a similarity ({', '.join(SIMILARITIES)})", repr(config.similarity), "correct 'similarity'"
            )
        self.config: MvLstmConfig = config
        self.words = WordEmbedding(vocabulary, trainable=config.train_words)
        self.reader = BidirectionalLstm(vocabulary.dim, config.state)
        slices = config.slices if config.similarity == "tensor" else 1
        if config.similarity != "cosine":
            self.tensor = nn.Parameter(torch.empty(slices, 2 * config.state, 2 * config.state))
            nn.init.xavier_uniform_(self.tensor)
            self.bias = nn.Parameter(torch.zeros(slices))
        if config.similarity == "tensor":
            self.query_part = nn.Linear(2 * config.state, slices, bias=False)
            self.passage_part = nn.Linear(2 * config.state, slices, bias=False)
        self.judge = Dense((slices * config.strongest, config.hidden, 1), activation=torch.relu)

    def read_passage(self, passage: Tokens) -> Tensor:
        """See `ReadsPassagesFirst`: the states of its words."""
        return self._read(passage)

    def _read(self, text: Tokens) -> Tensor:
        """Return both directions' states of each word of texts, (batch, words, 2 * state)."""
        # A text without words is one word of zeros, whose cells do not count.
        lengths, width = text.mask.sum(1).clamp(min=1).cpu(), text.ids.shape[1]
        packed = pack_padded_sequence(self.words(text.ids), lengths, batch_first=True, enforce_sorted=False)
        states: Tensor = pad_packed_sequence(self.reader(packed), batch_first=True, total_length=width)[0]
        return states

    def compare(self, query: Tokens, passage: Tokens, read: Tensor) -> Tensor:
        """See `ReadsPassagesFirst`."""
        similarities = self._similarities(self._read(query), read)
        inside = cells(query.mask, passage.mask)
        # The largest of each slice, in falling order; 0 for missing cells.
        count, lowest = self.config.strongest, torch.finfo(similarities.dtype).min
        flat = similarities.masked_fill(~inside.unsqueeze(1), lowest).flatten(2)
        largest = flat.topk(min(count, flat.shape[2]), dim=2).values
        real = torch.arange(largest.shape[2], device=flat.device) < inside.flatten(1).sum(1, keepdim=True)
        strongest = to_length(largest.masked_fill(~real.unsqueeze(1), 0.0), count, 2)
        scores: Tensor = self.judge(strongest.flatten(1)).squeeze(-1)
        return scores

    def _similarities(self, query: Tensor, passage: Tensor) -> Tensor:
        """Return similarities, (batch, slices, query words, passage words)."""
        if self.config.similarity == "cosine":
            return cosine_matrix(query, passage).unsqueeze(1)
        turned = torch.einsum("bqd,sde->bsqe", query, self.tensor)
        # One product for all slices, without copies of passages for each.
        together: Tensor = turned.flatten(1, 2) @ passage.transpose(1, 2)
        products = together.view(*turned.shape[:3], -1) + self.bias[:, None, None]
        if self.config.similarity == "bilinear":
            return products
        rows: Tensor = self.query_part(query).transpose(1, 2).unsqueeze(3)
        columns: Tensor = self.passage_part(passage).transpose(1, 2).unsqueeze(2)
        return torch.relu(products + rows + columns)
