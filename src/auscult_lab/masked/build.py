"""Masked language modelling for `stages.train`: an encoder reads documents before it learns to search them.

FOLDER/passages.json    what is read: counts and a digest; other documents are refused
FOLDER/model/           the encoder, as transformers and sentence-transformers open it: the `backbone` of what is
                        trained to search; model.json in it says what it has read
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import torch

from auscult.encoders.folder import SETTINGS
from auscult.errors import ConfigError
from auscult.files.writing import renewed_folder, write_json
from auscult_lab.masked.data import TextExamples, Texts, read_texts
from auscult_lab.masked.experiment import MaskedExperiment
from auscult_lab.masked.objective import MaskedLanguageModel, MaskedObjective
from auscult_lab.training.batches import row_loader, rows_an_epoch
from auscult_lab.training.folder import PASSAGES, remember
from auscult_lab.training.loop import History
from auscult_lab.training.schedule import Schedule
from auscult_lab.training.stages import Build, Record, Run, trained_parameters

_MONITOR = "validation_log_likelihood"


def prepare(experiment: MaskedExperiment, run: Run) -> MaskedBuild:
    """Open the backbone, read documents as texts, and mask those that are held out."""
    torch.manual_seed(experiment.seed)
    model = MaskedLanguageModel(experiment.backbone_name(), experiment.encoder, masked=experiment.masked)
    texts = read_texts(experiment, model.tokenizer, model.limit, run.say)
    padding = model.tokenizer.pad_token_id
    objective = MaskedObjective(model, experiment.training, texts.held_out, padding=padding, seed=experiment.seed)
    if not objective.asked:
        raise ConfigError("held-out texts with a masked token", "none", "hold out more documents")
    counts = remember(texts.told(), run.folder / PASSAGES)
    return MaskedBuild(experiment, run, texts, model, objective, counts)


@dataclass
class MaskedBuild(Build[MaskedExperiment]):
    """An encoder and what it reads; see `stages.Build`."""

    kind = "mlm"
    texts: Texts
    model: MaskedLanguageModel
    objective: MaskedObjective
    counts: Record

    @property
    def about(self) -> str:
        """How much is read."""
        counts = self.counts
        return f"{counts['texts']:,} texts of {counts['documents']:,} documents, {counts['tokens']:,} tokens"

    def train(self) -> History:
        """Train in place, and leave the encoder with the weights of the best epoch."""
        choice, seed = self.experiment.training, self.experiment.seed
        examples = TextExamples(self.texts.training, self.model.tokenizer.pad_token_id)
        per_epoch = rows_an_epoch(choice.texts, len(examples))
        loader = row_loader(examples, per_epoch=per_epoch, size=choice.batch_texts, seed=seed)
        return self.run.fit(self.objective, loader, Schedule.of(choice, seed=seed, monitor=_MONITOR))

    def to_record(self, history: History) -> Record:
        """Return counts and a digest of texts, and how well held-out tokens are predicted."""
        return {
            **self.counts,
            "held_out_tokens": self.objective.asked,
            "perplexity": round(math.exp(-history.epochs[history.best][_MONITOR]), 3),
            "parameters": trained_parameters(self.model),
            "seconds": history.seconds,
        }

    def save(self, folder: Path, record: Record) -> None:
        """Write the encoder, and beside it what it has read."""
        with renewed_folder(folder, last=SETTINGS) as fresh:
            self.model.save(fresh)
            write_json(fresh / SETTINGS, {"kind": self.kind, "training": record})
