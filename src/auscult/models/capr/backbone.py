"""A Hugging Face encoder and its tokenizer as one module; the only file that opens either.

Any encoder that `AutoModel` opens will do, by hub name ("dmis-lab/biobert-v1.1") or from a local folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from auscult.errors import ModelError, naming_extra

QUERY_MARK, PASSAGE_MARK = "[QUERY]", "[PASSAGE]"


class Backbone(nn.Module):
    """Texts to token states.

    Args:
        model: The encoder.
        tokenizer: Its tokenizer.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__()
        self.model = model
        self.tokenizer = tokenizer

    @property
    def dim(self) -> int:
        """Length of a token state."""
        return int(self.model.config.hidden_size)

    @property
    def limit(self) -> int:
        """Tokens of the longest text it can read."""
        return int(min(self.model.config.max_position_embeddings, self.tokenizer.model_max_length))

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(self.parameters()).device

    def tokenize(
        self, texts: Sequence[str], second: Sequence[str] | None = None, *, max_tokens: int
    ) -> dict[str, Tensor]:
        """Padded token ids of texts, or of pairs of which the second is cut where both are too long.

        Returns:
            The tokenizer's fields ("input_ids", "attention_mask", ...), each (texts, tokens), on the processor.
        """
        cut = {"truncation": True if second is None else "only_second", "max_length": min(max_tokens, self.limit)}
        batch = self.tokenizer(list(texts), None if second is None else list(second), padding=True, **cut)
        return {name: torch.tensor(rows) for name, rows in batch.items()}

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """Last hidden states, (texts, tokens, dim)."""
        states: Tensor = self.model(**{name: rows.to(self.device) for name, rows in batch.items()}).last_hidden_state
        return states

    def forgetful(self, batch: dict[str, Tensor]) -> Tensor:
        """As `forward`, but activations are not held: they are computed again on the way back."""
        names = list(batch)
        states: Tensor = checkpoint(
            lambda *rows: self(dict(zip(names, rows, strict=True))), *batch.values(), use_reentrant=False
        )
        return states

    def add_marks(self) -> None:
        """Teach it the tokens [QUERY] and [PASSAGE], for one encoder that reads both (section 3.2)."""
        self.tokenizer.add_special_tokens({"additional_special_tokens": [QUERY_MARK, PASSAGE_MARK]})
        self.model.resize_token_embeddings(len(self.tokenizer), mean_resizing=False)

    def save(self, folder: Path) -> None:
        """Write both in the library's own format."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def open_backbone(name_or_path: str) -> Backbone:
    """Open an encoder and its tokenizer.

    Raises:
        MissingExtraError: When `transformers` is not installed.
        ModelError: When there is none of that name, or it cannot be opened.
    """
    with naming_extra("transformers", "transformers"):
        from transformers import AutoModel, AutoTokenizer
    try:
        tokenizer = AutoTokenizer.from_pretrained(name_or_path)
        model = AutoModel.from_pretrained(name_or_path)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        remedy = "give a folder saved with save_pretrained, or a hub name on a machine with a network"
        raise ModelError("a Hugging Face encoder", f"{name_or_path!r} ({reason})", remedy) from error
    return Backbone(model, tokenizer)
