"""Triples held out of a graph, so that what is still trained on names every entity and every relation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auscult.errors import DataError
from auscult_lab.graphs.graph import KnowledgeGraph


@dataclass(frozen=True, slots=True)
class Split:
    """A graph's triples in three parts that share none: int64, (triples, 3) each.

    Attributes:
        training: Names every entity and relation of the graph.
        validation: Chooses epoch and settings.
        test: Measured once.
    """

    training: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]

    @property
    def seen_pairs(self) -> int:
        """How many test triples join two entities that a training triple joins too, in either direction."""
        # Both ends in one number, the smaller first.
        ends = [np.sort(part[:, [0, 2]], axis=1) for part in (self.training, self.test)]
        entities = 1 + max(int(part.max(initial=0)) for part in ends)
        joined, asked = (part[:, 0] * entities + part[:, 1] for part in ends)
        return int(np.isin(asked, joined).sum())


def split_triples(graph: KnowledgeGraph, *, seed: int, validation: float = 0.05, test: float = 0.1) -> Split:
    """Hold triples out at random, leaving out those that are an entity's or a relation's last.

    A triple is held out only while its subject, its object and its relation occur in others that are kept, so a tree's
    leaves are never asked for, and graphs with many leaves give fewer triples than were wanted.

    Args:
        graph: To split.
        seed: Of the draw.
        validation: Share of all triples, at most.
        test: Share of all triples, at most.

    Raises:
        DataError: Fewer than two triples can be held out.
    """
    triples = graph.triples
    wanted = max(2, round((validation + test) * len(triples)))
    held = _removable(graph, np.random.default_rng(seed).permutation(len(triples)), wanted)
    if len(held) < 2:
        got = f"{len(held)} of {len(triples)} triples whose entities and relation others name too"
        raise DataError("a graph of which triples can be held out", got, "give a larger graph")
    first = max(1, round(len(held) * validation / (validation + test)))
    return Split(np.delete(triples, held, axis=0), triples[held[:first]], triples[held[first:]])


def _removable(graph: KnowledgeGraph, order: NDArray[np.int64], wanted: int) -> list[int]:
    triples = graph.triples
    entities = np.bincount(triples[:, [0, 2]].ravel(), minlength=len(graph.entities)).tolist()
    relations = np.bincount(triples[:, 1], minlength=len(graph.relations)).tolist()
    held: list[int] = []
    for row in order.tolist():
        if len(held) == wanted:
            break
        subject, relation, object_ = triples[row].tolist()
        ends = 2 if subject == object_ else 1
        if entities[subject] > ends and entities[object_] > ends and relations[relation] > 1:
            entities[subject] -= 1
            entities[object_] -= 1
            relations[relation] -= 1
            held.append(row)
    return held
