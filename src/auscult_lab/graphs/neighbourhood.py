"""What stands around an entity of a graph: the part of it within a few steps, the closest entities first."""

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
    """How an entity was reached.

    Attributes:
        parent: The entity it was reached from, one step closer to the centre.
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
        graph: The kept entities, from close to far with the centre first, and all triples between them.
        distances: Of each, its steps from the centre.
        links: Of each but the centre, how it was reached: a tree over the entities.
        steps: As asked for.
        within: How many entities the whole graph has within these steps, the centre not among them.
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
        graph: Where to look.
        entity: Its id in any usual spelling, its name, or a synonym; case and punctuation make no difference. Of
            several with one name that in the most triples, one that prefers the name before one that does not.

    Raises:
        QueryError: None is called so; says which names are alike.
    """
    for identifier in (entity, entity_id(entity)):
        if identifier in graph.entities:
            return graph.entities.index(identifier)
    key = normalise_name(entity)
    degree = degrees(graph)
    found = [
        (normalise_name(names[0]) != key, -int(degree[number]), number)
        for number, names in enumerate(graph.names)
        if key and any(normalise_name(name) == key for name in names)
    ]
    if found:
        return min(found)[-1]
    keys = {normalise_name(name): name for names in graph.names for name in names}
    keys.pop("", None)
    alike = [keys[name] for name, _ in FuzzyNames(list(keys)).search(key, 3, 0.7)]
    remedy = f"did you mean {' or '.join(alike)}?" if alike else "give an id or a name of the graph"
    raise QueryError("an entity of the graph", repr(entity), remedy)


def neighbourhood(graph: KnowledgeGraph, entity: str, steps: int = 2, limit: int = 30) -> Neighbourhood:
    """Return the part of a graph within some steps of an entity, whatever the direction of the triples.

    Closer entities come first. Of those equally far, each relation of each entity they are reached from has its turn,
    and in its turn gives the entity that is in the most triples: a disease with a hundred subtypes and one symptom
    shows the symptom too.

    Args:
        graph: Where to look.
        entity: See `find_entity`.
        steps: At least one.
        limit: At most so many entities besides the centre.

    Raises:
        QueryError: No entity is called so.
        ConfigError: `steps` or `limit` is less than one.
    """
    if min(steps, limit) < 1:
        got = f"{steps} steps and {limit} entities"
        raise ConfigError("at least one step and one entity", got, "raise the number")
    reached = list(_walk(graph, find_entity(graph, entity), steps))
    kept = reached[: limit + 1]
    places = {each.entity: place for place, each in enumerate(kept)}
    inside = np.isin(graph.triples[:, [0, 2]], list(places)).all(axis=1)
    triples = graph.triples[inside]
    relations = {int(old): new for new, old in enumerate(np.unique(triples[:, 1]))}
    rows = [(places[subject], relations[relation], places[object_]) for subject, relation, object_ in triples.tolist()]
    part = KnowledgeGraph(
        tuple(graph.entities[each.entity] for each in kept),
        tuple(graph.names[each.entity] for each in kept),
        tuple(graph.relations[old] for old in relations),
        np.array(rows, dtype=np.int64).reshape(-1, 3),
    )
    links = tuple(
        Link(places[each.link.parent], relations[each.link.relation], each.link.outward) for each in kept if each.link
    )
    return Neighbourhood(part, tuple(each.distance for each in kept), links, steps, len(reached) - 1)


def _walk(graph: KnowledgeGraph, centre: int, steps: int) -> Iterator[_Reached]:
    """Yield the entities within some steps, in order of closeness."""
    neighbours, degree = Neighbours(graph), degrees(graph)
    layer = [_Reached(centre, 0, None)]
    seen = {centre}
    for distance in range(1, steps + 1):
        yield from layer
        groups: dict[Link, list[_Reached]] = defaultdict(list)
        for each in layer:
            for relation, outward, other in neighbours.of(each.entity):
                if other not in seen:
                    seen.add(other)
                    link = Link(each.entity, relation, outward)
                    groups[link].append(_Reached(other, distance, link))
        # The first of every group, then the second of every group, and so on; within a group by degree.
        turns: list[tuple[int, int, int, _Reached]] = []
        for number, group in enumerate(groups.values()):
            ranked = sorted(group, key=lambda each: -int(degree[each.entity]))
            turns += [(turn, -int(degree[each.entity]), number, each) for turn, each in enumerate(ranked)]
        layer = [each for *_, each in sorted(turns, key=lambda turn: turn[:3])]
    yield from layer
