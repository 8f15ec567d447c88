"""Turn running text into index terms for term-based models, like Lucene's analysers.

The published term-based figures (arnold2020, Table 3) were measured with Lucene's ICU tokenizer and ICU folding,
without stop words or stemming; these are the defaults here. Departure: a term is a maximal run of letters and
digits, so "Alzheimer's" and "1.5" are two terms each, which ICU does not split. Keeping apostrophes changes no measure
of BM25 on MedQuAD by 0.1 point.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Any, cast

from auscult.documents.language_terms import SNOWBALL, language_terms, plain_stems
from auscult.documents.stemming import snowball
from auscult.documents.stop_words import stop_words
from auscult.documents.word_forms import ROMAN_LETTERS, SERIES, TOKEN, normal_words, spelt_out, written_part

_TERM = re.compile(r"[^\W_]+")

# Letters that Lucene's ASCIIFoldingFilter maps but Unicode does not decompose. A soft hyphen is part of no word.
_UNDECOMPOSED = str.maketrans(
    {"æ": "ae", "œ": "oe", "ß": "ss", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ħ": "h"}
    | {"\u00ad": "", "\u2060": ""}
)

# fmt: off
ENGLISH_STOP_WORDS = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
    "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to",
    "was", "will", "with",
})
"""The 33 words of Lucene's `EnglishAnalyzer`."""
# fmt: on


@lru_cache(maxsize=1)
def _english_stemmer() -> Any:
    return snowball("english")


def stem_words(words: Sequence[str], language: str) -> list[str]:
    """Return the stems of folded words.

    Args:
        words: The words.
        language: Snowball's name of their language ("german").
    """
    return cast("list[str]", _stemmer(language).stemWords(words))


@cache
def _stemmer(language: str) -> Any:
    return snowball(language)


def fold(text: str) -> str:
    """Convert text to lower case and strip accents, so that "Sjögren" and "sjogren" are one term.

    Letters without an ASCII form (Greek, Cyrillic) are kept, lower-cased.

    Args:
        text: Any text.

    Returns:
        The folded text; its length may differ from the input's.
    """
    lowered = text.lower()
    if lowered.isascii():
        return lowered
    decomposed = unicodedata.normalize("NFKD", lowered.translate(_UNDECOMPOSED))
    # Lower-cased again: a few compatibility forms ("℡") decompose into capitals.
    return "".join(char for char in decomposed if not unicodedata.combining(char)).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyzer:
    """Callable that turns a text into index terms.

    Attributes:
        stop_words: Whether to leave out stop words: Lucene's in English, Snowball's in other languages.
        stemming: Whether to reduce words with the Snowball stemmer.
        normal_form: Whether to give all spellings of a word one form (`word_forms`), before stemming.
        language: Code of the texts' language; one without rules here is analysed as English. Stop words, stems and
            normal forms are the language's own (`language_terms`).
    """

    stop_words: bool = False
    stemming: bool = False
    normal_form: bool = False
    language: str = "en"

    def __call__(self, text: str) -> list[str]:
        """Return the index terms of a text, in order, with repeats."""
        if self.language in SNOWBALL:
            return self._in_language(text)
        if self.normal_form:
            known = _known(self)
            joined = " ".join(map(known.__getitem__, TOKEN.findall(spelt_out(fold(text)))))
            if _MAYBE in joined:
                joined = known.numbers.sub(_number_by_context, joined)
            return joined.split()
        terms = _TERM.findall(fold(text))
        if self.stop_words:
            terms = [term for term in terms if term not in ENGLISH_STOP_WORDS]
        return cast("list[str]", _english_stemmer().stemWords(terms)) if self.stemming else terms

    def _in_language(self, text: str) -> list[str]:
        if self.normal_form:
            return language_terms(self.language, leave_out=self.stop_words, stemming=self.stemming)(text)
        if not self.stemming:
            terms = _TERM.findall(fold(text))
            left_out = {fold(word) for word in stop_words(self.language)} if self.stop_words else frozenset()
            return [term for term in terms if term not in left_out]
        # Stemmers need accents.
        words = _TERM.findall(unicodedata.normalize("NFC", text).lower())
        left_out = stop_words(self.language) if self.stop_words else frozenset()
        return plain_stems(self.language, [word for word in words if word not in left_out])

    def holding(self, terms: Collection[str]) -> Callable[[str], frozenset[str]]:
        """Return a function that tells which of some index terms a text contains.

        It remembers its results for the last texts, even if it is requested again with the same terms.
        """
        return _holding(self, frozenset(terms))


