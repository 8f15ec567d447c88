"""Where a text names entities of a graph (wang2021, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class EntitySpan:
    """A half-open character range of a text that names an entity."""

    start: int
    end: int
    entity_id: str


class EntityLinker(Protocol):
    """Finds entities in text; each span has the one entity the linker thinks most likely."""

    def link(self, text: str) -> list[EntitySpan]:
        """Spans in order, without overlap."""
        ...


__all__ = ["EntityLinker", "EntitySpan"]
