"""Train the towers of the encoder `multilingual`: headings and titles are read in one of several languages by chance.

A heading that names a known aspect ("treatment") is read in each batch as itself or as one of its names in another
language ("Traitement", "Behandlung"), and a title as itself or as its Spanish, French or German name, where it has
one. Headings in French count as the same as English ones of the same aspect. See `towers` for the terms of the loss.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from auscult.encoders.contract import FloatArray
from auscult.encoders.general.readers import WindowReader
from auscult.encoders.general.towers import unit
from auscult_lab.general.data import TowerBatch, TowerExamples, aspect_of
from auscult_lab.general.experiment import TowerTraining
from auscult_lab.general.reading import ReadDocuments
from auscult_lab.training.labels import title_words
from study.shipped.towers import AskedExamples, AskedNetwork, AskedObjective

_LEAST = 1e-4
_OTHER = 0.6
"""How often a name is read in another language, where it has one."""


@dataclass(frozen=True, slots=True)
class Forms:
    """Vectors of names and of their forms in other languages.

    Attributes:
        own: Vectors of the names, unit rows, (names, width).
        others: Vectors of all other forms, (forms, width).
        edges: First form of each name, and at the end the number of forms, (names + 1,).
    """

    own: FloatArray
    others: FloatArray
    edges: npt.NDArray[np.int64]

    @classmethod
    def of(cls, names: Sequence[str], forms: Mapping[str, Sequence[str]], reader: WindowReader) -> Forms:
        """Read names and their forms, which are found by the name in lower case."""
        others = [forms.get(name.lower(), ()) for name in names]
        texts = [text for each in others for text in each]
        edges = np.cumsum([0, *map(len, others)], dtype=np.int64)
        return cls(unit(reader.ask(names)), unit(reader.ask(texts)), edges)

    def drawn(self, chance: np.random.Generator) -> FloatArray:
        """Return a vector of each name, by chance that of another form."""
        counts = np.diff(self.edges)
        other = (counts > 0) & (chance.random(len(counts)) < _OTHER)
        rows = self.edges[:-1][other] + chance.integers(counts[other])
        vectors = self.own.copy()
        vectors[other] = self.others[rows]
        return vectors


class SpokenExamples(TowerExamples):
    """Documents as examples, whose headings and titles are read in one of several languages.

    Args:
        read: The documents and their vectors.
        reader: Reads titles and headings.
        headings: Other names of headings.
        titles: Other names of titles.
        seed: Seed of what is drawn.
    """

    def __init__(
        self, read: ReadDocuments, reader: WindowReader, headings: Mapping[str, Sequence[str]],
        titles: Mapping[str, Sequence[str]], *, seed: int,
    ) -> None:  # fmt: skip
        super().__init__(read, reader, seed=seed)
        documents = read.documents
        aspects = [
            aspect_of(passage.heading or passage.aspect, document.title)
            for document in documents
            for passage in document.passages
        ]
        names = [title_words(document.title) for document in documents]
        self._spoken = tuple(
            Forms.of([*dict.fromkeys(filter(None, found))], forms, reader)
            for found, forms in ((aspects, headings), (names, titles))
        )
        self._chance = np.random.default_rng(seed)

    def collate(self, items: Sequence[tuple[int, list[tuple[int, int, int]]]]) -> TowerBatch:
        """Return one batch."""
        self._headings, self._titles = (forms.drawn(self._chance) for forms in self._spoken)
        return super().collate(items)


class Standardised(nn.Module):
    """A dense layer whose inputs have their mean subtracted, and are divided by their deviation.

    multilingual-e5-small's vectors of any two texts have a cosine of .7 to .9. Without this, towers learn slowly. The
    properties `weight` and `bias` are those of a plain layer that does the same.

    Args:
        inputs: Inputs as the layer gets them, (rows, width), from which mean and deviation are computed.
        outputs: Number of outputs.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, inputs: Tensor, outputs: int) -> None:
        super().__init__()
        self._inner = nn.Linear(inputs.shape[1], outputs)
        self.register_buffer("mean", inputs.mean(dim=0))
        self.register_buffer("deviation", inputs.std(dim=0).clamp(min=_LEAST))

    def forward(self, rows: Tensor) -> Tensor:
        """Return the outputs, (rows, outputs)."""
        found: Tensor = self._inner((rows - self.mean) / self.deviation)
        return found

    @property
    def weight(self) -> Tensor:
        """Weights of the plain layer, (outputs, width)."""
        return self._inner.weight / self.deviation

    @property
    def bias(self) -> Tensor:
        """Biases of the plain layer, (outputs,)."""
        return self._inner.bias - self.weight @ self.mean


def standardise(network: AskedNetwork, batch: TowerBatch, names: Tensor) -> None:
    """Replace the first layers of new towers by ones that standardise their inputs.

    Args:
        network: The towers.
        batch: Documents, whose sentences the towers read.
        names: Vectors of headings, titles and questions, unit rows, (names, width).
    """
    scale = names.shape[1] ** 0.5
    read = torch.cat([batch.sentences, *network.context(batch, batch.sentences).values()], dim=1)
    network.body = Standardised(read * scale, network.body.out_features)  # type: ignore[assignment]
    for side, layer in network.first.items():
        network.first[side] = Standardised(names * scale, int(layer.out_features))  # type: ignore[arg-type]


def train_spoken(
    network: AskedNetwork, objective: AskedObjective, examples: AskedExamples, choice: TowerTraining, seed: int,
    say: Callable[[str], None],
) -> list[dict[str, Any]]:  # fmt: skip
    """Train towers in place, keep the weights of the best epoch, and return a record of each.

    Args:
        network: The network.
        objective: Its loss and validation.
        examples: What it learns from.
        choice: Optimisation.
        seed: Seed of the order.
        say: Called with a message after each epoch.
    """
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    optimizer = objective.optimizer()
    steps = choice.epochs * -(-len(examples) // choice.batch_documents)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, _slope(steps, choice.warm_up))
    history: list[dict[str, Any]] = []
    best, weights = -1.0, copy.deepcopy(network.state_dict())
    for epoch in range(choice.epochs):
        network.train()
        order, losses = chance.permutation(len(examples)), list[float]()
        for first in range(0, len(order), choice.batch_documents):
            loss = objective.loss(examples.batch(order[first : first + choice.batch_documents].tolist(), epoch))
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), choice.gradient_clip or 1.0)
            optimizer.step()
            schedule.step()
            losses.append(float(loss.detach()))
        found = dict(objective.measures())
        history.append({"epoch": epoch, "loss": float(np.mean(losses)), **found})
        say(str(history[-1]))
        if found["all"] > best:
            best, weights = found["all"], copy.deepcopy(network.state_dict())
    network.load_state_dict(weights)
    network.eval()
    return history


def _slope(steps: int, warm_up: float | None) -> Callable[[int], float]:
    """Return the factor of the learning rate by step: up to 1, then down to 0."""
    rising = max(1, round(steps * (warm_up or 0)))
    return lambda step: min((step + 1) / rising, max(0.0, (steps - step) / max(1, steps - rising)))
