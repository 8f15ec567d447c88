"""Words of a question that nobody knows, read as those that they look or sound like.

Only a word that stands in no name and in no text of the collection is corrected (but for those that questions are asked
with), and only to one that is a slip away: one letter changed, lost, added or swapped in a word of six letters or more,
two swapped anywhere, or another spelling of the same sound (`concepts.fuzzy.sound`); a longer word may differ in one
sound as well. Short words are one slip away from everything.

Ordinary words are as near to medicine's ("generic", "genetic"): `ordinary_words.txt` has 1,848 that would be taken for
one, out of the words that occur four times and more in the encyclopedias, textbooks, pages for patients and general
questions of `docs/reference/data.md`.
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
# A short word that stands in a single name is a proper name, or an acronym in lower case.
_LONG_ENOUGH = 7


@cache
def ordinary_words() -> frozenset[str]:
    """Everyday words that look like a word of medicine ("generic", "genetic"), and are spelt as meant."""
    return frozenset(resources.files("auscult.understanding").joinpath("ordinary_words.txt").read_text("utf-8").split())


class SpellingOfWords:
    """Corrects words to those of a vocabulary.

    Args:
        words: How many times each stands in names; of two that are as near, the more frequent one is meant.
        asking: Words that questions are asked with, normalised.
    """

    def __init__(self, words: Mapping[str, int], asking: Iterable[str] = ()) -> None:
        self._asking = tuple(asking)
        self._counts = SummedCounts([words, Counter(self._asking)])

    @cached_property
    def _spoken(self) -> Mapping[str, Mapping[str, str]]:
        """Word -> sound, by the first letter of the sound: a slip is rarely there."""
        alike: dict[str, dict[str, str]] = {}
        for word, count in self._counts.items():
            if word.isalpha() and len(word) >= (_SHORTEST - 1 if count > 1 else _LONG_ENOUGH):
                spoken = sound(word)
                alike.setdefault(spoken[:1], {})[word] = spoken
        return alike

    def corrected(self, text: str, known: Callable[[str], bool]) -> tuple[str, tuple[tuple[str, str], ...]]:
        """A text with its misspelt words corrected, and these as (written, read).

        Args:
            text: A question.
            known: Whether a word, in lower case, is spelt as meant though it stands in no name.
        """
        found: dict[str, str] = {}

        def spelt(match: re.Match[str]) -> str:
            word = match.group()
            key = normalise_name(word)
            lower = word.lower()
            # An acronym is no word, and who shouts does not misspell by it.
            if word.isupper() or key in ordinary_words() or lower in ordinary_words():
                return word
            meant = self._asked_with(key)
            if not (meant or key in self._counts or lower in self._counts or known(lower)):
                meant = self._nearest(key)
            if meant:
                found[word] = meant
            return meant or word

        return _WORD.sub(spelt, text), tuple(found.items())

    def _asked_with(self, word: str) -> str:
        """The word that questions are asked with of which this one is a slip, whether a text has "symtoms" or not."""
        # A name may be misspelt where it is listed, too, but not twice.
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
