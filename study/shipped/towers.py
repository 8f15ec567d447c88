"""Towers that also learn what a question asks ("asked"), from written questions and phrasings.

With a_P of passages (`encoders.general.towers`), q_Q of questions without names, a_H of headings and the places of the
known aspects k = unit(anchor + a of the aspect's name), these terms are added to those of `general.objective`:

    the passage of a question, among those of its document; all passages under its heading there count as right
    the heading of a question's passage, among those of the batch
    the aspect of a phrasing, among the known ones, by heat · q·k

Inner products of the first two are divided by the temperature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, normalize, one_hot

from auscult.encoders.contract import FloatArray
from auscult_lab.general.data import TowerBatch, TowerExamples
from auscult_lab.general.experiment import TowerTraining
from auscult_lab.general.objective import TowerNetwork, TowerObjective, listwise
from study.shipped.windows import Rows

_FIRST_HEAT = 2.5
_QUESTIONS, _PHRASINGS = 3, 192
_HELD_OUT = 5
_NEVER = -1e4
_PHRASING_WEIGHT = 0.3
_VALIDATED = 64


@dataclass(frozen=True, slots=True)
class Phrasings:
    """Ways to ask for aspects; each fifth one is held out.

    Attributes:
        vectors: Vectors of the phrasings without names, unit rows, (phrasings, width).
        aspects: Number of each one's aspect, (phrasings,).
    """

    vectors: Tensor
    aspects: Tensor

    def part(self, *, held_out: bool) -> Phrasings:
        """Return the phrasings that are held out, or the others."""
        chosen = (torch.arange(len(self.aspects)) % _HELD_OUT == 0) == held_out
        return Phrasings(self.vectors[chosen], self.aspects[chosen])

    def some(self, chance: np.random.Generator) -> Phrasings:
        """Return 192 by chance."""
        chosen = torch.from_numpy(chance.permutation(len(self.aspects))[:_PHRASINGS])
        return Phrasings(self.vectors[chosen], self.aspects[chosen])


class AskedBatch(NamedTuple):
    """Documents, and questions about them.

    Attributes:
        documents: Their sentences, titles and headings.
        asked: Vectors of the questions without names, unit rows, (questions, width).
        passages: Place of each question's passage in the batch, (questions,).
    """

    documents: TowerBatch
    asked: Tensor
    passages: Tensor


class AskedExamples:
    """Documents with some of their questions as batches.

    Args:
        documents: The documents.
        asked: Vectors of all questions without names, unit rows, (questions, width).
        passages: Number of each question's passage among those of all documents, (questions,).
        seed: Seed of the questions that an epoch takes, 3 a document.
    """

    def __init__(self, documents: TowerExamples, asked: FloatArray, passages: Rows, *, seed: int) -> None:
        self._documents = documents
        self._asked = torch.from_numpy(asked)
        self._seed = seed
        self._of: dict[int, list[int]] = {}
        for question, passage in enumerate(passages.tolist()):
            self._of.setdefault(passage, []).append(question)

    def __len__(self) -> int:
        return len(self._documents)

    def batch(self, rows: Sequence[int], epoch: int) -> AskedBatch:
        """Return a batch of documents in an epoch; a question counts if its passage is in the epoch's part."""
        items = [self._documents[epoch, row] for row in rows]
        questions: list[int] = []
        places: list[int] = []
        begin = 0
        for row, (_, ranges) in zip(rows, items, strict=True):
            own = [
                (question, begin + place)
                for place, (passage, _, _) in enumerate(ranges)
                for question in self._of.get(passage, ())
            ]
            chance = np.random.default_rng((self._seed, epoch, row))
            for chosen in chance.permutation(len(own))[:_QUESTIONS].tolist():
                questions.append(own[chosen][0])
                places.append(own[chosen][1])
            begin += len(ranges)
        return AskedBatch(
            self._documents.collate(items),
            self._asked[torch.tensor(questions, dtype=torch.long)],
            torch.tensor(places, dtype=torch.long),
        )


class AskedNetwork(TowerNetwork):
    """Towers with one that reads what a question asks.

    Args:
        width: Length of the input vectors.
        hidden: Size of the hidden layers.
        dim: Length of each side's vectors.
        aspects: Vectors of the known aspects' names, unit rows, (aspects, width).
        dropout: Dropout of the hidden layers.
    """

    aspects: Tensor

    def __init__(self, width: int, hidden: int, dim: int, aspects: Tensor, *, dropout: float) -> None:
        super().__init__(width, hidden, dim, dropout=dropout, noise=0.0)
        self.first["asked"] = nn.Linear(width, hidden)
        self.second["asked"] = nn.Linear(hidden, dim)
        self.anchors = nn.Parameter(torch.zeros(len(aspects), dim))
        self.heat = nn.Parameter(torch.tensor(_FIRST_HEAT))
        self.register_buffer("aspects", aspects)

    def asked(self, questions: Tensor) -> Tensor:
        """Return unit vectors of questions without names, (questions, dim), from theirs, (questions, width)."""
        hidden = gelu(self.first["asked"](questions * self._scale))
        found: Tensor = normalize(self.second["asked"](self.dropout(hidden)), dim=1)
        return found

    def known(self) -> Tensor:
        """Return the places of the known aspects, unit rows, (aspects, dim)."""
        return normalize(self.anchors + self.ask("aspect", self.aspects), dim=1)

    def arrays(self) -> dict[str, FloatArray]:
        """Return its weights as `encoders.general.towers.Towers` takes them."""
        layers = {"asked.first": self.first["asked"], "asked.second": self.second["asked"]}
        own = {f"{name}.{part}": getattr(layer, part) for name, layer in layers.items() for part in ("weight", "bias")}
        was_training = self.training
        self.eval()
        own["known"] = self.known()
        self.train(was_training)
        return super().arrays() | {name: weights.detach().numpy() for name, weights in own.items()}


