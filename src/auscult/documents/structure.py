"""Paragraphs and list items of a text: the frame inside which sentences are looked for.

A line break always ends a sentence. Health pages and clinical notes end headings, list items and table rows
without a full stop, so a splitter that may look across line breaks glues them to what follows; cutting there
first is both safer and faster than any statistics. Text that was wrapped at a fixed width, as MIMIC-III's notes
are, would be cut in pieces: `unwrapped` reads it as if it were not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# A run of anything but the characters at which str.splitlines() breaks.
_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")

# "- x", "* x", "• x", "1. x", "1) x", "(1) x", "a) x", "(a) x". A dash needs a blank after it: "-5 °C"
# is none; "A. Smith" and "1990. He" are none either.
_LIST_MARKER = re.compile(r"(?:[-*+•‣◦▪●○·–—]|\(?\d{1,2}[.)]|\(?[a-z][)]|\([ivx]{1,4}\))\s+(?=\S)")

_ENDED_LINE = re.compile(r"[^\n]*\n?")
# A wrapped text has lines of about one width: most paragraphs' lines end within so many characters of the longest.
_NARROWEST, _WIDEST = 50, 100
_RAGGED = 20
_ITEM = re.compile(r"[ \t]*(?:[-*+#=_\u2022]|\(?\d{1,2}[.)]|\(?[a-zA-Z][)]|[A-Z][\w /&-]{0,60}:)")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One line of text without its surrounding white space.

    Attributes:
        start: Offset of the first visible character (of the list marker, where there is one).
        body: Offset behind the list marker; equals `start` where there is none.
        end: One past the last visible character.
        list_item: Begins with a list marker.
    """

    start: int
    body: int
    end: int
    list_item: bool


def paragraphs(text: str) -> Iterator[Paragraph]:
    """Every line with visible characters, in order.

    Args:
        text: Any text.

    Yields:
        Non-overlapping paragraphs that together hold every non-space character of the text.
    """
    for line in _LINE.finditer(text):
        content = line.group()
        tail = content.lstrip()
        if not tail:
            continue
        end = line.start() + len(content.rstrip())
        start = line.end() - len(tail)
        marker = _LIST_MARKER.match(text, start, end)
        yield Paragraph(start, marker.end() if marker else start, end, marker is not None)


def unwrapped(text: str) -> str:
    """Join the lines of wrapped paragraphs.

    Args:
        text: Any text.

    Returns:
        A text of the same length in which a line break inside a wrapped paragraph is a blank; `text` itself where
        it does not look wrapped: no line is longer than 100 characters, and at least a fifth of the lines
        with words (three or more) end at most 20 characters before the longest.
    """
    lines = _ENDED_LINE.findall(text)
    widths = [len(line.rstrip()) for line in lines]
    width = max(widths, default=0)
    filled = sum(width - length <= _RAGGED for length in widths)
    if not _NARROWEST <= width <= _WIDEST or filled < max(3, sum(map(bool, widths)) / 5):
        return text
    joined = []
    for line, length, following in zip(lines, widths, [*lines[1:], ""], strict=True):
        goes_on = width - length <= _RAGGED and following.strip() and not _ITEM.match(following)
        joined.append(line.replace("\r", " ").replace("\n", " ") if goes_on else line)
    return "".join(joined)
