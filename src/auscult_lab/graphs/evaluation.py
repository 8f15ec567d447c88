"""Link prediction: the rank of a triple's true entity when one end is missing.

Each triple is ranked twice, for its object (tail) and for its subject (head), among all entities of the graph. "Raw"
ranks count every entity with a higher score; "filtered" ranks leave out entities that make another true triple
(bordes2013, section 4.2). Half of the entities with equal scores count as higher, the mean of the best and the worst
case: otherwise a model with constant scores would seem perfect.

Cost: a score of every entity for each triple and side. Memory: the triples, and scores of a few of them at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auscult.encoders.contract import FloatArray
from auscult.errors import ModelError

Side = Literal["head", "tail"]
SIDES: tuple[Side, Side] = ("head", "tail")
Scores = Callable[[NDArray[np.int64], Side], FloatArray]
"""Of triples (rows, 3), of which the entity of a side is to be ignored: a score of every entity in its place, higher is
better; float32, (rows, entities)."""
Figures = dict[str, float]
_ROWS = 256
_CELLS = 1 << 25
"""Scores held at once: 128 MiB of them, however many entities there are."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """Ranks from 1, halves where entities tie: float64, (triples, 2), columns head and tail."""

    raw: NDArray[np.float64]
    filtered: NDArray[np.float64]


def rank_triples(scores: Scores, triples: NDArray[np.int64], known: NDArray[np.int64]) -> Ranks:
    """Rank the true entity of both ends of triples.

    Args:
        scores: Function that scores triples; called with 256 triples at most.
        triples: (triples, 3), to predict.
        known: All true triples, including those to predict.

    Raises:
        ModelError: A score is not finite; with such scores every entity would rank first.
    """
    answers = {side: _Answers(known, side) for side in SIDES}
    ranks = Ranks(np.empty((len(triples), 2)), np.empty((len(triples), 2)))
    rows = max(1, min(_ROWS, _CELLS // (1 + int(known[:, [0, 2]].max()))))
    for start in range(0, len(triples), rows):
        batch = triples[start : start + rows]
        for column, side in enumerate(SIDES):
            _, place = _ends(side)
            scored = scores(batch, side)
            if not np.isfinite(scored).all():
                found = f"{np.count_nonzero(~np.isfinite(scored))} of {scored.size} that are not"
                raise ModelError("finite scores of all entities", found, "train the vectors at a lower learning rate")
            for row, (triple, own) in enumerate(zip(batch, scored, strict=True), start=start):
                truth = own[triple[place]]
                # Entities before the true one: all of them, and those that are other answers.
                everything, others = (
                    np.count_nonzero(part > truth) + (np.count_nonzero(part == truth) - 1) / 2
                    for part in (own, own[answers[side].to(triple)])
                )
                ranks.raw[row, column] = 1 + everything
                ranks.filtered[row, column] = ranks.raw[row, column] - others
    return ranks


def _ends(side: Side) -> tuple[int, int]:
    """Return the columns of the known and of the missing entity."""
    return (2, 0) if side == "head" else (0, 2)


class _Answers:
    """The entities that make true triples at one end, by the rest of the triple, sorted in two arrays."""

    def __init__(self, known: NDArray[np.int64], side: Side) -> None:
        self._given, place = _ends(side)
        self._relations = 1 + int(known[:, 1].max())
        keys = self._keys(known)
        order = np.argsort(keys, kind="stable")
        self._sorted, self._entities = keys[order], known[order, place]

    def to(self, triple: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the entities for a known triple, without repeats."""
        key = self._keys(triple)
        first, last = (int(np.searchsorted(self._sorted, key, side)) for side in ("left", "right"))
        return np.unique(self._entities[first:last])

    def _keys(self, triples: NDArray[np.int64]) -> NDArray[np.int64]:
        keys: NDArray[np.int64] = triples[..., self._given] * self._relations + triples[..., 1]
        return keys


def summarise(ranks: NDArray[np.float64]) -> Figures:
    """Return mean reciprocal rank, shares within the first 1, 3 and 10, and mean rank, of at least one rank."""
    hits = {f"Hits@{cut}": float((ranks <= cut).mean()) for cut in (1, 3, 10)}
    return {"MRR": float((1 / ranks).mean()), **hits, "mean_rank": float(ranks.mean())}


def link_prediction(ranks: Ranks, triples: NDArray[np.int64], relations: Sequence[str]) -> dict[str, object]:
    """Return all figures of ranked triples, in the form of records.

    Returns:
        "triples"; "filtered" and "raw", each with the figures of "both" ends, "head" and "tail"; and "by_relation",
        most frequent first: the number of "triples" and the filtered figures of each relation.
    """
    counts = np.bincount(triples[:, 1], minlength=len(relations))
    by_relation = {
        relations[row]: {"triples": int(counts[row]), **_by_side(ranks.filtered[triples[:, 1] == row])}
        for row in np.argsort(-counts, kind="stable").tolist()
        if counts[row]
    }
    return {
        "triples": len(triples),
        "filtered": _by_side(ranks.filtered),
        "raw": _by_side(ranks.raw),
        "by_relation": by_relation,
    }


def _by_side(ranks: NDArray[np.float64]) -> dict[str, Figures]:
    return {"both": summarise(ranks)} | {side: summarise(ranks[:, column]) for column, side in enumerate(SIDES)}


def frequency_scores(training: NDArray[np.int64], entities: int) -> Scores:
    """Return a baseline without vectors: an entity's score is how often it was at that end of the relation.

    Args:
        training: (triples, 3), to count.
        entities: Number of entities.
    """
    # For each side and relation, its entities and their counts.
    counted: dict[Side, dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]]] = {}
    order = np.argsort(training[:, 1], kind="stable")
    names, starts = np.unique(training[order, 1], return_index=True)
    for side in SIDES:
        parts = np.split(training[order, _ends(side)[1]], starts[1:])
        counts = (np.unique(part, return_counts=True) for part in parts)
        counted[side] = dict(zip(names.tolist(), counts, strict=True))

    def scores(triples: NDArray[np.int64], side: Side) -> FloatArray:
        table = np.zeros((len(triples), entities), dtype=np.float32)
        for row, relation in zip(table, triples[:, 1].tolist(), strict=True):
            places, times = counted[side].get(relation, ([], []))
            row[places] = times
        return table

    return scores
