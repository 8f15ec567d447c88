"""Join the lines of text that was wrapped at a fixed width, such as clinical notes.

Every line break is judged by itself, so that a rule of dashes, a long line or a list leaves the rest of a text as it
is. The evidence, the surest first:

1. the line ends with a word that no sentence ends with: "has no", "of the", "kein";
2. the next line begins with a small letter: the line goes on if the next begins with such a word ("of asthma"), or if
   it is full, as most lines near it, and a sentence ends soon after. A list without full stops stays a list;
3. the line is full: the next word did not fit within the width of its block. This counts only where other lines of the
   block go on too, or the whole text is wrapped.

A list item, a label ("Plan:"), a row of a table and a line without letters never continue the line above.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from statistics import median
from typing import Final

from auscult.documents.abbreviations import is_abbreviation

# Width of wrapped text, in characters. A longer line is a paragraph of its own.
_NARROW: Final = 50
_WIDEST: Final = 120
# A line may be so much shorter than its block is wide and still be full, in shares of the width.
_SLACK: Final = 0.12
# The lines of a text that is wrapped throughout end so many characters before the longest, or fewer.
_RAGGED: Final = 20
_FEWEST_LINES: Final = 3
_SHARE_OF_TEXT: Final = 0.2
_SHARE_GOING_ON: Final = 1 / 3
_SHARE_OF_WIDTH: Final = 0.8
_FEWEST_SMALL: Final = 2
_FEWEST_BLANKS: Final = 1
_LONGEST_ABBREVIATION: Final = 5
_LONGEST_SENTENCE: Final = 6
"""Lines of a narrow text in which a sentence ends."""
_NEAR: Final = 3
"""Lines before and after a line that show how wide its paragraph is."""
_SHARE_FULL: Final = 0.6
# Fewest words of a line in capitals that ends in "NO" and is no answer in a table.
_FEWEST_CAPITALS: Final = 3

_LETTER: Final = re.compile(r"[^\W\d_]")
_ITEM: Final = re.compile(
    r"\s*(?:[-*+#=_\u2022\u2023\u25a0\u25aa\u25cb\u25cf\u00b7\u2610-\u2612\u2013]|\(?\d{1,2}(?:\)|\.(?!\d))|\(?[a-zA-Z]\)"
    r"|(?=[^\W\d_a-z])\w[\w /&()-]{0,60}:(?!\d))"
)
_ENDS: Final = tuple(".!?:;")
_ENDS_BEFORE: Final = (".", ";")
_CLOSING: Final = "\"”’')]"
_SENTENCE_END: Final = re.compile(r"[.!?][\"”’')\]]*(?:\s|$)")
_SMALL_LABEL: Final = re.compile(r"\s*[a-z][\w /-]{0,30}:(?!\d)")
# "aspirin 81 mg", "sodium 140": a line of a list, if the line above is like that too.
_NAME_AND_FIGURE: Final = re.compile(r"\s*[^\W\d_][\w-]*(?: [\w-]+){0,2} \d")
_AMOUNT: Final = re.compile(
    r"\s*\d[\d.,/]*\s?(?:[mµμnk]?c?g|m[lL]|[dµμ]l|mmol|IE|I?U|units?|tab\w*|tbl|kaps\w*|caps\w*|drops?|puffs?|%)(?!\w)"
)
_IN_BRACKETS: Final = re.compile(r"\([a-z\d][^)]*$")
_COLUMNS: Final = re.compile(r"\t|\S {3,}\S| \| ")
_ANSWER: Final = re.compile(r"\b(?:yes|no|none|ja|nein|oui|non|s[ií])$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Words:
    """Words of several languages, in lower case.

    Attributes:
        unfinished: No sentence ends with them.
        continuing: No line of a list begins with them.
    """

    unfinished: frozenset[str]
    continuing: frozenset[str]


@cache
def _words() -> _Words:
    table = tomllib.loads(resources.files(__package__).joinpath("wrapping.toml").read_text(encoding="utf-8"))
    return _Words(**{name: frozenset(words.split()) for name, words in table.items()})


def unwrapped(text: str) -> str:
    """Join the lines of wrapped paragraphs.

    Args:
        text: Any text.

    Returns:
        The text with blanks for the line breaks inside wrapped paragraphs. All offsets stay the same.
    """
    if "\n" not in text:
        return text
    lines = text.split("\n")
    stripped = [line.rstrip() for line in lines]
    blocks = [*_find_blocks(stripped)]
    if not blocks:
        return text
    joins = _find_joins(stripped, blocks)
    if not joins:
        return text
    parts: list[str] = []
    for place, line in enumerate(lines):
        if place in joins:
            parts += [line.replace("\r", " "), " "]
        else:
            parts += [line, "\n"]
    return "".join(parts[:-1])


def _find_blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the half-open ranges of two or more lines with letters that follow each other."""
    start = -1
    for place, line in enumerate(lines):
        if not line or not _LETTER.search(line):
            if place - start > 1 and start >= 0:
                yield start, place
            start = -1
        elif start < 0:
            start = place
        if line.endswith(":") and start >= 0:
            if place - start > 0:
                yield start, place + 1
            start = -1
    if start >= 0 and len(lines) - start > 1:
        yield start, len(lines)


