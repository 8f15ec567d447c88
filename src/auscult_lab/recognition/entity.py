"""Define entities found in texts, the interface of recognisers, and the characters that ranges cover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from auscult.concepts.context import Context
from auscult.concepts.knowledge_base import KnowledgeBase


@dataclass(frozen=True, slots=True)
class Entity:
    """A half-open character range that names an entity: `text[start:end] == name`.

    Attributes:
        start: Offset of the first character in the text.
        end: One past the last character.
        name: The words in the text.
        concept_id: Identifier of the concept; empty if the recogniser has none.
        kind: The recogniser's class for it ("PROBLEM", "disease"); empty if it has no classes.
        found_by: Names of the recognisers that found exactly this range, in the order they were called.
        contexts: Its contexts, if they were marked (`concepts.context`).
    """

    start: int
    end: int
    name: str
    concept_id: str = ""
    kind: str = ""
    found_by: tuple[str, ...] = ()
    contexts: frozenset[Context] = frozenset()


@runtime_checkable
class EntityRecognizer(Protocol):
    """Interface of recognisers, which find entities in running text."""

    name: str

    def recognise(self, text: str) -> list[Entity]:
        """Return the entities of one text in order, without overlap."""
        ...

    def recognise_many(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        """Yield the entities of each text, in order; in batches if the library is faster so."""
        ...


def visible_entity(text: str, start: int, end: int) -> Entity | None:
    """Return an entity for a range without the white space around it; None if nothing is left."""
    name = text[start:end]
    start += len(name) - len(name.lstrip())
    name = name.strip()
    return Entity(start, start + len(name), name) if name else None


def named_concept(knowledge: KnowledgeBase | None, name: str) -> str:
    """Return the identifier of the concept with this name; empty if there is none or no knowledge base."""
    found = next(iter(knowledge.by_name(name)), None) if knowledge is not None else None
    return found.concept_id if found is not None else ""


class Covered:
    """A set of character ranges that tells in linear time which others overlap them, even in texts of megabytes.

    Args:
        spans: Half-open ranges; they may overlap.
    """

    def __init__(self, spans: Iterable[tuple[int, int]] = ()) -> None:
        self._marks = bytearray()
        for start, end in spans:
            self.add(start, end)

    def add(self, start: int, end: int) -> None:
        """Add a range."""
        self._marks.extend(bytes(max(0, end - len(self._marks))))
        self._marks[start:end] = b"\1" * (end - start)

    def touches(self, start: int, end: int) -> bool:
        """Return whether any character of a range is covered."""
        return 1 in self._marks[start:end]
