"""Pooled transformer sentence vectors (arnold2020 Eq. 9): any Hugging Face encoder, by hub name or local folder.

The paper pools BioBERT; any encoder that `AutoModel` opens will do. The backbone is frozen: its vectors are the input
of the document encoder. A sentence longer than the backbone's limit is cut there, and `truncated` counts how many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from auscult.documents import Document
from auscult.errors import ConfigError, MissingExtraError, ModelError
from auscult.interfaces import FloatArray

if TYPE_CHECKING:
    import torch

Pooling = Literal["mean", "cls"]


class PooledTransformer:
    """Mean or first-token pooling over the last layer of a frozen transformer, one sentence at a time.

    Args:
        name_or_path: A hub name ("dmis-lab/biobert-v1.1") or a folder with a saved encoder and tokenizer.
        pooling: "mean" over the sentence's tokens, or "cls", the first token's state.
        batch_size: Sentences per forward pass; does not change the vectors.
        device: Where to run, as torch names devices.

    Raises:
        MissingExtraError: When `transformers` is not installed.
        ModelError: When the encoder cannot be opened.
    """

    kind = "transformer"

    def __init__(
        self, name_or_path: str, *, pooling: Pooling = "mean", batch_size: int = 64, device: str = "cpu"
    ) -> None:
        try:
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise MissingExtraError("transformers", "transformers") from error
        if pooling not in ("mean", "cls"):
            raise ConfigError("pooling 'mean' or 'cls'", repr(pooling), "correct the experiment file")
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name_or_path)
            self._model: Any = AutoModel.from_pretrained(name_or_path).to(device).eval()
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            remedy = "give a folder saved with save_pretrained, or a hub name on a machine with a network"
            raise ModelError("a Hugging Face encoder", f"{name_or_path!r} ({reason})", remedy) from error
        self.name_or_path, self.pooling = name_or_path, pooling
        self.dim = int(self._model.config.hidden_size)
        self.truncated = 0
        self._batch_size = batch_size
        self._limit = int(min(self._model.config.max_position_embeddings, self._tokenizer.model_max_length))

    def encode(self, document: Document, *, max_tokens: int | None = None) -> FloatArray:
        """Sentence vectors, shape (sentences, dim); `max_tokens` counts word pieces here."""
        return self.encode_texts([document.slice(s) for s in document.sentences], max_tokens=max_tokens)

    def encode_texts(self, texts: list[str], *, max_tokens: int | None = None) -> FloatArray:
        """Vectors of texts, shape (texts, dim)."""
        import torch

        limit = self._limit if max_tokens is None else min(self._limit, max_tokens)
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        # Similar lengths together: the padding saved is most of the work on a processor without a GPU.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        with torch.inference_mode():
            for start in range(0, len(order), self._batch_size):
                rows = order[start : start + self._batch_size]
                vectors[rows] = self._pool([texts[row] for row in rows], limit).float().cpu().numpy()
        return vectors

    def _pool(self, texts: list[str], limit: int) -> torch.Tensor:
        batch = self._tokenizer(texts, padding=True, truncation=True, max_length=limit, return_tensors="pt")
        batch = batch.to(self._model.device)
        self.truncated += int((batch["attention_mask"].sum(dim=1) >= limit).sum())
        states: torch.Tensor = self._model(**batch).last_hidden_state
        if self.pooling == "cls":
            first: torch.Tensor = states[:, 0]
            return first
        mask = batch["attention_mask"].unsqueeze(-1).to(states.dtype)
        mean: torch.Tensor = (states * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1.0)
        return mean