# A mark after Roman numerals that count as numbers only behind a word of a series.
_MAYBE = "\0"
_BY_CONTEXT = frozenset((*ROMAN_LETTERS, *ROMAN_LETTERS.values()))
_MOST_KNOWN = 1 << 17


class _Known(dict[str, str]):
    """A cache of tokens' terms, joined by blanks; in a large collection most tokens are repeats."""

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__()
        self._left_out = ENGLISH_STOP_WORDS if analyzer.stop_words else frozenset()
        # No word is stemmed twice, so the stemmer needs no cache of its own.
        self._stem = snowball("english", cached=False).stemWord if analyzer.stemming else None
        series = "|".join(sorted({self[word] for word in SERIES}))
        self.of_piece = lru_cache(maxsize=1 << 15)(self._of_piece)
        self.numbers = re.compile(rf"(?:(?<!\S)({series}) )?(?<!\S)(\w+){_MAYBE}")

    def __missing__(self, token: str) -> str:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        words = [word for word in normal_words(token) if word not in self._left_out]
        if self._stem is not None:
            # The stemmer makes "diagnos" of "diagnoses", and leaves "diagnosis".
            words = [self._stem(f"{word[:-2]}es" if word.endswith("sis") else word) for word in words]
        terms = " ".join(words)
        self[token] = stored = terms + _MAYBE if token in ROMAN_LETTERS else terms
        return stored

    def _of_piece(self, piece: str) -> tuple[str, ...]:
        """Return the terms of a piece of text between two blanks."""
        return tuple(" ".join(map(self.__getitem__, TOKEN.findall(piece))).split())


@lru_cache(maxsize=8)
def _known(analyzer: Analyzer) -> _Known:
    return _Known(analyzer)


def _number_by_context(match: re.Match[str]) -> str:
    series, letter = match.groups()
    return f"{series} {ROMAN_LETTERS[letter]}" if series else letter


@lru_cache(maxsize=8)
def _holding(analyzer: Analyzer, wanted: frozenset[str]) -> Callable[[str], frozenset[str]]:
    if not analyzer.normal_form or analyzer.language in SNOWBALL or not wanted.isdisjoint(_BY_CONTEXT):
        return lru_cache(maxsize=512)(lambda text: wanted.intersection(analyzer(text)))
    parts = tuple({written_part(term) for term in wanted})
    known = _known(analyzer)

    @lru_cache(maxsize=512)
    def held(text: str) -> frozenset[str]:
        folded = spelt_out(fold(text))
        here = [part for part in parts if part in folded]
        # Most sentences have no word in common with the question.
        if not here:
            return frozenset()
        return wanted.intersection(chain.from_iterable(map(known.of_piece, _pieces_with(here, folded))))

    return held


def _pieces_with(parts: Sequence[str], text: str) -> Collection[str]:
    """Return the pieces of a text, split at blanks, that contain one of some parts; no token of it may span a blank."""
    pieces = text.split()
    if "" in parts:
        return pieces
    text = f" {' '.join(pieces)} "
    pieces_found = set()
    for part in parts:
        at = text.find(part)
        while at >= 0:
            end = text.index(" ", at)
            pieces_found.add(text[text.rindex(" ", 0, at) + 1 : end])
            at = text.find(part, end)
    return pieces_found
