"""Understand queries: by identifier, by name or synonym, despite misspellings, or only as words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from auscult.concepts.concept import Concept
from auscult.concepts.identifiers import normalise_identifier
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.concepts.mentions import GENERIC, is_acronym
from auscult.concepts.names import abbreviations, normalise_name, order_free_key
from auscult.concepts.resolver import EntityResolver, Match
from auscult.documents.language_names import ENGLISH, UNKNOWN, language_name
from auscult.errors import QueryError
from auscult.understanding.query import Query
from auscult.understanding.question_language import QuestionLanguage, read_language
from auscult.understanding.reading import SURE, Possible, QuestionParser
from auscult.understanding.spelling import ordinary_words

# Qualifiers that taxonomies add after a name, and names of residual categories.
_QUALIFIER = re.compile(r"\s*[(\[].*$")
_REMAINDER = re.compile(r"\b(?:NOS|other|unspecified)\b", re.IGNORECASE)
_SHORTEST = 3
_MOST_NAMES = 16
_MOST_FOREIGN = 4
# Shorter words are similar to too many others.
_LONG_ENOUGH = 6
_NO_TITLES: Mapping[str, str] = MappingProxyType({})
_NOTHING: Mapping[str, float] = MappingProxyType({})
_DOUBTFUL = 0.5
"""Most that a name without an exact match can be likely."""


@dataclass(frozen=True, slots=True)
class AskedEntity:
    """An entity that a query is, or may be, about.

    Attributes:
        asked: Its name in the words of the query.
        names: Names it may have in texts, the query's words first (see `names_of`).
        match: The chosen concept; None if no vocabulary has it.
        alternatives: Other concepts that the words may mean, best first.
        title: The title of the collection's documents about it; empty if there are none.
        likelihood: Probability that the query is about it, in (0, 1].
        called: Its name in a language of the collection, if the query's words are in another; else empty.
    """

    asked: str
    names: tuple[str, ...]
    match: Match | None = None
    alternatives: tuple[Match, ...] = ()
    title: str = ""
    likelihood: float = 1.0
    called: str = ""

    @property
    def sure(self) -> bool:
        """Whether the query is taken to be about it."""
        return self.likelihood >= SURE

    @property
    def name(self) -> str:
        """Return the most useful name: a title if there is one, as models learn entities from titles."""
        if self.match is None:
            return self.asked
        named = {"fuzzy": self.match.matched_name, "identifier": self.match.concept.name}
        return self.title or self.called or named.get(self.match.kind, self.asked)


@dataclass(frozen=True, slots=True)
class Understanding:
    """The query to answer, and how it was derived from the given one.

    Attributes:
        query: The query to answer; its entity_id is that of `match`.
        aspects_read: Whether the aspects were read from the question.
        likely: How likely each known aspect is asked for, the likeliest first; empty where none was read.
        entities: Everything the query is, or may be, about. "Can I take ibuprofen with warfarin" has two: the query's
            entity then lists both, and its names are empty.
        corrections: Misspelt words of the question, as (written, read).
        taken_entity: The entity that was taken from an earlier question of the conversation; empty if none was.
        taken_aspects: The aspects that were taken from it.
    """

    query: Query
    aspects_read: bool = False
    likely: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    entities: tuple[AskedEntity, ...] = ()
    corrections: tuple[tuple[str, str], ...] = ()
    taken_entity: str = ""
    taken_aspects: tuple[str, ...] = ()

    @property
    def language(self) -> str:
        """Return the code of the language that the question is surely in; empty where it is not sure."""
        return self.query.language

    @property
    def asked(self) -> str:
        """Return the entity in the words of the question."""
        return " and ".join(entity.asked for entity in self.entities)

    @property
    def match(self) -> Match | None:
        """Return the concept of a single entity; None for several, or if no vocabulary has it."""
        return self.entities[0].match if len(self.entities) == 1 else None

    @property
    def alternatives(self) -> tuple[Match, ...]:
        """Return other concepts that a single entity may mean, best first."""
        return self.entities[0].alternatives if len(self.entities) == 1 else ()

    @property
    def in_collection(self) -> bool:
        """Return whether a single entity has a title in the collection that differs from the query's words."""
        titles = [each.title for each in self.entities if normalise_name(each.title) != normalise_name(each.asked)]
        return len(self.entities) == 1 and any(titles)

    @property
    def note(self) -> str:
        """Return one line that explains the reading to users; empty if there is nothing to explain."""
        language = self.query.language
        in_another = [f"question in {language_name(language)}"] if language not in ("", ENGLISH) else []
        read = [f"read '{written}' as '{meant}'" for written, meant in self.corrections]
        entity = self._entity_note
        aspects = []
        if self.aspects_read and self.likely:
            read_as = [f"{aspect} ({self.likely.get(aspect, 1.0):.0%})" for aspect in self.query.aspects]
            nearest, chance = next(iter(self.likely.items()))
            aspects = [f"asked about: {', '.join(read_as) or f'not sure, perhaps {nearest} ({chance:.0%})'}"]
        taken = ", ".join(filter(None, (self.taken_entity, *self.taken_aspects)))
        before = [f"from before: {taken}"] if taken else []
        return "; ".join((*in_another, *read, entity, *aspects, *before)) if entity else ""

    @property
    def _entity_note(self) -> str:
        if not self.asked:
            return "no name was recognised; searching for the question's words" if self.query.text else ""
        if len(self.entities) > 1:
            sure = all(entity.sure for entity in self.entities)
            concepts = [(each, each.match.concept if each.match else None) for each in self.entities]
            listed = (" and " if sure else ", ").join(
                f"{concept.name} ({concept.concept_id})" if concept else f"'{each.asked}'" for each, concept in concepts
            )
            return f"{'understood as' if sure else 'may be about'}: {listed}"
        if self.match is None:
            return f"'{self.asked}' is not in the knowledge base; searching for its words"
        concept = self.match.concept
        how = {
            "identifier": f"matched identifier {self.match.matched_name}",
            "name": "matched its name",
            "synonym": f"matched synonym '{self.match.matched_name}'",
            "fuzzy": f"nearest to '{self.match.matched_name}' (similarity {self.match.score:.2f})",
        }[self.match.kind]
        if self.match.language != ENGLISH:
            how = f"{language_name(self.match.language)} '{self.match.matched_name}'"
        named = f"; the documents call it '{self.query.entity}'" if self.in_collection else ""
        verb = "understood as" if self.entities[0].sure else "may be about"
        return f"{verb}: {concept.name} ({concept.concept_id}), {how}{named}"


