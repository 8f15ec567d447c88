"""How a query was understood: by identifier, name or synonym, despite a misspelling, or as words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from auscult.concepts import Concept, EntityResolver, KnowledgeBase, Match
from auscult.concepts.aspects import normalise_heading
from auscult.concepts.identifiers import normalise_identifier
from auscult.concepts.mentions import GENERIC, is_acronym
from auscult.concepts.names import abbreviations, normalise_name, order_free_key
from auscult.understanding import Query, QuestionParser, gist, parse_query

# What taxonomies put behind a name, and names of what is left over.
_QUALIFIER = re.compile(r"\s*[(\[].*$")
_REMAINDER = re.compile(r"\b(?:NOS|other|unspecified)\b", re.IGNORECASE)
_SHORTEST = 3
_MOST_NAMES = 16
_NO_TITLES: Mapping[str, str] = MappingProxyType({})


def _no_word(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class AskedEntity:
    """One thing that is asked about.

    Attributes:
        asked: In the words it was asked in.
        names: What it may be called, the asked words first (see `names_of`).
        match: The concept chosen; None where no vocabulary has it.
    """

    asked: str
    names: tuple[str, ...]
    match: Match | None = None


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
        entities: What is asked about, each of it; several in "can I take ibuprofen with warfarin", whose query has both
            in its entity, and the names of neither.
        corrections: Words of the question that were misspelt, as (written, read).
    """

    query: Query
    asked: str = ""
    match: Match | None = None
    alternatives: tuple[Match, ...] = ()
    in_collection: bool = False
    aspects_read: bool = False
    entities: tuple[AskedEntity, ...] = ()
    corrections: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all entities, each once."""
        return tuple(dict.fromkeys(name for entity in self.entities for name in entity.names))

    @property
    def note(self) -> str:
        """One line for people; empty when there was nothing to understand."""
        read = [f"read '{written}' as '{meant}'" for written, meant in self.corrections]
        entity = self._entity_note
        aspects = [f"asked about: {', '.join(self.query.aspects)}"] if self.aspects_read and self.query.aspects else []
        return "; ".join((*read, entity, *aspects)) if entity else ""

    @property
    def _entity_note(self) -> str:
        if not self.asked:
            return "no name was recognised; searching for the question's words" if self.query.text else ""
        if len(self.entities) > 1:
            return f"understood as: {' and '.join(map(_told, self.entities))}"
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


def _told(entity: AskedEntity) -> str:
    concept = entity.match.concept if entity.match else None
    return f"{concept.name} ({concept.concept_id})" if concept else f"'{entity.asked}'"


def understand(
    query: Query,
    parser: QuestionParser,
    titles: Mapping[str, str] = _NO_TITLES,
    in_texts: Callable[[str], bool] = _no_word,
) -> Understanding:
    """Read a query's question where it lacks entity or aspects, and resolve its entity.

    Args:
        query: Its entity and aspects win over its text, but for an entity that is the whole question, as corpora of
            plain questions have it: that is no name. An entity_id that is already set is trusted, and a query without
            entity and text has nothing to resolve.
        parser: Over the index' knowledge base, or over none, which reads by grammar and titles alone.
        titles: Document titles of the collection by `normalise_name` and by the identifier of their entity, where
            that is the document's only one. Models learn entities from titles, so that a title serves better than
            a synonym no document is named by.
        in_texts: Whether a word is in the collection, which is then never taken for a misspelling.

    Returns:
        The query has its question's words with misspellings corrected, and what it asks about by the name that
        documents have for it. Where the question names nothing, its entity is empty.

    Raises:
        QueryError: An identifier is unknown.
    """
    if query.entity_id or not (query.entity or query.text):
        aspects = tuple(dict.fromkeys(part for aspect in query.aspects for part in normalise_heading(aspect)))
        return Understanding(replace(query, aspects=aspects))
    if query.entity == query.text:
        query = replace(query, entity="")
    text, reading = query.text, None
    corrections: tuple[tuple[str, str], ...] = ()
    if text.strip() and not (query.entity and query.aspects):
        text, corrections = parser.spelling.corrected(text, in_texts)
        reading = parser.read(text)
    parsed, matches = parse_query(
        query.entity or None, list(query.aspects), text or None, parser.resolver, parser, reading
    )
    if matches and matches[0].kind == "fuzzy" and _is_spelt(parsed.entity, in_texts):
        parsed, matches = replace(parsed, entity_id=""), []
    asked = query.entity or parsed.entity
    parts = reading.parts if reading and not query.entity else ()
    entities = _entities(asked, parts, matches[0] if matches else None, parser.resolver)
    several = tuple(entity.names for entity in entities) if parts else ()
    understood = Understanding(
        replace(parsed, query_id=query.query_id, several=several, gist=gist(parsed.text, parsed.entity)),
        asked,
        aspects_read=bool(query.text) and not query.aspects,
        entities=entities,
        corrections=corrections,
    )
    if parts or not matches:
        return understood
    return _settled(understood, matches, titles, parser.resolver.knowledge_base)


def _entities(
    asked: str, parts: tuple[str, ...], match: Match | None, resolver: EntityResolver
) -> tuple[AskedEntity, ...]:
    if not asked:
        return ()
    each = [(part, next(iter(resolver.resolve(part, limit=1)), None)) for part in parts] or [(asked, match)]
    return tuple(
        AskedEntity(words, names_of(words, found, resolver.knowledge_base) if found else (words,), found)
        for words, found in each
    )


def _is_spelt(words: str, in_texts: Callable[[str], bool]) -> bool:
    """Whether a collection has a single word as it is written, so that it means what it says."""
    return len(words.split()) == 1 and in_texts(words.lower())


def _settled(
    understood: Understanding, matches: list[Match], titles: Mapping[str, str], knowledge_base: KnowledgeBase
) -> Understanding:
    """With the concept that was chosen, under the name that serves best."""
    best, query = matches[0], replace(understood.query, names=understood.names)
    title = _title(understood.asked, best.concept, titles, knowledge_base)
    renamed = bool(title) and normalise_name(title) != normalise_name(understood.asked)
    # A model may not know the concept; then the name that was meant serves better than its misspelling.
    entity = title or (best.matched_name if best.kind == "fuzzy" else query.entity)
    text, short = (_renamed(words, understood.asked, entity) for words in (query.text, query.gist))
    return replace(
        understood,
        query=replace(query, entity=entity, text=text, gist=short),
        match=best,
        alternatives=tuple(matches[1:]),
        in_collection=renamed,
    )


def _renamed(text: str, asked: str, name: str) -> str:
    """A question with another name for what it asks about, so that its own words lead to what documents call so."""
    if normalise_name(asked) == normalise_name(name):
        return text
    return re.sub(rf"(?<!\w){re.escape(asked)}(?!\w)", lambda _: name, text, flags=re.IGNORECASE)


def names_of(asked: str, match: Match, knowledge_base: KnowledgeBase) -> tuple[str, ...]:
    """What a concept may be called in texts: the asked words, then its names, at most 16, none in two spellings.

    Left out are names that mean something else as often: of three letters and fewer, acronyms but for the common ones,
    class words, and names that are rather another concept's.
    """
    names = match.concept.names
    named = {order_free_key(normalise_name(asked)): asked}
    for full in (match.matched_name, *names):
        name = _QUALIFIER.sub("", full)
        key = normalise_name(name)
        owners = knowledge_base.name_index.get(key, ())
        ambiguous = _REMAINDER.search(name) or (owners and owners[0] != match.concept.concept_id)
        acronym = is_acronym(name, names) and key not in abbreviations()
        if len(name) > _SHORTEST and not (ambiguous or acronym or key in GENERIC or normalise_identifier(name)):
            named.setdefault(order_free_key(key), name)
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
