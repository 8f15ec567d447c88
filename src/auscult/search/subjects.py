"""Which sentences of a passage are about something else than a question: another row, entry or patient.

All that marks sentences asks this module: hits (`search.marks`) and opened documents (`search.spans`).

Most documents are about one thing, and all of their sentences are about it. A formulary, a sheet or a list of patients
has an entry for each of many (`search.entries`). Of these the question names some: by its entity, or by those of its
words that title and headings do not have and that say more than how questions are worded. An entry is about another
subject where

    others hold such a word in their label and it does not, or only some of those that another label holds; else
    others begin with such a word, and it does not; else
    others hold such a word, and it does not.

A word that all entries hold tells none of them apart. Where the entries have names and none holds what the question
names, all of them are about other subjects.

`search.persons` distinguishes the records of patients.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from auscult.concepts.names import normalise_name
from auscult.index.reader import GenerationReader
from auscult.index.store import DocumentRecord
from auscult.index.words import analyse
from auscult.readers.tables import BETWEEN
from auscult.search.entries import Entry, entries_of
from auscult.search.persons import (
    NOBODY,
    AskedPerson,
    Identity,
    Name,
    folded_words,
    has_number_or_date,
    identity_in,
    identity_of,
    may_name_one_of,
    name_in_heading,
    persons_in,
    words_of_names,
)
from auscult.understanding.query import Query
from auscult.understanding.reading import ASKING_WORDS
from auscult.understanding.saying import SAYING_NOTHING

NOTHING: Final[frozenset[int]] = frozenset()
_HEAD: Final = 60
"""Letters of an entry in which a further name of its subject stands, such as a brand's."""
_LONG_NUMBER: Final = 4
_MOST_ASKED: Final = 16
_LOOKED_BACK, _OPENING = 3, 2_000
"""Passages before one in which its patient may be named, and letters of the document's first passage."""
_TOLD_APART: Final = 50
"""Hits whose patients a question may tell apart, the best ones."""
_NAMED: Final = 0.75
_NAMES_AT_LEAST: Final = 3
_WORD: Final = re.compile(r"[^\W_]+")
#: Words that questions are worded with, and that name rows of tables, too.
_OF_ROWS: Final = frozenset(["alcohol", "baby", "breast", "child", "kidney", "older", "pregnancy", "pregnant"])
_SAYING: Final = (SAYING_NOTHING | frozenset(ASKING_WORDS) | frozenset({"patient", "patients"})) - _OF_ROWS
Keys = frozenset[int]
"""Numbers of names that a text holds."""


