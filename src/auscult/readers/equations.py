"""Equations on one line: "weight×24/10", "10^9", "√(a+b)". MathML is written here; others use the same signs.

Parts with an operator of their own are put in brackets, so that the equation keeps its meaning. Functions return the
signs before, between and after the parts of a structure: one more than there are parts.
"""

from __future__ import annotations

import re
from typing import Final

from auscult.readers.tree import Element, Piece, descend, written

_LONGEST: Final = 200
# A product needs brackets below the line of a fraction, but not above it.
_SUM: Final = re.compile(r"(?<!^)[+\-\u2212\u2013\u00b1=<>\u2264\u2265/]")
OPERATOR: Final = re.compile(r"(?<!^)[+\-\u2212\u2013\u00b1=<>\u2264\u2265/\u00d7\u00b7*\u22c5\s]")
_ENCLOSED: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def brackets_of(text: str, operators: re.Pattern[str] = OPERATOR) -> tuple[str, str]:
    """Return the opening and closing bracket that a part needs because of operators in it; empty if it needs none."""
    text = text.strip()
    return ("(", ")") if operators.search(text) and not _ENCLOSED.fullmatch(text) else ("", "")


def _around(parts: list[str], between: list[str], lowest: list[re.Pattern[str] | None]) -> list[str]:
    """Return the signs of any structure.

    Args:
        parts: Texts of the parts.
        between: Signs between them.
        lowest: Per part, the operators in it for which it needs brackets; None for a part that never needs them.
    """
    brackets = [("", "") if each is None else brackets_of(part, each) for part, each in zip(parts, lowest, strict=True)]
    signs = [brackets[0][0]]
    for number, sign in enumerate(between):
        signs.append(brackets[number][1] + sign + brackets[number + 1][0])
    return [*signs, brackets[-1][1]]


def fraction_signs(parts: list[str]) -> list[str]:
    """Return the signs of a fraction: of what is above and below its line."""
    return _around(parts, ["/"], [_SUM, OPERATOR])


def script_signs(parts: list[str], signs: str) -> list[str]:
    """Return the signs of a part with raised or lowered ones: "^", "_" or both."""
    return _around(parts, [*signs], [OPERATOR] * len(parts))


def root_signs(parts: list[str]) -> list[str]:
    """Return the signs of a square root, or of a root and its degree."""
    if len(parts) == 1:
        opening, closing = brackets_of(parts[0])
        return ["\u221a" + opening, closing]
    signs = _around(parts, ["^(1/"], [OPERATOR, None])
    return [*signs[:-1], signs[-1] + ")"]


_SIGNS: Final = {"msup": "^", "msub": "_", "msubsup": "_^", "munderover": "_^", "munder": "_", "mover": "^"}


def write_mathml(root: Element) -> None:
    """Add the signs of equations (MathML) to a tree as text."""
    nodes = [
        node for node in descend(root) if isinstance(node, Element) and node.tag in (*_SIGNS, "mfrac", "msqrt", "mroot")
    ]
    # Inner ones first, since their signs decide about the brackets around them.
    for element in reversed(nodes):
        parts = element.elements
        texts = [each.beginning(_LONGEST) for each in parts]
        if element.tag == "mfrac" and len(parts) == 2:
            signs = fraction_signs(texts)
        elif element.tag == "msqrt":
            texts = [element.beginning(_LONGEST)]
            inner = Element("mrow")
            inner.children = element.children
            parts, signs = [inner], root_signs(texts)
        elif element.tag == "mroot" and len(parts) == 2:
            signs = root_signs(texts)
        elif element.tag in _SIGNS and len(parts) == len(_SIGNS[element.tag]) + 1:
            signs = script_signs(texts, _SIGNS[element.tag])
        else:
            continue
        children: list[Element | Piece] = [written(signs[0])] if signs[0] else []
        for part, sign in zip(parts, signs[1:], strict=True):
            children += [part, written(sign)] if sign else [part]
        element.children = children
