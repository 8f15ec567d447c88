"""CK-Trans: a token's context state and its entity's vector become one vector (wang2021, Algorithm 1).

    G^i = sigma(C^i Q + K U + b)      for every layer i;  Q: D_c x D_j,  U: D_e x D_j,  b: D_j

Query and passage share Q, U and b, and so do all layers; K is the same in all of them, so K U is computed once.

The paper does not say what sigma is. Here it is tanh: with the logistic function every component of G is positive, so
that every cosine is, and most are near 1 before anything is learned: where answers are told by entities alone, DRMM-TKS
learned nothing with it and all with tanh. It can be chosen all the same. Nor does the paper say how Q and U begin: here
as orthogonal matrices, as long as makes context and knowledge count alike: a state or a vector of typical length gives
components of about one half, where tanh is still nearly straight.

Such a Q keeps the angles between states as long as D_j is no smaller than D_c: with D_j = D_c = 384, cosines before and
after the layer correlate by 0.99. A smaller D_j makes it a random projection, which does not: with D_j = 128 they
correlate by 0.7 before anything is learned. So D_j is D_c unless it is said.

Cost: D_c x D_j multiplications a token and layer, and D_e x D_j a token.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

Activation = Literal["tanh", "logistic"]
_START = 0.5
"""What components of a projected vector are at first, as root of the mean square."""


class CkTrans(nn.Module):
    """The fusion layer.

    Args:
        context: D_c and the typical length of a context vector.
        knowledge: D_e and the typical length of an entity's vector.
        joint_dim: D_j.
        activation: What sigma is.
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

    def known(self, knowledge: Tensor) -> Tensor:
        """K U, (..., D_j), of entities' vectors (..., D_e)."""
        projected: Tensor = self.knowledge(knowledge)
        return projected

    def forward(self, context: Tensor, known: Tensor) -> Tensor:
        """G of one layer, (..., D_j).

        Args:
            context: (..., D_c).
            known: What `known` gave, (..., D_j).
        """
        joint = self.context(context) + known
        return torch.tanh(joint) if self.activation == "tanh" else torch.sigmoid(joint)
