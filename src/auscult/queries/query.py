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
    """

    query_id: str
    entity: str
    aspects: tuple[str, ...] = ()
    entity_id: str = ""
    text: str = ""

    @property
    def terms(self) -> str:
        """Entity and aspects as one string of words, as term-based models are queried."""
        return " ".join((self.entity, *self.aspects)).strip()
