"""A query: an entity, aspects of it, and the words it was asked in (arnold2020 section 3)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: an entity and one or more aspects of it.

    Attributes:
        query_id: Unique in its split; empty for an ad-hoc query.
        entity: The entity as the user named it, or its preferred name once resolved.
        aspects: Aspects as headings ("symptoms", "exams and tests"); several are averaged.
        entity_id: Identifier in the knowledge base, empty when unresolved.
        text: The original question, empty when there was none.
        names: Further names of the entity: what it was asked by, and synonyms.
    """

    query_id: str
    entity: str
    aspects: tuple[str, ...] = ()
    entity_id: str = ""
    text: str = ""
    names: tuple[str, ...] = ()

    @property
    def all_names(self) -> tuple[str, ...]:
        """The entity and its further names, each once; none where there is no entity."""
        return tuple(dict.fromkeys(name for name in (self.entity, *self.names) if name)) if self.entity else ()

    @property
    def terms(self) -> str:
        """Entity and aspects as one string of words, as term-based models are queried."""
        return " ".join((self.entity, *self.aspects)).strip()
