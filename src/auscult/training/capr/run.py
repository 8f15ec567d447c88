"""Training a bi-, poly- or cross-encoder from an experiment; a killed run goes on where its last checkpoint was.

FOLDER/experiment.json     what is trained here; another experiment is refused
FOLDER/passages.json       what is learned from: counts and a digest; other documents are refused
FOLDER/checkpoints/        the last checkpoint and the best epoch, as the training library writes them
FOLDER/model/              the model, in the format of `models.capr.persistence`
FOLDER/training.json       how it went
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from auscult.errors import ConfigError
from auscult.models.capr.base import PassageRanker
from auscult.models.capr.persistence import save
from auscult.models.capr.registry import create
from auscult.training.batches import row_loader, rows_an_epoch
from auscult.training.capr.experiment import CaprExperiment
from auscult.training.capr.gathering import Gathered, gather_passages, told
from auscult.training.capr.objective import AskedPassage, PairObjective, held_out_queries
from auscult.training.capr.pairs import PairExamples
from auscult.training.encoder_history import corpora_read_before
from auscult.training.encoder_schedule import encoder_schedule
from auscult.training.folder import PASSAGES, Outcome, begin, describe, finish, remember, teller
from auscult.training.loop import History, fit

_MONITOR = "validation_RR"


def train(
    experiment: CaprExperiment,
    folder: Path,
    *,
    say: Callable[[str], None] | None = None,
    progress: bool = False,
) -> Outcome:
    """Train an architecture, or go on with a training that was interrupted in the same folder.

    Args:
        experiment: What to train.
        folder: Where everything is kept.
        say: Told of each stage in a few words.
        progress: Show progress bars.

    Raises:
        ConfigError: The folder holds another experiment, or too few passages can be learned from.
        CorpusMissingError: A corpus of the experiment is not on this machine.
        ModelError: The backbone cannot be opened.
    """
    tell = teller(say)
    if (kept := begin(experiment, folder, tell)) is not None:
        return kept
    began = time.monotonic()
    # First, because a wrong name should fail before minutes of reading.
    torch.manual_seed(experiment.seed)
    read_before = corpora_read_before(experiment.backbone_name())
    ranker = create(experiment.architecture, experiment.backbone_name(), experiment.expanded_settings())
    _freeze_unread(ranker)
    if experiment.training.dropout is not None:
        set_dropout(ranker, experiment.training.dropout)
    gathered = gather_passages(experiment, tell, surroundings=ranker.surroundings)
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
    counts = remember(told(gathered), folder / PASSAGES)
    prepared = time.monotonic() - began
    tell(f"{ranker.title}: {counts['passages']:,} passages, {len(asked):,} held-out queries")
    history = _optimise(experiment, gathered, asked, ranker, folder, tell, progress)
    record = _record(experiment, ranker, history, counts, len(asked), prepared, folder) | read_before
    name = experiment.title or ranker.title
    return finish(folder, record, lambda model: save(ranker, model, name=name, training=record))


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


def _optimise(
    experiment: CaprExperiment,
    gathered: Gathered,
    asked: list[AskedPassage],
    ranker: PassageRanker,
    folder: Path,
    say: Callable[[str], None],
    progress: bool,
) -> History:
    """Train in place, and leave the architecture with the weights of the best epoch."""
    choice = experiment.training
    whole = ranker.config
    if choice.max_passage_tokens is not None:
        shorter = min(choice.max_passage_tokens, whole.max_passage_tokens)
        ranker.config = dataclasses.replace(whole, max_passage_tokens=shorter)
    examples = PairExamples(gathered.training, experiment.negatives, seed=experiment.seed)
    loader = row_loader(
        examples,
        per_epoch=rows_an_epoch(choice.pairs, len(examples)),
        size=choice.batch_pairs,
        seed=experiment.seed,
    )
    schedule = encoder_schedule(choice, seed=experiment.seed, monitor=_MONITOR)
    objective = PairObjective(ranker, choice, [each.passage for each in gathered.held_out.passages], asked)
    history = fit(objective, loader, schedule, folder=folder / "checkpoints", say=say, progress=progress)
    ranker.config = whole
    return history


def _record(
    experiment: CaprExperiment,
    ranker: PassageRanker,
    history: History,
    counts: dict[str, Any],
    asked: int,
    prepared: float,
    folder: Path,
) -> dict[str, Any]:
    per_epoch = rows_an_epoch(experiment.training.pairs, counts.get("questions", counts["passages"]))
    return {
        "kind": "capr",
        "model": experiment.title or ranker.title,
        **describe(experiment, history, folder),
        **counts,
        "held_out_queries": asked,
        "parameters": sum(each.numel() for each in ranker.parameters() if each.requires_grad),
        "history": [{**epoch, "queries": (row + 1) * per_epoch} for row, epoch in enumerate(history.epochs)],
        "seconds": round(sum(epoch["seconds"] for epoch in history.epochs), 1),
        "preparation_seconds": round(prepared, 1),
    }
