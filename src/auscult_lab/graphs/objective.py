"""TransE as the training loop sees it: the loss of a batch, filtered ranks on validation triples, the optimiser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from auscult_lab.graphs.evaluation import SIDES, rank_triples, summarise
from auscult_lab.graphs.transe import TransE, TransEConfig, corrupt, margin_loss, softmax_loss
from auscult_lab.training.batches import Key, RowBatches


class TransEObjective:
    """What is trained and what for.

    Args:
        network: Trained in place.
        config: Loss and optimiser.
        validation: (triples, 3); their filtered ranks choose the epoch. None for a training of fixed length.
        known: All true triples, (triples, 3).
    """

    def __init__(
        self,
        network: TransE,
        config: TransEConfig,
        validation: NDArray[np.int64] | None,
        known: NDArray[np.int64],
    ) -> None:
        self._network = network
        self._config = config
        self._validation = validation
        self._known = known

    @property
    def network(self) -> TransE:
        """What is trained."""
        return self._network

    def loss(self, batch: Tensor) -> tuple[Tensor, int]:
        """The summed loss of triples (batch, 3), after the unit length of what it reads; negatives are drawn here."""
        config, network = self._config, self._network
        if config.loss == "margin":
            corrupted = corrupt(batch, network.entities.num_embeddings, config.negatives)
            # Rows that are not read need no unit length yet: Algorithm 1 gives it to all of them at each step.
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
        """Filtered mean reciprocal rank and Hits@10 on validation triples, both ends."""
        self._network.constrain()
        if self._validation is None:
            return {}
        figures = summarise(rank_triples(self._network.scores, self._validation, self._known).filtered)
        return {"RR": figures["MRR"], "Hits@10": figures["Hits@10"]}

    def optimizer(self) -> torch.optim.Optimizer:
        """Of all vectors; moments and steps of the rows that a batch reads only."""
        parameters, rate = self._network.parameters(), self._config.learning_rate
        if self._config.optimizer == "sgd":
            return torch.optim.SGD(parameters, lr=rate)
        return torch.optim.SparseAdam(list(parameters), lr=rate)


class _Triples(Dataset[list[int]]):
    """Triples by key; a whole batch at once, since one at a time would cost more than the step."""

    def __init__(self, triples: NDArray[np.int64]) -> None:
        self._triples = torch.from_numpy(triples)

    def __getitems__(self, keys: Sequence[Key]) -> Tensor:
        return self._triples[[row for _, row in keys]]


def batches(triples: NDArray[np.int64], size: int, seed: int) -> DataLoader[list[int]]:
    """Shuffled batches of triples, int64, (size, 3); an epoch is one pass."""
    sampler = RowBatches(len(triples), per_epoch=len(triples), size=size, seed=seed)
    return DataLoader(_Triples(triples), batch_sampler=sampler, collate_fn=_as_it_is)  # type: ignore[arg-type]


def _as_it_is(batch: Tensor) -> Tensor:
    return batch
