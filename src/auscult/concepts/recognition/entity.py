"""An entity found in a text, what finds them, and which characters of a text they take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from auscult.concepts.knowledge_base import KnowledgeBase

Context = Literal["negated", "historical", "family", "hypothetical", "uncertain"]
"""What a sentence says of an entity other than that the patient has it now."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A half-open character range that names a thing: `text[start:end] == name`.

    Attributes:
        start: Offset of the first character in the text that was read.
        end: One past the last character.
        name: The words as they stand there.
        concept_id: Identifier of the concept; empty where the recogniser knows none.
        kind: The recogniser's class of it ("PROBLEM", "disease"); empty where it has no classes.
        found_by: Names of the recognisers that found exactly this range, in the order they were asked.
        contexts: What the sentence says of it, where that was asked for (see `ContextFilter`).
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
    """Finds the names of things in running text."""

    name: str

    def recognise(self, text: str) -> list[Entity]:
        """Entities of one text, in order, without overlap; every range slices back."""
        ...

    def recognise_many(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        """The same for each of several texts, in order; batched where the library gains from it."""
        ...


def visible_entity(text: str, start: int, end: int) -> Entity | None:
    """An entity of this range without its surrounding white space; None where nothing is left of it."""
    name = text[start:end]
    start += len(name) - len(name.lstrip())
    name = name.strip()
    return Entity(start, start + len(name), name) if name else None


def named_concept(knowledge: KnowledgeBase | None, name: str) -> str:
    """Identifier of the concept with this name; empty where there is none, or no knowledge base."""
    found = next(iter(knowledge.by_name(name)), None) if knowledge is not None else None
    return found.concept_id if found is not None else ""


class Covered:
    """Characters that ranges cover, so that a text of megabytes is compared with its ranges in linear time.

    Args:
        spans: Half-open ranges; they may overlap.
    """

    def __init__(self, spans: Iterable[tuple[int, int]] = ()) -> None:
        self._marks = bytearray()
        for start, end in spans:
            self.add(start, end)

    def add(self, start: int, end: int) -> None:
        """Cover a range."""
        self._marks.extend(bytes(max(0, end - len(self._marks))))
        self._marks[start:end] = b"\1" * (end - start)

    def touches(self, start: int, end: int) -> bool:
        """Whether a character of a range is covered."""
        return 1 in self._marks[start:end]
