"""Define queries: an entity, its aspects and the question's words (arnold2020 section 3); and their text for models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Query:
    """A query for one or more aspects of an entity.

    Attributes:
        query_id: Unique in its split; empty for an ad-hoc query.
        entity: Name of the entity, as written or as resolved.
        aspects: Aspects as headings ("symptoms", "exams and tests"); several are averaged.
        entity_id: Identifier in the knowledge base; empty if unresolved.
        text: The original question, if any.
        names: Further names of the entity: the question's words, and synonyms.
        several: The names of each of several entities. `entity` then lists all, and `names` is empty.
        likelihoods: For each entity of `each`, the probability in (0, 1] that it is meant; empty if the user named it.
        aspect_likelihoods: For each aspect, the probability in (0, 1] that it is asked for; empty if the user named it.
        asking: The question without the names in it ("what helps with this"), from which models that can
            (`aspects.ReadsAspects`) read what is asked; empty where the aspects were given.
        titled: Whether the entity was recognised with certainty and is a document's title.
        language: Code of ISO 639-1 of the language that the question is surely in; empty where it is not sure.
    """

    query_id: str
    entity: str
    aspects: tuple[str, ...] = ()
    entity_id: str = ""
    text: str = ""
    names: tuple[str, ...] = ()
    several: tuple[tuple[str, ...], ...] = ()
    likelihoods: tuple[float, ...] = ()
    aspect_likelihoods: tuple[float, ...] = ()
    asking: str = ""
    titled: bool = False
    language: str = ""

    @property
    def each(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of each entity that the query is about; none if it has no entity."""
        return self.several or ((self.all_names,) if self.entity else ())

    @property
    def all_names(self) -> tuple[str, ...]:
        """Return the entity and its further names without repeats; none if there is no entity."""
        further = (*self.names, *(name for names in self.several for name in names))
        return tuple(dict.fromkeys(name for name in (self.entity, *further) if name)) if self.entity else ()

    @property
    def terms(self) -> str:
        """Return entity and aspects as one string, the form in which term-based models are queried."""
        return " ".join((self.entity, *self.aspects)).strip()


Question = Literal["otherwise", "rather", "never"]


def query_text(query: Query, *, between: str = " ", question: Question = "otherwise") -> str:
    """Return the text of a query that a model reads: its entity and aspects, or the question.

    Rankers, TF-IDF and BM25 read "IgA nephropathy symptoms"; CAPR and CK-HQA (grundmann2021, 3.1) read
    "IgA nephropathy ; symptoms". Models that count words ignore the order; a transformer was trained with one.

    Args:
        query: The query.
        between: Separator between entity and aspects, and between aspects.
        question: When to return the words of the question instead: if the query has neither entity nor aspects
            ("otherwise"), whenever it has a question ("rather"), or "never".
    """
    if question == "rather" and query.text:
        return query.text
    parts = between.join(part for part in (query.entity, *query.aspects) if part)
    return parts or ("" if question == "never" else query.text)


def describe(query: Query) -> str:
    """Return entity and aspects of a query in words: "symptoms, treatment of IgA nephropathy"."""
    aspects = ", ".join(query.aspects)
    return f"{aspects} of {query.entity}" if aspects and query.entity else aspects or query.entity
