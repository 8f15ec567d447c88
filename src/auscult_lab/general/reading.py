"""A teacher's vectors of all sentences, saved in pieces so that an interrupted reading can resume."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.encoders.general.readers import Transformer, WindowReader
from auscult.encoders.general.towers import unit
from auscult.files.writing import whole_or_nothing
from auscult_lab.modules.backbone import Backbone, fastest_device
from auscult_lab.training.schedule import native_precision

_PIECE, _SHORT_PIECE = 200, 20_000
"""How many documents, or short texts, are read and kept at once."""


@dataclass(frozen=True, slots=True)
class ReadDocuments:
    """Documents with a reader's vectors.

    Attributes:
        documents: The documents, in order.
        means: Mean token vectors of their sentences, float16 (sentences, dim).
        tokens: Number of tokens of each sentence, (sentences,).
        passages: Row of the first sentence of each passage, then the number of sentences, (passages + 1,).
        edges: Row of the first passage of each document, then the number of passages, (documents + 1,).
    """

    documents: Sequence[Document]
    means: npt.NDArray[np.float16]
    tokens: npt.NDArray[np.int64]
    passages: npt.NDArray[np.int64]
    edges: npt.NDArray[np.int64]

    def part(self, first: int, last: int) -> ReadDocuments:
        """Return the part of the documents from `first` up to, but without, `last`."""
        begin, end = (int(self.edges[row]) for row in (first, last))
        start, stop = (int(self.passages[row]) for row in (begin, end))
        return ReadDocuments(
            self.documents[first:last],
            self.means[start:stop],
            self.tokens[start:stop],
            self.passages[begin : end + 1] - start,
            self.edges[first : last + 1] - begin,
        )


class _Session:
    """A backbone as `Transformer` runs it: half precision where the machine has it."""

    def __init__(self, backbone: Backbone) -> None:
        self._backbone = backbone.to(fastest_device()).eval()
        self._half = native_precision() == "bf16"

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name=name) for name in ("input_ids", "attention_mask")]

    def run(self, _: None, given: dict[str, npt.NDArray[np.int64]]) -> tuple[npt.NDArray[np.float32]]:
        batch = {name: torch.from_numpy(rows) for name, rows in given.items()}
        with torch.inference_mode(), torch.autocast(self._backbone.device.type, torch.bfloat16, enabled=self._half):
            states = self._backbone(batch)
        return (states.float().cpu().numpy(),)


def reader_of(backbone: Backbone, options: Mapping[str, Any]) -> WindowReader:
    """Return a reader with a transformer.

    Args:
        backbone: The transformer.
        options: Options of `WindowReader`.
    """
    tokenizer = backbone.tokenizer.backend_tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return WindowReader(Transformer(_Session(backbone)), tokenizer, backbone.dim, **options)


def read_documents(
    documents: Sequence[Document], reader: WindowReader, folder: Path, say: Callable[[str], None]
) -> ReadDocuments:
    """Read documents, except for pieces saved by an earlier call.

    Args:
        documents: The documents, always in the same order.
        reader: Reads the texts; the same reader each time.
        folder: Folder of the pieces.
        say: Called with messages about progress.
    """
    folder.mkdir(parents=True, exist_ok=True)
    means, tokens = [], []
    for first in range(0, len(documents), _PIECE):
        piece = folder / f"{first:06d}.npz"
        if not piece.is_file():
            texts = [
                [document.text[sentence.start : sentence.end] for sentence in passage.sentences]
                for document in documents[first : first + _PIECE]
                for passage in document.passages
            ]
            sums, counts = reader.read(texts)
            with whole_or_nothing(piece) as partial, partial.open("wb") as file:
                np.savez(file, means=(sums / np.maximum(counts, 1)[:, None]).astype(np.float16), tokens=counts)
            say(f"read {min(first + _PIECE, len(documents)):,} of {len(documents):,} documents")
        with np.load(piece) as kept:
            means.append(kept["means"])
            tokens.append(kept["tokens"])
    sentences = [len(passage.sentences) for document in documents for passage in document.passages]
    return ReadDocuments(
        documents,
        np.concatenate(means),
        np.concatenate(tokens),
        np.cumsum([0, *sentences], dtype=np.int64),
        np.cumsum([0, *(len(document.passages) for document in documents)], dtype=np.int64),
    )


def read_texts(texts: Sequence[str], reader: WindowReader, folder: Path, say: Callable[[str], None]) -> FloatArray:
    """Return vectors of short texts, read as queries, float16 (texts, dim); pieces of an earlier call are used again.

    Args:
        texts: The texts, always in the same order.
        reader: Reads the texts; the same reader each time.
        folder: Folder of the pieces.
        say: Called with messages about progress.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pieces = []
    for first in range(0, len(texts), _SHORT_PIECE):
        piece = folder / f"{first:07d}.npy"
        if not piece.is_file():
            vectors = reader.ask(texts[first : first + _SHORT_PIECE])
            with whole_or_nothing(piece) as partial, partial.open("wb") as file:
                np.save(file, unit(vectors).astype(np.float16))
            say(f"read {min(first + _SHORT_PIECE, len(texts)):,} of {len(texts):,} short texts")
        pieces.append(np.load(piece))
    return np.concatenate(pieces)
