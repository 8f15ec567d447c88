"""Read weighted terms for the general encoder: a masked language model over windows (SPLADE, formal2021).

    weight of term t in a window = max over its tokens i of  log(1 + relu(logit_it))

A passage is read in separate windows of whole words, and the heaviest terms of each window are kept. The numbers of
terms are those of the model's file, which only has the terms that occur for health texts, not the whole vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from auscult.documents.word_forms import in_one_spelling
from auscult.encoders.contract import Expansion, Terms
from auscult.encoders.general.readers import MOST_CHARACTERS

_LEAST = np.float32(1 / 128)


class TermReader:
    """A sparse encoder in ONNX Runtime.

    Args:
        session: ONNX session that takes `input_ids` of one window, (1, tokens), and returns its terms in ascending
            order and their weights.
        tokenizer: Tokenizer of the `tokenizers` library.
        workers: Number of windows read in parallel, each on its own core.
        window: Tokens of a window, including those before and after the text.
        most: Maximum number of terms kept for a window.
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
        """Return the terms of passages; a passage without tokens has no window."""
        rows: list[list[int]] = []
        counts = []
        for encoding in self._tokenizer.encode_batch_fast([*map(in_one_spelling, passages)], add_special_tokens=False):
            ids = encoding.ids
            windows = [ids[at : at + self._room] for at in range(0, len(ids), self._room)]
            counts.append(len(windows))
            rows += windows
        if self._workers > 1 and len(rows) > 1:
            with ThreadPoolExecutor(self._workers) as pool:
                terms_of_rows = [*pool.map(self._read_window, rows)]
        else:
            terms_of_rows = [*map(self._read_window, rows)]
        sizes = [len(terms) for terms, _ in terms_of_rows]
        return Expansion(
            np.array(counts, np.int64),
            np.cumsum([0, *sizes], dtype=np.int64),
            np.concatenate([np.zeros(0, np.uint16), *(terms for terms, _ in terms_of_rows)]),
            np.concatenate([np.zeros(0, np.float32), *(weights for _, weights in terms_of_rows)]),
        )

    def ask(self, text: str) -> Terms:
        """Return the terms of a question with weights of unit length; none for a text without tokens."""
        text = in_one_spelling(text[:MOST_CHARACTERS])
        terms, weights = self._read_window(self._tokenizer.encode(text, add_special_tokens=False).ids[: self._room])
        return terms, weights / max(float(np.linalg.norm(weights)), float(_LEAST))

    def _read_window(self, window: list[int]) -> Terms:
        """Return the heaviest terms of a window; none for one without tokens."""
        if not window:
            return np.zeros(0, np.uint16), np.zeros(0, np.float32)
        ids = np.array([[*self._first, *window, *self._last]])
        terms, weights = self._session.run(["terms", "weights"], {"input_ids": ids})
        heaviest = np.flatnonzero(weights > _LEAST)
        if len(heaviest) > self._most:
            heaviest = np.sort(heaviest[np.argpartition(-weights[heaviest], self._most)[: self._most]])
        return terms[heaviest].astype(np.uint16), weights[heaviest]
