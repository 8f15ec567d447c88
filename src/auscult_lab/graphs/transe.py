"""TransE: a relation is a step from the subject's vector to the object's (bordes2013).

    score(s, r, o) = -||s + r - o||_p                                        (section 2; p is 1 or 2)
    margin loss    = sum over a batch of [margin + ||s + r - o|| - ||s' + r - o'||]+       (Eq. 1)

(s', r, o') is the triple with subject or object replaced by a random entity. Vectors are initialised uniformly in
+-6 / sqrt(dim). Relations are scaled to unit length once, entities before each step that reads them (Algorithm 1). A
graph of n entities takes n x dim floats; a step with shared negatives, one product of (batch, dim) by (dim, negatives)
per side.

Departures from the paper, all of them settings, chosen on validation triples (`AS_PUBLISHED` has none):

- loss "softmax": cross entropy of the true entity among `negatives` drawn for the whole batch, for both sides of each
  triple, with scores times `scale` (the best loss for older models by ruffinelli2020);
- optimiser "adam", with moments of the rows that a step reads only (kingma2015);
- filtered mean reciprocal rank on validation triples chooses the epoch; in the paper, raw mean rank does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from auscult.encoders.contract import FloatArray
from auscult_lab.graphs.evaluation import SIDES, Side, rank_triples, summarise
from auscult_lab.training.batches import Key, RowBatches
from auscult_lab.training.experiment import Settings


class TransEConfig(Settings):
    """Settings of model and optimisation.

    Attributes:
        dim: Length of vectors.
        norm: p of the distance.
        loss: "margin" or "softmax"; see the module's docstring.
        margin: Margin of the margin loss.
        scale: Factor of scores in the softmax loss, since distances between unit vectors differ little.
        negatives: Corrupted triples per true one in the margin loss; entities drawn per batch in the softmax loss.
        optimizer: "sgd" as published, or "adam".
        learning_rate: Learning rate, for the summed loss of a batch.
        batch: Triples per step; None for a 48th of the training triples, from 16 to 1024, so that small graphs have
            enough steps.
        epochs: Largest number of passes over the training triples.
        patience: Stop after so many epochs without a better validation score; None runs all epochs.
    """

    dim: int = Field(default=100, ge=1)
    norm: Literal[1, 2] = 2
    loss: Literal["margin", "softmax"] = "softmax"
    margin: float = Field(default=1.0, gt=0)
    scale: float = Field(default=10.0, gt=0)
    negatives: int = Field(default=1024, ge=1)
    optimizer: Literal["sgd", "adam"] = "adam"
    learning_rate: float = Field(default=0.01, gt=0)
    batch: int | None = Field(default=None, ge=1)
    epochs: int = Field(default=30, ge=1)
    patience: int | None = Field(default=5, ge=1)

    def batch_of(self, triples: int) -> int:
        """Return the number of triples per step for a training on `triples`."""
        return min(1024, max(16, triples // 48)) if self.batch is None else self.batch


AS_PUBLISHED = TransEConfig(
    dim=50, norm=1, loss="margin", margin=1.0, negatives=1, optimizer="sgd", batch=64, epochs=1000, patience=50
)
"""The settings of bordes2013 (section 4.2) for its densest graph; the paper does not give its batch size."""


class TransE(nn.Module):
    """Vectors of entities and relations."""

    def __init__(self, entities: int, relations: int, *, dim: int, norm: int) -> None:
        super().__init__()
        self.norm = norm
        # Sparse: a step writes only the rows it has read, not the whole table.
        self.entities = nn.Embedding(entities, dim, sparse=True)
        self.relations = nn.Embedding(relations, dim, sparse=True)
        bound = 6 / math.sqrt(dim)
        with torch.no_grad():
            for table in (self.entities, self.relations):
                table.weight.uniform_(-bound, bound)
            self.relations.weight.copy_(functional.normalize(self.relations.weight, dim=1))
            self.constrain()

    @torch.no_grad()
    def constrain(self, rows: Tensor | None = None) -> None:
        """Scale entity vectors to unit length: some rows, or all."""
        table = self.entities.weight
        if rows is None:
            table.copy_(functional.normalize(table, dim=1))
        else:
            table[rows] = functional.normalize(table[rows], dim=1)

    def distance(self, triples: Tensor) -> Tensor:
        """Return ||s + r - o||_p of triples (..., 3); shape (...)."""
        subject, relation, object_ = triples.unbind(-1)
        difference = self.entities(subject) + self.relations(relation) - self.entities(object_)
        length: Tensor = torch.linalg.vector_norm(difference, ord=self.norm, dim=-1)
        return length

    def distances(self, triples: Tensor, candidates: Tensor, side: Side) -> Tensor:
        """Return distances with each candidate at one end.

        Args:
            triples: Int64, (rows, 3).
            candidates: Float32, (candidates, dim): entity vectors.
            side: The end that is replaced.

        Returns:
            Float32, (rows, candidates).
        """
        subject, relation, object_ = triples.unbind(-1)
        step = self.relations(relation)
        # ||s' + r - o|| = ||(o - r) - s'||: a distance from one point for either end.
        point = self.entities(object_) - step if side == "head" else self.entities(subject) + step
        if self.norm == 1:
            return torch.cdist(point, candidates, p=1)
        squares: Tensor = point.square().sum(1, keepdim=True) + candidates.square().sum(1) - 2 * point @ candidates.T
        # Rounding may make a square negative, and the root has an infinite slope at zero.
        return squares.clamp_min(1e-12).sqrt()

    @torch.no_grad()
    def scores(self, triples: NDArray[np.int64], side: Side) -> FloatArray:
        """Return -distance with every entity at one end, as `evaluation.Scores`."""
        table = self.entities.weight
        asked = torch.from_numpy(triples).to(table.device)
        scored: FloatArray = (-self.distances(asked, table, side)).cpu().numpy()
        return scored


def margin_loss(true: Tensor, corrupted: Tensor, margin: float) -> Tensor:
    """Return [margin + d - d']+ summed over a batch, the mean over a triple's corruptions (bordes2013, Eq. 1).

    Args:
        true: Distances, (batch,).
        corrupted: Distances, (batch, negatives).
        margin: Margin by which corrupted triples should be farther.
    """
    return functional.relu(margin + true[:, None] - corrupted).mean(1).sum()


def softmax_loss(true: Tensor, candidates: Tensor, is_true: Tensor, scale: float) -> Tensor:
    """Return cross entropy of the true entity among candidates, summed over a batch.

    Args:
        true: Distances, (batch,).
        candidates: Distances, (batch, candidates).
        is_true: Whether a candidate is the true entity, and so no negative: (batch, candidates).
        scale: Factor on -distance.
    """
    against = (-scale * candidates).masked_fill(is_true, -torch.inf)
    return (scale * true + torch.logsumexp(torch.cat([-scale * true[:, None], against], dim=1), dim=1)).sum()


def corrupt(triples: Tensor, entities: int, negatives: int) -> Tensor:
    """Return triples with subject or object, at random, replaced by a random entity (bordes2013, Eq. 2).

    Args:
        triples: Int64, (batch, 3).
        entities: Number of entities.
        negatives: Number per triple.

    Returns:
        Int64, (batch, negatives, 3).
    """
    drawn = torch.randint(entities, (len(triples), negatives), device=triples.device)
    head = torch.rand(drawn.shape, device=triples.device) < 0.5
    subject, relation, object_ = (column[:, None].expand_as(drawn) for column in triples.unbind(1))
    return torch.stack([torch.where(head, drawn, subject), relation, torch.where(head, object_, drawn)], dim=-1)


class TransEObjective:
    """Trains TransE and measures it on validation triples.

    Args:
        network: The network, which is trained in place.
        config: Loss and optimiser.
        validation: (triples, 3); their filtered ranks choose the epoch. None for a fixed number of epochs.
        known: All true triples, (triples, 3).
    """

    def __init__(
        self,
        network: TransE,
        config: TransEConfig,
        validation: NDArray[np.int64] | None,
        known: NDArray[np.int64],
    ) -> None:
        self.network = network
        self._config = config
        self._validation = validation
        self._known = known

    def loss(self, batch: Tensor) -> tuple[Tensor, int]:
        """Return the summed loss of triples (batch, 3) and new negatives, after scaling vectors to unit length."""
        config, network = self._config, self.network
        if config.loss == "margin":
            corrupted = corrupt(batch, network.entities.num_embeddings, config.negatives)
            # Algorithm 1 scales all rows at each step, but only the rows that are read matter.
            network.constrain(torch.cat([batch[:, [0, 2]].ravel(), corrupted[..., [0, 2]].ravel()]))
            return margin_loss(network.distance(batch), network.distance(corrupted), config.margin), len(batch)
        drawn = torch.randint(network.entities.num_embeddings, (config.negatives,), device=batch.device)
        network.constrain(torch.cat([batch[:, [0, 2]].ravel(), drawn]))
        true, candidates = network.distance(batch), network.entities(drawn)
        losses = [
            softmax_loss(true, network.distances(batch, candidates, side), batch[:, [end]] == drawn, config.scale)
            for side, end in zip(SIDES, (0, 2), strict=True)
        ]
        return losses[0] + losses[1], len(batch)

    def measures(self) -> Mapping[str, float]:
        """Return filtered mean reciprocal rank and Hits@10 on validation triples, both ends."""
        self.network.constrain()
        if self._validation is None:
            return {}
        figures = summarise(rank_triples(self.network.scores, self._validation, self._known).filtered)
        return {"RR": figures["MRR"], "Hits@10": figures["Hits@10"]}

    def optimizer(self) -> torch.optim.Optimizer:
        """Return the optimiser of all vectors; it updates only the rows that a batch reads."""
        parameters, rate = self.network.parameters(), self._config.learning_rate
        if self._config.optimizer == "sgd":
            return torch.optim.SGD(parameters, lr=rate)
        return torch.optim.SparseAdam(list(parameters), lr=rate)


class _Triples(Dataset[list[int]]):
    """Triples by key, a whole batch at a time, since single items would cost more than the step."""

    def __init__(self, triples: NDArray[np.int64]) -> None:
        self._triples = torch.from_numpy(triples)

    def __getitems__(self, keys: Sequence[Key]) -> Tensor:
        return self._triples[[row for _, row in keys]]


def batches(triples: NDArray[np.int64], size: int, seed: int) -> DataLoader[list[int]]:
    """Return shuffled batches of triples, int64, (size, 3); an epoch is one pass."""
    sampler = RowBatches(len(triples), per_epoch=len(triples), size=size, seed=seed)
    return DataLoader(_Triples(triples), batch_sampler=sampler, collate_fn=lambda batch: batch)
