"""Is_a relations: who stands above, below and beside whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

Relation = Literal["same", "ancestor", "descendant", "sibling", "unrelated"]


class Hierarchy:
    """A directed graph of parents; merged taxonomies may hold cycles, and nothing here minds.

    Args:
        parents: Node -> its parents, for every node; parents that are no nodes are left out.
    """

    def __init__(self, parents: Mapping[str, tuple[str, ...]]) -> None:
        self._parents = {node: tuple(p for p in above if p in parents) for node, above in parents.items()}
        self._children: dict[str, list[str]] = {}
        for node, above in self._parents.items():
            for parent in dict.fromkeys(above):
                self._children.setdefault(parent, []).append(node)

    def parents(self, node: str) -> tuple[str, ...]:
        """Direct parents; empty for a root and for an unknown node."""
        return self._parents.get(node, ())

    def children(self, node: str) -> tuple[str, ...]:
        """Direct children; empty for a leaf and for an unknown node."""
        return tuple(self._children.get(node, ()))

    def ancestors(self, node: str) -> frozenset[str]:
        """All nodes above, without the node itself."""
        return _closure(node, self.parents)

    def descendants(self, node: str) -> frozenset[str]:
        """All nodes below, without the node itself."""
        return _closure(node, self.children)

    def siblings(self, node: str) -> frozenset[str]:
        """All nodes that share a parent."""
        return frozenset(s for parent in self.parents(node) for s in self.children(parent)) - {node}

    def relation(self, first: str, second: str) -> Relation:
        """What the second node is to the first; the closer relation where several hold."""
        if first == second:
            return "same"
        if second in self.ancestors(first):
            return "ancestor"
        if first in self.ancestors(second):
            return "descendant"
        return "sibling" if second in self.siblings(first) else "unrelated"


def _closure(start: str, step: Callable[[str], tuple[str, ...]]) -> frozenset[str]:
    found: set[str] = set()
    pending = [start]
    while pending:
        fresh = set(step(pending.pop())) - found
        found |= fresh
        pending.extend(fresh)
    return frozenset(found - {start})
