"""Text analysis for term-based models: from running text to index terms, as Lucene's analysers do it.

The published term-based figures (arnold2020, Table 3) were made with Lucene's ICU tokenizer and ICU folding,
without stop words or stemming; those are the defaults here. Departure: a term is a maximal run of letters and
digits, so "Alzheimer's" is two terms and "1.5" is two, where ICU keeps each whole; keeping apostrophes
moves no measure of BM25 on MedQuAD by 0.1 point.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import Stemmer

_TERM = re.compile(r"[^\W_]+")

# Letters that Lucene's ASCIIFoldingFilter maps but Unicode does not decompose.
_UNDECOMPOSED = str.maketrans(
    {"æ": "ae", "œ": "oe", "ß": "ss", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ħ": "h"}
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
def _english_stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def fold(text: str) -> str:
    """Lower-case text and strip accents, so that "Sjögren" and "sjogren" are one term.

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
    """Turns text into index terms; call it with a text.

    Attributes:
        stop_words: Leave out Lucene's English stop words.
        stemming: Reduce words with the Snowball English stemmer.
    """

    stop_words: bool = False
    stemming: bool = False

    def __call__(self, text: str) -> list[str]:
        """Index terms of a text, in order, with repeats."""
        terms = _TERM.findall(fold(text))
        if self.stop_words:
            terms = [term for term in terms if term not in ENGLISH_STOP_WORDS]
        return self._stemmed(terms)

    def holding(self, terms: Collection[str]) -> Callable[[str], frozenset[str]]:
        """What says which of some index terms a text holds: what its own terms have in common with them.

        What it said of the last texts it knows, also where it is asked for with the same terms again.
        """
        return _holding(self, frozenset(terms))

    def _stemmed(self, words: list[str]) -> list[str]:
        return cast("list[str]", _english_stemmer().stemWords(words)) if self.stemming else words


@lru_cache(maxsize=8)
def _holding(analyzer: Analyzer, wanted: frozenset[str]) -> Callable[[str], frozenset[str]]:
    # Stemming changes the end of a word alone: few words have to be stemmed, of most sentences none.
    begins = tuple({term[: max(1, len(term) - 2)] for term in wanted})

    @lru_cache(maxsize=512)
    def held(text: str) -> frozenset[str]:
        folded = fold(text)
        for begin in begins:
            if begin in folded:
                words = [word for word in _TERM.findall(folded) if word.startswith(begins)]
                return frozenset(analyzer._stemmed(words)) & wanted
        return frozenset()

    return held
