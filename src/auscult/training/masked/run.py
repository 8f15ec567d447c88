"""Pre-training an encoder by masked language modelling; a killed run goes on where its last checkpoint was.

FOLDER/experiment.json     what is trained here; another experiment is refused
FOLDER/passages.json       what is read: counts and a digest; other documents are refused
FOLDER/checkpoints/        the last checkpoint and the best epoch, as the training library writes them
FOLDER/model/              the encoder, as transformers and sentence-transformers open it: the `backbone` of what is
                           trained to search; model.json in it says what it has read
FOLDER/training.json       how it went
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from auscult.errors import ConfigError
from auscult.models.masked_language_model import MaskedLanguageModel
from auscult.training.batches import row_loader, rows_an_epoch
from auscult.training.encoder_history import corpora_read_before
from auscult.training.encoder_schedule import encoder_schedule
from auscult.training.folder import PASSAGES, Outcome, begin, describe, finish, remember, teller
from auscult.training.loop import fit
from auscult.training.masked.experiment import MaskedExperiment
from auscult.training.masked.objective import MaskedObjective
from auscult.training.masked.texts import TextExamples, read_texts

_MONITOR = "validation_log_likelihood"


def train(
    experiment: MaskedExperiment,
    folder: Path,
    *,
    say: Callable[[str], None] | None = None,
    progress: bool = False,
) -> Outcome:
    """Pre-train an encoder, or go on with a training that was interrupted in the same folder.

    Args:
        experiment: What to train.
        folder: Where everything is kept.
        say: Told of each stage in a few words.
        progress: Show progress bars.

    Raises:
        ConfigError: The folder holds another experiment, or there is too little to read.
        CorpusMissingError: A corpus of the experiment is not on this machine.
        ModelError: The backbone cannot be opened, or predicts no masked tokens.
    """
    tell = teller(say)
    if (kept := begin(experiment, folder, tell)) is not None:
        return kept
    began = time.monotonic()
    # First, because a wrong name should fail before minutes of reading.
    torch.manual_seed(experiment.seed)
    # An encoder with random weights has read nothing, whatever its tokenizer was made of.
    before = corpora_read_before(experiment.backbone_name()) if experiment.encoder is None else {}
    model = MaskedLanguageModel(experiment.backbone_name(), experiment.encoder, masked=experiment.masked)
    texts = read_texts(experiment, model.tokenizer, model.limit, tell)
    padding = model.tokenizer.pad_token_id
    choice = experiment.training
    objective = MaskedObjective(model, choice, texts.held_out, padding=padding, seed=experiment.seed)
    if not objective.asked:
        raise ConfigError("held-out texts with a masked token", "none", "hold out more documents")
    counts = remember(texts.told(), folder / PASSAGES)
    prepared = time.monotonic() - began
    tell(f"{counts['texts']:,} texts of {counts['documents']:,} documents, {counts['tokens']:,} tokens")
    examples = TextExamples(texts.training, padding)
    per_epoch = rows_an_epoch(choice.texts, len(examples))
    loader = row_loader(examples, per_epoch=per_epoch, size=choice.batch_texts, seed=experiment.seed)
    schedule = encoder_schedule(choice, seed=experiment.seed, monitor=_MONITOR)
    history = fit(objective, loader, schedule, folder=folder / "checkpoints", say=tell, progress=progress)
    record = {
        "kind": "mlm",
        "model": experiment.title or experiment.name,
        **describe(experiment, history, folder),
        **before,
        **counts,
        "held_out_tokens": objective.asked,
        "perplexity": round(math.exp(-history.epochs[history.best][_MONITOR]), 3),
        "parameters": sum(each.numel() for each in model.parameters() if each.requires_grad),
        "seconds": round(sum(epoch["seconds"] for epoch in history.epochs), 1),
        "preparation_seconds": round(prepared, 1),
    }
    return finish(folder, record, lambda place: _save(model, place, record))


def _save(model: MaskedLanguageModel, folder: Path, record: dict[str, Any]) -> None:
    model.save(folder)
    described = {"kind": "mlm", "training": record}
    (folder / "model.json").write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
