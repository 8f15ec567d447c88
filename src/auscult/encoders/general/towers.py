"""Compute the entity and aspect parts of the general encoder from the transformer's vectors, in NumPy.

    x_i   a sentence's vector; p, d: those of its passage and its document; x_{i-1}, x_{i+1}: its neighbours'
    h_i = gelu(W [x_i; p; d; x_{i-1}; x_{i+1}] + b)
    a_i = unit(A h_i + a),  e_i = unit(E h_i + e)                   for each sentence
    a_P, e_P = unit(mean of a_i, e_i over the passage, by tokens)   for a passage
    a_Q = unit(A'' gelu(A' q + a') + a'')                           for the name of an aspect; the same for an entity's,
                                                                    and for what a question asks ("asked")

All input vectors have unit length, or are zeros if there is no text. Cost: a million multiplications a sentence. See
`general` for the training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import FloatArray

Side = Literal["entity", "aspect"]
SIDES: tuple[Side, Side] = ("entity", "aspect")
Read = Literal["entity", "aspect", "asked"]
"""What a short text is read as: an entity's name, an aspect's, or a question without the names in it."""
_SMALLEST = np.float32(1e-9)
_AT_ONCE = 4096
_SURENESS = 3
"""How fast a doubtful aspect loses its say. Of 1, 2 and 3 the best on written questions about held-out documents; on
phrasings by others 1 finds 2 points more."""
_ERF = np.array([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592], np.float32)


@dataclass(frozen=True, slots=True)
class Stretches:
    """The boundaries of passages and documents in a sequence of sentences.

    Attributes:
        passages: First sentence of each passage, then the number of sentences, (passages + 1,).
        documents: First passage of each document, then the number of passages, (documents + 1,).
    """

    passages: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int64]

    @property
    def of_documents(self) -> npt.NDArray[np.int64]:
        """Return the first sentence of each document, then the number of sentences, (documents + 1,)."""
        return self.passages[self.documents]


class Towers:
    """The dense layers, with the names that `general` writes.

    Args:
        weights: `body.weight` (hidden, 5 dim), `body.bias`; for each side `SIDE.weight`, `SIDE.bias`,
            `SIDE.first.weight` (hidden, dim), `SIDE.first.bias`, `SIDE.second.weight`, `SIDE.second.bias`; the same
            for "asked" in a model that reads what a question asks, which also has `known` (aspects, dim), the place
            of each known aspect, and `asks.weight` (aspects, width) and `asks.bias`, a logistic regression on which of
            them is asked for.
    """

    def __init__(self, weights: Mapping[str, FloatArray]) -> None:
        self.weights = {name: np.ascontiguousarray(array, np.float32) for name, array in weights.items()}
        self.dim = len(self.weights["aspect.bias"])
        # The numbers of unit vectors are small, so they are scaled to about 1.
        self._scale = np.float32(np.sqrt(self.weights["aspect.first.weight"].shape[1]))

    def place(self, sentences: FloatArray, tokens: npt.NDArray[np.int64], at: Stretches) -> dict[Side, FloatArray]:
        """Return unit vectors of sentences, (sentences, dim), for each side.

        Args:
            sentences: The transformer's vectors, unit rows, (sentences, width).
            tokens: Number of tokens of each, (sentences,).
            at: Their passages and documents.
        """
        placed: dict[Side, FloatArray] = {side: np.empty((len(sentences), self.dim), np.float32) for side in SIDES}
        for begin, context in _contexts(sentences, tokens, at):
            hidden = _gelu(self._dense("body", context * self._scale))
            for side in SIDES:
                placed[side][begin : begin + len(hidden)] = unit(self._dense(side, hidden))
        return placed

    @property
    def read_questions(self) -> bool:
        """Whether they read what a question asks."""
        return "asks.weight" in self.weights

    def likely(self, asked: FloatArray) -> FloatArray:
        """Return how likely each known aspect is meant, (questions, aspects), rows adding up to 1.

        Args:
            asked: Vectors of questions without the names in them, (questions, width).
        """
        scores = self._dense("asks", unit(asked))
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        likelihoods: FloatArray = shares / shares.sum(axis=1, keepdims=True)
        return likelihoods

    def asked(self, asked: FloatArray) -> FloatArray:
        """Return where among headings what questions ask is, unit vectors, (questions, dim).

        The surer one aspect is, the more that is where the known aspects are, each as likely as it is; the less sure,
        the more it is where the question itself is.

        Args:
            asked: Vectors of questions without the names in them, (questions, width).
        """
        likely = self.likely(asked)
        sure = likely.max(axis=1, keepdims=True) ** _SURENESS
        return unit((1 - sure) * self.ask("asked", asked) + sure * (likely @ self.weights["known"]))

    def ask(self, side: Read, names: FloatArray) -> FloatArray:
        """Return unit vectors, (names, dim), of short texts from their vectors, (names, width)."""
        hidden = _gelu(self._dense(f"{side}.first", unit(names) * self._scale))
        return unit(self._dense(f"{side}.second", hidden))

    def _dense(self, name: str, rows: FloatArray) -> FloatArray:
        products: FloatArray = rows @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return products


def unit(rows: FloatArray) -> FloatArray:
    """Scale rows to unit length; rows of zeros stay."""
    found: FloatArray = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _SMALLEST)
    return found


def by_rows(work: Callable[..., FloatArray], *arrays: FloatArray) -> FloatArray:
    """Apply a row-wise function to some thousand rows at a time, so that its intermediate results stay small.

    Args:
        work: Function that takes rows of each array and returns as many.
        arrays: Arrays of shape (rows, ...).
    """
    if len(arrays[0]) <= _AT_ONCE:
        return work(*arrays)
    begins = range(0, len(arrays[0]), _AT_ONCE)
    return np.concatenate([work(*(array[begin : begin + _AT_ONCE] for array in arrays)) for begin in begins])


def stretch_sums(rows: FloatArray, edges: npt.NDArray[np.int64]) -> FloatArray:
    """Return the sum of the rows of each stretch, (stretches, width); zeros for an empty one.

    Args:
        rows: Rows of shape (rows, width).
        edges: Start of each stretch, then the end of the last, (stretches + 1,).
    """
    sums = np.zeros((len(edges) - 1, rows.shape[1]), np.float32)
    full = np.flatnonzero(np.diff(edges))
    if len(full):
        sums[full] = np.add.reduceat(rows, edges[full], axis=0)
    return sums


def _contexts(sentences: FloatArray, tokens: npt.NDArray[np.int64], at: Stretches) -> Iterator[tuple[int, FloatArray]]:
    """Yield the number of the first sentence, and sentences joined with their passage, document and neighbours.

    There are a few thousand in each step, as a sentence with its hidden layer takes 27 KB, and 200,000 took 4.7 GB.
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
    """Compute the error function to 5e-7 (abramowitz1964, 7.1.26); importing SciPy's would take a tenth of a second."""
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