class AskedSubject:
    """Subject of a question: its names, and which sentences are about something else.

    Args:
        query: The query, understood.
        reader: Of the index.
        rows: Rows of the passages that were found, whose patients the question may tell apart.
    """

    def __init__(self, query: Query, reader: GenerationReader, rows: Sequence[int] = ()) -> None:
        self._reader = reader
        self._rows = rows
        self._text = query.text or query.terms
        self._entity_names = query.all_names
        entity = [frozenset(analyse(name)) for name in query.all_names if analyse(name)]
        of_entity = frozenset[str]().union(*entity)
        #: Each name as its alternatives: sets of terms.
        self._names: list[list[frozenset[str]]] = [entity] if entity else []
        self._has_entity = bool(entity)
        for word in dict.fromkeys(_words_naming(query)):
            terms = frozenset(analyse(word))
            if terms and not terms <= of_entity:
                self._names.append([terms])
        del self._names[_MOST_ASKED:]
        self._holding = analyse.holding({term for name in self._names for terms in name for term in terms})
        # Not `lru_cache` of a method: that is a cycle, which would keep the index open until garbage is collected.
        self._others_of: dict[int, frozenset[int]] = {}
        self._identities_of: dict[int, tuple[Identity, ...]] = {}

    def others(self, row: int) -> frozenset[int]:
        """Return the numbers of a passage's sentences that are about another subject or patient.

        Args:
            row: Row of the passage.
        """
        if row not in self._others_of:
            others = self._of_other_entries(row)
            if self._may_name_patient:
                identities = self._identities(row)
                of_others = {identity for identity in frozenset(identities) if self._is_another(row, identity)}
                others |= {number for number, identity in enumerate(identities) if identity in of_others}
            self._others_of[row] = others
        return self._others_of[row]

    def is_of_another(self, row: int) -> bool:
        """Return whether all of a passage is about another patient than the question names."""
        if not self._may_name_patient:
            return False
        identities = self._identities(row)
        return bool(identities) and all(self._is_another(row, each) for each in dict.fromkeys(identities))

    def about(self, row: int) -> frozenset[int] | None:
        """Return the numbers of a passage's sentences that are surely about what the question names.

        Those are the entries about it; else all that are not about another patient, where title and headings have the
        entity, or more of the question's names than they lack. None where nothing says so.

        Args:
            row: Row of the passage.
        """
        others, entries = self.others(row), self._entries(row)
        if self._of_other_entries(row):
            return frozenset().union(*(entry.sentences for entry in entries)) - others
        stated = self._names_in(self._path(row))
        is_stated = (self._has_entity and 0 in stated) or len(stated) > len(self._names) / 2
        if others or is_stated or not self._names:
            return frozenset(range(len(self._reader.passage(row).sentences))) - others
        return NOTHING if _are_named(entries) else None

    def _of_other_entries(self, row: int) -> frozenset[int]:
        """Return the numbers of a passage's sentences that are of entries about other subjects."""
        stated = self._names_in(self._path(row)) if self._names else NOTHING
        # If title and headings have all names of the question, no entry is about something else.
        if not self._names or (stated and self._names_in(self._reader.passage_text(row)) <= stated):
            return NOTHING
        entries = self._entries(row)
        others = self._other_entries(entries, stated) if entries else []
        return frozenset(number for entry in others for number in entry.sentences)

    def _entries(self, row: int) -> list[Entry]:
        passage, text = self._reader.passage(row), self._reader.passage_text(row)
        return entries_of(passage.sentences, text, passage.start)

    def _other_entries(self, entries: Sequence[Entry], stated: Keys) -> list[Entry]:
        """Return the entries about other subjects.

        Args:
            entries: All entries of a passage.
            stated: The names that title and headings have.
        """
        in_text = [self._names_in(entry.text) - stated for entry in entries]
        usual = {key for key in frozenset().union(*in_text) if sum(key in keys for keys in in_text) > len(entries) / 2}
        candidates, is_found = list(entries), False
        asked = frozenset(analyse(self._text))
        for part, exactly in (("label", True), ("head", True), ("text", False)):
            held = []
            for entry in candidates:
                texts = {"label": entry.label, "head": entry.text[: len(entry.label) + _HEAD], "text": entry.text}
                held.append(self._names_in(texts[part]) - stated - (NOTHING if part == "label" else usual))
            held = [keys - frozenset.intersection(*held) for keys in held]
            if not any(held):
                continue
            is_found = True
            candidates = [
                entry
                for entry, keys in zip(candidates, held, strict=True)
                if (keys and not (exactly and any(keys < other for other in held)))
                or (not exactly and not asked.isdisjoint(analyse(entry.label)))
            ]
        if not is_found and not stated and _are_named(entries):
            missing = frozenset(range(len(self._names))).difference(*in_text)
            return list(entries) if missing else []
        return [entry for entry in entries if entry not in candidates]

    def _names_in(self, text: str) -> Keys:
        """Return which names a text has."""
        terms = self._holding(text)
        return frozenset(
            number for number, name in enumerate(self._names) if terms and any(each <= terms for each in name)
        )

    def _path(self, row: int) -> str:
        """Return title and headings of a passage."""
        passage = self._reader.passage(row)
        return "\n".join((self._record(row).title, *passage.above, passage.heading))

    @cached_property
    def _person(self) -> AskedPerson:
        found = (
            identity
            for row in self._rows[:_TOLD_APART]
            for identity in dict.fromkeys(self._identities(row))
            if identity
        )
        return AskedPerson(self._text, tuple(dict.fromkeys(found)))

    @cached_property
    def _may_name_patient(self) -> bool:
        """Whether the question may name a patient of the passages that were found; few do.

        To read whom each sentence is about takes longer than all else that marks it.
        """
        if not self._rows or has_number_or_date(self._text):
            return True
        words = words_of_names(self._text)
        # The name of a disease may be a patient's, too, but texts have it too often for their lines to be read.
        beside = words.difference(*(folded_words(name) for name in self._entity_names))
        for row in self._rows[:_TOLD_APART]:
            stated = (*identity_of(self._record(row).metadata).names, *self._named_in_headings(row))
            if any(not words.isdisjoint(name) for name in stated):
                return True
            if beside and any(may_name_one_of(beside, text) for text in self._texts(row)):
                return True
        return False

    def _record(self, row: int) -> DocumentRecord:
        return self._reader.document_record(int(self._reader.passage_documents[row]))

    def _named_in_headings(self, row: int) -> frozenset[Name]:
        """Return the names that title and headings of a passage are."""
        passage = self._reader.passage(row)
        titles = (self._record(row).title, *passage.above, passage.heading)
        return frozenset(filter(None, map(name_in_heading, titles)))

    def _texts(self, row: int) -> list[str]:
        """Return the texts that may name a passage's patient, in order; its own is the last."""
        reader = self._reader
        first = reader.passages_of(int(reader.passage_documents[row])).start
        back = max(first, row - _LOOKED_BACK)
        opening = [reader.passage_text(first)[:_OPENING]] if first < back else []
        return [*opening, *(reader.passage_text(each) for each in range(back, row + 1))]

    def _is_another(self, row: int, identity: Identity) -> bool:
        return bool(identity) and self._person.is_another(identity, folded_words(self._reader.passage_text(row)))

    def _identities(self, row: int) -> tuple[Identity, ...]:
        """Return whom each sentence of a passage is about."""
        if row not in self._identities_of:
            self._identities_of[row] = self._identities_in(row)
        return self._identities_of[row]

    def _identities_in(self, row: int) -> tuple[Identity, ...]:
        """Return whom each sentence of a passage is about."""
        passage, stated = self._reader.passage(row), identity_of(self._record(row).metadata)
        *before, text = self._texts(row)
        offset = sum(len(each) + 1 for each in before)
        whole = "\n".join((*before, text))
        persons = persons_in(whole)
        is_told = any(identity for _, identity in persons)
        named = self._named_in_headings(row)
        headings = named
        if named and not (stated.numbers or is_told):
            # Words that the text has in lower case, such as those of "Kidney Disease Diet", are no names.
            headings = frozenset(
                name
                for name in named
                if not any(
                    word in whole and re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", whole) for word in name
                )
            )
        if not (stated or is_told or headings or BETWEEN in text):
            return (NOBODY,) * len(passage.sentences)
        identities, of_row = [], NOBODY
        for sentence in passage.sentences:
            begin, end = sentence.start - passage.start, sentence.end - passage.start
            identity = next((each for start, each in reversed(persons) if start < offset + end), NOBODY)
            if not identity.names and not stated.names and headings:
                identity |= Identity(headings)
            # A row of a table goes on in the sentences of its last cell.
            if BETWEEN in text[begin:end]:
                of_row = identity_in(text[begin:end])
            elif sentence.begins_paragraph:
                of_row = NOBODY
            identities.append(of_row or (identity | stated if identity.names <= stated.names else identity) or stated)
        return tuple(identities)


def _words_naming(query: Query) -> Iterable[str]:
    """Yield the words of a question that may name what it is about."""
    aspects = {term for aspect in query.aspects for term in analyse(aspect)}
    for match in _WORD.finditer(query.text or query.entity):
        word, key = match[0].lower(), normalise_name(match[0])
        if not _SAYING.isdisjoint((word, key)) or (word.isdigit() and len(word) < _LONG_NUMBER):
            continue
        if not aspects.issuperset(analyse(word)):
            yield word


def _are_named(entries: Sequence[Entry]) -> bool:
    """Return whether most labels are names: they begin with a letter, and questions are not worded with them."""
    named = [
        entry
        for entry in entries
        if entry.label[:1].isalpha() and _SAYING.isdisjoint(normalise_name(entry.label).split())
    ]
    return len(named) >= max(_NAMES_AT_LEAST, _NAMED * len(entries))
