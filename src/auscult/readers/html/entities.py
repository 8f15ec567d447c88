"""Character references of HTML (`&amp;`, `&#8211;`) as pieces that say which characters of the source they are."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.entities import html5
from typing import Final

from auscult.readers.tree import Piece

_REFERENCE: Final = re.compile(r"&(?:#([0-9]++|[xX][0-9a-fA-F]++);?|([a-zA-Z][a-zA-Z0-9]{0,31}+);?)")
_LONGEST_NUMBER: Final = 10


def pieces(source: str, start: int, end: int) -> Iterator[Piece]:
    """The text of a range of the source, a piece a reference and one for each stretch without any.

    Args:
        source: Decoded characters.
        start: Of the range.
        end: One past its last character.
    """
    place = start
    search = start
    while (found := source.find("&", search, end)) >= 0:
        search = found + 1
        if (resolved := _resolved(source, found, end)) is None:
            continue
        text, stop = resolved
        if found > place:
            yield Piece(source[place:found], place, found)
        if text:
            yield Piece(text, found, stop)
        place = search = stop
    if end > place:
        yield Piece(source[place:end], place, end)


def unescaped(text: str) -> str:
    """A text with its references resolved."""
    return "".join(piece.text for piece in pieces(text, 0, len(text))) if "&" in text else text


def _resolved(source: str, place: int, end: int) -> tuple[str, int] | None:
    """What a reference stands for, and where it ends; None where an ampersand is only that."""
    match = _REFERENCE.match(source, place, end)
    if match is None:
        return None
    number, name = match.groups()
    if number is not None:
        digits = number[1:] if number[0] in "xX" else number
        # Longer than any character's number: Python refuses to read numbers of thousands of digits.
        if len(digits.lstrip("0")) > _LONGEST_NUMBER:
            return "\ufffd", match.end()
        sign = number[0] if number[0] in "xX" else ""
        return html.unescape(f"&#{sign}{digits.lstrip('0') or '0'};"), match.end()
    whole = source[place + 1 : match.end()]
    if whole in html5:
        return html5[whole], match.end()
    # Old ones need no semicolon, and a letter may follow: "&ampx" is "&x".
    for length in range(len(name), 1, -1):
        if name[:length] in html5:
            return html5[name[:length]], place + 1 + length
    return None


__all__ = ["pieces", "unescaped"]
