"""An encoder with the layer that predicts masked tokens (devlin2019, section 3.1).

15 % of a text's tokens are chosen; of these 80 % are replaced by [MASK], 10 % by another token, and 10 % are left as
they are. The loss is the cross entropy of the chosen ones. Choosing and replacing are the transformers library's, as
are the encoder and its predicting layer, which a checkpoint without one is given anew.

Departures: texts are single ones, without the task of telling which sentence follows; marks and unknown tokens are
never chosen.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from auscult_lab.modules.backbone import masking, open_masked_language_model

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
