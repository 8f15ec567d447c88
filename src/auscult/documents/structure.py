"""Paragraphs and list items of a text: the frame inside which sentences are looked for.

A line break always ends a sentence. Health pages and clinical notes end headings, list items and table rows
without a full stop, so a splitter that may look across line breaks glues them to what follows; cutting there
first is both safer and faster than any statistics. Text that was wrapped at a fixed width has to be unwrapped
by its reader before it comes here.
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


__all__ = ["Paragraph", "paragraphs"]
