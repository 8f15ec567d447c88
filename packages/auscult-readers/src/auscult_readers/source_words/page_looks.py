"""How a browser shows a page: styles from style sheets, marks of lists, pages inside, and what is under a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from auscult.readers.contract import DraftDocument
from auscult.readers.signs import EMPTY, TICKED
from auscult_readers.source_words.part import HEADED, Piece, parsed_html, structure_part
from auscult_readers.word.package import local

HIDDEN_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_RULE: Final = re.compile(r"([^{}]+)\{([^{}]*)\}")
_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_SIMPLE: Final = re.compile(r"([a-z][a-z0-9]*|\*)?((?:[.#][\w-]+)*)", re.IGNORECASE)
_MOST_RULES: Final = 5_000


class Looks:
    """The style of each element, by style sheets with simple selectors ("p", ".gone", "li#x") and its own attribute."""

    def __init__(self, root: Any) -> None:
        self._styles: dict[str, list[tuple[str, frozenset[str], str]]] = {}
        sheets = "".join(each.text or "" for each in root.iter("{*}style", "style"))
        for selectors, style in _RULE.findall(_COMMENT.sub("", sheets))[:_MOST_RULES]:
            for selector in selectors.split(","):
                found = _SIMPLE.fullmatch(selector.strip())
                if found is not None and selector.strip():
                    marks = frozenset(re.findall(r"[.#][\w-]+", found[2]))
                    self._styles.setdefault(min(marks, default=(found[1] or "*").lower()), []).append(
                        ((found[1] or "*").lower(), marks, style)
                    )

    def of(self, element: Any) -> str:
        """Return the declarations that hold for an element, by name and value."""
        name = local(element).lower()
        marks = {f".{each}" for each in (element.get("class") or "").split()} | {f"#{element.get('id') or ''}"}
        own = [
            style
            for key in {name, "*", *marks}
            for tag, asked, style in self._styles.get(key, ())
            if tag in (name, "*") and asked <= marks
        ]
        return ";".join([*own, element.get("style") or ""]).lower()


def write_out(root: Any) -> None:
    """Write what a browser adds into the tree: marks of ordered lists, values of fields, and pages inside the page."""
    for element in [*root.iter()]:
        name = local(element).lower()
        if name == "ol":
            _number(element)
        elif name == "iframe" and element.get("srcdoc"):
            inner = parsed_html(element.get("srcdoc"))
            element.text = None
            element[:] = [] if inner is None else [inner]
        elif name == "input":
            kind = (element.get("type") or "text").lower()
            if kind in ("checkbox", "radio"):
                element.text = TICKED if element.get("checked") is not None else EMPTY
            elif kind in ("text", "number", "date", "email", "tel"):
                element.text = element.get("value")


def _number(items: Any) -> None:
    children = [each for each in items if local(each).lower() == "li"]
    step = -1 if items.get("reversed") is not None else 1
    number = _whole(items.get("start"), len(children) if step < 0 else 1)
    for item in children:
        number = _whole(item.get("value"), number)
        item.text = f"{_mark(number, items.get('type') or '1')}. {item.text or ''}"
        number += step


def _whole(text: str | None, other: int) -> int:
    return int(text) if text and re.fullmatch(r"-?\d{1,6}", text.strip()) else other


_ROMAN: Final = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


def _mark(number: int, kind: str) -> str:
    if kind in ("a", "A") and 1 <= number <= 26:
        return chr(ord(kind) + number - 1)
    if kind in ("i", "I") and 1 <= number <= 39:
        mark = ""
        for size, letters in _ROMAN:
            while number >= size:
                mark, number = mark + letters, number - size
        return mark if kind == "i" else mark.upper()
    return str(number)


_HEADINGS: Final = {**{f"h{level}": level for level in range(1, 7)}, "summary": 7, "dt": 7, "legend": 7}
_CLOSING: Final = frozenset({
    "article", "aside", "blockquote", "dd", "details", "dl", "fieldset", "figure", "li", "section", "td", "th",
})  # fmt: skip
_BLOCKS: Final = frozenset({"p", "li", "td", "dd", "div", "pre", "blockquote", "address"})

_PARTS: Final = _BLOCKS | frozenset(_HEADINGS)


def headed_part(root: Any) -> DraftDocument:
    """Return the text blocks of a page, each with the headings above it. A heading ends with the element around it."""
    return structure_part(HEADED, (Piece(text, above=tuple(above)) for text, above in _blocks(root)))


def _blocks(root: Any) -> Iterator[tuple[str, list[str]]]:
    # Each element with the open headings, a list that is shared until an element closes it.
    waiting: list[tuple[Any, list[tuple[int, str]]]] = [(root, [])]
    while waiting:
        element, above = waiting.pop()
        name = local(element).lower()
        if name in _HEADINGS:
            level = _HEADINGS[name]
            above[:] = [each for each in above if each[0] < level] + [(level, _text(element))]
            continue
        inside = {local(each).lower() for each in element.iterdescendants()}
        if name in _BLOCKS and not inside & _PARTS:
            if text := _text(element):
                yield text, [heading for _, heading in above]
            continue
        inner = list(above) if name in _CLOSING and name != "dd" else above
        waiting += [(child, inner) for child in reversed(element) if local(child)]


def _text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())
