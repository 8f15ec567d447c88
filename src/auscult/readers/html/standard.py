"""Rules of the HTML standard for the nesting of elements and for character references (`&amp;`)."""

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
"""Elements that contain only text; the last two may contain character references."""
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
"""Elements of the head of a page. Any other element ends the head, even without an end tag."""
KEPT_ATTRIBUTES: Final = frozenset({
    "alt", "aria-controls", "aria-expanded", "aria-haspopup", "aria-hidden", "aria-labelledby", "aria-level", "charset",
    "checked", "class", "colspan", "content", "data-bs-target", "data-bs-toggle", "data-target",
    "data-toggle", "datetime", "face", "hidden", "href", "http-equiv", "id", "lang", "media", "name", "open",
    "property", "rel", "reversed", "role", "rowspan", "selected", "srcdoc", "start", "style", "type", "value", "x",
    "xml:lang", "xmlns", "y",
})
# fmt: on
CSS: Final = "css"
"""Attribute of a `<style>` element with its style sheet, which is no text of the page."""

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
    **dict.fromkeys(("rb", "rp", "rt", "rtc"), (frozenset({"rb", "rp", "rt"}), frozenset({"ruby"}))),
}
"""By start tag: the open elements that it closes, and the elements that protect those outside of them."""


_REFERENCE: Final = re.compile(r"&(?:#([0-9]++|[xX][0-9a-fA-F]++);?|([a-zA-Z][a-zA-Z0-9]{0,31}+);?)")
_LONGEST_NUMBER: Final = 10


def pieces(source: str, start: int, end: int) -> Iterator[Piece]:
    """Yield the text of a range of the source: a piece for each reference and for the text between references.

    Args:
        source: Decoded characters.
        start: Start of the range.
        end: One past its last character.
    """
    place = start
    search = start
    while (ampersand := source.find("&", search, end)) >= 0:
        search = ampersand + 1
        if (resolved := _resolve(source, ampersand, end)) is None:
            continue
        text, stop = resolved
        if ampersand > place:
            yield Piece(source[place:ampersand], place, ampersand)
        if text:
            yield Piece(text, ampersand, stop)
        place = search = stop
    if end > place:
        yield Piece(source[place:end], place, end)


def resolve_references(text: str) -> str:
    """Return a text with its references resolved."""
    return "".join(piece.text for piece in pieces(text, 0, len(text))) if "&" in text else text


def _resolve(source: str, place: int, end: int) -> tuple[str, int] | None:
    """Return the text of a reference and its end; None for an ampersand that begins no reference."""
    match = _REFERENCE.match(source, place, end)
    if match is None:
        return None
    number, name = match.groups()
    if number is not None:
        digits = number[1:] if number[0] in "xX" else number
        # Longer than any code point. Python refuses to parse numbers of thousands of digits.
        if len(digits.lstrip("0")) > _LONGEST_NUMBER:
            return "\ufffd", match.end()
        sign = number[0] if number[0] in "xX" else ""
        return html.unescape(f"&#{sign}{digits.lstrip('0') or '0'};"), match.end()
    whole = source[place + 1 : match.end()]
    if whole in html5:
        return html5[whole], match.end()
    # Old references need no semicolon, and a letter may follow: "&ampx" is "&x".
    for length in range(len(name), 1, -1):
        if name[:length] in html5:
            return html5[name[:length]], place + 1 + length
    return None
