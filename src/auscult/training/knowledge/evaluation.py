"""Link prediction: of a triple with one end taken away, at which rank the entity that was there comes back.

Each triple asks twice, for its object (tail) and for its subject (head), among all entities of the graph. "Raw" ranks
count every entity that scores higher; "filtered" ranks leave out those that make another true triple (bordes2013,
section 4.2). Of entities that score the same, half come first: the mean of the kindest and the harshest count, since a
model that gives everything one score would otherwise seem perfect.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auscult.interfaces import FloatArray

Side = Literal["head", "tail"]
SIDES: tuple[Side, Side] = ("head", "tail")
Scores = Callable[[NDArray[np.int64], Side], FloatArray]
"""Of triples (rows, 3), of which the entity of a side is to be ignored: a score of every entity in its place, higher is
better; float32, (rows, entities)."""
Figures = dict[str, float]
_ROWS = 256


@dataclass(frozen=True, slots=True)
class Ranks:
    """Ranks from 1, halves where entities tie: float64, (triples, 2), columns head and tail."""

    raw: NDArray[np.float64]
    filtered: NDArray[np.float64]


def rank_triples(scores: Scores, triples: NDArray[np.int64], known: NDArray[np.int64]) -> Ranks:
    """Rank the true entity of both ends of triples.

    Args:
        scores: Of the model; called with 256 triples at most.
        triples: (triples, 3), to be predicted.
        known: All true triples, those to be predicted among them.
    """
    answers = _answers(known)
    ranks = Ranks(np.empty((len(triples), 2)), np.empty((len(triples), 2)))
    for start in range(0, len(triples), _ROWS):
        batch = triples[start : start + _ROWS]
        for column, side in enumerate(SIDES):
            given, place = _ends(side)
            scored = scores(batch, side)
            for row, (triple, own) in enumerate(zip(batch.tolist(), scored, strict=True), start=start):
                truth = own[triple[place]]
                ranks.raw[row, column] = _rank(own, truth)
                others = own[answers[side][triple[given], triple[1]]]
                ahead = np.count_nonzero(others > truth) + (np.count_nonzero(others == truth) - 1) / 2
                ranks.filtered[row, column] = ranks.raw[row, column] - ahead
    return ranks


def _ends(side: Side) -> tuple[int, int]:
    """Columns of the entity that is given, and of the one that is asked for."""
    return (2, 0) if side == "head" else (0, 2)


def _rank(scores: FloatArray, truth: np.float32) -> float:
    return 1 + np.count_nonzero(scores > truth) + (np.count_nonzero(scores == truth) - 1) / 2


def _answers(known: NDArray[np.int64]) -> dict[Side, dict[tuple[int, int], list[int]]]:
    found: dict[Side, dict[tuple[int, int], list[int]]] = {side: defaultdict(list) for side in SIDES}
    for subject, relation, object_ in np.unique(known, axis=0).tolist():
        found["head"][object_, relation].append(subject)
        found["tail"][subject, relation].append(object_)
    return found


def summarise(ranks: NDArray[np.float64]) -> Figures:
    """Mean reciprocal rank, shares within the first 1, 3 and 10, and mean rank; of ranks in any shape, at least one."""
    hits = {f"Hits@{cut}": float((ranks <= cut).mean()) for cut in (1, 3, 10)}
    return {"MRR": float((1 / ranks).mean()), **hits, "mean_rank": float(ranks.mean())}


def link_prediction(ranks: Ranks, triples: NDArray[np.int64], relations: Sequence[str]) -> dict[str, object]:
    """All figures of ranked triples, as records hold them.

    Returns:
        "triples"; "filtered" and "raw", each with the figures of "both" ends, "head" and "tail"; and "by_relation",
        most frequent first: of each relation its "triples" and the filtered figures.
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
    """A baseline that knows no vectors: an entity scores as often as it stood at that end of that relation.

    Args:
        training: (triples, 3), counted.
        entities: How many there are.
    """
    relations = int(training[:, 1].max()) + 1
    counts = {side: np.zeros((relations, entities), dtype=np.float32) for side in SIDES}
    for side in SIDES:
        np.add.at(counts[side], (training[:, 1], training[:, _ends(side)[1]]), 1)
    return lambda triples, side: counts[side][triples[:, 1]]


__all__ = [
    "SIDES",
    "Figures",
    "Ranks",
    "Scores",
    "Side",
    "frequency_scores",
    "link_prediction",
    "rank_triples",
    "summarise",
]