def _find_joins(lines: Sequence[str], blocks: Sequence[tuple[int, int]]) -> set[int]:
    """Return the indexes of lines that the next line continues."""
    widths = [_width(lines[start:end]) for start, end in blocks if end - start >= _FEWEST_LINES]
    of_text = _SHARE_OF_WIDTH * median(widths) if widths else 0.0
    wrapped = _is_wrapped(lines)
    joins: set[int] = set()
    for start, end in blocks:
        joins.update(_Block(lines, start, end, of_text, wrapped=wrapped).find_joins())
    return joins


def _width(lines: Sequence[str]) -> int:
    """Return the length of the longest line that is not a whole paragraph."""
    return max((length for length in map(len, lines) if length <= _WIDEST), default=0)


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Return whether a whole text is wrapped: many of its lines are nearly as long as the longest."""
    lengths = [len(line) for line in lines if line and _LETTER.search(line)]
    inner = [length for length in lengths if length <= _WIDEST]
    width = max(inner, default=0)
    filled = sum(width - length <= _RAGGED for length in inner)
    if width < _NARROW or filled < max(_FEWEST_LINES, _SHARE_OF_TEXT * len(lengths)):
        return False
    if len(inner) == len(lengths):
        return True
    # Lines of one paragraph each may be of a similar length by chance. Wrapped lines often begin with a small letter.
    after = [
        two.lstrip()[0].islower() for one, two in pairwise(lines) if one and two and _RAGGED >= width - len(one) >= 0
    ]
    return sum(after) >= max(_FEWEST_LINES, _SHARE_GOING_ON * len(after))


class _Block:
    """Lines of a text without an empty line between them.

    Args:
        lines: All lines of the text, without blanks at their ends.
        start: Index of the first line of the block.
        end: One past the index of the last line.
        least_width: Width at which the lines of a block of two are wrapped, at least, in characters.
        wrapped: Whether the whole text is wrapped.
    """

    def __init__(self, lines: Sequence[str], start: int, end: int, least_width: float, *, wrapped: bool) -> None:
        self._lines, self._start, self._end = lines, start, end
        self._places = range(start, end - 1)
        self._least_width = least_width if end - start < _FEWEST_LINES else 0.0
        self._wrapped = wrapped

    def find_joins(self) -> set[int]:
        """Return the indexes of lines that the next line continues."""
        small = {place for place in self._places if _begins_inside(self._lines[place + 1], self._lines[place])}
        joined = {place for place in self._places if self._is_hanging(place, small=place in small)}
        may_go_on = {place for place in small if self._may_go_on(place)}
        full = {place for place in may_go_on if self._is_full(place)}
        joined |= full if self._wrapped else self._select_prose(may_go_on, full)
        for place in self._places:
            near = range(place - _NEAR, place + _NEAR + 1)
            goes_on = self._wrapped or (joined and sum(each in joined for each in near) > 1)
            if goes_on and place not in joined and self._is_full_prose(place, small=place in small):
                joined.add(place)
        return joined

    def _select_prose(self, may_go_on: set[int], full: set[int]) -> set[int]:
        """Return the indexes of full lines that are no lines of a list.

        Args:
            may_go_on: Indexes of lines before a small letter.
            full: Those among them after which the next word did not fit.
        """
        if self._lines[self._start].lstrip()[0].islower():
            # Prose seldom begins with a small letter, but items of a list do.
            ended = _is_ended(self._lines[self._end - 1])
            if not ended or len(may_go_on) < _FEWEST_SMALL or len(full) < len(may_go_on):
                return set()
        found = set()
        for place in full:
            near = [each for each in range(place - _NEAR, place + _NEAR + 1) if each in may_go_on]
            following = self._lines[place + 1 : min(self._end, place + 1 + _LONGEST_SENTENCE)]
            # In a list, most lines end before the next word would not fit. In prose, a sentence ends soon.
            if sum(each in full for each in near) >= _SHARE_FULL * len(near) and any(
                map(_SENTENCE_END.search, following)
            ):
                found.add(place)
        return found

    def _is_hanging(self, place: int, *, small: bool) -> bool:
        """Return whether a line ends, or the next begins, with a word inside a sentence."""
        line, following = self._lines[place], self._lines[place + 1]
        if is_unfinished(line):
            hanging = not (_ANSWER.search(line) and _ANSWER.search(following))
        elif _is_ended(line):
            hanging = is_abbreviation(line, small=small)
        else:
            first = following.split(None, 1)[0]
            hanging = (small and first in _words().continuing) or _IN_BRACKETS.match(first) is not None
        return hanging and not _ITEM.match(following) and not _have_columns(line, following)

    def _may_go_on(self, place: int) -> bool:
        """Return whether a line before a small letter is prose without an end of a sentence."""
        line, following = self._lines[place], self._lines[place + 1]
        is_prose = line.count(" ") >= _FEWEST_BLANKS and not _is_ended(line)
        return is_prose and not _ITEM.match(following) and not _are_rows(line, following)

    def _is_full(self, place: int) -> bool:
        """Return whether the next word would not fit into a line, by the width of the lines near it."""
        line, following = self._lines[place], self._lines[place + 1]
        near = self._lines[max(self._start, place - _NEAR) : min(self._end, place + _NEAR + 1)]
        width = max(_width(near), self._least_width)
        needed = len(line) + 1 + len(following.split(None, 1)[0].rstrip(_CLOSING))
        return max(len(line), len(following)) <= _WIDEST and needed >= (1 - _SLACK) * width

    def _is_full_prose(self, place: int, *, small: bool) -> bool:
        line, following = self._lines[place], self._lines[place + 1]
        if not self._is_full(place) or _ITEM.match(following) or _are_rows(line, following):
            return False
        if small and _is_ended(line):
            return False
        if _ITEM.match(line) and not (small or following[0].isspace()):
            return False
        # A line in capitals above or below others is a heading, but "CT." is not.
        is_heading = line.isupper() != following.isupper() and len(following) > _LONGEST_ABBREVIATION
        return line.count(" ") >= _FEWEST_BLANKS and not is_heading


def _begins_inside(following: str, line: str) -> bool:
    """Return whether a line begins with a small letter, or with an amount that cannot be the item of a list.

    In a text in capitals every letter may be a small one.
    """
    first = following.lstrip()[0]
    if first.isdigit():
        return not line[0].isdigit() and _AMOUNT.match(following) is not None
    return first.islower() or (first.isupper() and line.isupper() and following.isupper())


def _is_ended(line: str) -> bool:
    """Return whether a line ends with the punctuation of a sentence."""
    return line.rstrip(_CLOSING)[-1:] in _ENDS


def is_unfinished(line: str) -> bool:
    """Return whether no sentence and no heading ends with the last word of a line, such as "no" or "of"."""
    unfinished = _words().unfinished
    before, _, last = line.rpartition(" ")
    last = last.lstrip("(")
    if last in unfinished:
        return True
    if last.lower() not in unfinished:
        return False
    # "It hurts. No" goes on, "Pain: No" and "PAIN NO" may be answers.
    return before[-1:] in _ENDS_BEFORE or (line.isupper() and line.count(" ") >= _FEWEST_CAPITALS)


def _have_columns(line: str, following: str) -> bool:
    """Return whether two lines are rows of a table, or both begin with a label."""
    if _COLUMNS.search(line) and _COLUMNS.search(following):
        return True
    return _SMALL_LABEL.match(line) is not None and _SMALL_LABEL.match(following) is not None


def _are_rows(line: str, following: str) -> bool:
    """Return whether two lines are rows of a table or a list: with columns, labels, or names and figures."""
    named = _NAME_AND_FIGURE.match(line) and _NAME_AND_FIGURE.match(following)
    return named is not None or _have_columns(line, following)
