"""What reads weighted terms for the general encoder: a masked language model over windows (SPLADE, formal2021).

    weight of term t in a window = max over its tokens i of  log(1 + relu(logit_it))

A passage is read in windows of whole words, each by itself; of a window the heaviest terms are kept. Terms are numbered
as the model's file has them: those that fire on health texts, and not its whole vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from auscult.documents.word_forms import in_one_spelling
from auscult.encoders.general.readers import MOST_CHARACTERS, batches_of
from auscult.interfaces import Expansion, FloatArray

_LEAST = np.float32(1 / 128)
Terms = tuple[npt.NDArray[np.uint16], FloatArray]


class TermReader:
    """A sparse encoder in ONNX Runtime.

    Args:
        session: Takes `input_ids` and `attention_mask`, gives the weights of all terms, (windows, terms).
        tokenizer: Of the `tokenizers` library.
        workers: How many batches are read at a time, each on a core of its own.
        window: Tokens that are read at once, with those that stand before and after.
        most: Terms that are kept of a window.
    """

    def __init__(self, session: Any, tokenizer: Any, workers: int = 1, *, window: int = 128, most: int = 96) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._workers = workers
        self._most = most
        marks = tokenizer.encode("").ids
        self._first, self._last = marks[: len(marks) // 2], marks[len(marks) // 2 :]
        self._room = window - len(marks)

    def read(self, passages: Sequence[str]) -> Expansion:
        """Return the terms of passages; one without a token has no window."""
        rows: list[list[int]] = []
        counts = []
        for encoding in self._tokenizer.encode_batch_fast([*map(in_one_spelling, passages)], add_special_tokens=False):
            ids = encoding.ids
            windows = [ids[at : at + self._room] for at in range(0, len(ids), self._room)]
            counts.append(len(windows))
            rows += windows
        kept: list[Terms] = [(np.zeros(0, np.uint16), np.zeros(0, np.float32))] * len(rows)
        for row, terms in self._read(rows):
            kept[row] = terms
        sizes = [len(terms) for terms, _ in kept]
        return Expansion(
            np.array(counts, np.int64),
            np.cumsum([0, *sizes], dtype=np.int64),
            np.concatenate([np.zeros(0, np.uint16), *(terms for terms, _ in kept)]),
            np.concatenate([np.zeros(0, np.float32), *(weights for _, weights in kept)]),
        )

    def ask(self, text: str) -> Terms:
        """Return the terms of what asks, weights as one vector of unit length; none for a text without tokens."""
        ids = self._tokenizer.encode(in_one_spelling(text[:MOST_CHARACTERS]), add_special_tokens=False).ids[
            : self._room
        ]
        for _, (terms, weights) in self._read([ids] if ids else []):
            return terms, weights / max(float(np.linalg.norm(weights)), float(_LEAST))
        return np.zeros(0, np.uint16), np.zeros(0, np.float32)

    def _read(self, rows: Sequence[list[int]]) -> Iterator[tuple[int, Terms]]:
        """Yield the number of each window and its terms."""
        batches = batches_of([len(row) + len(self._first) + len(self._last) for row in rows])
        if self._workers > 1 and len(batches) > 1:
            with ThreadPoolExecutor(self._workers) as pool:
                read = pool.map(self._terms, ([*map(rows.__getitem__, batch)] for batch in batches))
                for batch, terms in zip(batches, read, strict=True):
                    yield from zip(batch, terms, strict=True)
            return
        for batch in batches:
            yield from zip(batch, self._terms([*map(rows.__getitem__, batch)]), strict=True)

    def _terms(self, windows: Sequence[list[int]]) -> list[Terms]:
        tokens = [[*self._first, *window, *self._last] for window in windows]
        lengths = np.array([*map(len, tokens)])
        mask = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
        ids = np.zeros_like(mask)
        ids[mask > 0] = np.concatenate(tokens)
        (weights,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        found = []
        for row in weights:
            held = np.flatnonzero(row > _LEAST)
            if len(held) > self._most:
                held = np.sort(held[np.argpartition(-row[held], self._most)[: self._most]])
            found.append((held.astype(np.uint16), row[held].astype(np.float32)))
        return found
