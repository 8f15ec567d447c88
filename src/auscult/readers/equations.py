"""Equations on one line: "weight×24/10", "10^9", "√(a+b)". The same from Word's markup (OMML), rich text and MathML.

Parts with an operator of their own are put in brackets, so that the equation keeps its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from auscult.readers.tree import Element, Piece, descend, written

_DEEPEST: Final = 40
_LONGEST: Final = 200
# A product needs brackets below the line of a fraction, but not above it.
_SUM: Final = re.compile(r"(?<!^)[+\-\u2212\u2013\u00b1=<>\u2264\u2265/]")
_OPERATOR: Final = re.compile(r"(?<!^)[+\-\u2212\u2013\u00b1=<>\u2264\u2265/\u00d7\u00b7*\u22c5\s]")
_INTEGRAL: Final = "\u222b"
_ENCLOSED: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def _in_brackets(text: str, operators: re.Pattern[str]) -> tuple[str, str]:
    """Return the opening and closing bracket that a part needs; both empty if it needs none."""
    text = text.strip()
    return ("(", ")") if operators.search(text) and not _ENCLOSED.fullmatch(text) else ("", "")


def _around(parts: list[str], between: list[str], lowest: list[re.Pattern[str] | None]) -> list[str]:
    """Return the signs before, between and after parts: one more than there are parts.

    Args:
        parts: Texts of the parts.
        between: Signs between them.
        lowest: Per part, the operators in it for which it needs brackets; None for a part that never needs them.
    """
    brackets = [
        ("", "") if each is None else _in_brackets(part, each) for part, each in zip(parts, lowest, strict=True)
    ]
    signs = [brackets[0][0]]
    for number, sign in enumerate(between):
        signs.append(brackets[number][1] + sign + brackets[number + 1][0])
    return [*signs, brackets[-1][1]]


def _fraction(parts: list[str]) -> list[str]:
    return _around(parts, ["/"], [_SUM, _OPERATOR])


def fraction(above: str, below: str) -> str:
    """Return a fraction on one line."""
    return _joined([above, below], _fraction)


def root(radicand: str, degree: str = "") -> str:
    """Return a root on one line, a square root if it has no degree."""
    if degree:
        return _joined([radicand, degree], lambda parts: _around(parts, ["^(1/"], [_OPERATOR, None])) + ")"
    return _joined([radicand], lambda parts: _root(parts[0]))


def enclosed(text: str) -> str:
    """Return a text, in brackets if it has an operator of its own."""
    opening, closing = _in_brackets(text, _OPERATOR)
    return f"{opening}{text}{closing}"


def beside(before: str, after: str) -> bool:
    """Whether a number directly follows another one, as in "2½": without a blank it would become "21/2"."""
    return before[-1:].isdigit() and after[:1].isdigit()


def _scripts(parts: list[str], signs: str) -> list[str]:
    return _around(parts, [*signs], [_OPERATOR, *[_OPERATOR for _ in signs]])


def _root(part: str) -> list[str]:
    opening, closing = _in_brackets(part, _OPERATOR)
    return ["\u221a" + opening, closing]


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
            signs = _fraction(texts)
        elif element.tag == "msqrt":
            texts = [element.beginning(_LONGEST)]
            inner = Element("mrow")
            inner.children = element.children
            parts, signs = [inner], _root(texts[0])
        elif element.tag == "mroot" and len(parts) == 2:
            signs = _around(texts, ["^(1/"], [_OPERATOR, None])
            signs[-1] += ")"
        elif element.tag in _SIGNS and len(parts) == len(_SIGNS[element.tag]) + 1:
            signs = _scripts(texts, _SIGNS[element.tag])
        else:
            continue
        children: list[Element | Piece] = [written(signs[0])] if signs[0] else []
        for part, sign in zip(parts, signs[1:], strict=True):
            children += [part, written(sign)] if sign else [part]
        element.children = children


# Parts of Word's structures by their tags, and the function that returns the signs around them.
_STRUCTURES: Final[dict[str, tuple[tuple[str, ...], Callable[[list[str]], list[str]]]]] = {
    "f": (("num", "den"), _fraction),
    "sSup": (("e", "sup"), partial(_scripts, signs="^")),
    "sSub": (("e", "sub"), partial(_scripts, signs="_")),
    "sSubSup": (("e", "sub", "sup"), partial(_scripts, signs="_^")),
    "limLow": (("e", "lim"), partial(_scripts, signs="_")),
    "limUpp": (("e", "lim"), partial(_scripts, signs="^")),
}


def omml_text(element: Any, depth: int = 0) -> str:
    """Return an equation of a Word file on one line.

    Args:
        element: `m:oMath`, or a part of one.
        depth: Number of parts around it. Parts deeper than 40 are left out.
    """
    name = _local(element)
    if depth > _DEEPEST or name.endswith("Pr"):
        return ""
    if name == "t":
        return element.text or ""
    texts = [(_local(child), omml_text(child, depth + 1)) for child in element]

    def part(tag: str) -> str:
        return "".join(text for inner, text in texts if inner == tag)

    if name in _STRUCTURES:
        tags, signs_of = _STRUCTURES[name]
        return _joined([part(tag) for tag in tags], signs_of)
    match name:
        case "rad":
            return root(part("e"), part("deg"))
        case "nary":
            bounds = ""
            for sign, limit in (("_", part("sub")), ("^", part("sup"))):
                if limit:
                    bounds += f"{sign}{enclosed(limit)}"
            return f"{_character(element, 'naryPr', 'chr', _INTEGRAL)}{bounds} {part('e')}"
        case "d":
            inside = _character(element, "dPr", "sepChr", "|").join(text for inner, text in texts if inner == "e")
            return f"{_character(element, 'dPr', 'begChr', '(')}{inside}{_character(element, 'dPr', 'endChr', ')')}"
        case "func":
            argument = part("e")
            return f"{part('fName')}{argument}" if argument.startswith("(") else f"{part('fName')} {argument}"
        case "m" | "eqArr":
            return "; ".join(text for inner, text in texts if inner in ("mr", "e"))
        case "mr":
            return ", ".join(text for _, text in texts)
    whole, before = "", ""
    for inner, text in texts:
        whole += f" {text}" if "f" in (inner, before) and beside(whole, text) else text
        before = inner
    return whole


@dataclass(slots=True)
class _Group:
    """A group of rich text, with the interface of an XML element."""

    tag: str = ""
    text: str = ""
    attrib: dict[str, str] = field(default_factory=dict)
    groups: list[_Group] = field(default_factory=list)

    def __iter__(self) -> Iterator[_Group]:
        return iter(self.groups)


_RTF_NAMES: Final = {"limlow": "limLow", "limupp": "limUpp"}


class GroupedEquation:
    r"""Builds an equation of rich text from its groups, which are Word's structures: `{\mf{\mnum 1}{\mden 2}}`."""

    def __init__(self) -> None:
        self._open = [_Group("oMath")]

    def begin_group(self) -> None:
        """Begin a group."""
        self._open.append(_Group())

    def name_group(self, name: str) -> None:
        """Set the name of the current group."""
        self._open[-1].tag = _RTF_NAMES.get(name, name)

    def add(self, text: str) -> None:
        """Add text to the current group. That of a property is its value."""
        group = self._open[-1]
        group.groups.append(_Group("t", text))
        group.attrib["}val"] = group.attrib.get("}val", "") + text

    def end_group(self) -> None:
        """End the current group."""
        group = self._open.pop()
        self._open[-1].groups.append(group)

    def text(self) -> str:
        """Return the equation on one line."""
        return omml_text(self._open[0])


def _character(element: Any, properties: str, tag: str, default: str) -> str:
    """Return the character that a property sets ("" for an empty one), or else the default."""
    for child in element:
        if _local(child) == properties:
            for setting in child:
                if _local(setting) == tag:
                    return next((str(value) for key, value in setting.attrib.items() if key.endswith("}val")), "")
    return default


def _joined(parts: list[str], signs_of: Callable[[list[str]], list[str]]) -> str:
    signs = signs_of(parts)
    return signs[0] + "".join(part + sign for part, sign in zip(parts, signs[1:], strict=True))


def _local(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
