"""How large a knowledge graph is, and how its entities hang together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auscult.concepts.graph.adjacency import components, degrees
from auscult.concepts.graph.graph import KnowledgeGraph

_HUBS = 10


@dataclass(frozen=True, slots=True)
class GraphStatistics:
    """Counts over a graph. The degree of an entity is the number of triples it is in.

    Attributes:
        entities: Their number; so of relations and triples.
        relations: See `entities`.
        triples: See `entities`.
        triples_per_relation: (relation, triples), most first.
        degree_mean: Over all entities.
        degree_median: Over all entities.
        degree_max: Over all entities.
        hubs: (entity id, degree) of those with the most triples.
        leaf_share: Share of entities that are in one triple.
        isolated_share: Share of entities that stand together with no other: their triples are with themselves.
        components: Parts of the graph that no triple connects.
        largest_component: Entities in the largest of them.
    """

    entities: int
    relations: int
    triples: int
    triples_per_relation: tuple[tuple[str, int], ...]
    degree_mean: float
    degree_median: float
    degree_max: int
    hubs: tuple[tuple[str, int], ...]
    leaf_share: float
    isolated_share: float
    components: int
    largest_component: int


def graph_statistics(graph: KnowledgeGraph) -> GraphStatistics:
    """Count a graph; a second for millions of triples."""
    degree = degrees(graph)
    sizes = np.bincount(components(graph))
    counts = np.bincount(graph.triples[:, 1], minlength=len(graph.relations))
    hubs = np.argsort(-degree, kind="stable")[:_HUBS]
    return GraphStatistics(
        entities=len(graph.entities),
        relations=len(graph.relations),
        triples=len(graph.triples),
        triples_per_relation=tuple(
            (graph.relations[each], int(counts[each])) for each in np.argsort(-counts, kind="stable")
        ),
        degree_mean=float(degree.mean()),
        degree_median=float(np.median(degree)),
        degree_max=int(degree.max()),
        hubs=tuple((graph.entities[each], int(degree[each])) for each in hubs),
        leaf_share=float((degree == 1).mean()),
        # An entity alone in its component.
        isolated_share=float((sizes == 1).sum() / len(graph.entities)),
        components=len(sizes),
        largest_component=int(sizes.max()),
    )


__all__ = ["GraphStatistics", "graph_statistics"]
