"""Which entities of a graph stand together in a triple, whatever the direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from auscult.concepts.graph.graph import KnowledgeGraph


def degrees(graph: KnowledgeGraph) -> NDArray[np.int64]:
    """Of each entity the number of triples it is in, int64 (entities,); a triple with itself counts once."""
    subjects, objects = graph.triples[:, 0], graph.triples[:, 2]
    ends = np.concatenate([subjects, objects[objects != subjects]])
    return np.bincount(ends, minlength=len(graph.entities)).astype(np.int64)


def by_degree(graph: KnowledgeGraph) -> NDArray[np.int64]:
    """Rows of the entities, those in the most triples first; of those in as many, the earlier first."""
    return np.argsort(-degrees(graph), kind="stable").astype(np.int64)


def components(graph: KnowledgeGraph) -> NDArray[np.int64]:
    """Of each entity the number of its connected component, int64 (entities,)."""
    size = len(graph.entities)
    rows, columns = graph.triples[:, 0], graph.triples[:, 2]
    matrix = csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(size, size))
    return np.asarray(connected_components(matrix, directed=False)[1], dtype=np.int64)


class Neighbours:
    """The triples of each entity, found in the time it takes to read them."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        ends = graph.triples[:, [0, 2]].T.ravel()
        self._order = np.argsort(ends, kind="stable")
        self._starts = np.searchsorted(ends[self._order], np.arange(len(graph.entities) + 1))
        self._triples = graph.triples

    def of(self, entity: int) -> list[tuple[int, bool, int]]:
        """(relation, whether the entity is the subject, the other entity) of its triples, in their order."""
        places = self._order[self._starts[entity] : self._starts[entity + 1]]
        found = []
        for place in places.tolist():
            outward, row = place < len(self._triples), place % len(self._triples)
            subject, relation, object_ = self._triples[row].tolist()
            found.append((relation, outward, object_ if outward else subject))
        return found


__all__ = ["Neighbours", "by_degree", "components", "degrees"]
