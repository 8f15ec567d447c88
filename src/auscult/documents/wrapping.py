"""Text that was wrapped at a fixed width, as MIMIC-III's notes are: read as if it were not.

A line break is otherwise the end of a sentence (`structure.py`), which would cut a wrapped sentence in pieces.
"""

from __future__ import annotations

import re

_LINE = re.compile(r"[^\n]*\n?")
# A wrapped text has lines of about one width: most paragraphs' lines end within so many characters of the longest.
_NARROWEST, _WIDEST = 50, 100
_RAGGED = 20
_ITEM = re.compile(r"[ \t]*(?:[-*+#=_\u2022]|\(?\d{1,2}[.)]|\(?[a-zA-Z][)]|[A-Z][\w /&-]{0,60}:)")


def unwrapped(text: str) -> str:
    """Join the lines of wrapped paragraphs.

    Args:
        text: Any text.

    Returns:
        A text of the same length in which a line break inside a wrapped paragraph is a blank; `text` itself where
        it does not look wrapped: no line is longer than 100 characters, and at least a fifth of the lines
        with words (three or more) end at most 20 characters before the longest.
    """
    lines = _LINE.findall(text)
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


__all__ = ["unwrapped"]
