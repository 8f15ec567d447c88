"""Labels of list items as a page shows them: "3.", "c.", "iv."."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from auscult.readers.tree import Element

# Values of `type` in HTML, and of the property `list-style-type` in CSS.
_TYPES: Final = {"1": "decimal", "a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman"}
_STYLE: Final = re.compile(r"(?:^|;)\s*list-style(?:-type)?\s*:([^;]*)", re.IGNORECASE)
_ALPHABETS: Final = {
    "lower-alpha": "abcdefghijklmnopqrstuvwxyz",
    "lower-latin": "abcdefghijklmnopqrstuvwxyz",
    "upper-alpha": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "upper-latin": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "lower-greek": "αβγδεζηθικλμνξοπρστυφχψω",
}
_NUMBERED: Final = frozenset({*_ALPHABETS, "decimal", "decimal-leading-zero", "lower-roman", "upper-roman"})
_BULLETS: Final = frozenset({"circle", "disc", "none", "square"})
_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MOST_ROMAN: Final = 3999
_LONGEST: Final = 6
_BULLET: Final = "- "


@dataclass(slots=True)
class ListNumbers:
    """Counts the items of a list.

    Attributes:
        style: Value of `list-style-type`; "" for a list with bullets.
        next: Number of the next item.
        step: What is added to it: -1 in a reversed list.
    """

    style: str = ""
    next: int = 1
    step: int = 1

    @classmethod
    def of(cls, element: Element, items: int, *, numbered: bool) -> ListNumbers:
        """Return the numbers of a list.

        Args:
            element: The list, with the attributes `type`, `start`, `reversed` and `style` of HTML.
            items: Number of its items.
            numbered: Whether its items have numbers by default.
        """
        style = _style_of(element) or ("decimal" if numbered else "")
        step = -1 if "reversed" in element.attributes else 1
        first = _parse_integer(element.get("start"))
        if first is None:
            first = items if step < 0 else 1
        return cls("" if style in _BULLETS else style, first, step)

    def marker(self, item: Element) -> str:
        """Return what stands before an item, and count it."""
        style = _style_of(item) or self.style
        if not style or style in _BULLETS:
            return _BULLET
        value = _parse_integer(item.get("value"))
        number = self.next if value is None else value
        self.next = number + self.step
        return f"{_write_label(number, style)}. "


def _style_of(element: Element) -> str:
    """Return the style of a list or an item; "" if it states none that is known."""
    for declared in _STYLE.findall(element.get("style")):
        for word in declared.lower().replace("!important", "").split():
            if word in _NUMBERED or word in _BULLETS:
                return str(word)
    kind = element.get("type").strip()
    style = _TYPES.get(kind, kind.lower())
    return style if style in _NUMBERED or style in _BULLETS else ""


def _parse_integer(text: str) -> int | None:
    text = text.strip()
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < _LONGEST else None


def _write_label(number: int, style: str) -> str:
    if style == "decimal-leading-zero":
        return f"{number:02}"
    if style in _ALPHABETS and number > 0:
        return _write_letters(number, _ALPHABETS[style])
    if style.endswith("roman") and 0 < number <= _MOST_ROMAN:
        roman = ""
        for value, letters in _ROMAN:
            times, number = divmod(number, value)
            roman += letters * times
        return roman.upper() if style == "upper-roman" else roman
    return str(number)


def _write_letters(number: int, alphabet: str) -> str:
    """Return a number in letters: 27 of "a" to "z" is "aa"."""
    label = ""
    while number > 0:
        number, place = divmod(number - 1, len(alphabet))
        label = alphabet[place] + label
    return label
