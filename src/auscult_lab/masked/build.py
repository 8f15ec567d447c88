"""Masked language modelling for `stages.train`: an encoder reads documents before it learns to search them.

FOLDER/passages.json    counts and a digest of the documents; others are refused
FOLDER/model/           the encoder, in the format of transformers and sentence-transformers, to use as `backbone` of
                        other experiments; its model.json lists what it has read

15 % of a text's tokens are chosen (devlin2019, section 3.1). Of these 80 % are replaced by [MASK], 10 % by another
token, and 10 % stay unchanged. The loss is the cross entropy of the chosen tokens. The transformers library chooses and
replaces tokens, and has the encoder and its predicting layer, which is initialised where a checkpoint lacks it.

Departures: single texts, without next sentence prediction; marks and unknown tokens are never chosen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from auscult.encoders.folder import SETTINGS
from auscult.errors import ConfigError
from auscult.files.writing import renewed_folder, write_json
from auscult_lab.masked.data import TextBatch, TextExamples, Texts, Tokens, read_texts
from auscult_lab.masked.experiment import MaskedExperiment, MaskedTraining
from auscult_lab.modules.backbone import masking, open_masked_language_model, save
from auscult_lab.training.batches import row_loader, rows_an_epoch
from auscult_lab.training.folder import PASSAGES, remember
from auscult_lab.training.loop import History
from auscult_lab.training.schedule import Schedule, parameter_groups
from auscult_lab.training.stages import Build, Record, Run, trained_parameters

UNASKED = -100
"""The label of a token that is not to be predicted, as the library has it."""


class MaskedLanguageModel(nn.Module):
    """An encoder that predicts masked tokens.

    Args:
        name_or_path: A hub name or a folder.
        shape: Changed settings of the encoder's configuration ("num_hidden_layers", "hidden_size", ...): it then begins
            with random weights and keeps only the tokenizer. None begins with the encoder's weights.
        masked: Share of tokens that are chosen.

    Raises:
        MissingExtraError: When `transformers` is not installed.
        ModelError: There is no such encoder, or it predicts no masked tokens.
        ConfigError: A setting is not in its configuration, or its value is impossible.
    """

    def __init__(self, name_or_path: str, shape: dict[str, int] | None = None, *, masked: float = 0.15) -> None:
        super().__init__()
        self.model, self.tokenizer, self.limit = open_masked_language_model(name_or_path, shape)
        self._mask = masking(self.tokenizer, masked)
        self.register_buffer("_marks", torch.tensor(sorted(self.tokenizer.all_special_ids)), persistent=False)
        self._marks: Tensor

    def choose(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Choose random tokens and replace them.

        Args:
            ids: Long, (texts, tokens), on the processor; not changed.

        Returns:
            Input tokens, and tokens to predict, `UNASKED` elsewhere; both (texts, tokens).
        """
        marks = torch.isin(ids, self._marks.to(ids.device))
        return self._mask(ids.clone(), marks)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return logits, (texts, tokens, vocabulary).

        Args:
            ids: Long, (texts, tokens).
            mask: The same shape, 0 for padding.
        """
        logits: Tensor = self.model(input_ids=ids, attention_mask=mask).logits
        return logits

    def save(self, folder: Path) -> None:
        """Write it in the library's own format, which `open_backbone` opens as an encoder."""
        save(self.model, self.tokenizer, folder)