def understand(
    query: Query,
    parser: QuestionParser,
    titles: Mapping[str, str] = _NO_TITLES,
    in_texts: Callable[[str], bool] = lambda _: False,
    of_collection: Callable[[], str] = lambda: "",
    languages: Sequence[str] = (ENGLISH,),
) -> Understanding:
    """Read a query's question if the query lacks entity or aspects, and resolve its entity.

    Args:
        query: The query. Its entity and aspects take precedence over its text, unless the entity is the whole
            question, as in corpora of plain questions. An entity_id that is already set is trusted.
        parser: Parser over the index' knowledge base; over none, it reads by titles and wording alone.
        titles: Document titles of the collection by `normalise_name` and by the identifier of their entity, if the
            document has only that one. Models learn entities from titles, so a title is more useful than a synonym
            that no document has as its title.
        in_texts: Whether a word occurs in the collection; such a word is never treated as misspelt.
        of_collection: Returns the main language of the collection, as which a question without a sure language is
            read; empty for English. No word of a question in another language is treated as misspelt, no aspect is
            read in it, and of English names only long ones are.
        languages: Codes of the collection's languages, the most frequent first.

    Returns:
        The understanding. Its query has the question with misspellings corrected, and the entity under the name that
        documents have for it; the entity is empty if the question names none.

    Raises:
        QueryError: An identifier is unknown.
    """
    aspects = tuple(dict.fromkeys(part for aspect in query.aspects for part in parser.aspects_named(aspect, languages)))
    if query.entity_id or not (query.entity or query.text):
        return Understanding(replace(query, aspects=aspects))
    entity = "" if query.entity == query.text else query.entity.strip()
    text = query.text.strip()
    corrections: tuple[tuple[str, str], ...] = ()
    # An entity alone may be a name of any language, unless an English one is the same.
    possible: tuple[Possible, ...] = (Possible(entity, 1.0, UNKNOWN),) if entity else ()
    asking, likely, language = "", _NOTHING, QuestionLanguage()
    if text and not (entity and aspects):
        language = read_language(text, parser, of_collection)
        if language.in_english:
            text, corrections = parser.spelling.correct(text, in_texts)
        reading = parser.read(text, language.of_names)
        if not aspects:
            aspects, asking, likely = reading.aspects, reading.asking, reading.likely
        possible = possible or reading.entities
    may_be_misspelt = bool(entity) or language.in_english
    entities = tuple(
        _resolve_entity(
            candidate, parser.resolver, titles, in_texts, languages, given=bool(entity), may_be_misspelt=may_be_misspelt
        )
        for candidate in possible
    )
    if entity and entities[0].match is None and normalise_identifier(entity):
        remedy = "give a name, or an identifier such as DOID:2986 or UMLS:C0017661"
        raise QueryError("an identifier of the knowledge base", repr(entity), remedy)
    for resolved in entities:
        # Name it as documents do.
        if resolved.sure and normalise_name(resolved.asked) != normalise_name(resolved.name):
            words = rf"(?<!\w){re.escape(resolved.asked)}(?!\w)"
            text = re.sub(words, resolved.name.replace("\\", r"\\"), text, flags=re.IGNORECASE)
    read = Query(
        query.query_id,
        " and ".join(resolved.name for resolved in entities),
        aspects,
        text=text,
        aspect_likelihoods=tuple(likely[aspect] for aspect in aspects) if likely else (),
        asking=asking,
        language=language.code,
    )
    if len(entities) == 1:
        (only,) = entities
        match = only.match
        read = replace(read, entity_id=match.concept.concept_id if match else "", names=only.names if match else ())
    elif entities:
        read = replace(read, several=tuple(resolved.names for resolved in entities))
    read = replace(
        read,
        likelihoods=() if entity else tuple(resolved.likelihood for resolved in entities),
        titled=bool(entities and not entity) and all(one.title and one.sure for one in entities),
    )
    return Understanding(read, bool(query.text) and not query.aspects, likely, entities, corrections)


