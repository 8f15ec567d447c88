"""Fractions that a tree shows by raised and lowered digits: "2½" is read as "2 1/2", not as "2^12" or "21/2".

`1<sup>1</sup>⁄<sub>2</sub>`, `2<sup>1</sup><sub>2</sub>`, `2<sup>1/2</sup>`, `2<span class="frac">1/2</span>` and the
`<mfrac>` of MathML behind a number are read so. `10<sup>9</sup>` stays a power, and `<sup>131</sup><sub>53</sub>I` an
isotope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from auscult.readers.tree import Element, Piece, Role, descend, written

_SCRIPTS: Final = frozenset({"sup", "sub"})
_FRACTION_TAGS: Final = frozenset({"mfrac"})
_FRACTION_CLASS: Final = re.compile(r"(?:^|[\s_-])s?frac(?:tion)?s?(?:$|[\s_-])", re.IGNORECASE)
_SLASH: Final = re.compile(r"\s*[/\u2044\u2215]\s*")
_DENOMINATOR: Final = re.compile(r"\s*[/\u2044\u2215]\s*(\d{1,2})(?![\d.,])")
_SLASHED: Final = re.compile(r"\s*(\d{1,2})\s*[/\u2044\u2215]\s*(\d{1,2})\s*")
_POWER_OF_TEN: Final = re.compile(r"(?:^|\D)10$")
# A fraction is short, so that no more of an element is looked at.
_LONGEST: Final = 20


class _Token(NamedTuple):
    """A part of a line.

    Attributes:
        kind: "text", "sup" or "sub"; "fraction" for the beginning of an element that is one; "block" for the end of a
            line.
        text: Its characters, or the first of them.
        parent: Element that contains it.
        place: Its place among the parent's children.
        element: The raised or lowered element.
    """

    kind: str
    text: str
    parent: Element
    place: int
    element: Element | None = None


def write_fractions(root: Element, role: Callable[[Element], Role]) -> None:
    """Add slashes and blanks to the fractions in a tree.

    Args:
        root: The tree, which is modified.
        role: Returns the role of an element.
    """
    if not any(isinstance(node, Element) and (node.tag in _SCRIPTS or _is_fraction(node)) for node in descend(root)):
        return
    tokens = [*_read_tokens(root, role)]
    # In the order of the text: the token, the piece to add, and whether it replaces the token.
    changes: list[tuple[_Token, Piece, bool]] = []
    last = ""
    for number, token in enumerate(tokens):
        after = tokens[number + 1 : number + 4]
        is_fraction = token.kind == "fraction"
        if token.kind == "sup" and token.element and (slash := _slash_of(token, after, last)) is not None:
            is_fraction = True
            changes += slash
            # Typesetters put "^" before raised numbers only.
            token.element.tag = "sub"
        if is_fraction and last[-1:].isdigit() and token.text[:1].isdigit():
            changes.append((token, written(" "), False))
            last += " "
        if token.kind == "block":
            last = ""
        elif token.kind != "fraction":
            last = (last + token.text)[-4:]
    _apply_changes(changes)


def _apply_changes(changes: list[tuple[_Token, Piece, bool]]) -> None:
    """Put pieces into a tree, before the tokens or in place of them."""
    by_parent: dict[int, dict[int, tuple[list[Piece], bool]]] = {}
    parents: dict[int, Element] = {}
    for token, piece, replaces in changes:
        parents[id(token.parent)] = token.parent
        before, _ = by_parent.setdefault(id(token.parent), {}).get(token.place, ([], False))
        by_parent[id(token.parent)][token.place] = [*before, piece], replaces
    for number, places in by_parent.items():
        children: list[Element | Piece] = []
        for place, child in enumerate(parents[number].children):
            before, replaces = places.get(place, ([], False))
            children += before if replaces else [*before, child]
        parents[number].children = children


def _slash_of(raised: _Token, after: list[_Token], last: str) -> list[tuple[_Token, Piece, bool]] | None:
    """Return how to write the slash of a fraction; None if raised characters are no numerator.

    Args:
        raised: The raised characters.
        after: Tokens after them.
        last: Characters before them.
    """
    if whole := _SLASHED.fullmatch(raised.text):
        is_mixed = last[-1:].isdigit() and not _POWER_OF_TEN.search(last)
        return [] if is_mixed and int(whole[1]) < int(whole[2]) else None
    numerator = raised.text.strip()
    if not numerator.isdecimal() or not after:
        return None
    first, *others = after
    if first.kind == "sub" and first.text.strip().isdecimal():
        is_isotope = bool(others) and others[0].kind == "text" and others[0].text[:1].isalpha()
        is_short = not last[-1:].isalpha() and not is_isotope and int(numerator) < int(first.text)
        is_one = is_short or _is_fraction(raised.parent)
        return [(first, written("/"), False)] if is_one else None
    if first.kind != "text":
        return None
    if _SLASH.fullmatch(first.text) and others and others[0].kind == "sub" and others[0].text.strip().isdecimal():
        return [(first, written("/"), True)]
    below = _DENOMINATOR.match(first.text)
    is_mixed = below is not None and last[-1:].isdigit() and not _POWER_OF_TEN.search(last)
    return [] if is_mixed and below and int(numerator) < int(below[1]) else None


def _read_tokens(root: Element, role: Callable[[Element], Role]) -> Iterator[_Token]:
    """Yield the parts of all lines. Raised and lowered elements are one token each."""
    end = _Token("block", "", root, 0)
    waiting: list[tuple[Element | Piece | None, Element, int]] = _children_of(root)
    while waiting:
        node, parent, place = waiting.pop()
        if node is None:
            yield end
        elif isinstance(node, Piece):
            yield _Token("text", node.text, parent, place)
        elif (part := role(node)) not in (Role.DROPPED, Role.STRUCK):
            if part is not Role.INLINE:
                yield end
                waiting.append((None, parent, place))
            if node.tag in _SCRIPTS:
                yield _Token(node.tag, node.beginning(_LONGEST), parent, place, node)
                continue
            if _is_fraction(node):
                yield _Token("fraction", node.beginning(_LONGEST), parent, place)
            waiting += _children_of(node)


def _children_of(element: Element) -> list[tuple[Element | Piece | None, Element, int]]:
    return [(child, element, place) for place, child in reversed([*enumerate(element.children)])]


def _is_fraction(element: Element) -> bool:
    classes = element.get("class")
    return element.tag in _FRACTION_TAGS or bool(classes and _FRACTION_CLASS.search(classes))
