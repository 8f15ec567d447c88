"""What masked language modelling minimises, and how it is validated.

An encoder with the layer that predicts masked tokens (devlin2019, section 3.1).

15 % of a text's tokens are chosen; of these 80 % are replaced by [MASK], 10 % by another token, and 10 % are left as
they are. The loss is the cross entropy of the chosen ones. Choosing and replacing are the transformers library's, as
are the encoder and its predicting layer, which a checkpoint without one is given anew.

Departures: texts are single ones, without the task of telling which sentence follows; marks and unknown tokens are
never chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from auscult_lab.masked.data import TextBatch, TextExamples, Tokens
from auscult_lab.masked.experiment import MaskedTraining
from auscult_lab.modules.backbone import masking, open_masked_language_model
from auscult_lab.training.schedule import parameter_groups

UNASKED = -100
"""The label of a token that is not to be predicted, as the library has it."""


class MaskedLanguageModel(nn.Module):
    """An encoder that predicts masked tokens.

    Args:
        name_or_path: A hub name or a folder.
        shape: Settings of the encoder's configuration that are to be others ("num_hidden_layers", "hidden_size", ...):
            it then begins with random weights, and only the tokenizer is taken over. None begins with its weights.
        masked: Share of tokens that are chosen.

    Raises:
        MissingExtraError: When `transformers` is not installed.
        ModelError: There is none of that name, or it predicts no masked tokens.
        ConfigError: A setting that its configuration does not have, or that no encoder can be made with.
    """

    def __init__(self, name_or_path: str, shape: dict[str, int] | None = None, *, masked: float = 0.15) -> None:
        super().__init__()
        self.model, self.tokenizer, self.limit = open_masked_language_model(name_or_path, shape)
        self._mask = masking(self.tokenizer, masked)
        self.register_buffer("_marks", torch.tensor(sorted(self.tokenizer.all_special_ids)), persistent=False)
        self._marks: Tensor

    def choose(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Choose tokens by chance and replace them.

        Args:
            ids: Long, (texts, tokens), on the processor; left as they are.

        Returns:
            Tokens to be read, and those to be predicted, `UNASKED` elsewhere; both (texts, tokens).
        """
        marks = torch.isin(ids, self._marks.to(ids.device))
        return self._mask(ids.clone(), marks)

    def forward(self, ids: Tensor, there: Tensor) -> Tensor:
        """Logits, (texts, tokens, vocabulary).

        Args:
            ids: Long, (texts, tokens).
            there: The same shape, 0 for padding.
        """
        logits: Tensor = self.model(input_ids=ids, attention_mask=there).logits
        return logits

    def save(self, folder: Path) -> None:
        """Write it in the library's own format, which `open_backbone` opens as an encoder."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


class MaskedObjective:
    """Cross entropy of masked tokens.

    Args:
        model: What is trained.
        choice: Optimisation.
        held_out: Texts that are not trained on; their tokens are masked once, so that all epochs are asked the same.
        padding: What fills a batch's shorter texts.
        seed: Of that masking.
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
        self._model = model
        self._choice = choice
        examples = TextExamples(sorted(held_out, key=len), padding)
        self._asked: list[tuple[TextBatch, Tensor]] = []
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            for start in range(0, len(examples), choice.batch_texts):
                stop = min(start + choice.batch_texts, len(examples))
                batch = examples.collate([examples[0, row] for row in range(start, stop)])
                ids, labels = model.choose(batch.ids)
                self._asked.append((TextBatch(ids, batch.there), labels))
        model.train()

    @property
    def network(self) -> nn.Module:
        """What is trained, in place."""
        return self._model

    @property
    def asked(self) -> int:
        """Held-out tokens that are to be predicted."""
        return sum(int((labels != UNASKED).sum()) for _, labels in self._asked)

    def loss(self, batch: TextBatch) -> tuple[Tensor, int]:
        """The mean loss of the batch's masked tokens, and how many there are; masks are drawn by torch's chance."""
        # On the processor: the same tokens are drawn whatever the device.
        ids, labels = self._model.choose(batch.ids.cpu())
        logits = self._model(ids.to(batch.ids.device), batch.there)
        asked = (labels != UNASKED).to(logits.device)
        count = int(asked.sum())
        if not count:
            # The mean of none is no number; a loss of zero still has a gradient for every parameter.
            return 0.0 * logits.sum(), 0
        return cross_entropy(logits[asked].float(), labels.to(logits.device)[asked]), count

    def measures(self) -> Mapping[str, float]:
        """Share of the held-out masked tokens that are predicted, and their mean log-likelihood."""
        self._model.eval()
        device = next(self._model.parameters()).device
        right, total, count = 0, 0.0, 0
        with torch.no_grad():
            for batch, labels in self._asked:
                logits = self._model(batch.ids.to(device), batch.there.to(device))
                asked = labels != UNASKED
                found, wanted = logits[asked.to(device)].float().cpu(), labels[asked]
                right += int((found.argmax(dim=1) == wanted).sum())
                total += float(cross_entropy(found, wanted, reduction="sum"))
                count += len(wanted)
        self._model.train()
        return {"accuracy": right / count, "log_likelihood": -total / count}

    def optimizer(self) -> torch.optim.Optimizer:
        """AdamW; biases and gains are not decayed."""
        trained = (each for each in self._model.parameters() if each.requires_grad)
        groups = parameter_groups(trained, decay=self._choice.weight_decay, rate=self._choice.learning_rate)
        return torch.optim.AdamW(groups)
