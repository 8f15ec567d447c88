"""Sentence starts put right where health text differs from what a general splitter expects.

Three small rules, written on text that the gold set of docs/sentence-splitting.md does not contain:

1. join: no sentence begins behind "Dr.", "vs." or "e.g.", none behind "p.o.", "q.8h." or "spp." when a small
   letter or a figure follows, none behind "No." or "Fig." when a figure follows, and none inside "?UTI";
2. shift: closing quotes and brackets stay with the sentence they end, opening ones go to the one they begin;
3. split: a full stop behind a plain word of four letters or more, a blank and a capital end a sentence, also
   inside quotes and brackets and where an apostrophe was taken for an opening quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Never at the end of a sentence, whatever follows.
_BEFORE_ANYTHING = re.compile(r"(?<!\w)(?:Drs?|Mrs?|Ms|Prof|St|[Ee]\.g|[Ii]\.e|cf|viz|vs|subsp|approx)\.$")
# Not at the end of a sentence when a small letter, a figure or a bracket follows.
_BEFORE_SMALL = re.compile(
    r"(?<!\w)(?:(?:[A-Za-z]{1,2}\.)+[A-Za-z]|q\.? ?\d[\d-]*h?|al|ca|c|q|spp|tabs?|caps?|susp|inj"
    r"|hrs?|min|wks?|yrs?|mos?|resp|temp|wt|ht|dept|max|est|etc|incl|esp)\.[\"”)]?$"
)
# Not at the end of a sentence when a figure follows.
_BEFORE_FIGURE = re.compile(
    r"(?<!\w)(?:[Nn]os?|[Ff]igs?|[Vv]ol|pp?|[Tt]emp|[Rr]esp|[Ss]ect?|[Cc]h|[Ee]qs?|[Rr]ef|para)\.$"
)
_CONTINUES = re.compile(r"[a-z0-9(%$<>=~+/]")
_CLOSING = re.compile(r"[\"”’)\]]+(?=\s|$)")
_OPENING = re.compile(r"(?<=\s)[\"“‘(\[]+$")
_PLAIN_END = re.compile(r"(?:\b[a-z]{4,}|pH)[.!?][\"”’)\]]*\s+(?=[\"“‘(\[]?[A-Z])")
_SHORTENED = re.compile(r"(?:subsp|approx|dept|univ|prof|assoc|para|inst|vols|figs|temp|resp|tabs|caps|susp|incl)\.")
_LOOK_BACK = 16


def _joins(text: str, end: int, start: int) -> bool:
    """Whether the words before `end` and from `start` belong to one sentence."""
    before = text[max(0, end - _LOOK_BACK) : end]
    if end == start:  # nothing between them: only a query in front of a word ("?UTI") is joined
        return before.endswith("?") and (len(before) == 1 or before[-2] in " /(:")
    if before[-1] not in '."”)':
        return False
    following = text[start]
    if following.isdigit() and _BEFORE_FIGURE.search(before):
        return True
    if _CONTINUES.match(following) and _BEFORE_SMALL.search(before):
        return True
    return _BEFORE_ANYTHING.search(before) is not None


def repair(text: str, starts: Iterable[int]) -> list[int]:
    """Correct the sentence starts that a library found.

    Args:
        text: One paragraph.
        starts: Offsets at which the library begins a sentence; 0 may be left out.

    Returns:
        Corrected offsets, ascending, without repeats.
    """
    kept: set[int] = set()
    for start in starts:
        if not 0 < start < len(text):
            continue
        closing = _CLOSING.match(text, start)
        if closing and not text[start - 1].isspace():
            start = closing.end()
        opening = _OPENING.search(text, max(0, start - 4), start)
        if opening:
            start = opening.start()
        while start < len(text) and text[start].isspace():
            start += 1
        end = start
        while end and text[end - 1].isspace():
            end -= 1
        if start < len(text) and end and not _joins(text, end, start):
            kept.add(start)
    for obvious in _PLAIN_END.finditer(text):
        if not _SHORTENED.match(text, obvious.start()):
            kept.add(obvious.end())
    return sorted(kept)
