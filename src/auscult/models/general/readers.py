"""What reads text for the general encoder: from sentences to the sums of their tokens' vectors.

A sentence is kept as the sum of its tokens' vectors and their number, so that any stretch of text has a vector: the sum
over its sentences, scaled to unit length. What a transformer reads it reads in windows of whole sentences, and pools
afterwards (late chunking, guenther2024): each sentence is read in the context of those around it, at no further cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from auscult.errors import ModelError, naming_extra
from auscult.interfaces import FloatArray

Counts = npt.NDArray[np.int64]


class Reader(Protocol):
    """Text in, sums of token vectors out."""

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    def read(self, passages: Sequence[Sequence[str]]) -> tuple[FloatArray, Counts]:
        """The sentences of passages, all in a row: sums of token vectors, (sentences, dim), and numbers of tokens."""
        ...

    def ask(self, texts: Sequence[str]) -> FloatArray:
        """Vectors of short texts that ask, (texts, dim), not of unit length."""
        ...


def open_tokenizer(path: Path) -> Any:
    """A tokenizer of the `tokenizers` library, which cuts and pads nothing.

    Raises:
        ModelError: The file is none.
        MissingExtraError: The package is not installed.
    """
    with naming_extra("general", "tokenizers"):
        from tokenizers import Tokenizer
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        # The library raises plain exceptions.
        raise ModelError("a tokenizer", f"{path} ({error})", "copy the model again") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@dataclass(frozen=True, slots=True)
class TokenTable:
    """A vector for each token, whatever stands around it, distilled from a transformer (model2vec, LEAF).

    Args:
        tokenizer: Of the `tokenizers` library.
        table: Int8, (tokens, width).
        scales: What each row of the table is multiplied by, (tokens,).
        projection: From width to dim, (width, dim).

    Costs: a few microseconds a sentence; bytes of the table.
    """

    tokenizer: Any
    table: npt.NDArray[np.int8]
    scales: FloatArray
    projection: FloatArray

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.projection.shape[1])

    def read(self, passages: Sequence[Sequence[str]]) -> tuple[FloatArray, Counts]:
        """As `Reader` says; a sentence without tokens is zeros."""
        return self._sums([sentence for passage in passages for sentence in passage])

    def ask(self, texts: Sequence[str]) -> FloatArray:
        """As `Reader` says."""
        return self._sums(texts)[0]

    def _sums(self, texts: Sequence[str]) -> tuple[FloatArray, Counts]:
        encoded = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        counts = np.fromiter((len(each) for each in encoded), np.int64, len(encoded))
        sums = np.zeros((len(encoded), self.table.shape[1]), np.float32)
        full = np.flatnonzero(counts)
        if len(full):
            ids = np.concatenate([encoded[row].ids for row in full])
            rows = self.table[ids] * self.scales[ids, None]
            starts = np.concatenate([[0], np.cumsum(counts[full])[:-1]])
            sums[full] = np.add.reduceat(rows, starts, axis=0)
        return sums @ self.projection, counts


class WindowReader:
    """A transformer in ONNX Runtime, which reads windows of a passage's sentences.

    Args:
        session: Takes `input_ids` and `attention_mask` (and `token_type_ids` where it asks for them), gives the last
            hidden states.
        tokenizer: Of the `tokenizers` library.
        dim: Length of a vector.
        asked: Stands before what asks ("query: ").
        told: Stands before each window ("passage: ").
        window: Tokens that are read at once, all told. A longer sentence is cut.
    """

    _BATCH_TOKENS = 8_192

    def __init__(
        self, session: Any, tokenizer: Any, dim: int, *, asked: str = "", told: str = "", window: int = 256
    ) -> None:
        self.dim = dim
        self._session = session
        self._tokenizer = tokenizer
        # What the tokenizer puts around every text.
        around = tokenizer.encode("").ids
        self._first, self._last = around[: len(around) // 2], around[len(around) // 2 :]
        self._asked, self._told = (tokenizer.encode(text, add_special_tokens=False).ids for text in (asked, told))
        self._room = window - len(around) - len(self._told)
        self._inputs = [each.name for each in session.get_inputs()]

    def read(self, passages: Sequence[Sequence[str]]) -> tuple[FloatArray, Counts]:
        """As `Reader` says; a sentence without tokens is zeros."""
        texts = [sentence for passage in passages for sentence in passage]
        found = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        tokens = [each.ids[: self._room] for each in found]
        windows: list[list[int]] = []
        number = 0
        for passage in passages:
            room = 0
            for _ in passage:
                if len(tokens[number]) > room:
                    windows.append([])
                    room = self._room
                windows[-1].append(number)
                room -= len(tokens[number])
                number += 1
            # The next passage begins a window of its own.
        sums = np.zeros((len(texts), self.dim), np.float32)
        self._run(windows, tokens, self._told, sums)
        return sums, np.fromiter(map(len, tokens), np.int64, len(tokens))

    def ask(self, texts: Sequence[str]) -> FloatArray:
        """As `Reader` says."""
        found = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        sums = np.zeros((len(texts), self.dim), np.float32)
        self._run([[row] for row in range(len(texts))], [each.ids[: self._room] for each in found], self._asked, sums)
        return sums

    def _run(self, windows: list[list[int]], tokens: list[list[int]], lead: list[int], sums: FloatArray) -> None:
        """Read windows, of like length together, and add each sentence's token states to its row of the sums."""
        before, after = [*self._first, *lead], self._last
        rows = [[*before, *(token for number in window for token in tokens[number]), *after] for window in windows]
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        while order:
            size = max(1, self._BATCH_TOKENS // len(rows[order[min(len(order), 64) - 1]]))
            batch, order = order[:size], order[size:]
            longest = len(rows[batch[-1]])
            mask = np.array([[1] * len(rows[row]) + [0] * (longest - len(rows[row])) for row in batch], np.int64)
            ids = np.zeros_like(mask)
            ids[mask > 0] = [token for row in batch for token in rows[row]]
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(mask)}
            (states,) = self._session.run(None, {name: given[name] for name in self._inputs})
            for place, row in enumerate(batch):
                at = len(before)
                for number in windows[row]:
                    sums[number] += states[place, at : at + len(tokens[number])].sum(axis=0)
                    at += len(tokens[number])


def open_session(path: Path) -> Any:
    """An ONNX file, to be run on the processor.

    Raises:
        ModelError: The file is none, or damaged.
        MissingExtraError: The package is not installed.
    """
    with naming_extra("onnx", "onnxruntime"):
        import onnxruntime
    try:
        return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:
        # The runtime's errors have no class of their own that is documented.
        raise ModelError("a transformer in ONNX", f"{path} ({error})", "copy the model again") from error
