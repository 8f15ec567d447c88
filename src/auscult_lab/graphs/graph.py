"""A knowledge graph: entities with names, triples subject - relation - object between them, and its statistics.

Ids of entities and labels of relations are the same for all formats. Neighbours and components ignore the direction of
triples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auscult.concepts.identifiers import normalise_identifier
from auscult.errors import DataError
from auscult.telemetry import naming_extra

Triple = tuple[str, str, str]
"""Id of the subject, relation, id of the object."""

_NAMED = "name:"
_ARTICLE = re.compile(r"^the (?=\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KnowledgeGraph:
    """Entities, relations and the triples between them.

    Attributes:
        entities: Ids, without repeats.
        names: Names of each entity, the preferred one first; its id where it has no name.
        relations: Names, without repeats.
        triples: Int64, (triples, 3): rows of subject, relation and object, without repeats.
    """

    entities: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    relations: tuple[str, ...]
    triples: NDArray[np.int64]


def make_graph(
    triples: Iterable[Triple],
    names: Mapping[str, Sequence[str]],
    *,
    sought: str = "a knowledge graph with at least one triple",
    remedy: str = "give a file that holds relations",
) -> KnowledgeGraph:
    """Return a graph of triples, in the order in which entities and relations first occur.

    Args:
        triples: Repeats are dropped.
        names: By entity id, the preferred one first; entities without triples are left out.
        sought: Description of the expected triples, for the error.
        remedy: Advice for the error.

    Raises:
        DataError: There is no triple.
    """
    entities: dict[str, int] = {}
    relations: dict[str, int] = {}
    rows = dict.fromkeys(
        (
            entities.setdefault(subject, len(entities)),
            relations.setdefault(relation, len(relations)),
            entities.setdefault(object_, len(entities)),
        )
        for subject, relation, object_ in triples
    )
    if not rows:
        raise DataError(sought, "none", remedy)
    graph = KnowledgeGraph(tuple(entities), (), tuple(relations), np.array(list(rows), dtype=np.int64))
    return name_entities(graph, names)


def name_entities(graph: KnowledgeGraph, names: Mapping[str, Sequence[str]]) -> KnowledgeGraph:
    """Return the graph with other names. For large files names are read last, for entities with triples only.

    Args:
        graph: The graph.
        names: By entity id, the preferred one first; unknown ids are ignored.
    """
    named = (tuple(dict.fromkeys(name for name in names.get(each, ()) if name)) or (each,) for each in graph.entities)
    return replace(graph, names=tuple(named))


def label_relations(graph: KnowledgeGraph, labels: Mapping[str, str]) -> KnowledgeGraph:
    """Return the graph with readable relations: "P780" becomes "symptoms and signs".

    Args:
        graph: The graph as read.
        labels: By relation. Labels that two relations share, or that equal a relation, are not used.
    """
    named = [labels.get(relation) or relation for relation in graph.relations]
    uses = Counter((*named, *graph.relations))
    names = (
        name if name != relation and uses[name] == 1 else relation
        for name, relation in zip(named, graph.relations, strict=True)
    )
    return replace(graph, relations=tuple(names))


def entity_id(text: str) -> str:
    """Return the canonical form of an identifier ("umls:c0017661" becomes "UMLS:C0017661"); other texts unchanged."""
    text = text.strip()
    return normalise_identifier(text) or text


def plain_name(name: str) -> str:
    """Return a name with single blanks and without a leading article: "the  spinal cord" becomes "spinal cord"."""
    return _ARTICLE.sub("", " ".join(name.split()))


def named_entity_id(name: str) -> str:
    """Return the id of an entity that has a name and no identifier: "The Fever " becomes "name:fever".

    Canonical identifiers have a prefix in capitals, so none equals such an id.
    """
    return _NAMED + plain_name(name).casefold()


_HUBS = 10


def degrees(graph: KnowledgeGraph) -> NDArray[np.int64]:
    """Count the triples that each entity is in, int64 (entities,); a triple with itself counts once."""
    subjects, objects = graph.triples[:, 0], graph.triples[:, 2]
    ends = np.concatenate([subjects, objects[objects != subjects]])
    return np.bincount(ends, minlength=len(graph.entities)).astype(np.int64)


def by_degree(graph: KnowledgeGraph) -> NDArray[np.int64]:
    """Return rows of the entities by falling degree; equal degrees stay in order."""
    return np.argsort(-degrees(graph), kind="stable").astype(np.int64)


class Neighbours:
    """The triples of each entity, in constant time per triple."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        ends = graph.triples[:, [0, 2]].T.ravel()
        self._order = np.argsort(ends, kind="stable")
        self._starts = np.searchsorted(ends[self._order], np.arange(len(graph.entities) + 1))
        self._triples = graph.triples

    def of(self, entity: int) -> list[tuple[int, bool, int]]:
        """Return (relation, whether the entity is the subject, the other entity) of its triples, in their order."""
        places = self._order[self._starts[entity] : self._starts[entity + 1]]
        edges = []
        for place in places.tolist():
            outward, row = place < len(self._triples), place % len(self._triples)
            subject, relation, object_ = self._triples[row].tolist()
            edges.append((relation, outward, object_ if outward else subject))
        return edges


@dataclass(frozen=True, slots=True)
class GraphStatistics:
    """Counts over a graph. The degree of an entity is the number of triples it is in.

    Attributes:
        entities: Number of entities.
        relations: Number of relations.
        triples: Number of triples.
        triples_per_relation: (relation, triples), most first.
        degree_mean: Over all entities.
        degree_median: Over all entities.
        degree_max: Over all entities.
        hubs: (entity id, degree) of those with the most triples.
        leaf_share: Share of entities that are in one triple.
        isolated_share: Share of entities without neighbours: all of their triples are with themselves.
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
    """Compute statistics of a graph; takes a second for millions of triples."""
    degree = degrees(graph)
    # Imported here because they take a fifth of a second, and every command imports this file.
    with naming_extra("lab", "scipy"):
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

    ends = graph.triples[:, 0], graph.triples[:, 2]
    linked = csr_array((np.ones(len(graph.triples), dtype=np.int8), ends), shape=(len(degree), len(degree)))
    sizes = np.bincount(connected_components(linked, directed=False)[1])
    counts = np.bincount(graph.triples[:, 1], minlength=len(graph.relations))
    hubs = np.argsort(-degree, kind="stable")[:_HUBS]
    return GraphStatistics(
        entities=len(graph.entities),
        relations=len(graph.relations),
        triples=len(graph.triples),
        triples_per_relation=tuple(
            (graph.relations[row], int(counts[row])) for row in np.argsort(-counts, kind="stable")
        ),
        degree_mean=float(degree.mean()),
        degree_median=float(np.median(degree)),
        degree_max=int(degree.max()),
        hubs=tuple((graph.entities[row], int(degree[row])) for row in hubs),
        leaf_share=float((degree == 1).mean()),
        # An entity alone in its component.
        isolated_share=float((sizes == 1).sum() / len(graph.entities)),
        components=len(sizes),
        largest_component=int(sizes.max()),
    )
