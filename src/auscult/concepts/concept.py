"""Define the concepts of a taxonomy (diseases, symptoms, codes), their names and their hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

_OF_DISEASES: Final = frozenset({"DOID", "MONDO", "SYMP"})
"""Prefixes of the Disease Ontology, Mondo and the Symptom Ontology."""
Relation = Literal["same", "ancestor", "descendant", "sibling", "unrelated"]


@dataclass(frozen=True, slots=True)
class Concept:
    """A node of the knowledge base.

    Attributes:
        concept_id: Primary identifier, canonical form ("DOID:5844").
        name: Preferred name.
        synonyms: Other names, without the preferred one, no two alike but for case.
        definition: One or two sentences; empty where the source has none.
        xrefs: Identifiers of the same concept in other vocabularies, in canonical form (see `identifiers`), and the
            primary identifiers of records that were merged into this one.
        parents: Primary identifiers of the is_a parents.
        source: The vocabulary ("DO", "Mondo"); "DO|Mondo" after a merge.
    """

    concept_id: str
    name: str
    synonyms: tuple[str, ...] = ()
    definition: str = ""
    xrefs: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    source: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The preferred name, then the synonyms."""
        return (self.name, *self.synonyms)

    @property
    def is_disease(self) -> bool:
        """Whether a vocabulary of diseases or symptoms has it."""
        return self.concept_id.partition(":")[0] in _OF_DISEASES


def distinct_names(names: tuple[str, ...], preferred: str) -> tuple[str, ...]:
    """Drop blank names, the preferred name, and repeats that differ only in case or surrounding white space."""
    seen = {preferred.strip().casefold(), ""}
    distinct = []
    for name in names:
        key = name.strip().casefold()
        if key not in seen:
            seen.add(key)
            distinct.append(name.strip())
    return tuple(distinct)


class Hierarchy:
    """A directed graph of is_a relations. It may contain cycles, as merged taxonomies do.

    Args:
        parents: Parents of every node; parents that are not nodes themselves are ignored.
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
        """Return the relation of the second node to the first; of several, the closest."""
        if first == second:
            return "same"
        if second in self.ancestors(first):
            return "ancestor"
        if first in self.ancestors(second):
            return "descendant"
        return "sibling" if second in self.siblings(first) else "unrelated"


def _closure(start: str, step: Callable[[str], tuple[str, ...]]) -> frozenset[str]:
    reached: set[str] = set()
    pending = [start]
    while pending:
        fresh = set(step(pending.pop())) - reached
        reached |= fresh
        pending.extend(fresh)
    return frozenset(reached - {start})
