"""What the HTML standard says of its elements, as far as their text and their nesting go."""

from __future__ import annotations

from typing import Final

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
    "aria-hidden", "aria-level", "charset", "class", "colspan", "content", "datetime", "hidden", "href", "http-equiv",
    "id", "lang", "name", "open", "property", "rel", "role", "rowspan", "style", "xml:lang", "xmlns",
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

__all__ = [
    "BLOCKS",
    "CELLS",
    "CLOSES",
    "CONTAINERS",
    "FORMATTING",
    "HEADINGS",
    "IN_HEAD",
    "KEPT_ATTRIBUTES",
    "LISTS",
    "RAW",
    "ROW_GROUPS",
    "VOID",
    "WITH_REFERENCES",
]
