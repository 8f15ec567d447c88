"""The learned parts of CK-HQA besides its backbone: fusion, and a ranker's head over one cosine matrix per layer.

    s^i_jk = cos(G_q^i_j, G_d^i_k)     S(q, d) = head(s^0, ..., s^L; w_[CLS]^L)      (wang2021, section 4.4)

Heads are those of the rankers KNRM, PACRR and DRMM-TKS. [CLS] is the backbone's last state of it, as in CEDR. DRMM-TKS'
gate also reads the last layer's vectors of query tokens. PACRR gets no idf, because wordpieces have none (nor have they
in CEDR), so that each token has the same share.

Without knowledge there is no fusion: G is C, as in CEDR.

Entities compared separately (a departure, `fusion: matrix`): G is C as well, and the head reads one more matrix after
those of the layers, cos(K_q_j, K_d_k) of the entities' vectors in the graph. In the paper's sum, a word that is linked
in one of the texts only has different vectors in both and no longer matches itself. Here it does. Pairs in which a
token names no entity have cosine 0 in the entities' matrix. Only the head's weights for that matrix are learned.

CK-Trans: a token's context state and its entity's vector become one vector (wang2021, Algorithm 1).

    G^i = sigma(C^i Q + K U + b)      for every layer i;  Q: D_c x D_j,  U: D_e x D_j,  b: D_j

Query and passage share Q, U and b, and so do all layers; K is the same in all of them, so K U is computed once.

The paper does not define sigma. Here it is tanh by default. With the logistic function all components of G are positive
and so are all cosines, most of them near 1 before training. On a task that only entities can solve, DRMM-TKS learned
nothing with it and everything with tanh. Nor does the paper say how Q and U are initialised. Here they are orthogonal,
scaled so that context and knowledge count alike: a state or vector of typical length gives components of about one
half, where tanh is still nearly linear.

Such a Q keeps the angles between states if D_j is not smaller than D_c: with D_j = D_c = 384, cosines before and after
the layer correlate by 0.99. With a smaller D_j it is a random projection: with D_j = 128 they correlate by 0.7 before
training. So D_j is D_c by default.

Cost: D_c x D_j multiplications per token and layer, and D_e x D_j per token.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from auscult.errors import ConfigError
from auscult_lab.encoders.ck.context import Layout
from auscult_lab.encoders.ck.knowledge import KnowledgeEncoder
from auscult_lab.modules.interaction import cells, cosine_matrix
from auscult_lab.rankers.drmm import DrmmTksConfig, DrmmTksHead
from auscult_lab.rankers.knrm import KnrmConfig, KnrmHead
from auscult_lab.rankers.match_pyramid import PacrrConfig, PacrrHead

Activation = Literal["tanh", "logistic"]
Fusion = Literal["sum", "matrix"]
"""How knowledge joins context: summed into each token's vector, or compared apart in a matrix of its own."""
_START = 0.5
"""What components of a projected vector are at first, as root of the mean square."""


class CkTrans(nn.Module):
    """The fusion layer.

    Args:
        context: D_c and the typical length of a context vector.
        knowledge: D_e and the typical length of an entity's vector.
        joint_dim: D_j.
        activation: The function sigma.
    """

    def __init__(
        self, context: tuple[int, float], knowledge: tuple[int, float], joint_dim: int, activation: Activation
    ) -> None:
        super().__init__()
        self.context = nn.Linear(context[0], joint_dim)
        self.knowledge = nn.Linear(knowledge[0], joint_dim, bias=False)
        self.activation = activation
        nn.init.zeros_(self.context.bias)
        for layer, (dim, length) in ((self.context, context), (self.knowledge, knowledge)):
            # Orthogonal rows shorten a vector where it has more components than its image, orthogonal columns do not.
            nn.init.orthogonal_(layer.weight, gain=_START * math.sqrt(max(dim, joint_dim)) / length)

    def project(self, knowledge: Tensor) -> Tensor:
        """Return K U, (..., D_j), of entities' vectors (..., D_e)."""
        projected: Tensor = self.knowledge(knowledge)
        return projected

    def forward(self, context: Tensor, known: Tensor) -> Tensor:
        """Return G of one layer, (..., D_j).

        Args:
            context: (..., D_c).
            known: Result of `project`, (..., D_j).
        """
        joint = self.context(context) + known
        return torch.tanh(joint) if self.activation == "tanh" else torch.sigmoid(joint)


HeadName = Literal["knrm", "pacrr", "drmm-tks"]
HEAD_SETTINGS: dict[str, tuple[str, ...]] = {
    "knrm": ("kernels", "sigma", "exact_sigma"),
    "pacrr": ("longest", "filters", "top_k", "reader", "query_words"),
    "drmm-tks": ("top_k", "hidden"),
}
"""Which of a ranker's settings its head reads."""


