"""Documents as texts with a limited number of tokens, some documents held out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from auscult.documents import Document
from auscult.errors import ConfigError
from auscult_lab.masked.experiment import MaskedExperiment
from auscult_lab.training.batches import Key
from auscult_lab.training.data import read_and_hold_out

_LEAST = 8
"""A document's last text is left out when it has fewer tokens: of so few, hardly one would be asked."""
_AT_ONCE = 256

Tokens = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of an experiment.

    Attributes:
        training: Token ids of each text, including its first and last mark, (tokens,).
        held_out: The same for held-out documents.
        documents: Number of training documents.
        held_out_documents: Number of held-out documents.
    """

    training: Sequence[Tokens]
    held_out: Sequence[Tokens]
    documents: int
    held_out_documents: int

    def describe(self) -> dict[str, Any]:
        """Return counts and a digest."""
        digest = hashlib.sha256()
        for text in (*self.training, *self.held_out):
            digest.update(len(text).to_bytes(4, "little") + text.tobytes())
        return {
            "documents": self.documents,
            "texts": len(self.training),
            "tokens": sum(map(len, self.training)),
            "held_out_documents": self.held_out_documents,
            "held_out_texts": len(self.held_out),
            "sha256": digest.hexdigest(),
        }


def read_texts(experiment: MaskedExperiment, tokenizer: Any, limit: int, say: Callable[[str], None]) -> Texts:
    """Read an experiment's documents.

    Other documents with the title of a held-out one are left out, too: an encyclopedia and its simple edition have the
    same content.

    Args:
        experiment: Names the documents, the length of texts, and the number of documents to hold out.
        tokenizer: The encoder's.
        limit: Largest number of tokens that the encoder reads.
        say: Called with a message for each corpus.

    Raises:
        CorpusMissingError: A corpus is not on this machine.
        ConfigError: There are too few documents to hold some out, or texts are longer than the encoder's limit.
    """
    if experiment.max_tokens > limit:
        expected = f"max_tokens of {limit} or less, which the encoder reads at most"
        raise ConfigError(expected, str(experiment.max_tokens), "correct the experiment file")
    _, training, held_out = read_and_hold_out(experiment, say, untitled=True)
    say("splitting documents into tokens")
    texts = [_cut_into_texts(each, tokenizer, experiment.max_tokens) for each in (training, held_out)]
    if not all(texts):
        raise ConfigError("documents of a few words or more", "none, to train on or to hold out", "give more of them")
    return Texts(texts[0], texts[1], len(training), len(held_out))


def _cut_into_texts(documents: Sequence[Document], tokenizer: Any, longest: int) -> list[Tokens]:
    rows: list[Tokens] = []
    for start in range(0, len(documents), _AT_ONCE):
        texts = [document.text for document in documents[start : start + _AT_ONCE]]
        cut = tokenizer(texts, truncation=True, max_length=longest, return_overflowing_tokens=True)["input_ids"]
        rows += [np.array(row, dtype=np.int32) for row in cut if len(row) >= _LEAST]
    return rows


@dataclass(slots=True)  # Not frozen: the training library moves the fields to its device in place.
class TextBatch:
    """Texts of one step.

    Attributes:
        ids: Long, (texts, tokens).
        mask: The same shape, 0 for padding.
    """

    ids: Tensor
    mask: Tensor


class TextExamples(Dataset[Tensor]):
    """Texts by epoch and row. Epochs do not differ here, as masks are drawn with the loss."""

    def __init__(self, texts: Sequence[Tokens], padding: int) -> None:
        self._texts = texts
        self._padding = padding

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, key: Key) -> Tensor:
        return torch.from_numpy(self._texts[key[1]].astype(np.int64))

    def collate(self, texts: Sequence[Tensor]) -> TextBatch:
        """Return one batch."""
        ids = pad_sequence(list(texts), batch_first=True, padding_value=self._padding)
        lengths = torch.tensor([len(text) for text in texts])
        return TextBatch(ids, (torch.arange(ids.shape[1]) < lengths.unsqueeze(1)).long())