class MaskedObjective:
    """Cross entropy of masked tokens.

    Args:
        model: The model.
        choice: Optimisation.
        held_out: Texts for validation. They are masked once, so that all epochs predict the same tokens.
        padding: Id of the padding token.
        seed: Seed of that masking.
    """

    def __init__(
        self,
        model: MaskedLanguageModel,
        choice: MaskedTraining,
        held_out: Sequence[Tokens],
        *,
        padding: int,
        seed: int,
    ) -> None:
        self.network = model
        self._choice = choice
        examples = TextExamples(sorted(held_out, key=len), padding)
        self._held_out: list[tuple[TextBatch, Tensor]] = []
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            for start in range(0, len(examples), choice.batch_texts):
                stop = min(start + choice.batch_texts, len(examples))
                batch = examples.collate([examples[0, row] for row in range(start, stop)])
                ids, labels = model.choose(batch.ids)
                self._held_out.append((TextBatch(ids, batch.mask), labels))
        model.train()

    @property
    def held_out_tokens(self) -> int:
        """Number of held-out tokens to predict."""
        return sum(int((labels != UNASKED).sum()) for _, labels in self._held_out)

    def loss(self, batch: TextBatch) -> tuple[Tensor, int]:
        """Return the mean loss of a batch's masked tokens and their number; torch's random state draws the masks."""
        # On the processor, so that the draw does not depend on the device.
        ids, labels = self.network.choose(batch.ids.cpu())
        logits = self.network(ids.to(batch.ids.device), batch.mask)
        chosen = (labels != UNASKED).to(logits.device)
        count = int(chosen.sum())
        if not count:
            # The mean of nothing is NaN; a loss of zero still has a gradient for every parameter.
            return 0.0 * logits.sum(), 0
        return cross_entropy(logits[chosen].float(), labels.to(logits.device)[chosen]), count

    def measures(self) -> Mapping[str, float]:
        """Return the share of held-out masked tokens predicted correctly, and their mean log-likelihood."""
        self.network.eval()
        device = next(self.network.parameters()).device
        right, total, count = 0, 0.0, 0
        with torch.no_grad():
            for batch, labels in self._held_out:
                logits = self.network(batch.ids.to(device), batch.mask.to(device))
                asked = labels != UNASKED
                found, wanted = logits[asked.to(device)].float().cpu(), labels[asked]
                right += int((found.argmax(dim=1) == wanted).sum())
                total += float(cross_entropy(found, wanted, reduction="sum"))
                count += len(wanted)
        self.network.train()
        return {"accuracy": right / count, "log_likelihood": -total / count}

    def optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW; biases and gains are not decayed."""
        trained = (each for each in self.network.parameters() if each.requires_grad)
        groups = parameter_groups(trained, decay=self._choice.weight_decay, rate=self._choice.learning_rate)
        return torch.optim.AdamW(groups)


_MONITOR = "validation_log_likelihood"


def prepare(experiment: MaskedExperiment, run: Run) -> MaskedBuild:
    """Open the backbone, read documents as texts, and mask the held-out ones."""
    torch.manual_seed(experiment.seed)
    model = MaskedLanguageModel(experiment.backbone_name(), experiment.encoder, masked=experiment.masked)
    texts = read_texts(experiment, model.tokenizer, model.limit, run.say)
    padding = model.tokenizer.pad_token_id
    objective = MaskedObjective(model, experiment.training, texts.held_out, padding=padding, seed=experiment.seed)
    if not objective.held_out_tokens:
        raise ConfigError("held-out texts with a masked token", "none", "hold out more documents")
    counts = remember(texts.describe(), run.folder / PASSAGES)
    return MaskedBuild(experiment, run, texts, model, objective, counts)


@dataclass
class MaskedBuild(Build[MaskedExperiment]):
    """An encoder and its texts; see `stages.Build`."""

    kind = "mlm"
    texts: Texts
    model: MaskedLanguageModel
    objective: MaskedObjective
    counts: Record

    @property
    def about(self) -> str:
        """Numbers of texts."""
        counts = self.counts
        return f"{counts['texts']:,} texts of {counts['documents']:,} documents, {counts['tokens']:,} tokens"

    def train(self) -> History:
        """Train in place, and keep the weights of the best epoch."""
        choice, seed = self.experiment.training, self.experiment.seed
        examples = TextExamples(self.texts.training, self.model.tokenizer.pad_token_id)
        per_epoch = rows_an_epoch(choice.texts, len(examples))
        loader = row_loader(examples, per_epoch=per_epoch, size=choice.batch_texts, seed=seed)
        return self.run.fit(self.objective, loader, Schedule.of(choice, seed=seed, monitor=_MONITOR))

    def to_record(self, history: History) -> Record:
        """Return counts and a digest of texts, and the validation measures."""
        return {
            **self.counts,
            "held_out_tokens": self.objective.held_out_tokens,
            "perplexity": round(math.exp(-history.epochs[history.best][_MONITOR]), 3),
            "parameters": trained_parameters(self.model),
            "seconds": history.seconds,
        }

    def save(self, folder: Path, record: Record) -> None:
        """Write the encoder, and a list of what it has read."""
        with renewed_folder(folder, last=SETTINGS) as fresh:
            self.model.save(fresh)
            write_json(fresh / SETTINGS, {"kind": self.kind, "training": record})