def make_head(
    name: HeadName, settings: Mapping[str, Any], *, matrices: int, query_dim: int, context_width: int
) -> KnrmHead | PacrrHead | DrmmTksHead:
    """Return a ranker's head.

    Args:
        name: Name of the ranker.
        settings: Settings of the ranker that differ from its defaults.
        matrices: Number of matrices per pair.
        query_dim: Length of the vector of a query's token.
        context_width: Length of the pair's context vector; 0 for none.

    Raises:
        ConfigError: There is no such head or setting, or a value is out of range.
    """
    if name not in HEAD_SETTINGS:
        raise ConfigError(f"a head ({', '.join(HEAD_SETTINGS)})", repr(name), "name one of them")
    if strange := [each for each in settings if each not in HEAD_SETTINGS[name]]:
        expected = f"head_settings of '{name}' ({', '.join(HEAD_SETTINGS[name])})"
        raise ConfigError(expected, repr(strange[0]), "leave it out")
    if name == "knrm":
        return KnrmHead(KnrmConfig(**settings), matrices, context_width=context_width)
    if name == "pacrr":
        return PacrrHead(PacrrConfig(**settings), matrices, context_width=context_width)
    return DrmmTksHead(DrmmTksConfig(**settings), query_dim, matrices, context_width=context_width)


class CkHead(nn.Module):
    """Computes scores from states.

    Args:
        ranking: A ranker's head.
        fusion: Sums knowledge into context; None for no sum.
        knowledge: Vectors of entities, or None. Without `fusion` they are compared in a matrix of their own.
        reads_mark: Whether the head is given the last state of [CLS].
    """

    def __init__(
        self,
        ranking: KnrmHead | PacrrHead | DrmmTksHead,
        fusion: CkTrans | None,
        knowledge: KnowledgeEncoder | None,
        *,
        reads_mark: bool,
    ) -> None:
        super().__init__()
        self.ranking = ranking
        self.fusion = fusion
        self.knowledge = knowledge
        self.reads_mark = reads_mark

    def forward(self, states: Sequence[Tensor], layout: Layout) -> Tensor:
        """Return scores, (pairs,).

        Args:
            states: States of each layer, float32 (parts, tokens, D_c).
            layout: The places of queries and passages in them.
        """
        similarities, last = self.compare(states, layout)
        context = layout.of_mark(states[-1]) if self.reads_mark else None
        given: tuple[Tensor, ...] = ()
        if isinstance(self.ranking, PacrrHead):
            given = (similarities.new_zeros(layout.query.shape),)
        elif isinstance(self.ranking, DrmmTksHead):
            given = (last,)
        scores: Tensor = self.ranking(similarities, layout.query, layout.passage, *given, context=context)
        return scores

    def compare(self, states: Sequence[Tensor], layout: Layout) -> tuple[Tensor, Tensor]:
        """Return cosines in every layer, and the query's vectors in the last.

        Returns:
            (pairs, matrices, query tokens, passage tokens), 0 where there is no token: a matrix per layer, then that of
            entities where they are compared separately; (pairs, query tokens, D_j or D_c).
        """
        known = query_known = None
        if self.knowledge is not None and self.fusion is not None:
            known = self.fusion.project(self.knowledge(layout.entities))
            query_known = self.fusion.project(self.knowledge(layout.query_entities))
        matrices = []
        query = states[0]
        for layer in states:
            query, read = self._fuse(layout.of_query(layer), query_known), self._fuse(layer, known)
            matrices.append(_compare_tokens(query, read, layout))
        if self.knowledge is not None and self.fusion is None:
            vectors = self.knowledge(layout.query_entities), self.knowledge(layout.entities)
            matrices.append(_compare_tokens(*vectors, layout))
        similarities = layout.of_passage(torch.stack(matrices, dim=3).transpose(1, 2)).permute(0, 3, 2, 1)
        return similarities.masked_fill(~cells(layout.query, layout.passage).unsqueeze(1), 0.0), query

    def _fuse(self, states: Tensor, known: Tensor | None) -> Tensor:
        if self.fusion is None or known is None:
            return states
        joint: Tensor = self.fusion(states, known)
        return joint


def _compare_tokens(query: Tensor, tokens: Tensor, layout: Layout) -> Tensor:
    """Return cosines of a query's tokens with all tokens of each part, (parts, query tokens, tokens).

    The passage's tokens are selected later, from this small matrix, so that no state is copied.
    """
    rows = query.index_select(0, layout.owners) if layout.split else query
    return cosine_matrix(rows, tokens)