def _resolve_entity(
    possible: Possible,
    resolver: EntityResolver,
    titles: Mapping[str, str],
    in_texts: Callable[[str], bool],
    languages: Sequence[str],
    *,
    given: bool,
    may_be_misspelt: bool,
) -> AskedEntity:
    """Return a possible entity with its concept and the title that documents have for it."""
    words = possible.words
    # Words of the collection and everyday words are not misspelt.
    lowered = words.lower().split()
    spelt = all(in_texts(word) or word in ordinary_words() for word in lowered) and (not given or len(lowered) == 1)
    fuzzy = may_be_misspelt and not spelt and (given or len(words) >= _LONG_ENOUGH)
    matches = resolver.resolve(words, fuzzy=fuzzy, language=possible.language)
    known = resolver.knowledge_base
    if not matches:
        return AskedEntity(words, (words,), title=titles.get(normalise_name(words), ""), likelihood=possible.likelihood)
    match = matches[0]
    likelihood = min(possible.likelihood, _DOUBTFUL) if match.kind == "fuzzy" and not given else possible.likelihood
    title = _find_title(words, match.concept, titles, known, languages)
    names = names_of(words, match, known, languages)
    called = "" if match.language in languages else _name_in(languages, match.concept, known)
    return AskedEntity(words, names, match, tuple(matches[1:]), title, likelihood, called)


