"""Struck-out words of a PDF page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from auscult_readers.pdf.glyphs import Glyph, Rule, is_within

_FEWEST_STRUCK: Final = 3
# Where a line that strikes out crosses letters, above their base line, in letter sizes: below are underlines, above is
# the height of small letters.
_LOWEST: Final = 0.12
_HIGHEST: Final = 0.45
# How far from the first and the last letter it may begin and end, in letter sizes. Rules of tables go further.
_NEAR_ENDS: Final = 0.4


def struck_out(glyphs: Sequence[Glyph], rules: Sequence[Rule], boxes: Sequence[tuple[float, ...]]) -> set[int]:
    """Return the indexes of characters of struck-out words.

    A word is struck out by an annotation, or by a drawn line that begins and ends with one or more words.
    """
    if not rules and not boxes:
        return set()
    words: list[list[int]] = []
    for place, glyph in enumerate(glyphs):
        if glyph.text == " " or glyph.turn != 0:
            continue
        if words and words[-1][-1] == place - 1:
            words[-1].append(place)
        else:
            words.append([place])
    at_height: dict[int, list[int]] = {round(rule.height): [] for rule in rules}
    for number, word in enumerate(words) if rules else ():
        first = glyphs[word[0]]
        for height in range(round(first.base - _HIGHEST * first.size), round(first.base - _LOWEST * first.size) + 1):
            if height in at_height:
                at_height[height].append(number)
    struck_out: set[int] = set()
    for rule in rules:
        crossed = [words[number] for number in at_height[round(rule.height)]]
        crossed = [word for word in crossed if _crosses(rule, glyphs[word[0]], glyphs[word[-1]])]
        places = [place for word in crossed for place in word]
        if sum(glyphs[place].text.isalpha() for place in places) < _FEWEST_STRUCK:
            continue
        near = _NEAR_ENDS * glyphs[places[0]].size
        begins = abs(min(glyphs[place].left for place in places) - rule.left) <= near
        if begins and abs(max(glyphs[place].right for place in places) - rule.right) <= near:
            struck_out.update(places)
    for word in words if boxes else ():
        hit = [place for place in word if any(is_within(glyphs[place], *box) for box in boxes)]
        if 2 * len(hit) > len(word):
            struck_out.update(word)
    return struck_out


def _crosses(rule: Rule, first: Glyph, last: Glyph) -> bool:
    """Whether a line crosses most of the word from `first` to `last`, in its lower half."""
    across = min(rule.right, last.right) - max(rule.left, first.left)
    through = first.base - _HIGHEST * first.size <= rule.height <= first.base - _LOWEST * first.size
    return through and 2 * across > last.right - first.left