class AskedObjective:
    """Loss and validation of towers with questions.

    Args:
        network: The network to train.
        choice: Optimisation.
        held_out: Documents for validation.
        questions: The same with their questions.
        phrasings: Ways to ask for the known aspects.
        seed: Seed of the phrasings of each step.
    """

    def __init__(
        self, network: AskedNetwork, choice: TowerTraining, held_out: TowerExamples, questions: AskedExamples,
        phrasings: Phrasings, *, seed: int,
    ) -> None:  # fmt: skip
        self._network = network
        self._choice = choice
        self._labels = TowerObjective(network, choice, held_out)
        rows = range(len(questions))
        self._held_out = [
            questions.batch(rows[first : first + _VALIDATED], 0) for first in range(0, len(rows), _VALIDATED)
        ]
        self._phrasings = {held: phrasings.part(held_out=held) for held in (False, True)}
        self._chance = np.random.default_rng(seed)

    def loss(self, batch: AskedBatch) -> Tensor:
        """Return the sum of all terms."""
        terms = self._labels.terms(batch.documents) | self.terms(batch)
        return sum(terms.values(), torch.zeros(()))

    def terms(self, batch: AskedBatch) -> dict[str, Tensor]:
        """Return the loss per task of questions and phrasings; tasks without labels in the batch are omitted."""
        network, losses = self._network, {}
        if len(batch.asked):
            asked = network.asked(batch.asked) / self._choice.temperature
            own, heading, aspects = self._own(batch), batch.documents.aspects[batch.passages], batch.documents.aspects
            right = one_hot(batch.passages, len(aspects)).bool()
            right |= own & (heading >= 0).unsqueeze(1) & (heading.unsqueeze(1) == aspects)
            placed = network.place(batch.documents)["aspect"]
            losses["question in its document"] = listwise(asked @ placed.T, right, own)
            if len(batch.documents.headings):
                named = one_hot(heading.clamp(min=0), len(batch.documents.headings)).bool()
                headings = network.ask("aspect", batch.documents.headings)
                losses["heading of a question"] = listwise(asked @ headings.T, named & (heading >= 0).unsqueeze(1))
        some = self._phrasings[False].some(self._chance)
        if len(some.aspects):
            scores = network.heat.exp() * network.asked(some.vectors) @ network.known().T
            losses["aspect of a phrasing"] = cross_entropy(scores, some.aspects)
        return losses

    @torch.no_grad()
    def measures(self) -> Mapping[str, float]:
        """Return shares of right answers on held-out documents and phrasings.

        "aspect" and "entity" are those of `TowerObjective`; "question" ranks the passages of a question's document;
        "phrasing" the known aspects; "all" is their sum, with a weight of 0.3 for "phrasing".
        """
        found = {name: share for name, share in self._labels.measures().items() if name != "both"}
        network, right = self._network.eval(), list[float]()
        for batch in self._held_out:
            if len(batch.asked):
                own = self._own(batch)
                scores = network.asked(batch.asked) @ network.place(batch.documents)["aspect"].T
                best = scores.masked_fill(~own, _NEVER).argmax(dim=1)
                # With one passage in a document, it is always right.
                right += (best == batch.passages)[own.sum(dim=1) > 1].float().tolist()
        asked = self._phrasings[True]
        likely = (network.asked(asked.vectors) @ network.known().T).argmax(dim=1)
        found["question"] = float(np.mean(right)) if right else 0.0
        found["phrasing"] = float((likely == asked.aspects).float().mean()) if len(likely) else 0.0
        total = found["aspect"] + found["entity"] + found["question"] + _PHRASING_WEIGHT * found["phrasing"]
        return {**found, "all": total}

    def optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW."""
        return self._labels.optimizer()

    @staticmethod
    def _own(batch: AskedBatch) -> Tensor:
        """Return whether each passage is of each question's document, (questions, passages)."""
        edges = batch.documents.documents
        document = torch.repeat_interleave(torch.arange(len(edges) - 1), edges.diff())
        return document[batch.passages].unsqueeze(1) == document