def _name_in(languages: Sequence[str], concept: Concept, known: KnowledgeBase) -> str:
    """Return the preferred name of a concept in the first language that has one; empty if none has."""
    for language in languages:
        if names := (concept.name,) if language == ENGLISH else known.foreign.names(concept.concept_id, [language]):
            return names[0]
    return ""


def names_of(
    words: str, match: Match, knowledge_base: KnowledgeBase, languages: Sequence[str] = (ENGLISH,)
) -> tuple[str, ...]:
    """Return at most 16 names that a concept may have in texts, each in one spelling, the query's words first.

    Ambiguous names are left out: names of at most three letters, uncommon acronyms, words for a class of things, and
    names that mostly mean another concept. In other languages acronyms of three letters count, if no other concept has
    them.

    Args:
        words: The words of the query.
        match: The concept that they stand for.
        knowledge_base: The knowledge base of the concept.
        languages: Codes of the languages of the texts. Each language but English adds at most four names.
    """
    names = match.concept.names
    named = {order_free_key(normalise_name(words)): words}
    foreign = _foreign_names_of(match.concept, knowledge_base, languages)
    if ENGLISH not in languages:
        named = {order_free_key(normalise_name(name)): name for name in (words, *foreign)}
    matched = (match.matched_name,) if match.language in languages or match.language == ENGLISH else ()
    for full in (*matched, *names):
        name = _QUALIFIER.sub("", full)
        key = normalise_name(name)
        owners = knowledge_base.name_index.get(key, ())
        ambiguous = _REMAINDER.search(name) or (owners and owners[0] != match.concept.concept_id)
        acronym = is_acronym(name, names) and key not in abbreviations()
        if len(name) > _SHORTEST and not (ambiguous or acronym or key in GENERIC or normalise_identifier(name)):
            named.setdefault(order_free_key(key), name)
    chosen = tuple(named.values())
    added = {order_free_key(normalise_name(name)): name for name in foreign} if ENGLISH in languages else {}
    further = tuple(name for key, name in added.items() if key not in named)
    return (*chosen[: _MOST_NAMES - len(further)], *further)[:_MOST_NAMES]


def _foreign_names_of(concept: Concept, known: KnowledgeBase, languages: Sequence[str]) -> list[str]:
    """Return up to four names of a concept in each language but English; none that another concept has."""
    chosen: list[str] = []
    for language in languages:
        names = known.foreign.names(concept.concept_id, [language]) if language != ENGLISH else ()
        own = (concept.concept_id,)
        unshared = (name for name in names if known.foreign.find(name, language) == own)
        chosen += [name for name in unshared if known.name_index.get(normalise_name(name), own)[0] == own[0]][
            :_MOST_FOREIGN
        ]
    return chosen


def _find_title(
    words: str,
    concept: Concept,
    titles: Mapping[str, str],
    knowledge_base: KnowledgeBase,
    languages: Sequence[str] = (ENGLISH,),
) -> str:
    """Return the collection's title for a concept; empty if no document is about it."""
    foreign = knowledge_base.foreign.names(concept.concept_id, [each for each in languages if each != ENGLISH])
    for name in (words, *concept.names, *foreign):
        if title := titles.get(normalise_name(name)):
            return title
    for identifier in (concept.concept_id, *concept.xrefs):
        title = titles.get(identifier, "")
        if not title:
            continue
        # A code may be cited by several concepts, and the document may be about another one. An entity that came
        # from the document itself has the code as its identifier.
        others = {
            other.concept_id for other in (*knowledge_base.by_name(title), *knowledge_base.by_identifier(identifier))
        }
        if others <= {identifier, concept.concept_id}:
            return title
    return ""
