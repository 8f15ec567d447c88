"""The learned part of the general encoder: from what was read to places for entities and aspects, in NumPy.

    x_i   a sentence's vector; p, d: those of its passage and its document; x_{i-1}, x_{i+1}: its neighbours'
    h_i = gelu(W [x_i; p; d; x_{i-1}; x_{i+1}] + b)
    a_i = unit(A h_i + a),  e_i = unit(E h_i + e)                   for each sentence
    a_P, e_P = unit(mean of a_i, e_i over the passage, by tokens)   for a passage
    a_Q = unit(A'' gelu(A' q + a') + a'')                           for the name of an aspect; the same for an entity's

All vectors come in with unit length, and zeros where there is nothing. Costs: a million multiplications a sentence.
Trained by `general`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from auscult.interfaces import FloatArray

Side = Literal["entity", "aspect"]
SIDES: tuple[Side, Side] = ("entity", "aspect")
_SMALLEST = np.float32(1e-9)
_AT_ONCE = 4096
_ERF = np.array([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592], np.float32)


@dataclass(frozen=True, slots=True)
class Stretches:
    """Where passages and documents begin and end in a run of sentences.

    Attributes:
        passages: First sentence of each passage, and the number of sentences, (passages + 1,).
        documents: First passage of each document, and the number of passages, (documents + 1,).
    """

    passages: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int64]

    @property
    def of_documents(self) -> npt.NDArray[np.int64]:
        """First sentence of each document, and the number of sentences, (documents + 1,)."""
        return self.passages[self.documents]


class Towers:
    """Dense layers by name, as `general` writes them.

    Args:
        weights: `body.weight` (hidden, 5 dim), `body.bias`; for each side `SIDE.weight`, `SIDE.bias`,
            `SIDE.first.weight` (hidden, dim), `SIDE.first.bias`, `SIDE.second.weight`, `SIDE.second.bias`.
    """

    def __init__(self, weights: Mapping[str, FloatArray]) -> None:
        self._weights = {name: np.ascontiguousarray(array, np.float32) for name, array in weights.items()}
        self.dim = len(self._weights["aspect.bias"])
        # Unit vectors of d numbers are small: scaled so that each number is about 1.
        self._scale = np.float32(np.sqrt(self._weights["aspect.first.weight"].shape[1]))

    @property
    def weights(self) -> Mapping[str, FloatArray]:
        """By name, as they were given."""
        return self._weights

    def place(self, sentences: FloatArray, tokens: npt.NDArray[np.int64], at: Stretches) -> dict[Side, FloatArray]:
        """Unit vectors of sentences, (sentences, dim), for each side.

        Args:
            sentences: What was read, unit rows, (sentences, width).
            tokens: How many each has, (sentences,).
            at: Their passages and documents.
        """
        placed: dict[Side, FloatArray] = {side: np.empty((len(sentences), self.dim), np.float32) for side in SIDES}
        for begin, context in _contexts(sentences, tokens, at):
            hidden = _gelu(self._dense("body", context * self._scale))
            for side in SIDES:
                placed[side][begin : begin + len(hidden)] = unit(self._dense(side, hidden))
        return placed

    def ask(self, side: Side, names: FloatArray) -> FloatArray:
        """Unit vectors of the names of entities or aspects, (names, dim), by what was read of them, (names, width)."""
        hidden = _gelu(self._dense(f"{side}.first", unit(names) * self._scale))
        return unit(self._dense(f"{side}.second", hidden))

    def _dense(self, name: str, rows: FloatArray) -> FloatArray:
        products: FloatArray = rows @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return products


def unit(rows: FloatArray) -> FloatArray:
    """Rows of unit length; zeros stay."""
    found: FloatArray = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _SMALLEST)
    return found


def by_rows(work: Callable[..., FloatArray], *arrays: FloatArray) -> FloatArray:
    """Apply row-wise work to some thousand rows at a time, so that its intermediate results stay small.

    Args:
        work: Takes rows of each array, gives as many.
        arrays: (rows, ...).
    """
    if len(arrays[0]) <= _AT_ONCE:
        return work(*arrays)
    begins = range(0, len(arrays[0]), _AT_ONCE)
    return np.concatenate([work(*(array[begin : begin + _AT_ONCE] for array in arrays)) for begin in begins])


def stretch_sums(rows: FloatArray, edges: npt.NDArray[np.int64]) -> FloatArray:
    """The sum of the rows of each stretch, (stretches, width); zeros for an empty one.

    Args:
        rows: (rows, width).
        edges: Where each begins and the last ends, (stretches + 1,).
    """
    sums = np.zeros((len(edges) - 1, rows.shape[1]), np.float32)
    full = np.flatnonzero(np.diff(edges))
    if len(full):
        sums[full] = np.add.reduceat(rows, edges[full], axis=0)
    return sums


def _contexts(sentences: FloatArray, tokens: npt.NDArray[np.int64], at: Stretches) -> Iterator[tuple[int, FloatArray]]:
    """Sentences beside their passage, their document and their neighbours, and the number of the first of them.

    A few thousand at a time: with its hidden layer each takes 27 KB, and a file of 200,000 short ones took 4.7 GB.
    """
    weighed = sentences * tokens[:, None].astype(np.float32)
    passages, documents = (unit(stretch_sums(weighed, edges)) for edges in (at.passages, at.of_documents))
    passage = np.repeat(np.arange(len(at.passages) - 1), np.diff(at.passages))
    document = np.repeat(np.arange(len(at.documents) - 1), np.diff(at.of_documents))
    follows = np.concatenate([[False], document[1:] == document[:-1], [False]])
    for begin in range(0, len(sentences), _AT_ONCE):
        rows = np.arange(begin, min(begin + _AT_ONCE, len(sentences)))
        before, after = np.flatnonzero(follows[rows]), np.flatnonzero(follows[rows + 1])
        context = np.zeros((len(rows), 5, sentences.shape[1]), np.float32)
        context[:, 0] = sentences[rows]
        context[:, 1] = passages[passage[rows]]
        context[:, 2] = documents[document[rows]]
        context[before, 3] = sentences[rows[before] - 1]
        context[after, 4] = sentences[rows[after] + 1]
        yield begin, context.reshape(len(rows), -1)


def _erf(rows: FloatArray) -> FloatArray:
    """The error function to 5e-7 (abramowitz1964, 7.1.26): a tenth of a second less to import than SciPy's."""
    far = np.abs(rows)
    t = 1 / (1 + np.float32(0.3275911) * far)
    total = np.full_like(t, _ERF[0])
    for weight in _ERF[1:]:
        total = total * t + weight
    found: FloatArray = np.copysign(1 - total * t * np.exp(-far * far), rows)
    return found


def _gelu(rows: FloatArray) -> FloatArray:
    found: FloatArray = rows * np.float32(0.5) * (1 + _erf(rows * np.float32(np.sqrt(0.5))))
    return found
