"""DRMM-TKS: DRMM with the k largest similarities of each query word in place of the histogram (yang2018).

    t_i = the k largest of cos(v(q_i), v(d_j)) over the words j of the passage, in descending order
    z_i = tanh(w2 tanh(W1 t_i + b1) + b2)
    g_i = exp(w x_i) / sum over j of exp(w x_j),  x_i the word vector of q_i, or its idf
    s(q,d) = sum over i of g_i z_i

Cost: as DRMM, and a partial sort. Unlike a histogram it has a gradient, so word vectors can be trained.

k and the size of the hidden layer are those of MatchZoo, whose model made the name known. Where a passage has fewer
than k words, 0 stands for the missing ones.

Published code: MatchZoo-py lets the 0 of padding displace negative similarities of real words, fails on passages of
fewer than k words, and adds a last linear layer to the one number that comes out.

Recorded trainings: a rate of 0.01; the adapted one is tuned on validation, and has one wrong passage a query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from auscult.errors import ConfigError
from auscult_lab.modules.attention import TermGate
from auscult_lab.modules.dense import tanh_layers
from auscult_lab.modules.embedding import WordEmbedding, WordIdf
from auscult_lab.modules.interaction import cosine_matrix, k_max
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.rankers.base import Ranker, RankerConfig, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class DrmmTksConfig(RankerConfig):
    """Settings of `DrmmTks`.

    Attributes:
        top_k: How many similarities of a query word are looked at.
        hidden: Sizes of the hidden layers.
        gate: What the weight of a query word is learned from: its word vector or its idf.
        train_words: Train the word vectors too.
    """

    top_k: int = 10
    hidden: tuple[int, ...] = (5,)
    gate: Literal["vector", "idf"] = "vector"
    train_words: bool = True

    def __post_init__(self) -> None:
        """Refuse values that make no network.

        Raises:
            ConfigError: A gate of another name, or no similarities to look at.
        """
        if self.gate not in ("idf", "vector"):
            raise ConfigError("gate 'idf' or 'vector'", repr(self.gate), "correct 'gate'")
        if self.top_k < 1:
            raise ConfigError("a 'top_k' of at least 1", str(self.top_k), "raise 'top_k'")


class DrmmTksHead(nn.Module):
    """DRMM-TKS from the interaction matrix on; it takes several matrices too, such as one for each layer of a network.

    Args:
        config: k and hidden layers.
        gate_width: Length of what the gate knows of a query word.
        matrices: How many interaction matrices there are for a pair.
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
        """Scores, (batch,).

        Args:
            similarities: (batch, matrices, query words, passage words).
            query: Bool mask (batch, query words).
            passage: Bool mask (batch, passage words).
            known: What the gate knows of query words, (batch, query words, gate width): vectors, or idf.
            context: Of the pair, (batch, context width); only where there is one.
        """
        largest = k_max(similarities, passage[:, None, None, :], self.top_k)
        hidden: Tensor = self.layers[:-2](largest.transpose(1, 2).flatten(2))
        if context is not None:
            hidden = torch.cat([hidden, context.unsqueeze(1).expand(-1, hidden.shape[1], -1)], dim=2)
        matches: Tensor = self.layers[-2:](hidden).squeeze(-1)
        weights: Tensor = self.gate(known, query)
        return (weights * matches).sum(1)


class DrmmTks(Ranker):
    """Deep top-k relevance matching model."""

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
