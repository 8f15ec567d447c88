"""How a query was understood: by identifier, name or synonym, despite a misspelling, or as words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from auscult.concepts import Concept, KnowledgeBase, Match
from auscult.concepts.aspects import normalise_heading
from auscult.concepts.identifiers import normalise_identifier
from auscult.concepts.names import normalise_name
from auscult.errors import QueryError
from auscult.queries import Query, QuestionParser, parse_query

_SHORTEST = 3
_MOST_NAMES = 16
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
        aspects_read: The query's aspects come from its question.
    """

    query: Query
    asked: str = ""
    match: Match | None = None
    alternatives: tuple[Match, ...] = ()
    in_collection: bool = False
    aspects_read: bool = False

    @property
    def note(self) -> str:
        """One line for people; empty when there was nothing to understand."""
        aspects = f"; asked about: {', '.join(self.query.aspects)}" if self.aspects_read and self.query.aspects else ""
        if not self.asked:
            return f"no name was recognised; searching for the question's words{aspects}" if self.query.text else ""
        if self.match is None:
            return f"'{self.asked}' is not in the knowledge base; searching for its words{aspects}"
        concept = self.match.concept
        how = {
            "identifier": f"matched identifier {self.match.matched_name}",
            "name": "matched its name",
            "synonym": f"matched synonym '{self.match.matched_name}'",
            "fuzzy": f"nearest to '{self.match.matched_name}' (similarity {self.match.score:.2f})",
        }[self.match.kind]
        named = f"; the documents call it '{self.query.entity}'" if self.in_collection else ""
        return f"understood as: {concept.name} ({concept.concept_id}), {how}{named}{aspects}"


def understand(query: Query, parser: QuestionParser | None, titles: Mapping[str, str] = _NO_TITLES) -> Understanding:
    """Read a query's question where it lacks entity or aspects, and resolve its entity.

    Args:
        query: Its entity and aspects win over its text. An entity_id that is already set is trusted, and a
            query without entity and text has nothing to resolve.
        parser: Over the index' knowledge base; None when it has none: names are used as given.
        titles: Document titles of the collection by `normalise_name` and by the identifier of their entity, where
            that is the document's only one. Models learn entities from titles, so that a title serves better than
            a synonym no document is named by.

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
    read = bool(query.text) and not query.aspects
    if not matches:
        return Understanding(parsed, parsed.entity if parser else "", aspects_read=read)
    best = matches[0]
    asked = query.entity or parsed.entity
    parsed = replace(parsed, names=_names(asked, best))
    title = _title(asked, best.concept, titles, parser.resolver.knowledge_base) if parser else ""
    if title:
        renamed = normalise_name(title) != normalise_name(asked)
        parsed = replace(parsed, entity=title)
        return Understanding(parsed, asked, best, tuple(matches[1:]), renamed, read)
    if best.kind == "fuzzy":
        # A model may not know the concept; then the name that was meant serves better than its misspelling.
        parsed = replace(parsed, entity=best.matched_name)
    return Understanding(parsed, asked, best, tuple(matches[1:]), aspects_read=read)


def _names(asked: str, match: Match) -> tuple[str, ...]:
    """What else the entity may be called: its own words first; synonyms of a few letters are words of other things."""
    others = (match.matched_name, *match.concept.names)
    named: dict[str, str] = {}
    for name in (asked, *(each for each in others if len(each) > _SHORTEST)):
        named.setdefault(normalise_name(name), name)
    return tuple(named.values())[:_MOST_NAMES]


def _title(asked: str, concept: Concept, titles: Mapping[str, str], knowledge_base: KnowledgeBase) -> str:
    """What the collection calls a concept; empty where it has no document of it."""
    for name in (asked, *concept.names):
        if title := titles.get(normalise_name(name)):
            return title
    for identifier in (concept.concept_id, *concept.xrefs):
        title = titles.get(identifier, "")
        if not title:
            continue
        # A code may be cited by several concepts: the document may be about another one. What the knowledge base took
        # from the document itself is called by the code.
        others = {
            other.concept_id for other in (*knowledge_base.by_name(title), *knowledge_base.by_identifier(identifier))
        }
        if others <= {identifier, concept.concept_id}:
            return title
    return ""


def _check_readable(query: Query) -> None:
    """Raise QueryError for a query that takes a knowledge base to read."""
    remedy = "this index has no knowledge base; build it again with --knowledge"
    if query.text.strip() and not (query.entity and query.aspects):
        raise QueryError("an entity and an aspect", f"the question {query.text!r}", remedy)
    if normalise_identifier(query.entity):
        raise QueryError("a name", f"the identifier {query.entity!r}", remedy)
