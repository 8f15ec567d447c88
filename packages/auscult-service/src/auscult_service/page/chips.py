"""Chips and filters beside the hits; each is a link to a variant of the question.

Chips show how the question was understood. Filters show the fields of the documents and their values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from auscult.concepts import Match
from auscult.documents.language_names import ENGLISH
from auscult.encoders.contract import DocumentEncoder, FloatArray
from auscult.index import PassageIndex
from auscult.index.fields import SOURCE
from auscult.search import Searcher
from auscult.understanding import Query
from auscult.understanding.aspects import QUESTIONS
from auscult.understanding.understand import AskedEntity, Understanding
from auscult_service.answering import unread
from auscult_service.page.asking import ASSERTIONS, PageQuestion
from auscult_service.page.hits import DATES
from auscult_service.page.messages import LanguageName, Message, message
from auscult_service.page.words import ASSERTIONS as ASSERTION_NAMES
from auscult_service.page.words import SAID, aspect_name

ASPECTS: Final = tuple(QUESTIONS)
"""Aspects that can be chosen."""
_NEIGHBOURS: Final = 3
_USUAL: Final = ("symptoms", "causes", "diagnosis", "treatment", "prognosis")
"""Offered in place of any aspect."""
_BEFORE: Final = message("from before")


@dataclass(frozen=True, slots=True)
class Choice:
    """A link to a variant of the question."""

    name: Message | str
    detail: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChip:
    """The entity of the question.

    Attributes:
        name: Its name.
        code: Its identifier; empty where it is not in the vocabulary.
        how: How it was recognised, in parts.
        senses: Other meanings of the words.
        without: URL of the question without it.
    """

    name: str
    code: str
    how: tuple[Message, ...]
    senses: tuple[Choice, ...]
    without: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectChip:
    """An aspect of the question, with similar ones; `how` says where it is from, if not from the question."""

    name: str
    how: tuple[Message, ...]
    instead: tuple[Choice, ...]
    without: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chips:
    """The row of chips.

    Attributes:
        corrections: (as written, as read, URL of the question as written).
        words: (word that was not understood, whether any document has it, URL of the question without it).
        further: Aspects that could be added.
        as_words: URL of the question as plain words.
        language: Says the question's language, if it is surely another than English.
    """

    entities: tuple[EntityChip, ...]
    aspects: tuple[AspectChip, ...]
    corrections: tuple[tuple[str, str, str], ...]
    words: tuple[tuple[str, bool, str], ...]
    further: tuple[Choice, ...]
    as_words: str
    language: Message | None = None

    def __bool__(self) -> bool:
        return bool(self.language or self.entities or self.aspects or self.corrections or self.words)


def chips_of(understood: Understanding, question: PageQuestion, searcher: Searcher) -> Chips:
    """Return the chips of a question."""
    query = understood.query
    as_words = _ask_as_words(question)
    # The identifier, where there is one, so that the entity is understood in the same way again.
    match = understood.match
    entity = match.concept.concept_id if match and len(understood.entities) == 1 else query.entity
    return Chips(
        entities=tuple(_make_entity_chip(asked, understood, question) for asked in understood.entities),
        aspects=tuple(_make_aspect_chip(aspect, understood, question, searcher) for aspect in query.aspects),
        corrections=tuple((written, read, as_words) for written, read in understood.corrections),
        words=tuple(_find_unread(understood, question, searcher)),
        further=tuple(
            Choice(aspect_name(aspect), "", question.by_entity(entity, (*query.aspects, aspect)).at())
            for aspect in nearest_aspects(searcher, query.aspects or ("information",), len(ASPECTS))
            if aspect not in query.aspects
        ),
        as_words=as_words,
        language=message("question in %(language)s", language=LanguageName(query.language))
        if query.language not in ("", ENGLISH)
        else None,
    )


def nearest_aspects(searcher: Searcher, aspects: Sequence[str], number: int = _NEIGHBOURS) -> list[str]:
    """Return the aspects that the model finds most similar, best first; in the usual order without such a model."""
    others = [aspect for aspect in ASPECTS if aspect not in aspects]
    if "aspect" not in searcher.encoder.parts:
        return others[:number]
    encoder = searcher.encoder
    vectors = _ASPECTS_ENCODED.get(encoder)
    if vectors is None:
        # Cached: the vectors of an encoder never change.
        vectors = _ASPECTS_ENCODED[encoder] = _encode(encoder, ASPECTS)
    own = [vectors[ASPECTS.index(each)] if each in ASPECTS else _encode(encoder, (each,))[0] for each in aspects]
    mean = np.mean(own, axis=0)
    ranked = sorted(zip((-(vectors @ mean)).tolist(), ASPECTS, strict=True))
    return [aspect for _, aspect in ranked if aspect in others][:number]


_ASPECTS_ENCODED: WeakKeyDictionary[DocumentEncoder, FloatArray] = WeakKeyDictionary()


def _encode(encoder: DocumentEncoder, aspects: Sequence[str]) -> FloatArray:
    encoded = encoder.encode_queries([Query("", "", (aspect,)) for aspect in aspects])[:, encoder.parts["aspect"]]
    vectors: FloatArray = np.nan_to_num(encoded)
    return vectors


def _ask_as_words(question: PageQuestion) -> str:
    return replace(question, entity="", aspects=(), by_parts=False, as_words=True, start=0).at()


def _make_entity_chip(entity: AskedEntity, understood: Understanding, question: PageQuestion) -> EntityChip:
    aspects = understood.query.aspects
    several = len(understood.entities) > 1
    match = entity.match
    rest = " and ".join(other.asked for other in understood.entities if other is not entity)
    senses = () if several else entity.alternatives
    how = [message("not in the vocabulary; looked for by its words")]
    if match is not None:
        how = _name_match(match)
        if understood.in_collection and not several:
            how.append(message("called “%(name)s” here", name=understood.query.entity))
        if entity.likelihood < 1:
            how.insert(0, message("perhaps"))
    if understood.taken_entity:
        how.append(_BEFORE)
    return EntityChip(
        name=match.concept.name if match else entity.asked,
        code=match.concept.concept_id if match else "",
        how=tuple(how),
        senses=tuple(
            Choice(
                sense.concept.name,
                sense.concept.concept_id,
                question.by_entity(sense.concept.concept_id, aspects).at(),
            )
            for sense in senses
        ),
        without=question.by_entity(rest, aspects).at() if rest or aspects else _ask_as_words(question),
    )


def _name_match(match: Match) -> list[Message]:
    """Return how a name was matched; nothing for the name itself."""
    if match.language != ENGLISH:
        language = LanguageName(match.language)
        return [message("%(language)s “%(name)s”", language=language, name=match.matched_name)]
    if match.kind == "identifier":
        return [message("identifier %(name)s", name=match.matched_name)]
    if match.kind == "synonym":
        return [message("synonym “%(name)s”", name=match.matched_name)]
    return [message("nearest to “%(name)s”", name=match.matched_name)] if match.kind == "fuzzy" else []


def _make_aspect_chip(aspect: str, understood: Understanding, question: PageQuestion, searcher: Searcher) -> AspectChip:
    query = understood.query
    others = tuple(other for other in query.aspects if other != aspect)
    entity = query.entity_id or query.entity
    ranked = (*list(understood.likely)[:_NEIGHBOURS], *nearest_aspects(searcher, (aspect,)), *_USUAL)
    near = [each for each in dict.fromkeys(ranked) if each not in query.aspects]
    return AspectChip(
        name=aspect,
        how=(_BEFORE,) if aspect in understood.taken_aspects else (),
        instead=tuple(
            Choice(aspect_name(near_aspect), "", question.by_entity(entity, (*others, near_aspect)).at())
            for near_aspect in near
        ),
        without=question.by_entity(entity, others).at() if entity or others else _ask_as_words(question),
    )


def _find_unread(understood: Understanding, question: PageQuestion, searcher: Searcher) -> list[tuple[str, bool, str]]:
    """Return the words that belong to neither entity nor aspects. They are searched for nevertheless."""
    written = {read: word for word, read in understood.corrections}
    words = []
    for word in unread(understood):
        occurs = searcher.index.reader.words.occurs(word, understood.language)
        less = " ".join(re.sub(rf"(?<!\w){re.escape(written.get(word, word))}(?!\w)", " ", question.text).split())
        words.append((word, occurs, question.in_words(less).at()))
    return words


_MOST_VALUES: Final = 40
_SHOWN: Final = 8
_MOST_FIELDS: Final = 8
_NOT_FOR_PEOPLE: Final = frozenset({"access", "split", "overlaps_test_entity"})
"""Fields that are not shown: access groups, and fields for the evaluation of models."""
_DATE: Final = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?(?:T.*)?")


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a field, with the number of its documents, and the URL that adds it to the filters or removes it.

    The number is None for assertions, which are not counted.
    """

    name: Message | str
    documents: int | None
    chosen: bool
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A field that documents have.

    Attributes:
        values: Values that are shown at once: the chosen ones, then those of the most documents.
        further: Values that are shown on request.
        is_date: Whether the filter is a range instead of values.
        bounds: First and last value of the chosen range.
        active: Whether the filter is in use.
    """

    name: str
    values: tuple[Value, ...] = ()
    further: tuple[Value, ...] = ()
    is_date: bool = False
    bounds: tuple[str, str] = ("", "")
    active: bool = False


def filters_of(index: PassageIndex, question: PageQuestion) -> list[Filter]:
    """Return the fields that are useful as filters: they have several values, but not one for each document."""
    names = sorted(set(index.reader.fields) - _NOT_FOR_PEOPLE, key=lambda name: (name != SOURCE, name))
    filters = (_make_filter(index, name, question) for name in names)
    return [each for each in filters if each is not None][:_MOST_FIELDS]


def assertions_of(query: Query, question: PageQuestion) -> list[Filter]:
    """Return the filter of what hits say about the entity; an empty list for a question without an entity."""
    if not (query.all_names or question.assertions):
        return []
    values = [
        Value(
            ASSERTION_NAMES[assertion],
            None,
            assertion in question.assertions,
            question.with_assertion(assertion, assertion not in question.assertions).at(),
        )
        for assertion in ASSERTIONS
    ]
    return [Filter(name=SAID, values=tuple(values), active=bool(question.assertions))]


_COUNTS: WeakKeyDictionary[PassageIndex, dict[str, dict[str, int]]] = WeakKeyDictionary()


def _make_filter(index: PassageIndex, name: str, question: PageQuestion) -> Filter | None:
    # Cached: an opened index never changes.
    counts_by_field = _COUNTS.setdefault(index, {})
    if name not in counts_by_field:
        counts_by_field[name] = {value: number for value, number in index.counts(name).items() if value}
    counts = counts_by_field[name]
    chosen = question.fields.get(name, ())
    bounds = question.bounds.get(name, ("", ""))
    if name in DATES or (counts and all(map(_DATE.fullmatch, counts))):
        asks = any(bounds)
        return Filter(name=name, is_date=True, bounds=bounds, active=asks) if len(counts) > 1 or asks else None
    tells = 1 < len(counts) <= _MOST_VALUES and max(counts.values()) > 1
    if not tells and not chosen:
        return None
    values = [
        Value(value, number, value in chosen, question.with_value(name, value, value not in chosen).at())
        for value, number in counts.items()
    ]
    values.sort(key=lambda value: not value.chosen)
    shown = max(_SHOWN, len(chosen))
    return Filter(
        name=name, values=tuple(values[:shown]), further=tuple(values[shown:_MOST_VALUES]), active=bool(chosen)
    )
