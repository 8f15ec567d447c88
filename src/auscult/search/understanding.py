"""How a query was understood: by identifier, name or synonym, despite a misspelling, or as words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from auscult.concepts import Match
from auscult.concepts.aspects import normalise_heading
from auscult.concepts.identifiers import normalise_identifier
from auscult.concepts.names import normalise_name
from auscult.errors import QueryError
from auscult.queries import Query, QuestionParser, parse_query

_NO_TITLES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Understanding:
    """A query as it will be answered, and why.

    Attributes:
        query: The query to answer; its entity_id is that of `match`.
        asked: The entity in the words it was asked in.
        match: The concept chosen; None when the words are used as they are.
        alternatives: Other readings of the entity, best first.
        in_collection: The query's entity is a title of the collection, in other words than were asked.
    """

    query: Query
    asked: str = ""
    match: Match | None = None
    alternatives: tuple[Match, ...] = ()
    in_collection: bool = False

    @property
    def note(self) -> str:
        """One line for people; empty when there was no entity to understand."""
        if not self.asked:
            return ""
        if self.match is None:
            return f"'{self.asked}' is not in the knowledge base; searching for its words"
        concept = self.match.concept
        how = {
            "identifier": f"matched identifier {self.match.matched_name}",
            "name": "matched its name",
            "synonym": f"matched synonym '{self.match.matched_name}'",
            "fuzzy": f"nearest to '{self.match.matched_name}' (similarity {self.match.score:.2f})",
        }[self.match.kind]
        named = f"; the documents call it '{self.query.entity}'" if self.in_collection else ""
        return f"understood as: {concept.name} ({concept.concept_id}), {how}{named}"


def understand(query: Query, parser: QuestionParser | None, titles: Mapping[str, str] = _NO_TITLES) -> Understanding:
    """Read a query's question where it lacks entity or aspects, and resolve its entity.

    Args:
        query: Its entity and aspects win over its text. An entity_id that is already set is trusted, and a
            query without entity and text has nothing to resolve.
        parser: Over the index' knowledge base; None when it has none: names are used as given.
        titles: Document titles of the collection by `normalise_name` and by identifier of their entity. Models
            learn entities from titles, so that a title serves better than a synonym no document is named by.

    Raises:
        QueryError: The question names no entity, an identifier is unknown, or without a knowledge base there is
            nothing to read either with.
    """
    if query.entity_id or not (query.entity or query.text):
        aspects = tuple(dict.fromkeys(part for aspect in query.aspects for part in normalise_heading(aspect)))
        return Understanding(replace(query, aspects=aspects))
    if parser is None:
        _check_readable(query)
    parsed, matches = parse_query(
        query.entity or None,
        list(query.aspects),
        query.text or None,
        resolver=parser.resolver if parser else None,
        parser=parser,
    )
    parsed = replace(parsed, query_id=query.query_id)
    if not matches:
        return Understanding(parsed, parsed.entity if parser else "")
    best = matches[0]
    asked = query.entity or parsed.entity
    keys = [*map(normalise_name, (asked, *best.concept.names)), best.concept.concept_id, *best.concept.xrefs]
    title = next((titles[key] for key in keys if key in titles), "")
    if title:
        renamed = normalise_name(title) != normalise_name(asked)
        parsed = replace(parsed, entity=title)
        return Understanding(parsed, asked, best, tuple(matches[1:]), renamed)
    if best.kind == "fuzzy":
        # A model may not know the concept; then the name that was meant serves better than its misspelling.
        parsed = replace(parsed, entity=best.matched_name)
    return Understanding(parsed, asked, best, tuple(matches[1:]))


def _check_readable(query: Query) -> None:
    """Raise QueryError for a query that takes a knowledge base to read."""
    remedy = "this index has no knowledge base; build it again with --knowledge"
    if query.text.strip() and not (query.entity and query.aspects):
        raise QueryError("an entity and an aspect", f"the question {query.text!r}", remedy)
    if normalise_identifier(query.entity):
        raise QueryError("a name", f"the identifier {query.entity!r}", remedy)
