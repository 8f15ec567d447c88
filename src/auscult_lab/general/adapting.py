"""A general encoder that goes on learning, for `stages.train`: what reads stays as it is, the towers are trained.

FOLDER/read-by-start/   what it read of the documents, in pieces
FOLDER/checkpoints/     of the towers

Where no epoch does better on held-out documents than the towers did before, these are kept.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch

from auscult.concepts import normalise_name
from auscult.documents import Document
from auscult.encoders import model_folder
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.encoders.general.persistence import load, save, what_reads
from auscult.errors import ConfigError
from auscult_lab.general.build import train_towers
from auscult_lab.general.data import TowerExamples
from auscult_lab.general.experiment import AdaptedExperiment
from auscult_lab.general.objective import TowerNetwork, TowerObjective
from auscult_lab.general.reading import read_documents
from auscult_lab.training.data import read_and_hold_out
from auscult_lab.training.experiment_files import check_fields, with_fields
from auscult_lab.training.labels import title_words
from auscult_lab.training.loop import History
from auscult_lab.training.stages import DocumentsBuild, Record, Run

_HELD_OUT_AT_MOST = 1 / 5


def documents_experiment(
    corpora: Sequence[Mapping[str, Any]],
    start: str,
    *,
    notes: bool = False,
    said: Iterable[tuple[str, str]] = (),
) -> AdaptedExperiment:
    """What a general encoder learns from documents.

    Args:
        corpora: Which, as experiment files name them.
        start: What it begins with.
        notes: Whether they are clinical notes, whose corpus labels passages.
        said: Fields of the experiment, and what they shall be instead (`with_fields`).

    Raises:
        ConfigError: A field is wrong.
    """
    fields: dict[str, Any] = {
        "name": "adapt",
        "track": "adapted",
        "model": "general-adapted",
        "start": start,
        "corpora": list(corpora),
        "validation": {"corpora": sorted({each["name"] for each in corpora})},
        "aspects": "label" if notes else "heading",
    }
    return check_fields(with_fields(fields, said), AdaptedExperiment, "the documents' experiment with")


def prepare(experiment: AdaptedExperiment, run: Run) -> AdaptedBuild:
    """Open what it begins with, and read documents."""
    folder = model_folder(experiment.begins_with()[0])
    start = load(folder)
    parts = divided(experiment, run.say)
    return AdaptedBuild(experiment, run, parts.training, parts.held_out, folder, start)


class Parts(NamedTuple):
    """Documents, divided: no two parts have a title in common.

    Attributes:
        training: To learn from.
        held_out: Those that choose the epoch and weigh the evidence.
        measured: Those that nothing is learned from, which the model is measured on before and after.
    """

    training: list[Document]
    held_out: list[Document]
    measured: list[Document]


def divided(experiment: AdaptedExperiment, say: Callable[[str], None]) -> Parts:
    """Read and divide the documents of an experiment; the same each time."""
    _, training, apart = read_and_hold_out(experiment, say, untitled=True, most=_HELD_OUT_AT_MOST)
    names = [normalise_name(title_words(each.title)) or f"untitled\n{each.doc_id}" for each in apart]
    measured = {*[*dict.fromkeys(names)][1::2]}
    parts: tuple[list[Document], list[Document]] = ([], [])
    for name, document in zip(names, apart, strict=True):
        parts[name in measured].append(document)
    return Parts(training, *parts)


@dataclass
class AdaptedBuild(DocumentsBuild[AdaptedExperiment]):
    """A general encoder and what it goes on learning from; see `stages.Build`.

    The evidence is weighed on the held-out documents too (`fitting.weighing`).

    Attributes:
        folder: Of the model that it begins with.
        start: That.
    """

    kind = "general"
    folder: Path
    start: GeneralEncoder
    towers: TowerNetwork | None = None
    learned: Record = field(default_factory=dict)

    @property
    def untitled(self) -> str:
        """Name of the model that it begins with, and that it was adapted."""
        return f"{self.start.name}, adapted"

    def train(self) -> History:
        """Train the towers, and leave them as they were best.

        Raises:
            ConfigError: Neither titles nor headings say anything.
        """
        choice, seed, reader = self.experiment.training, self.experiment.seed, self.start.reader
        both = read_documents([*self.training, *self.held_out], reader, self.run.folder / "read-by-start", self.run.say)
        examples, held_out = (
            TowerExamples(part, reader, seed=seed, labels=self.experiment.aspects == "label")
            for part in (both.part(0, len(self.training)), both.part(len(self.training), len(both.documents)))
        )
        self._check_learned_from(examples)
        torch.manual_seed(seed)
        weights = self.start.towers.weights
        dim, hidden = weights["aspect.second.weight"].shape
        self.towers = TowerNetwork(reader.dim, hidden, dim, dropout=choice.dropout, noise=choice.noise)
        self.towers.begin(weights)
        objective = TowerObjective(self.towers, choice, held_out)
        before, began = objective.measures(), copy.deepcopy(self.towers.state_dict())
        self.towers.train()
        history = train_towers(objective, examples, choice, self.run, seed)
        kept = history.epochs[history.best]["validation_both"] <= before["both"]
        if kept:
            self.run.say("no epoch did better on held-out documents than the towers did before: these are kept")
            self.towers.load_state_dict(began)
        self.learned = {
            "titles": examples.titles, "headings": examples.headings, "validation_before": dict(before), "kept": kept,
        }  # fmt: skip
        return history

    def _check_learned_from(self, examples: TowerExamples) -> None:
        if examples.titles < 2 and not examples.headings:
            got = f"{examples.titles} titles and no headings in {len(self.training):,} documents"
            remedy = "give documents their titles and headings, notes as notes, or use the model as it is"
            raise ConfigError("titles, which teach entities, or headings, which teach aspects", got, remedy)
        for what, found, taught in (
            ("titles", examples.titles > 1, "entities"),
            ("headings", examples.headings, "aspects"),
        ):
            if not found:
                self.run.say(f"the documents have no {what}: nothing is learned of {taught}")

    def to_record(self, history: History) -> Record:
        """Return sizes, what was learned from, and the validation of the towers before."""
        return {
            **self.sizes(*([self.towers] if self.towers else [])),
            "seconds": history.seconds,
            **self.learned,
        }

    def save(self, folder: Path, record: Record) -> None:
        """Write the model's folder."""
        if self.towers is None:
            raise RuntimeError("nothing has been trained")
        save(
            folder,
            self.towers.arrays(),
            self.start.centre,
            name=self.title,
            **what_reads(self.folder),
            training=record,
        )
