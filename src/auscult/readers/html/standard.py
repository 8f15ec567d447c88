"""What the HTML standard says of elements, as far as text and nesting go, and of character references (`&amp;`)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.entities import html5
from typing import Final

from auscult.readers.tree import Piece

# fmt: off
VOID: Final = frozenset({
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link",
    "meta", "param", "source", "track", "wbr",
})
RAW: Final = frozenset({"script", "style", "xmp", "iframe", "noembed", "noframes", "title", "textarea"})
"""Holds no elements; the last two hold character references."""
WITH_REFERENCES: Final = frozenset({"title", "textarea"})
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS: Final = frozenset({"ul", "menu", "dir"})
BLOCKS: Final = HEADINGS | LISTS | {
    "address", "article", "aside", "blockquote", "center", "details", "dialog", "div", "dl", "fieldset", "figcaption",
    "figure", "footer", "form", "header", "hgroup", "hr", "main", "nav", "ol", "p", "pre", "search", "section",
    "summary", "table",
}
ROW_GROUPS: Final = frozenset({"tbody", "thead", "tfoot"})
CELLS: Final = frozenset({"td", "th", "caption"})
CONTAINERS: Final = BLOCKS | ROW_GROUPS | CELLS | {"li", "dt", "dd", "tr", "body"}
FORMATTING: Final = frozenset({
    "abbr", "b", "big", "cite", "code", "em", "font", "i", "mark", "q", "s", "small", "span", "strike", "strong", "sub",
    "sup", "tt", "u",
})
IN_HEAD: Final = frozenset({
    "base", "basefont", "bgsound", "link", "meta", "noscript", "script", "style", "template", "title",
})
"""Whatever else comes ends the head of a page, closed or not."""
KEPT_ATTRIBUTES: Final = frozenset({
    "alt", "aria-controls", "aria-expanded", "aria-haspopup", "aria-hidden", "aria-labelledby", "aria-level", "charset",
    "checked", "class", "colspan", "content", "data-bs-target", "data-bs-toggle", "data-target",
    "data-toggle", "datetime", "face", "hidden", "href", "http-equiv", "id", "lang", "name", "open", "property", "rel",
    "role", "rowspan", "selected", "start", "style", "type", "value", "xml:lang", "xmlns",
})
# fmt: on

_NOT_FROM_CELLS: Final = CELLS | {"table", "button"}
CLOSES: Final[dict[str, tuple[frozenset[str], frozenset[str]]]] = {
    **dict.fromkeys(BLOCKS, (frozenset({"p"}), _NOT_FROM_CELLS)),
    **dict.fromkeys(HEADINGS, (HEADINGS | {"p"}, _NOT_FROM_CELLS | {"div", "a", "li"})),
    **dict.fromkeys(ROW_GROUPS, (ROW_GROUPS | CELLS | {"tr", "colgroup"}, frozenset({"table"}))),
    **dict.fromkeys(CELLS, (CELLS, frozenset({"tr", "table"}))),
    **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd", "p"}), CELLS | {"dl", "table"})),
    "li": (frozenset({"li", "p"}), LISTS | CELLS | {"ol", "table"}),
    "tr": (CELLS | {"tr", "colgroup"}, frozenset({"table"})),
    "option": (frozenset({"option"}), frozenset({"select"})),
    "optgroup": (frozenset({"option", "optgroup"}), frozenset({"select"})),
    "a": (frozenset({"a"}), CONTAINERS),
}
"""A tag closes the open elements of the first kind, as far as none of the second stands between."""


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
