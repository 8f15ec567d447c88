"""All of many names in a text, found in one pass; the one file that imports the automaton.

The text is folded without changing its length (case, accents, punctuation to blanks), so offsets stay true, and an
Aho-Corasick automaton looks for whole words: the cost does not depend on how many names there are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from ahocorasick_rs import AhoCorasick

_NOT_WORD = re.compile(r"[\W_]")
_RUN = re.compile(r"\s{2,}")
_ACCENTS = {
    code: base
    for code in range(0xC0, 0x250)
    if len(base := unicodedata.normalize("NFKD", chr(code))[0]) == 1 and base.isascii()
}


class NameAutomaton:
    """Finds folded patterns as whole words.

    Args:
        patterns: What `fold` returned, words one blank apart, none empty.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._automaton = AhoCorasick([f" {pattern} " for pattern in patterns], store_patterns=False)

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """(start, -end, number of the pattern) of every match, overlapping ones too.

        Returns:
            In order of the start, longest first where two start together.
        """
        found = self._automaton.find_matches_as_indexes(f" {fold(text)} ", overlapping=True)
        # Patterns carry a blank at both ends, and so does the folded text: offsets shift by one and then cancel.
        return sorted((start, -(end - 2), index) for index, start, end in found)


def fold(text: str) -> str:
    """Lower case, no accents, blanks for everything but letters and digits; the length never changes."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    if not lower.isascii():
        lower = lower.translate(_ACCENTS)
    return _NOT_WORD.sub(" ", lower)


def single_blanks(text: str) -> tuple[str, Sequence[int]]:
    """A text with one blank for each run of blanks and line breaks, and where each of its letters was.

    Returns:
        The text, and for each place in it, its end included, the place in the original.
    """
    if _RUN.search(text) is None:
        return text, range(len(text) + 1)
    places: list[int] = []
    begin = 0
    for run in _RUN.finditer(text):
        places.extend(range(begin, run.start() + 1))
        begin = run.end()
    places.extend(range(begin, len(text) + 1))
    return _RUN.sub(" ", text), places
