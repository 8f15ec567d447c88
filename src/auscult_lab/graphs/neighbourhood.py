"""The neighbourhood of an entity: the part of a graph within a few steps, closest entities first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from auscult.concepts.fuzzy import FuzzyNames
from auscult.concepts.names import normalise_name
from auscult.errors import ConfigError, QueryError
from auscult_lab.graphs.graph import KnowledgeGraph, Neighbours, degrees, entity_id


@dataclass(frozen=True, slots=True)
class Link:
    """The link by which an entity was reached.

    Attributes:
        parent: The entity one step closer to the centre.
        relation: The relation between the two.
        outward: Whether `parent` is the subject.
    """

    parent: int
    relation: int
    outward: bool


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A part of a graph around one entity.

    Attributes:
        graph: The centre, then entities from close to far, and all triples between them.
        distances: Steps of each entity from the centre.
        links: Link of each entity except the centre; these form a tree.
        steps: Limit of the steps.
        within: Number of entities of the whole graph within these steps, without the centre.
    """

    graph: KnowledgeGraph
    distances: tuple[int, ...]
    links: tuple[Link, ...]
    steps: int
    within: int


@dataclass(frozen=True, slots=True)
class _Reached:
    entity: int
    distance: int
    link: Link | None


def find_entity(graph: KnowledgeGraph, entity: str) -> int:
    """Return the number of an entity of the graph.

    Args:
        graph: The graph.
        entity: Its id in any usual spelling, its name, or a synonym; case and punctuation are ignored. Of several, one
            with it as preferred name, and of these the one in the most triples, is taken.

    Raises:
        QueryError: No entity has the name; suggests similar names.
    """
    for identifier in (entity, entity_id(entity)):
        if identifier in graph.entities:
            return graph.entities.index(identifier)
    key = normalise_name(entity)
    degree = degrees(graph)
    matches = [
        (normalise_name(names[0]) != key, -int(degree[number]), number)
        for number, names in enumerate(graph.names)
        if key and any(normalise_name(name) == key for name in names)
    ]
    if matches:
        return min(matches)[-1]
    keys = {normalise_name(name): name for names in graph.names for name in names}
    keys.pop("", None)
    alike = [keys[name] for name, _ in FuzzyNames(list(keys)).search(key, 3, 0.7)]
    remedy = f"did you mean {' or '.join(alike)}?" if alike else "give an id or a name of the graph"
    raise QueryError("an entity of the graph", repr(entity), remedy)


def neighbourhood(graph: KnowledgeGraph, entity: str, steps: int = 2, limit: int = 30) -> Neighbourhood:
    """Return the part of a graph within some steps of an entity; the direction of triples is ignored.

    Closer entities come first. At equal distance, the relations of each parent take turns, and each gives its entity
    that is in the most triples. A disease with a hundred subtypes and one symptom thus shows the symptom, too.

    Args:
        graph: The graph.
        entity: See `find_entity`.
        steps: At least one.
        limit: Largest number of entities besides the centre.

    Raises:
        QueryError: No entity has the name.
        ConfigError: `steps` or `limit` is less than one.
    """
    if min(steps, limit) < 1:
        got = f"{steps} steps and {limit} entities"
        raise ConfigError("at least one step and one entity", got, "raise the number")
    reached = list(_walk(graph, find_entity(graph, entity), steps))
    nearest = reached[: limit + 1]
    places = {node.entity: place for place, node in enumerate(nearest)}
    inside = np.isin(graph.triples[:, [0, 2]], list(places)).all(axis=1)
    triples = graph.triples[inside]
    relations = {int(old): new for new, old in enumerate(np.unique(triples[:, 1]))}
    rows = [(places[subject], relations[relation], places[object_]) for subject, relation, object_ in triples.tolist()]
    part = KnowledgeGraph(
        tuple(graph.entities[node.entity] for node in nearest),
        tuple(graph.names[node.entity] for node in nearest),
        tuple(graph.relations[old] for old in relations),
        np.array(rows, dtype=np.int64).reshape(-1, 3),
    )
    links = tuple(
        Link(places[node.link.parent], relations[node.link.relation], node.link.outward)
        for node in nearest
        if node.link
    )
    return Neighbourhood(part, tuple(node.distance for node in nearest), links, steps, len(reached) - 1)


def _walk(graph: KnowledgeGraph, centre: int, steps: int) -> Iterator[_Reached]:
    """Yield the entities within some steps, in order of closeness."""
    neighbours, degree = Neighbours(graph), degrees(graph)
    layer = [_Reached(centre, 0, None)]
    seen = {centre}
    for distance in range(1, steps + 1):
        yield from layer
        groups: dict[Link, list[_Reached]] = defaultdict(list)
        for node in layer:
            for relation, outward, other in neighbours.of(node.entity):
                if other not in seen:
                    seen.add(other)
                    link = Link(node.entity, relation, outward)
                    groups[link].append(_Reached(other, distance, link))
        # The first of every group, then the second of every group, and so on; within a group by degree.
        turns: list[tuple[int, int, int, _Reached]] = []
        for number, group in enumerate(groups.values()):
            ranked = sorted(group, key=lambda node: -int(degree[node.entity]))
            turns += [(turn, -int(degree[node.entity]), number, node) for turn, node in enumerate(ranked)]
        layer = [node for *_, node in sorted(turns, key=lambda turn: turn[:3])]
    yield from layer
