"""Turn French, Spanish and German text into index terms.

A term is a stem of Snowball's (PyStemmer) without accents. Before stemming, spellings of a word become equal:

    letters       composed ("e" with an accent after it), and "œ" is oe, "ß" ss; accents go after stemming, which needs
                  them
    elision       removed in French: "l'asthme" asthme, "d'un" nothing, and the letter in "traite-t-on"
    hyphens       two words: "CT-Untersuchung" ct, untersuch; short codes are one: "B-12" b12
    Greek letters by name, and "µg" as mcg: as in English (`word_forms`)
    numerals      Roman as Arabic, single letters only after a word of a series: "Typ II", "stade IV", "tipo I" 1
    numbers       one term, with a point: "1,5" and "1.5" 1.5, "0,50" 0.5, "1.000" and "1 000" 1000, "5mg" 5, mg. Three
                  digits after a point are thousands, unless a 0 is before it: "0.125"

German stems that Snowball leaves apart are joined: "Behandlung", "behandeln" and "behandelt" are behandl, "Heilung" is
heil like "heilen". A single letter is no function word after a word such as "vitamina" or "hepatitis".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from auscult.documents.stemming import snowball
from auscult.documents.stop_words import stop_words
from auscult.documents.word_forms import ROMAN, ROMAN_LETTERS, spelt_out

SNOWBALL: Final = MappingProxyType({"fr": "french", "es": "spanish", "de": "german"})
"""Names of the languages' stemmers."""
_MOST_KNOWN: Final = 1 << 17
#: Before a single letter that is a word of its own.
_KEPT: Final = "\x01"
_LETTERS: Final = str.maketrans(
    {"œ": "oe", "æ": "ae", "ß": "ss", "\u00ad": "", "\u2060": "", "\u2010": "-", "\u2011": "-", "\u2019": "'"}
)
_UNIT: Final = r"(?:[kmnuµμ]?g|mcg|[md]?l|mm|cm|kg|[mµμ]?mol|mval|kcal|ui|ie|iu|u|h|j|d)\b"
_TOKEN: Final = re.compile(
    # A chain of numbers with thousands and decimals, before a unit or the end of the word.
    rf"\d+(?:[.,]\d+)*(?:(?<=\d) \d{{3}}(?![\d.,]?\d))*(?:,\d+)?(?=[^\w]|$|{_UNIT})"
    rf"|{_KEPT}?[^\W_]+(?:['-][^\W_]+)*"
)
#: "1x2,5mg"
_TIMES: Final = re.compile(r"(?<=\d)[x×](?=\d)")
_JOINT: Final = re.compile("['-]")
_SHORT_CODE: Final = re.compile(r"[a-z]{1,2}-\d{1,3}")
_SPACED: Final = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?:,\d+)?")
_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?")
_DECIMAL: Final = re.compile(r"(\d+)[.,](\d+)")
_ELIDED: Final = frozenset({"l", "d", "j", "m", "t", "s", "n", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu"})
_GERMAN_ENDINGS: Final = (
    (re.compile(r"(?<=.{3})ung$"), ""),
    (re.compile(r"(?<=.{4})ert?$"), ""),
    (re.compile(r"(?<=.{3})(?<=[^aeiou])elt?$"), "l"),
)


@dataclass(frozen=True, slots=True)
class _Words:
    """Words of a language.

    Attributes:
        series: Words before Roman numerals.
        lettered: Words before single letters that are no function words.
        no_numerals: Roman numerals that are words.
        same: Words with their other form.
    """

    series: str
    lettered: str = ""
    no_numerals: frozenset[str] = frozenset()
    same: tuple[tuple[str, str], ...] = ()


_LANGUAGES: Final = MappingProxyType(
    {
        "fr": _Words("type stade grade classe groupe phase niveau facteur sous-type partie catégorie categorie"),
        "es": _Words(
            "tipo estadio grado clase grupo fase nivel factor subtipo parte categoría categoria",
            "vitamina vitaminas hepatitis grupo tipo",
            frozenset({"vi"}),
            (("alfa", "alpha"),),
        ),
        "de": _Words("typ stadium grad klasse gruppe phase stufe faktor subtyp teil kategorie"),
    }
)


class LanguageTerms(dict[str, str]):
    """Callable that turns a text into index terms, with a cache of tokens' terms, joined by blanks.

    Args:
        language: "de", "es" or "fr".
        leave_out: Whether to leave out function words.
        stemming: Whether to reduce words to stems.
    """

    def __init__(self, language: str, *, leave_out: bool, stemming: bool) -> None:
        super().__init__()
        words = _LANGUAGES[language]
        self._elided = _ELIDED if language == "fr" else frozenset()
        # Elided words are removed with their apostrophe: "c" and "d" are vitamins.
        self._left_out = frozenset(word for word in stop_words(language) if len(word) > 1 or word not in self._elided)
        self._left_out |= {without_accents(word) for word in self._left_out if len(word) > 1}
        if not leave_out:
            self._left_out = frozenset()
        self._stem = stemmer(language) if stemming else without_accents
        self._same = {**ROMAN, "ug": "mcg", **dict(words.same)}
        for numeral in words.no_numerals:
            del self._same[numeral]
        series, lettered = words.series.replace(" ", "|"), words.lettered.replace(" ", "|")
        self._numerals = re.compile(rf"\b({series}) (i|iv|v|x)\b")
        self._lettered = re.compile(rf"\b({lettered}) (?=[a-z]\b)") if lettered else None

    def __call__(self, text: str) -> list[str]:
        """Return the index terms of a text, in order, with repeats."""
        text = spelt_out(unicodedata.normalize("NFKC", text).lower().translate(_LETTERS))
        text = _TIMES.sub(" x ", text)
        text = self._numerals.sub(lambda match: f"{match[1]} {ROMAN_LETTERS[match[2]]}", text)
        if self._lettered is not None:
            text = self._lettered.sub(rf"\1 {_KEPT}", text)
        return " ".join(map(self.__getitem__, _TOKEN.findall(text))).split()

    def __missing__(self, token: str) -> str:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self[token] = terms = " ".join(self._terms(token))
        return terms

    def _terms(self, token: str) -> list[str]:
        if token[0].isdecimal() and not any(map(str.isalpha, token)):
            return numbers(token)
        if token[0] == _KEPT:
            return [token[1:]]
        if _SHORT_CODE.fullmatch(token):
            return [token.replace("-", "")]
        *elided, last = token.replace("-t-", "-").split("'")
        parts = [part for part in elided if part not in self._elided]
        words = [word for part in (*parts, last) for word in _JOINT.split(part) if word not in self._left_out]
        return [self._same.get(word) or self._stem(word) for word in words]


@lru_cache(maxsize=16)
def language_terms(language: str, *, leave_out: bool, stemming: bool) -> LanguageTerms:
    """Return the analysis of a language; it is created once per process."""
    return LanguageTerms(language, leave_out=leave_out, stemming=stemming)


def plain_stems(language: str, words: list[str]) -> list[str]:
    """Return Snowball's stems of lower-case words, without accents."""
    return [without_accents(word) for word in snowball(SNOWBALL[language]).stemWords(words)]


def stemmer(language: str) -> Callable[[str], str]:
    """Return a function that returns the stem of a word of a language, without accents."""
    # No word is stemmed twice, so the stemmer needs no cache of its own.
    stem = snowball(SNOWBALL[language], cached=False).stemWord
    if language != "de":
        return lambda word: without_accents(stem(word))
    return lambda word: _join_german(without_accents(stem(word)))


def _join_german(stem: str) -> str:
    for ending, replacement in _GERMAN_ENDINGS:
        stem = ending.sub(replacement, stem)
    return stem


def numbers(token: str) -> list[str]:
    """Return a written number as one term: "1,5" is 1.5, "1.000" and "1 000" are 1000.

    Args:
        token: Digits with points, commas and blanks. A date or a list ("3.5.2024", "1,2,3") is several numbers.
    """
    if _SPACED.fullmatch(token):
        token = token.replace(" ", "")
    elif " " in token:
        return [term for part in token.split() for term in numbers(part)]
    if _THOUSANDS.fullmatch(token):
        token = token.replace(".", "")
    decimal = _DECIMAL.fullmatch(token)
    if decimal is None:
        return re.split("[.,]", token)
    whole, fraction = decimal.groups()
    # "50,00" is 50, but "1,000" may be meant as a thousand.
    shortened = fraction.rstrip("0") if len(fraction) < len("000") else fraction
    return [f"{whole}.{shortened}" if shortened else whole]


def without_accents(word: str) -> str:
    """Return a lower-case word without accents."""
    if word.isascii():
        return word
    return "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))
