"""Correct misspelt words of a question.

A word is corrected only if it occurs in no name and in no text of the collection; misspelt question words are corrected
even then. The correction has to be near: one letter changed, lost, added or swapped in a word of six letters or more,
two letters swapped in a word of any length, or another spelling of the same sound (`concepts.fuzzy.sound`). A longer
word may also differ in one sound. Short words are too similar to one another for more.

The first 20 unknown words of a text are corrected. To compare one with the whole vocabulary takes milliseconds.

Everyday words can be as similar to medical ones ("generic", "genetic"). `ordinary_words.txt` lists the 1,848 that would
be miscorrected, out of the words that occur at least four times in the encyclopedias, textbooks, pages for patients
and general questions of `docs/reference/data.md`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from importlib import resources

from auscult.concepts.fuzzy import edits, nearest, sound
from auscult.concepts.names import normalise_name
from auscult.concepts.word_counts import SummedCounts

_WORD = re.compile(r"(?<![\w'\u2019-])[^\W\d_]{5,}(?![\w-])")
_VOWELS = re.compile("[aeiouy]")
_SHORTEST, _LONG = 6, 8
_MOST_WRITTEN, _SWAPPED = 3, 2
# A short word that occurs in a single name is a proper name or an acronym in lower case.
_LONG_ENOUGH = 7
MOST_COMPARED = 20
"""How many words of a text are compared with the vocabulary at most."""


@cache
def ordinary_words() -> frozenset[str]:
    """Return everyday words that look like a medical word ("generic", "genetic") and are not corrected."""
    return frozenset(resources.files("auscult.understanding").joinpath("ordinary_words.txt").read_text("utf-8").split())


class SpellingOfWords:
    """Corrector of misspelt words by a vocabulary.

    Args:
        words: Words and how many times each occurs in names; of two equally near words the more frequent one wins.
        asking: Normalised words that questions are worded with.
    """

    def __init__(self, words: Mapping[str, int], asking: Iterable[str] = ()) -> None:
        self._asking = tuple(asking)
        self._counts = SummedCounts([words, Counter(self._asking)])

    @cached_property
    def _spoken(self) -> Mapping[str, Mapping[str, str]]:
        """Return words and their sounds, grouped by the first letter of the sound, which is rarely mistaken."""
        alike: dict[str, dict[str, str]] = {}
        for word, count in self._counts.items():
            if word.isalpha() and len(word) >= (_SHORTEST - 1 if count > 1 else _LONG_ENOUGH):
                spoken = sound(word)
                alike.setdefault(spoken[:1], {})[word] = spoken
        return alike

    def correct(self, text: str, known: Callable[[str], bool]) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Return the text with misspelt words corrected, and the corrections as (written, read).

        Args:
            text: A question.
            known: Whether a lower-case word that occurs in no name is spelt correctly.
        """
        corrections: dict[str, str] = {}
        compared: dict[str, str] = {}

        def spelt(match: re.Match[str]) -> str:
            word = match.group()
            key = normalise_name(word)
            lower = word.lower()
            # Leave words in capitals alone, whether they are acronyms or the whole question is in capitals.
            if word.isupper() or key in ordinary_words() or lower in ordinary_words():
                return word
            meant = self._correct_question_word(key)
            is_known = bool(meant) or key in self._counts or lower in self._counts or known(lower)
            if not is_known and key not in compared and len(compared) < MOST_COMPARED:
                compared[key] = self._nearest(key)
            meant = meant or compared.get(key, "")
            if meant:
                corrections[word] = meant
            return meant or word

        return _WORD.sub(spelt, text), tuple(corrections.items())

    def _correct_question_word(self, word: str) -> str:
        """Return the question word that this one misspells, even if some text of the collection has "symtoms" too."""
        # A vocabulary may contain a misspelling once, but hardly twice.
        if len(word) < _SHORTEST or word in self._asking or self._counts.get(word, 0) > 1:
            return ""
        alike = nearest(word, (other for other in self._asking if other[0] == word[0]), most=1, limit=1)
        return alike[0][0] if alike else ""

    def _nearest(self, word: str) -> str:
        spoken = sound(word)
        alike = self._spoken.get(spoken[:1], {})
        near = [
            # Vowels are mistaken more often than consonants.
            (written, _consonants(word) != _consonants(other), -self._counts[other], other)
            for other, written in nearest(word, alike, _MOST_WRITTEN)
            if (written == 1 and len(word) >= _SHORTEST)
            or edits(spoken, alike[other]) <= (len(word) >= _LONG)
            or (written == _SWAPPED and sorted(word) == sorted(other))
        ]
        return min(near)[-1] if near else ""


def _consonants(word: str) -> str:
    return _VOWELS.sub("", word)
