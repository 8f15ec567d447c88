"""Pooled transformer sentence vectors (arnold2020 Eq. 9): any Hugging Face encoder, by hub name or local folder.

The paper pools BioBERT; any encoder that `AutoModel` opens will do. Its vectors are the input of the document encoder.
The backbone is frozen, or has been trained with it and belongs to the model (grundmann2021, section 3.2). A sentence
longer than the backbone's limit is cut there, and `truncated` counts how many.
"""

from __future__ import annotations

import numpy as np
import torch

from auscult.documents import Document
from auscult.errors import ConfigError
from auscult.interfaces import FloatArray
from auscult_lab.modules.backbone import Backbone, Pooling, open_backbone, pool


class PooledTransformer:
    """Mean or first-token pooling over the last layer of a transformer, one sentence at a time.

    Args:
        transformer: A hub name ("dmis-lab/biobert-v1.1") or a folder with a saved encoder and tokenizer; or one that is
            open and belongs to the model, which stays on its device.
        pooling: "mean" over the sentence's tokens, or "cls", the first token's state.
        batch_size: Sentences per forward pass; does not change the vectors.
        device: Where to run one that is opened here, as torch names devices.

    Attributes:
        backbone: The encoder.
        name_or_path: What it was opened by; None for one that belongs to the model, and is saved with it.

    Raises:
        MissingExtraError: When `transformers` is not installed.
        ModelError: When the encoder cannot be opened.
    """

    kind = "transformer"
    name_or_path: str | None

    def __init__(
        self,
        transformer: str | Backbone,
        *,
        pooling: Pooling = "mean",
        batch_size: int = 64,
        device: torch.device | str = "cpu",
    ) -> None:
        if pooling not in ("mean", "cls"):
            raise ConfigError("pooling 'mean' or 'cls'", repr(pooling), "correct the experiment file")
        if isinstance(transformer, str):
            self.name_or_path, self.backbone = transformer, open_backbone(transformer).to(device)
        else:
            self.name_or_path, self.backbone = None, transformer
        self.pooling = pooling
        self.dim = self.backbone.dim
        self.truncated = 0
        self._batch_size = batch_size

    def encode(self, document: Document, *, max_tokens: int | None = None) -> FloatArray:
        """Sentence vectors, shape (sentences, dim); `max_tokens` counts word pieces here."""
        return self.encode_texts([document.slice(s) for s in document.sentences], max_tokens=max_tokens)

    def encode_texts(self, texts: list[str], *, max_tokens: int | None = None) -> FloatArray:
        """Vectors of texts, shape (texts, dim)."""
        limit = min(self.backbone.limit, max_tokens or self.backbone.limit)
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        self.backbone.eval()  # while it is trained it is asked between epochs
        # Similar lengths together: the padding saved is most of the work on a processor without a GPU.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        with torch.inference_mode():
            for start in range(0, len(order), self._batch_size):
                rows = order[start : start + self._batch_size]
                vectors[rows] = self._pool([texts[row] for row in rows], limit).float().cpu().numpy()
        return vectors

    def _pool(self, texts: list[str], limit: int) -> torch.Tensor:
        batch = self.backbone.tokenize(texts, max_tokens=limit)
        mask = batch["attention_mask"]
        self.truncated += int((mask.sum(dim=1) >= limit).sum())
        states = self.backbone(batch)
        return pool(states, mask.to(states.device), self.pooling)
