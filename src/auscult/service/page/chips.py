"""What can be chosen beside the hits, each as a link to the same question asked otherwise.

Chips show how the question was understood. Filters show the fields of the documents and their values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from auscult.index import PassageIndex
from auscult.index.fields import SOURCE
from auscult.index.words import analyse
from auscult.interfaces import DocumentEncoder, FloatArray
from auscult.search import Searcher
from auscult.service.answering import unread
from auscult.service.page.asking import ASSERTIONS, Asked
from auscult.service.page.hits import DATES
from auscult.understanding import Query
from auscult.understanding.aspect_words import ASPECT_WORDS
from auscult.understanding.understand import AskedEntity, Understanding

ASPECTS: Final = ("information", *(words.aspect for words in ASPECT_WORDS))
"""What may be asked about."""
_NEIGHBOURS: Final = 6
_BEFORE: Final = "from before"


@dataclass(frozen=True, slots=True)
class Choice:
    """A link to the same question read otherwise."""

    name: str
    detail: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChip:
    """What is asked about.

    Attributes:
        name: As it is called here.
        code: Its identifier; empty where it is only words.
        how: By what it was recognised, in words.
        senses: Other things that the words may mean.
        without: Address of the question without it.
    """

    name: str
    code: str
    how: str
    senses: tuple[Choice, ...]
    without: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectChip:
    """An aspect that is asked for, with those near it; `how` says where it comes from, if not from the question."""

    name: str
    how: str
    instead: tuple[Choice, ...]
    without: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chips:
    """The row of chips.

    Attributes:
        corrections: (as written, as read, address of the question as written).
        words: (word that was not understood, whether any text has it, address without it).
        further: Aspects that could be asked for as well.
        as_words: Address of the question looked for as it stands.
    """

    entities: tuple[EntityChip, ...]
    aspects: tuple[AspectChip, ...]
    corrections: tuple[tuple[str, str, str], ...]
    words: tuple[tuple[str, bool, str], ...]
    further: tuple[Choice, ...]
    as_words: str

    def __bool__(self) -> bool:
        return bool(self.entities or self.aspects or self.corrections or self.words)


def chips_of(understood: Understanding, asked: Asked, searcher: Searcher) -> Chips:
    """Return the chips of a question."""
    query = understood.query
    as_words = _as_words(asked)
    # An entity is understood again as it was: by its identifier, where it has one.
    match = understood.match
    entity = match.concept.concept_id if match and len(understood.entities) == 1 else query.entity
    return Chips(
        entities=tuple(_entity_chip(each, understood, asked) for each in understood.entities),
        aspects=tuple(_aspect_chip(aspect, understood, asked, searcher) for aspect in query.aspects),
        corrections=tuple((written, read, as_words) for written, read in understood.corrections),
        words=tuple(_left_over(understood, asked, searcher)),
        further=tuple(
            Choice(aspect, "", asked.by_entity(entity, (*query.aspects, aspect)).at())
            for aspect in nearest_aspects(searcher, query.aspects or ("information",), len(ASPECTS))
            if aspect not in query.aspects
        ),
        as_words=as_words,
    )


def nearest_aspects(searcher: Searcher, aspects: Sequence[str], number: int = _NEIGHBOURS) -> list[str]:
    """Return the aspects nearest to some in the model's space, best first; in the usual order where it has none."""
    others = [aspect for aspect in ASPECTS if aspect not in aspects]
    if "aspect" not in searcher.encoder.parts:
        return others[:number]
    encoder = searcher.encoder
    vectors = _ASPECTS_ENCODED.get(encoder)
    if vectors is None:
        # Read once: what an encoder makes of a word never changes.
        vectors = _ASPECTS_ENCODED[encoder] = _vectors(encoder, ASPECTS)
    own = [vectors[ASPECTS.index(each)] if each in ASPECTS else _vectors(encoder, (each,))[0] for each in aspects]
    mean = np.mean(own, axis=0)
    ranked = sorted(zip((-(vectors @ mean)).tolist(), ASPECTS, strict=True))
    return [aspect for _, aspect in ranked if aspect in others][:number]


_ASPECTS_ENCODED: WeakKeyDictionary[DocumentEncoder, FloatArray] = WeakKeyDictionary()


def _vectors(encoder: DocumentEncoder, aspects: Sequence[str]) -> FloatArray:
    found = encoder.encode_queries([Query("", "", (aspect,)) for aspect in aspects])[:, encoder.parts["aspect"]]
    vectors: FloatArray = np.nan_to_num(found)
    return vectors


def _as_words(asked: Asked) -> str:
    return replace(asked, entity="", aspects=(), by_parts=False, as_words=True, start=0).at()


