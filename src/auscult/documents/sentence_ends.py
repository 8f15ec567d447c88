"""Correct the sentence starts that a library found in French, Spanish and German.

The first question is what follows a full stop. A small letter or a comma continues a sentence after an abbreviation, a
number or a single letter. Before a capital letter, the kind of abbreviation decides:

    linking       goes on: "M. le Dr Martin", "z. B. Ramipril", "Abb. 3"
    adjective     goes on before a noun (German): "kein path. Befund"
    closing       ends, unless an article or a preposition comes before: "3 x tgl. Danach", "das li. Knie"

A German number with a full stop is an ordinal before a month or a word of a series, or after an article: "am 3. Tag". A
capital letter with a full stop is an initial after a title or another initial: "Mme A. M. est".

Libraries do not split after units, capitals and some abbreviations: "14 cm. Bazo", "le MIR. La réponse". A full stop
there ends a sentence if a capital letter follows.

The abbreviations are in `abbreviations_de.toml`, `abbreviations_es.toml` and `abbreviations_fr.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import Final

from auscult.documents.stop_words import stop_words

_LOOK_BACK: Final = 32
_SHORTEST: Final = 3
#: Characters between the numbers of two items of a list.
_LONGEST_ITEM: Final = 400
_UPPER: Final = "A-ZÀ-ÖØ-Ý"
_LOWER: Final = "a-zß-öø-ÿœ"
#: A full stop or mark with what closes a quotation, before white space.
_END: Final = re.compile(r"[.!?…]+[\"”»’“)\]]*(?=\s)")
#: The blank between two sentences was forgotten: "líquido.Dieta".
_FORGOTTEN: Final = re.compile(rf"(?<=[{_LOWER})]{{3}})\.(?=[{_UPPER}][{_LOWER}]{{2}})")
_CLOSING: Final = re.compile(r"[\"”»’)\]]+(?=\s|$)")
_OPENING: Final = re.compile(r"(?<=\s)[\"“„«‘(\[¿¡]+\s?$")
#: The last word or chain of shortened words: "z. B.", "c.-à-d.", "Dipl.-Psych.".
_CHAIN: Final = re.compile(r"(?<!\w)(?:[^\W\d_]+\.[ \u00a0\u202f]?-?){0,4}[^\W\d_]+(?:-[^\W\d_]+)*\.[\"”»)\]]*$")
_SHORTENED: Final = re.compile(r"[^.\s][^.]*\.")
_BLANK: Final = re.compile(r"[ \u00a0\u202f]")
_PART: Final = re.compile(r"[^\W\d_]{1,2}\.(?!\w)")
_INITIAL: Final = re.compile(rf"(?<![\w/])[{_UPPER}]\.$")
_BEFORE_INITIAL: Final = re.compile(rf"([^\W\d_]+)[.]? (?:[{_UPPER}]\. ?)*[{_UPPER}]\.$")
#: A word of one letter: "Kopf u. Hals", "PCT m. Folfox".
_SMALL_LETTER: Final = re.compile(r"^[a-z]\.$")
_NO_UNIT: Final = frozenset("fnouvz")
_BEFORE_UNIT: Final = re.compile(r"(?:\d ?|/)$")
_NUMBER: Final = re.compile(r"(?<![\w.,/])(\d{1,2})\.\)?$")
_BEFORE_NUMBER: Final = re.compile(r"(?:([^\W\d_]+)|([:;,(]|(?:^|[.])))\s*(?:\d{1,2}\.,?\s?)*\d{1,2}\.\)?$")
#: Days that begin a phrase: "Am 3.5. Aufnahme".
_FIRST_DATE: Final = re.compile(r"(?:^|[.!?:;] )(?:Am|Ab|Seit|Vom|Zum) \d{1,2}\. ?\d{1,2}\.$")
_LAST_WORD: Final = re.compile(r"([^\W\d_]+)\.$")
_DATE: Final = re.compile(r"(?<![\w.,])\d{1,2}\. ?(?:\d{1,2}\.)?$")
_REST_OF_DATE: Final = re.compile(r"\d{1,2}\. ?(?:\d{2,4})?|\d{4}|\d\d(?!\d)")
#: A year, a plain word or a bracket.
_BEFORE_FIGURE: Final = re.compile(rf"(?:(?<![\w.,])\d{{4}}|(?<!\w)[{_LOWER}]{{4,}}|\w\))\.$")
_ROMAN: Final = re.compile(r"(?<!\w)[IVX]{1,4}\.$")
_ROMAN_GOES_ON: Final = re.compile(r"(?:und|u\.|bis|oder|Grad|Ordnung)")
_PLAIN: Final = re.compile(rf"(?<!\w)[{_LOWER}]{{4,}}[.!?][\"”»)\]]*$")
#: Units after a number, numbers, words with a capital after the first letter, plain words, and closing marks.
_SURE: Final = re.compile(
    rf"(?:\d ?(?:[a-zµ]{{1,4}}|[a-zA-Z]{{1,3}}/[a-zA-Z]{{1,4}})|\d|\w[A-Z]\w*|(?<!\w)[{_LOWER}]{{4,}}|[%)\]»\"”])"
    r"\.[\"”»)\]]*$"
)
_CAPITAL: Final = re.compile(rf"[\"“„«‘(\[¿¡]*\s?[{_UPPER}]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_SMALL_CAPITAL: Final = re.compile(rf"[\"“„«(\[]*([{_UPPER}][{_LOWER}]*)")


@dataclass(frozen=True, slots=True)
class _Lists:
    """The lists of a language; those that it does not need are empty."""

    linking: frozenset[str] = frozenset()
    adjective: frozenset[str] = frozenset()
    closing: frozenset[str] = frozenset()
    before_ordinal: frozenset[str] = frozenset()
    determiner: frozenset[str] = frozenset()
    article: frozenset[str] = frozenset()
    person: frozenset[str] = frozenset()
    series: frozenset[str] = frozenset()
    month: frozenset[str] = frozenset()
    lettered: frozenset[str] = frozenset()
    endings: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def _read(language: str) -> _Lists:
    text = resources.files(__package__).joinpath(f"abbreviations_{language}.toml").read_text(encoding="utf-8")
    words = {name: frozenset(listed.split()) for name, listed in tomllib.loads(text).items()}
    endings = [
        tuple(word[1:] for word in sorted(words.get(name, ())) if word.startswith("-"))
        for name in ("adjective", "closing")
    ]
    known = {field.name for field in fields(_Lists)}
    return _Lists(**{name: listed for name, listed in words.items() if name in known}, endings=(endings[0], endings[1]))


@cache
def sentence_ends(language: str) -> SentenceEnds:
    """Return the rules of a language; they are read once per process.

    Args:
        language: "de", "es" or "fr".
    """
    return SentenceEnds(language)


class SentenceEnds:
    """Rules that correct sentence starts.

    Args:
        language: "de", "es" or "fr".
    """

    def __init__(self, language: str) -> None:
        self._lists = _read(language)
        self._ordinals = bool(self._lists.series)
        self._function_words = stop_words(language)
        self._no_ends = _no_ends() if language == "de" else frozenset()

    def corrected(self, text: str, starts: Iterable[int]) -> list[int]:
        """Correct the sentence starts that a library found.

        Args:
            text: One paragraph.
            starts: Offsets at which the library begins a sentence; 0 may be left out.

        Returns:
            Corrected offsets, ascending, without repeats.
        """
        found: set[int] = set()
        for start in starts:
            shifted = _shift(text, start)
            if 0 < shifted < len(text) and not self._goes_on(text, _end_before(text, shifted), shifted):
                found.add(shifted)
        for end in _END.finditer(text):
            start = _shift(text, end.end())
            if start < len(text) and start not in found and self._surely_ends(text, end.end(), start):
                found.add(start)
        for end in _FORGOTTEN.finditer(text):
            if self._kind(text[max(0, end.end() - _LOOK_BACK) : end.end()]) == "":
                found.add(end.end())
        return sorted(found)

    def _surely_ends(self, text: str, end: int, start: int) -> bool:
        """Return whether a sentence ends where the library saw no end."""
        before = text[max(0, end - _LOOK_BACK) : end]
        if not _CAPITAL.match(text, start):
            # A blank before the full stop, as in notes that were cut into words.
            spaced = before[-2:-1].isspace() and before[-1] == "." and text[start].isalnum()
            figure = text[start].isdigit() and _BEFORE_FIGURE.search(before) is not None
            return spaced or (figure and not self._goes_on(text, end, start))
        if self._goes_on(text, end, start):
            return False
        kind = self._kind(before)
        if kind == "closing" or _SURE.search(before) or self._begins(text, start):
            return True
        word = _LAST_WORD.search(before)
        return word is not None and word[1] in self._function_words

    def _goes_on(self, text: str, end: int, start: int) -> bool:
        """Return whether the text before `end` and the text from `start` belong to one sentence."""
        before = text[max(0, end - _LOOK_BACK) : end]
        following = text[start]
        if end in {0, start}:
            return True
        if following in ",;:)]" or (following == "-" and text[start + 1 : start + 2].isalpha()):
            return True
        if before[-1] in "?!…" or before.endswith("..."):
            return following.islower()
        if "." not in before[-3:]:
            return False
        if following.isdigit():
            return self._goes_on_with_number(before, text, start)
        if following.islower():
            return self._goes_on_small(before)
        return self._goes_on_capital(before, text, start)

    def _goes_on_small(self, before: str) -> bool:
        if before[-2:-1].isspace():
            return False
        return self._kind(before) != "" or not _PLAIN.search(before)

    def _goes_on_with_number(self, before: str, text: str, start: int) -> bool:
        if _DATE.search(before) and _REST_OF_DATE.match(text, start):
            return self._ordinals
        return self._kind(before) in {"linking", "adjective", "closing"}

    def _goes_on_capital(self, before: str, text: str, start: int) -> bool:
        if number := _NUMBER.search(before):
            end = _end_before(text, start) - len(number[0])
            earlier = text[max(0, end - _LONGEST_ITEM) : end]
            label = int(number[1]) == 1 or not earlier.strip() or f"{int(number[1]) - 1}." in earlier
            return (label and self._is_label(before)) or (self._ordinals and self._is_ordinal(before, text, start))
        if self._ordinals and _FIRST_DATE.search(before):
            return not self._begins(text, start)
        if self._ordinals and _ROMAN.search(before) and _ROMAN_GOES_ON.match(text, start):
            return True
        kind, at = self._abbreviation(before)
        begins = self._begins(text, start)
        if kind == "linking" or self._is_within_chain(before, text, start):
            return True
        if kind == "" and _INITIAL.search(before):
            return self._is_initial(before)
        if kind == "adjective":
            return not begins
        if kind != "closing" or begins:
            return False
        return text[start] == "(" or self._after_determiner(before, at)

    def _is_within_chain(self, before: str, text: str, start: int) -> bool:
        """Return whether an abbreviation goes on: "am 9. d. M."."""
        next_part = _PART.match(text, start)
        match = _CHAIN.search(before)
        if next_part is None or match is None:
            return False
        word = f"{_SHORTENED.findall(_BLANK.sub('', match[0]))[-1]}{next_part[0][:-1]}"
        return any(self._is_in(word, listed) for listed in (self._lists.linking, self._lists.closing))

    def _is_label(self, before: str) -> bool:
        """Return whether a number begins an item of a list within the paragraph: "1. Fieber, 2. Husten"."""
        match = _BEFORE_NUMBER.search(before)
        return match is not None and match[2] is not None

    def _is_ordinal(self, before: str, text: str, start: int) -> bool:
        word = _WORD.match(text, start)
        if word is not None and word[0].lower() in (self._lists.month | self._lists.series):
            return True
        match = _BEFORE_NUMBER.search(before)
        named = match is not None and (match[1] or "").lower() in self._lists.before_ordinal
        return named and not self._begins(text, start)

    def _is_initial(self, before: str) -> bool:
        """Return whether a capital letter with a full stop is an initial."""
        match = _BEFORE_INITIAL.search(before)
        if match is None:
            return True
        word = match[1]
        if self._is_in(word, self._lists.linking) or word.lower() in self._lists.person or len(word) == 1:
            return True
        named = word[0].isupper() and word[1:].islower()
        return named and word.lower() not in self._lists.lettered and not self._ordinals

    def _after_determiner(self, before: str, at: int) -> bool:
        """Return whether an abbreviation begins a sentence, or an article or a preposition is before it."""
        preceding = before[:at].rstrip()
        if not self._ordinals or len(preceding) == at:
            return self._ordinals and at == 0
        return preceding[-1] in ".!?:;" or preceding.split()[-1].lower() in self._lists.determiner

    def _begins(self, text: str, start: int) -> bool:
        """Return whether a capitalised function word begins a sentence."""
        word = _SMALL_CAPITAL.match(text, start)
        return word is not None and word[1].lower() in self._function_words

    def _kind(self, before: str) -> str:
        """Return the kind of abbreviation that a text ends with; "" for none."""
        return self._abbreviation(before)[0]

    def _abbreviation(self, before: str) -> tuple[str, int]:
        """Return the kind of abbreviation that a text ends with, "" for none, and where it begins."""
        match = _CHAIN.search(before)
        if match is None:
            return "", len(before)
        if self._ordinals and _SMALL_LETTER.search(match[0]):
            joins = match[0][0] in _NO_UNIT or not _BEFORE_UNIT.search(before[: match.start()])
            if joins:
                return "linking", match.start()
        lists = (
            ("linking", self._lists.linking),
            ("closing", self._lists.closing),
            ("adjective", self._lists.adjective),
        )
        word, at = "", 0
        for part in _SHORTENED.finditer(match[0]):
            at = match.start() + part.start()
            word = _BLANK.sub("", before[at : match.end()].rstrip('"”»)]'))[:-1].lstrip("-")
            for kind, listed in lists:
                if self._is_in(word, listed):
                    return kind, at
        for kind, endings in (("adjective", self._lists.endings[0]), ("closing", self._lists.endings[1])):
            if endings and word.lower().endswith(endings):
                return kind, at
        return ("adjective", at) if self._is_shortened(word, before[:at]) else ("", len(before))

    def _is_shortened(self, word: str, before: str) -> bool:
        """Return whether a German word that no list has is shortened: by its last letters, or the article before it."""
        word = word.replace("ß", "ss")
        if len(word) > _SHORTEST and (word[-3:] in self._no_ends or word[-4:] in self._no_ends):
            return True
        preceding = before.split()[-1:]
        return bool(preceding) and word.islower() and preceding[0].lower() in self._lists.article

    @staticmethod
    def _is_in(word: str, listed: frozenset[str]) -> bool:
        return word in listed or (len(word) > 1 and word.lower() in listed)


@cache
def _no_ends() -> frozenset[str]:
    """Return the letters with which no German word ends (`benchmarks/german_word_ends.py`)."""
    return frozenset(resources.files(__package__).joinpath("german_word_ends.txt").read_text("utf-8").split())


def _end_before(text: str, start: int) -> int:
    """Return the end of the visible text before an offset; 0 for none."""
    while start and text[start - 1].isspace():
        start -= 1
    return start


def _shift(text: str, start: int) -> int:
    """Return a start after what closes a quotation, and before what opens one."""
    closing = _CLOSING.match(text, start) if 0 < start < len(text) else None
    if closing and not text[start - 1].isspace():
        start = closing.end()
    while start < len(text) and text[start].isspace():
        start += 1
    opening = _OPENING.search(text, max(0, start - 4), start)
    return opening.start() if opening else start
