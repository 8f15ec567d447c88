"""What the re-ranker minimises, and how it is validated.

With scores s of a question's passages, of which some answer:

    - log of the answers' share of softmax(s)   +   λ · mean over passages of the cross entropy of sigmoid(s)

the first orders passages, the second puts scores of different questions on one scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cosine_similarity

from auscult.interfaces import FloatArray
from auscult_lab.general.objective import listwise
from auscult_lab.modules.backbone import Backbone, pool
from auscult_lab.reranker.data import RerankerBatch
from auscult_lab.reranker.experiment import RerankerTraining
from auscult_lab.training.schedule import parameter_groups

_FIRST_SCALE = 20.0
_FIRST_BIAS = -16.0
"""Cosines of what is read in pairs are about 0.7: most passages do not seem to answer at first."""
_HEAD_RATE = 30
"""How many times as fast the head learns, which begins with nothing."""


class RerankerNetwork(nn.Module):
    """`encoders.reranker` in torch.

    Args:
        backbone: The transformer.
        frozen: How many of its lowest layers, and its tables, stay as they are.
    """

    def __init__(self, backbone: Backbone, frozen: int = 0) -> None:
        super().__init__()
        for part in (backbone.model.embeddings, *backbone.model.encoder.layer[:frozen]):
            part.requires_grad_(False)
        self.backbone = backbone
        self.head = nn.Linear(backbone.dim, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.constant_(self.head.bias, _FIRST_BIAS)
        self.scale = nn.Parameter(torch.tensor(_FIRST_SCALE))

    def forward(self, batch: RerankerBatch) -> Tensor:
        """Scores, (questions, passages)."""
        states = self.backbone({"input_ids": batch.ids, "attention_mask": batch.there}).float()
        told = batch.there - batch.asked
        told[:, 0] = 0
        alike = cosine_similarity(pool(states, batch.asked, "mean"), pool(states, told, "mean"), dim=1)
        found: Tensor = self.head(states[:, 0]).squeeze(1) + self.scale * alike
        return found.reshape(batch.right.shape)

    def arrays(self) -> dict[str, FloatArray]:
        """What stands on top of the transformer, as `encoders.reranker.Reranker` takes it."""
        told = {"weight": self.head.weight[0], "bias": self.head.bias[0], "scale": self.scale}
        return {name: array.detach().cpu().numpy() for name, array in told.items()}


class RerankerObjective:
    """Trains a re-ranker.

    Args:
        network: What is trained.
        choice: Optimisation.
        held_out: Questions about documents that are not trained on.
    """

    def __init__(self, network: RerankerNetwork, choice: RerankerTraining, held_out: Sequence[RerankerBatch]) -> None:
        self._network = network
        self._choice = choice
        self._held_out = held_out

    @property
    def network(self) -> nn.Module:
        """What is trained, in place."""
        return self._network

    def loss(self, batch: RerankerBatch) -> tuple[Tensor, int]:
        """The loss, and how many questions it is of."""
        scores = self._network(batch).float()
        certainty = binary_cross_entropy_with_logits(scores[batch.shown], batch.right[batch.shown].float())
        total = listwise(scores, batch.right, batch.shown) + self._choice.certainty_weight * certainty
        return total, len(batch.right)

    def measures(self) -> Mapping[str, float]:
        """How often an answer comes first, and the mean of one over the rank of the first."""
        self._network.eval()
        ranks: list[int] = []
        with torch.no_grad():
            for batch in self._held_out:
                scores = self._network(batch).float().masked_fill(~batch.shown, -torch.inf)
                best = scores.masked_fill(~batch.right, -torch.inf).amax(dim=1, keepdim=True)
                ranks += (1 + (scores > best).sum(dim=1)).tolist()
        return {"first": float(np.mean(np.array(ranks) == 1)), "reciprocal_rank": float(np.mean(1 / np.array(ranks)))}

    def optimizer(self) -> torch.optim.Optimizer:
        """AdamW."""
        choice = self._choice
        network, rate = self._network, choice.learning_rate
        head = [*network.head.parameters(), network.scale]
        groups = [
            *parameter_groups(
                (each for each in network.backbone.parameters() if each.requires_grad),
                decay=choice.weight_decay,
                rate=rate,
            ),
            *parameter_groups(head, decay=choice.weight_decay, rate=_HEAD_RATE * rate),
        ]
        return torch.optim.AdamW(groups, lr=choice.learning_rate)