def _entity_chip(entity: AskedEntity, understood: Understanding, asked: Asked) -> EntityChip:
    aspects = understood.query.aspects
    several = len(understood.entities) > 1
    match = entity.match
    rest = " and ".join(each.asked for each in understood.entities if each is not entity)
    senses = () if several else entity.alternatives
    how = "not in the vocabulary; looked for by its words"
    if match is not None:
        how = {
            "identifier": f"identifier {match.matched_name}",
            "name": "",
            "synonym": f"synonym \u201c{match.matched_name}\u201d",
            "fuzzy": f"nearest to \u201c{match.matched_name}\u201d",
        }[match.kind]
        if understood.in_collection and not several:
            how = f"{how}; called \u201c{understood.query.entity}\u201d here".removeprefix("; ")
        if entity.likelihood < 1:
            how = f"perhaps; {how}".removesuffix("; ")
    if understood.taken_entity:
        how = f"{how}; {_BEFORE}".removeprefix("; ")
    return EntityChip(
        name=match.concept.name if match else entity.asked,
        code=match.concept.concept_id if match else "",
        how=how,
        senses=tuple(
            Choice(
                each.concept.name,
                each.concept.concept_id,
                asked.by_entity(each.concept.concept_id, aspects).at(),
            )
            for each in senses
        ),
        without=asked.by_entity(rest, aspects).at() if rest or aspects else _as_words(asked),
    )


def _aspect_chip(aspect: str, understood: Understanding, asked: Asked, searcher: Searcher) -> AspectChip:
    query = understood.query
    others = tuple(each for each in query.aspects if each != aspect)
    entity = query.entity_id or query.entity
    near = [each for each in nearest_aspects(searcher, (aspect,)) if each not in query.aspects]
    return AspectChip(
        name=aspect,
        how=_BEFORE if aspect in understood.taken_aspects else "",
        instead=tuple(Choice(each, "", asked.by_entity(entity, (*others, each)).at()) for each in near),
        without=asked.by_entity(entity, others).at() if entity or others else _as_words(asked),
    )


def _left_over(understood: Understanding, asked: Asked, searcher: Searcher) -> list[tuple[str, bool, str]]:
    """Return words that neither entity nor aspects account for; they are searched for all the same."""
    written = {read: word for word, read in understood.corrections}
    found = []
    for word in unread(understood):
        terms = analyse(word)
        held = bool(terms) and all(map(searcher.index.reader.words.holds, terms))
        less = " ".join(re.sub(rf"(?<!\w){re.escape(written.get(word, word))}(?!\w)", " ", asked.text).split())
        found.append((word, held, asked.in_words(less).at()))
    return found


_MOST_VALUES: Final = 40
_SHOWN: Final = 8
_MOST_FIELDS: Final = 8
_NOT_FOR_PEOPLE: Final = frozenset({"access", "split", "overlaps_test_entity"})
"""Who may see a document, and what only studies of models ask for."""
_DATE: Final = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?(?:T.*)?")


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a field, with how many documents have it, and the address that asks for it or no longer.

    What sentences say is not counted: None.
    """

    name: str
    documents: int | None
    chosen: bool
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A field that documents have.

    Attributes:
        values: Those shown at once, most documents first; those chosen are among them.
        is_date: Whether a range is asked for, and not values.
        bounds: First and last of the range asked for.
        active: Whether only some of its values are asked for.
    """

    name: str
    values: tuple[Value, ...] = ()
    further: tuple[Value, ...] = ()
    is_date: bool = False
    bounds: tuple[str, str] = ("", "")
    active: bool = False


def filters_of(index: PassageIndex, asked: Asked) -> list[Filter]:
    """Return the fields that narrow something down: at least two values, and not one for each document."""
    names = sorted(set(index.reader.fields) - _NOT_FOR_PEOPLE, key=lambda name: (name != SOURCE, name))
    found = (_filter(index, name, asked) for name in names)
    return [each for each in found if each is not None][:_MOST_FIELDS]


def assertions_of(query: Query, asked: Asked) -> list[Filter]:
    """Return the filter of what hits may say of the entity; none where there is no entity to say something of."""
    if not (query.all_names or asked.assertions):
        return []
    values = [
        Value(each, None, each in asked.assertions, asked.with_assertion(each, each not in asked.assertions).at())
        for each in ASSERTIONS
    ]
    return [Filter(name="what is said of it", values=tuple(values), active=bool(asked.assertions))]


_COUNTED: WeakKeyDictionary[PassageIndex, dict[str, dict[str, int]]] = WeakKeyDictionary()


def _filter(index: PassageIndex, name: str, asked: Asked) -> Filter | None:
    # Counted once: an opened index never changes.
    kept = _COUNTED.setdefault(index, {})
    if name not in kept:
        kept[name] = {value: number for value, number in index.counts(name).items() if value}
    counts = kept[name]
    chosen = asked.fields.get(name, ())
    bounds = asked.bounds.get(name, ("", ""))
    if name in DATES or (counts and all(map(_DATE.fullmatch, counts))):
        asks = any(bounds)
        return Filter(name=name, is_date=True, bounds=bounds, active=asks) if len(counts) > 1 or asks else None
    tells = 1 < len(counts) <= _MOST_VALUES and max(counts.values()) > 1
    if not tells and not chosen:
        return None
    values = [
        Value(value, number, value in chosen, asked.with_value(name, value, value not in chosen).at())
        for value, number in counts.items()
    ]
    values.sort(key=lambda value: not value.chosen)
    shown = max(_SHOWN, len(chosen))
    return Filter(
        name=name, values=tuple(values[:shown]), further=tuple(values[shown:_MOST_VALUES]), active=bool(chosen)
    )
