"""Weighted terms of passages, from a sparse encoder, as postings by term (formal2021).

expansion/passages   row of each window's passage, int32 (windows,)
expansion/starts     first posting of each term, and the number of postings, int64 (terms + 1,)
expansion/windows    window of each posting, in order of terms, int32 (postings,)
expansion/weights    weight of each posting, in steps of 1/64, uint8 (postings,)

A passage scores by its best window, so a long passage has no advantage. A model without terms writes none of these
arrays. Costs: 5 bytes per posting; a query reads the postings of its own terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import Expansion, FloatArray
from auscult.index.blocks import BlockFile, BlockWriter

_STEP: Final = 1 / 64
_MOST: Final = np.iinfo(np.uint8).max
_PASSAGES, _STARTS, _WINDOWS, _WEIGHTS = (f"expansion/{name}" for name in ("passages", "starts", "windows", "weights"))


def _to_steps(weights: FloatArray) -> npt.NDArray[np.uint8]:
    """Return weights in whole steps of at least 1."""
    steps: npt.NDArray[np.uint8] = np.clip(np.rint(weights / _STEP), 1, _MOST).astype(np.uint8)
    return steps


def to_bytes(expansion: Expansion) -> list[bytes]:
    """Return the bytes that the store has for each passage: sizes of its windows, their terms and weights."""
    packed = []
    first = 0
    steps = _to_steps(expansion.weights)
    for count in expansion.windows.tolist():
        starts = expansion.starts[first : first + count + 1]
        span = slice(int(starts[0]), int(starts[-1]))
        sizes = np.array([count, *np.diff(starts)], "<u2")
        packed.append(sizes.tobytes() + expansion.terms[span].astype("<u2").tobytes() + steps[span].tobytes())
        first += count
    return packed


def from_bytes(packed: Sequence[bytes]) -> Expansion:
    """Return the terms of passages from the bytes in the store."""
    windows: list[int] = []
    sizes, terms, weights = [], [], []
    for content in packed:
        (count,) = np.frombuffer(content, "<u2", 1)
        windows.append(int(count))
        sizes.append(np.frombuffer(content, "<u2", int(count), 2).astype(np.int64))
        total, begin = int(sizes[-1].sum()), 2 * (1 + int(count))
        terms.append(np.frombuffer(content, "<u2", total, begin))
        weights.append(np.frombuffer(content, "u1", total, begin + 2 * total) * np.float32(_STEP))
    return Expansion(
        np.array(windows, np.int64),
        np.cumsum(np.concatenate([np.zeros(1, np.int64), *sizes])),
        np.concatenate([np.zeros(0, np.uint16), *terms]),
        np.concatenate([np.zeros(0, np.float32), *weights]),
    )


class ExpansionWriter:
    """Collects the postings of a segment. Memory: 8 bytes per posting."""

    def __init__(self) -> None:
        self._passages: list[npt.NDArray[np.int32]] = []
        self._windows: list[npt.NDArray[np.int32]] = []
        self._terms: list[npt.NDArray[np.uint16]] = []
        self._weights: list[npt.NDArray[np.uint8]] = []
        self._count = 0

    def add(self, expansion: Expansion, first: int) -> None:
        """Add the terms of passages; `first` is the row of the first passage."""
        rows = np.repeat(np.arange(first, first + len(expansion.windows)), expansion.windows)
        windows = np.repeat(np.arange(len(rows)), np.diff(expansion.starts))
        self._append(rows, windows, expansion.terms, _to_steps(expansion.weights))

    def take(self, file: BlockFile, living: npt.NDArray[np.bool_], first: int) -> None:
        """Add the terms of another segment, without deleted passages.

        Args:
            file: File of that segment.
            living: Which of its passages were not deleted, (passages,).
            first: Row of the first of them in this segment.
        """
        if _STARTS not in file:
            return
        rows, starts = file.array(_PASSAGES), file.array(_STARTS)
        windows, weights = file.array(_WINDOWS), file.array(_WEIGHTS)
        stays = living[rows]
        kept = stays[windows]
        terms = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[kept].astype(np.uint16)
        self._append(
            first + (np.cumsum(living) - 1)[rows[stays]], (np.cumsum(stays) - 1)[windows[kept]], terms, weights[kept]
        )

    def _append(
        self,
        rows: npt.NDArray[np.integer],
        windows: npt.NDArray[np.integer],
        terms: npt.NDArray[np.uint16],
        weights: npt.NDArray[np.uint8],
    ) -> None:
        self._passages.append(rows.astype(np.int32))
        self._windows.append((windows + self._count).astype(np.int32))
        self._terms.append(terms)
        self._weights.append(weights)
        self._count += len(rows)

    def write(self, file: BlockWriter) -> None:
        """Write the arrays; nothing if no passage has terms."""
        if not self._passages:
            return
        terms = np.concatenate(self._terms)
        order = np.argsort(terms, kind="stable")
        last = int(terms.max()) if len(terms) else -1
        file.add(_PASSAGES, np.concatenate(self._passages), "<i4")
        file.add(_STARTS, np.searchsorted(terms[order], np.arange(last + 2)), "<i8")
        file.add(_WINDOWS, np.concatenate(self._windows)[order], "<i4")
        file.add(_WEIGHTS, np.concatenate(self._weights)[order], "u1")


class Expansions:
    """The weighted terms of a generation.

    Args:
        segments: File and number of passages of each segment, in order.
    """

    def __init__(self, segments: Sequence[tuple[BlockFile, int]]) -> None:
        self._segments = segments
        # By segment, the first window of each passage.
        self._begins: dict[int, npt.NDArray[np.int64]] = {}

    def scores(self, terms: npt.NDArray[np.integer], weights: FloatArray) -> FloatArray:
        """Return the inner product of a query's terms with those of each passage's best window, (passages,).

        Args:
            terms: Numbers of the query's terms.
            weights: Their weights, (terms,).
        """
        segment_scores = (self._score_segment(number, terms, weights) for number in range(len(self._segments)))
        return np.concatenate([np.zeros(0, np.float32), *segment_scores])

    def _score_segment(self, number: int, terms: npt.NDArray[np.integer], weights: FloatArray) -> FloatArray:
        file, passages = self._segments[number]
        scores = np.zeros(passages, np.float32)
        if _STARTS not in file:
            return scores
        rows, starts = file.array(_PASSAGES), file.array(_STARTS)
        by_window = np.zeros(len(rows), np.float32)
        for term, weight in zip(terms.tolist(), weights.tolist(), strict=True):
            if term + 1 < len(starts):
                first, last = starts[term : term + 2].tolist()
                steps = file.array(_WEIGHTS, first, last)
                by_window[file.array(_WINDOWS, first, last)] += steps * np.float32(weight * _STEP)
        if len(rows):
            # Windows are in the order of their passages.
            if number not in self._begins:
                self._begins[number] = np.flatnonzero(np.diff(rows, prepend=-1))
            begins = self._begins[number]
            scores[rows[begins]] = np.maximum.reduceat(by_window, begins)
        return scores
