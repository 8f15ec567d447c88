"""Small knowledge graphs whose links follow rules that can be learned."""

from __future__ import annotations

from auscult_lab.graphs.graph import KnowledgeGraph, make_graph


def grid_graph(side: int = 8) -> KnowledgeGraph:
    """Places of a square grid, each with its neighbours to the east and to the north: TransE can hold it exactly."""
    places = [(x, y) for x in range(side) for y in range(side)]
    triples = [
        (_name(x, y), relation, _name(x + dx, y + dy))
        for x, y in places
        for relation, dx, dy in (("east", 1, 0), ("north", 0, 1), ("north_east", 1, 1), ("two_east", 2, 0))
        if x + dx < side and y + dy < side
    ]
    return make_graph(triples, {_name(x, y): [f"place {x} {y}", f"{x}/{y}"] for x, y in places})


def ambiguous_graph(entities: int = 40) -> KnowledgeGraph:
    """Entities of which two or three share each name; those that triples name first are in the fewest of them."""
    triples = [
        (f"A:{row}", f"r{relation}", f"A:{(row + step) % entities}")
        for row in range(entities)
        for relation in range(3)
        for step in range(1, 1 + row // 8)
    ]
    names = {f"A:{row}": [f"kind {row % 15}", f"also {row % 13}"] for row in range(entities)}
    return make_graph([("A:0", "r0", "A:1"), *triples], names)


def _name(x: int, y: int) -> str:
    return f"P:{x}-{y}"
