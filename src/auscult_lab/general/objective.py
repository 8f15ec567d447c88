"""Loss and validation of the towers.

With a_P, e_P of passages and a_Q, e_Q of headings and titles (`encoders.general.towers`), all inner products are
divided by the temperature. Each term is a cross entropy of a softmax; all passages with equal headings count as right:

    the heading of a passage, among those of the batch      the passages of a heading, among those of the batch
    the passages of a heading, among those of its document  the title of a passage, and the passages of a title

Adapted towers are pulled to their initial weights: + pull · |w - w_0|².
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, normalize, one_hot

from auscult.encoders.contract import FloatArray
from auscult.encoders.general.towers import SIDES, Side
from auscult_lab.general.data import TowerBatch, TowerExamples
from auscult_lab.general.experiment import TowerTraining
from auscult_lab.training.schedule import parameter_groups

_VALIDATED = 64
_NEVER = -1e4


class TowerNetwork(nn.Module):
    """`encoders.general.towers` in torch; weights have the same names.

    Args:
        width: Length of the input vectors.
        hidden: Size of the hidden layers.
        dim: Length of each side's vectors.
        dropout: Dropout of the hidden layers.
        noise: Length of the random vector added to inputs in training, as a share of the input's length.
    """

    def __init__(self, width: int, hidden: int, dim: int, *, dropout: float, noise: float) -> None:
        super().__init__()
        self.body = nn.Linear(5 * width, hidden)
        self.sides = nn.ModuleDict({side: nn.Linear(hidden, dim) for side in SIDES})
        self.first = nn.ModuleDict({side: nn.Linear(width, hidden) for side in SIDES})
        self.second = nn.ModuleDict({side: nn.Linear(hidden, dim) for side in SIDES})
        self.dropout = nn.Dropout(dropout)
        self._noise = noise
        self._scale = width**0.5

    def place(self, batch: TowerBatch) -> dict[Side, Tensor]:
        """Return unit vectors of a batch's passages, (passages, dim), for each side."""
        sentences, passage, weights = (
            self._add_noise(batch.sentences),
            _places(batch.passages),
            batch.tokens.unsqueeze(1),
        )
        read = torch.cat([sentences, *self.context(batch, sentences).values()], dim=1)
        hidden = self.dropout(gelu(self.body(read * self._scale)))
        placed = {side: normalize(self.sides[side](hidden), dim=1) for side in SIDES}
        return {side: normalize(_sums(rows * weights, passage), dim=1) for side, rows in placed.items()}

    def context(self, batch: TowerBatch, sentences: Tensor) -> dict[str, Tensor]:
        """Return context vectors of sentences by their source, in order, each (sentences, width)."""
        passage, document = _places(batch.passages), _places(batch.passages[batch.documents])
        weights = batch.tokens.unsqueeze(1)
        same = (document[1:] == document[:-1]).unsqueeze(1)
        nothing = torch.zeros_like(sentences[:1])
        return {
            "passage": normalize(_sums(sentences * weights, passage), dim=1)[passage],
            "document": normalize(_sums(sentences * weights, document), dim=1)[document],
            "sentence before": torch.cat([nothing, sentences[:-1] * same]),
            "sentence after": torch.cat([sentences[1:] * same, nothing]),
        }

    def ask(self, side: Side, names: Tensor) -> Tensor:
        """Return unit vectors of names, (names, dim)."""
        hidden = gelu(self.first[side](self._add_noise(names) * self._scale))
        found: Tensor = normalize(self.second[side](self.dropout(hidden)), dim=1)
        return found

    def begin(self, arrays: Mapping[str, FloatArray]) -> None:
        """Set weights as `arrays` returns them."""
        with torch.no_grad():
            for name, weights in self._list_weights():
                weights.copy_(torch.from_numpy(np.array(arrays[name], np.float32)))

    def arrays(self) -> dict[str, FloatArray]:
        """Return its weights as `encoders.general.towers.Towers` takes them."""
        return {name: weights.detach().numpy() for name, weights in self._list_weights()}

    def _list_weights(self) -> Iterator[tuple[str, Tensor]]:
        layers: dict[str, nn.Module] = {"body": self.body}
        for side in SIDES:
            layers |= {side: self.sides[side], f"{side}.first": self.first[side], f"{side}.second": self.second[side]}
        for name, layer in layers.items():
            yield from ((f"{name}.{part}", getattr(layer, part)) for part in ("weight", "bias"))

    def _add_noise(self, rows: Tensor) -> Tensor:
        if not (self.training and self._noise):
            return rows
        return normalize(rows + self._noise * torch.randn_like(rows) / self._scale, dim=1)


