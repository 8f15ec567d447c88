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
        several: Where several things are asked about together, the names of each; the entity has all of them in its
            words then, and no names.
        gist: What a long message asks, in short; empty where all of the text asks.
    """

    query_id: str
    entity: str
    aspects: tuple[str, ...] = ()
    entity_id: str = ""
    text: str = ""
    names: tuple[str, ...] = ()
    several: tuple[tuple[str, ...], ...] = ()
    gist: str = ""

    @property
    def asked(self) -> str:
        """What is asked in words: the gist of a long message, else the whole text."""
        return self.gist or self.text

    @property
    def each(self) -> tuple[tuple[str, ...], ...]:
        """The names of each thing that is asked about; none where there is no entity."""
        return self.several or ((self.all_names,) if self.entity else ())

    @property
    def all_names(self) -> tuple[str, ...]:
        """The entity and its further names, each once; none where there is no entity."""
        further = (*self.names, *(name for names in self.several for name in names))
        return tuple(dict.fromkeys(name for name in (self.entity, *further) if name)) if self.entity else ()

    @property
    def terms(self) -> str:
        """Entity and aspects as one string of words, as term-based models are queried."""
        return " ".join((self.entity, *self.aspects)).strip()
