"""Bi-, poly- and cross-encoders and CK-HQA for `stages.train`: passages, held-out queries, and an architecture.

FOLDER/passages.json    what is learned from: counts and a digest; other documents are refused
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from auscult.errors import ConfigError
from auscult_lab.encoders.base import PassageRanker
from auscult_lab.encoders.data import PairExamples
from auscult_lab.encoders.experiment import CaprExperiment
from auscult_lab.encoders.gathering import Gathered, gather_passages, told
from auscult_lab.encoders.objective import AskedPassage, PairObjective, held_out_queries
from auscult_lab.encoders.persistence import save
from auscult_lab.encoders.registry import create
from auscult_lab.training.batches import row_loader, rows_an_epoch
from auscult_lab.training.folder import PASSAGES, remember
from auscult_lab.training.loop import History
from auscult_lab.training.schedule import Schedule
from auscult_lab.training.stages import Build, Record, Run, trained_parameters

_MONITOR = "validation_RR"


def prepare(experiment: CaprExperiment, run: Run) -> PairBuild:
    """Open the backbone, read and label passages, and draw the queries to validate with."""
    torch.manual_seed(experiment.seed)
    ranker = create(experiment.architecture, experiment.backbone_name(), experiment.expanded_settings())
    _freeze_unread(ranker)
    if experiment.training.dropout is not None:
        set_dropout(ranker, experiment.training.dropout)
    gathered = gather_passages(experiment, run.say, surroundings=ranker.surroundings)
    asked = held_out_queries(
        gathered.held_out,
        number=experiment.validation_queries,
        seed=experiment.seed,
        candidates=experiment.validation_candidates,
    )
    if not asked:
        raise ConfigError(
            "held-out passages of different questions, entities or aspects", "none", "hold out more documents"
        )
    counts = remember(told(gathered), run.folder / PASSAGES)
    return PairBuild(experiment, run, gathered, asked, ranker, counts)


@dataclass
class PairBuild(Build[CaprExperiment]):
    """An architecture and what it is trained on; see `stages.Build`."""

    kind = "capr"
    gathered: Gathered
    asked: list[AskedPassage]
    ranker: PassageRanker
    counts: Record

    @property
    def untitled(self) -> str:
        """Title of the architecture."""
        return self.ranker.title

    @property
    def about(self) -> str:
        """How many passages there are, and how many queries to validate with."""
        return f"{self.ranker.title}: {self.counts['passages']:,} passages, {len(self.asked):,} held-out queries"

    def train(self) -> History:
        """Train in place, and leave the architecture with the weights of the best epoch."""
        experiment, choice, ranker = self.experiment, self.experiment.training, self.ranker
        whole = ranker.config
        if choice.max_passage_tokens is not None:
            shorter = min(choice.max_passage_tokens, whole.max_passage_tokens)
            ranker.config = dataclasses.replace(whole, max_passage_tokens=shorter)
        examples = PairExamples(self.gathered.training, experiment.negatives, seed=experiment.seed)
        per_epoch = rows_an_epoch(choice.pairs, len(examples))
        loader = row_loader(examples, per_epoch=per_epoch, size=choice.batch_pairs, seed=experiment.seed)
        held_out = [each.passage for each in self.gathered.held_out.passages]
        objective = PairObjective(ranker, choice, held_out, self.asked)
        history = self.run.fit(objective, loader, Schedule.of(choice, seed=experiment.seed, monitor=_MONITOR))
        ranker.config = whole
        return history

    def to_record(self, history: History) -> Record:
        """Return counts and a digest of passages, and how many queries each epoch had shown."""
        rows = self.counts["questions" if "questions" in self.counts else "passages"]
        return {
            **self.counts,
            "held_out_queries": len(self.asked),
            "parameters": trained_parameters(self.ranker),
            "history": history.with_queries(rows_an_epoch(self.experiment.training.pairs, rows)),
            "seconds": history.seconds,
        }

    def save(self, folder: Path, record: Record) -> str:
        """Write the model's folder."""
        return save(self.ranker, folder, name=self.title, training=record)


def _freeze_unread(ranker: PassageRanker) -> None:
    """Poolers of pre-trained encoders are part of no score; training in several processes needs to know."""
    for name, parameter in ranker.named_parameters():
        if ".pooler." in name:
            parameter.requires_grad_(False)


def set_dropout(ranker: PassageRanker, share: float) -> None:
    """Leave another share of activations out in training; what is saved keeps its checkpoint's."""
    for module in ranker.modules():
        if isinstance(module, nn.Dropout):
            module.p = share
        elif isinstance(getattr(module, "dropout", None), float):
            # A Longformer's attention keeps its share as a number.
            module.dropout = share  # type: ignore[assignment]