class TowerObjective:
    """Trains towers.

    Args:
        network: The network, which is trained in place.
        choice: Optimisation.
        held_out: Documents for validation.
    """

    def __init__(self, network: TowerNetwork, choice: TowerTraining, held_out: TowerExamples) -> None:
        self.network = network
        self._choice = choice
        self._began = [each.detach().clone() for each in network.parameters()] if choice.pull else []
        rows = range(len(held_out))
        self._held_out = [
            held_out.collate([held_out[0, row] for row in rows[first : first + _VALIDATED]])
            for first in range(0, len(rows), _VALIDATED)
        ]

    def loss(self, batch: TowerBatch) -> tuple[Tensor, int]:
        """Return the sum of all terms, and the number of passages."""
        total = sum(self.terms(batch).values(), torch.zeros(()))
        for weights, before in zip(self.network.parameters(), self._began, strict=False):
            total = total + self._choice.pull * (weights - before).square().sum()
        return total, len(batch.aspects)

    def terms(self, batch: TowerBatch) -> dict[str, Tensor]:
        """Return the loss per task; tasks without labels in the batch are omitted."""
        placed, temperature = self.network.place(batch), self._choice.temperature
        losses = {}
        document = _places(batch.documents)
        if len(batch.headings):
            similar = placed["aspect"] @ self.network.ask("aspect", batch.headings).T / temperature
            labelled = batch.aspects >= 0
            right = one_hot(batch.aspects.clamp(min=0), len(batch.headings)).bool() & labelled.unsqueeze(1)
            own = document.unsqueeze(0) == document.unsqueeze(1)
            under = similar.T[batch.aspects.clamp(min=0)]
            same = (batch.aspects.unsqueeze(0) == batch.aspects.unsqueeze(1)) & own & labelled.unsqueeze(1)
            losses["heading of a passage"] = listwise(similar, right)
            losses["passages of a heading"] = listwise(similar.T, right.T, labelled.expand(len(batch.headings), -1))
            losses["passages of a heading in its document"] = listwise(under, same, own)
        if len(batch.titles) > 1:
            similar = placed["entity"] @ self.network.ask("entity", batch.titles).T / temperature
            entity = batch.entities[document]
            titled, weight = entity >= 0, self._choice.entity_weight
            right = one_hot(entity.clamp(min=0), len(batch.titles)).bool() & titled.unsqueeze(1)
            losses["title of a passage"] = weight * listwise(similar, right)
            losses["passages of a title"] = weight * listwise(similar.T, right.T, titled.expand(len(batch.titles), -1))
        return losses

    def measures(self) -> Mapping[str, float]:
        """Return how often the best passage of a heading, or title of a passage, is right on held-out documents.

        "aspect" ranks the passages of the heading's own document; "entity" the titles of up to 64 documents.
        """
        self.network.eval()
        aspect: list[float] = []
        entity: list[float] = []
        with torch.no_grad():
            for batch in self._held_out:
                placed, document = self.network.place(batch), _places(batch.documents)
                if len(batch.headings):
                    similar = placed["aspect"] @ self.network.ask("aspect", batch.headings).T
                    for row in np.flatnonzero(batch.aspects >= 0):
                        own = document == document[row]
                        # With one passage in a document, it is always right.
                        if int(own.sum()) > 1:
                            best = int(similar[:, batch.aspects[row]].masked_fill(~own, _NEVER).argmax())
                            aspect.append(float(batch.aspects[best] == batch.aspects[row]))
                if len(batch.titles) > 1:
                    best_titles = (placed["entity"] @ self.network.ask("entity", batch.titles).T).argmax(dim=1)
                    known = batch.entities[document] >= 0
                    entity += (best_titles == batch.entities[document])[known].float().tolist()
        found = {"aspect": aspect, "entity": entity}
        shares = {name: float(np.mean(rows)) if rows else 0.0 for name, rows in found.items()}
        return {**shares, "both": sum(shares.values()) / 2}

    def optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW."""
        choice = self._choice
        groups = parameter_groups(self.network.parameters(), decay=choice.weight_decay, rate=choice.learning_rate)
        return torch.optim.AdamW(groups, lr=choice.learning_rate)


def listwise(scores: Tensor, right: Tensor, among: Tensor | None = None) -> Tensor:
    """Return the mean of - log of the right candidates' share of the softmax, over rows with a right candidate.

    Args:
        scores: (rows, candidates).
        right: Whether each candidate is right, same shape.
        among: Whether each is a candidate, same shape; None for all.
    """
    if among is not None:
        scores = scores.masked_fill(~among, _NEVER)
    asked = right.any(dim=1)
    if not asked.any():
        return scores.sum() * 0.0
    scores, right = scores[asked], right[asked]
    found: Tensor = (scores.logsumexp(dim=1) - scores.masked_fill(~right, _NEVER).logsumexp(dim=1)).mean()
    return found


def _places(edges: Tensor) -> Tensor:
    """Return for each row the number of its range."""
    return torch.repeat_interleave(torch.arange(len(edges) - 1), edges.diff())


def _sums(rows: Tensor, places: Tensor) -> Tensor:
    return torch.zeros(int(places[-1]) + 1, rows.shape[1]).index_add_(0, places, rows)
