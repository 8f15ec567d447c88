"""Loss and validation of the re-ranker.

With scores s of a question's passages, of which some answer:

    - log of the answers' share of softmax(s)   +   λ · mean over passages of the cross entropy of sigmoid(s)

The first term orders passages; the second makes scores of different questions comparable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cosine_similarity

from auscult.encoders.contract import FloatArray
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
        frozen: Number of lowest layers that, like the embeddings, are not trained.
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
        """Return scores, (questions, passages)."""
        states = self.backbone({"input_ids": batch.ids, "attention_mask": batch.mask}).float()
        passage_tokens = batch.mask - batch.question_mask
        passage_tokens[:, 0] = 0
        alike = cosine_similarity(
            pool(states, batch.question_mask, "mean"), pool(states, passage_tokens, "mean"), dim=1
        )
        scores: Tensor = self.head(states[:, 0]).squeeze(1) + self.scale * alike
        return scores.reshape(batch.right.shape)

    def arrays(self) -> dict[str, FloatArray]:
        """Return the weights besides the transformer, as `encoders.reranker.Reranker` takes them."""
        told = {"weight": self.head.weight[0], "bias": self.head.bias[0], "scale": self.scale}
        return {name: array.detach().cpu().numpy() for name, array in told.items()}


class RerankerObjective:
    """Trains a re-ranker.

    Args:
        network: The network to train.
        choice: Optimisation.
        held_out: Questions about held-out documents.
    """

    def __init__(self, network: RerankerNetwork, choice: RerankerTraining, held_out: Sequence[RerankerBatch]) -> None:
        self._network = network
        self._choice = choice
        self._held_out = held_out

    @property
    def network(self) -> nn.Module:
        """The network, which is trained in place."""
        return self._network

    def loss(self, batch: RerankerBatch) -> tuple[Tensor, int]:
        """Return the loss, and the number of questions."""
        scores = self._network(batch).float()
        certainty = binary_cross_entropy_with_logits(
            scores[batch.passage_mask], batch.right[batch.passage_mask].float()
        )
        total = listwise(scores, batch.right, batch.passage_mask) + self._choice.certainty_weight * certainty
        return total, len(batch.right)

    def measures(self) -> Mapping[str, float]:
        """Return the share of questions with an answer first, and the mean reciprocal rank of the first answer."""
        self._network.eval()
        ranks: list[int] = []
        with torch.no_grad():
            for batch in self._held_out:
                scores = self._network(batch).float().masked_fill(~batch.passage_mask, -torch.inf)
                best = scores.masked_fill(~batch.right, -torch.inf).amax(dim=1, keepdim=True)
                ranks += (1 + (scores > best).sum(dim=1)).tolist()
        return {"first": float(np.mean(np.array(ranks) == 1)), "reciprocal_rank": float(np.mean(1 / np.array(ranks)))}

    def optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW."""
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
