"""Adapting a general encoder, for `stages.train`: its reader stays fixed, the towers are trained.

FOLDER/read-by-start/   vectors of the documents, in pieces
FOLDER/checkpoints/     checkpoints of the towers

Where no epoch is better on held-out documents than the original towers, these are kept.
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
from auscult.encoders.general.persistence import load
from auscult.errors import ConfigError
from auscult_lab.general.build import train_towers
from auscult_lab.general.data import TowerExamples
from auscult_lab.general.experiment import AdaptedExperiment
from auscult_lab.general.objective import TowerNetwork, TowerObjective
from auscult_lab.general.reading import read_documents
from auscult_lab.general.saving import save, what_reads
from auscult_lab.training.data import read_and_hold_out
from auscult_lab.training.experiment_files import check_fields, with_fields
from auscult_lab.training.labels import title_words
from auscult_lab.training.loop import History
from auscult_lab.training.stages import DocumentsBuild, Record, Run

_HELD_OUT_AT_MOST = 1 / 5
FEWEST_MEASURED = 10
"""Documents with a title from which on a model is measured before and after."""


def documents_experiment(
    corpora: Sequence[Mapping[str, Any]],
    start: str,
    *,
    notes: bool = False,
    said: Iterable[tuple[str, str]] = (),
) -> AdaptedExperiment:
    """Return the experiment that adapts a general encoder to documents.

    Args:
        corpora: Corpora of the documents, as in experiment files.
        start: Folder or name of the model to begin with.
        notes: Whether they are clinical notes, for which the corpus labels passages.
        said: Changes to fields of the experiment (`with_fields`).

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
    """Open the model to begin with, and read documents."""
    folder = model_folder(experiment.begins_with()[0])
    start = load(folder)
    parts = divided(experiment, run.say)
    if parts.why_unmeasured:
        run.say(f"before and after will not be compared: {parts.why_unmeasured}; the training goes on")
    return AdaptedBuild(experiment, run, parts.training, parts.held_out, folder, start)


class Parts(NamedTuple):
    """Documents in three parts that have no title in common.

    Attributes:
        training: Documents to learn from.
        held_out: Documents that choose the epoch and the weights of the evidence.
        measured: Documents on which the model is measured before and after; nothing is learned from them.
    """

    training: list[Document]
    held_out: list[Document]
    measured: list[Document]

    @property
    def titled(self) -> list[Document]:
        """The measured documents that have a title, of which questions can be made."""
        return [document for document in self.measured if document.title]

    @property
    def why_unmeasured(self) -> str:
        """Why the model cannot be measured, as a clause; empty if it can be."""
        found = len(self.titled)
        needed = f"that takes {FEWEST_MEASURED} held-out documents with titles of their own, and there are {found}"
        return needed if found < FEWEST_MEASURED else ""


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
    """A general encoder and the documents it is adapted to; see `stages.Build`.

    The weights of the evidence are also fitted on the held-out documents (`fitting.weighing`).

    Attributes:
        folder: Folder of the model that it begins with.
        start: That model.
    """

    kind = "general"
    folder: Path
    start: GeneralEncoder
    towers: TowerNetwork | None = None
    learned: Record = field(default_factory=dict)

    @property
    def untitled(self) -> str:
        """Name of the model that it begins with, marked as adapted."""
        return f"{self.start.name}, adapted"

    def train(self) -> History:
        """Train the towers, and keep the weights of the best epoch.

        Raises:
            ConfigError: There are neither titles nor headings to learn from.
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
        unimproved = history.epochs[history.best]["validation_both"] <= before["both"]
        if unimproved:
            self.run.say("no epoch did better on held-out documents than the towers did before: these are kept")
            self.towers.load_state_dict(began)
        self.learned = {
            "titles": examples.titles,
            "headings": examples.headings,
            "validation_before": dict(before),
            "kept": unimproved,
        }
        return history

    def _check_learned_from(self, examples: TowerExamples) -> None:
        if examples.titles < 2 and not examples.headings:
            got = f"{examples.titles} titles and no headings in {len(self.training):,} documents"
            remedy = "give documents their titles and headings, notes as notes, or use the model as it is"
            raise ConfigError("titles, which teach entities, or headings, which teach aspects", got, remedy)
        for what, present, taught in (
            ("titles", examples.titles > 1, "entities"),
            ("headings", examples.headings, "aspects"),
        ):
            if not present:
                self.run.say(f"the documents have no {what}: nothing is learned of {taught}")

    def to_record(self, history: History) -> Record:
        """Return sizes, counts of the training data, and the validation measures of the original towers."""
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
