"""Find the names of concepts in a question that is not in English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from auscult.concepts.languages import NamesByLanguage, is_small_word
from auscult.documents.language_names import UNKNOWN

_WORD: Final = re.compile(r"[^\W_]+")
_SHORTEST: Final = 3
_LONGEST: Final = 12


def find_foreign(text: str, foreign: NamesByLanguage, language: str) -> Iterator[tuple[int, int]]:
    """Yield where names in a language stand in a text; they may overlap.

    An acronym counts only in capitals: "LES" is lupus in Spanish, and "les" a pronoun.

    Args:
        text: The question.
        foreign: The names.
        language: Code of its language, which is not English. If it is unknown, only the whole text may be a name.
    """
    words = [*_WORD.finditer(text)]
    if language == UNKNOWN:
        if words and any(foreign.find(text, each) for each in foreign.languages):
            yield words[0].start(), words[-1].end()
        return
    occurs = [foreign.has_word(word.group(), language) for word in words]
    small = [is_small_word(word.group(), language) for word in words]
    for number, first in enumerate(words):
        if small[number]:
            continue
        for place, last in enumerate(words[number : number + _LONGEST], number):
            if not occurs[place]:
                break
            start, end = first.start(), last.end()
            if end - start >= _SHORTEST and not small[place] and _is_name(text[start:end], foreign, language):
                yield start, end


def _is_name(words: str, foreign: NamesByLanguage, language: str) -> bool:
    found = foreign.find(words, language) or foreign.find(words, language, loosely=True)
    names = (foreign.matching(concept_id, language, words) for concept_id in found)
    return any(words.isupper() or not name.isupper() for name in names)
