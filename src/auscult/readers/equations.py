"""Equations on one line: "weight×24/10", "10^9", "√(a+b)". The same from Word's markup (OMML) and from MathML.

What has an operator of its own stands in brackets, so that no part changes its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from auscult.readers.tree import Element, Piece, descend, written

_DEEPEST: Final = 40
_LONGEST: Final = 200
# A product needs no brackets above the line, but below it.
_SUM: Final = re.compile(r"(?<!^)[+\-\u2212\u2013\u00b1=<>\u2264\u2265/]")
_OPERATOR: Final = re.compile(r"(?<!^)[+\-\u2212\u2013\u00b1=<>\u2264\u2265/\u00d7\u00b7*\u22c5\s]")
_ENCLOSED: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def _in_brackets(text: str, operators: re.Pattern[str]) -> tuple[str, str]:
    """The brackets that a part needs; empty where it needs none."""
    text = text.strip()
    return ("(", ")") if operators.search(text) and not _ENCLOSED.fullmatch(text) else ("", "")


def _around(parts: list[str], between: list[str], lowest: list[re.Pattern[str] | None]) -> list[str]:
    """What stands before, between and behind parts."""
    brackets = [
        ("", "") if each is None else _in_brackets(part, each) for part, each in zip(parts, lowest, strict=True)
    ]
    found = [brackets[0][0]]
    for number, sign in enumerate(between):
        found.append(brackets[number][1] + sign + brackets[number + 1][0])
    return [*found, brackets[-1][1]]


def _fraction(parts: list[str]) -> list[str]:
    return _around(parts, ["/"], [_SUM, _OPERATOR])


def _scripts(parts: list[str], signs: str) -> list[str]:
    return _around(parts, [*signs], [_OPERATOR, *[_OPERATOR for _ in signs]])


def _root(part: str) -> list[str]:
    opening, closing = _in_brackets(part, _OPERATOR)
    return ["\u221a" + opening, closing]


_SIGNS: Final = {"msup": "^", "msub": "_", "msubsup": "_^", "munderover": "_^", "munder": "_", "mover": "^"}


def write_mathml(root: Element) -> None:
    """Put the signs of its equations into a tree that holds MathML."""
    nodes = [
        node for node in descend(root) if isinstance(node, Element) and node.tag in (*_SIGNS, "mfrac", "msqrt", "mroot")
    ]
    # Inner ones first: their signs count when brackets are set around them.
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


def omml_text(element: Any, depth: int = 0) -> str:
    """An equation of a Word file on one line.

    Args:
        element: `m:oMath`, or a part of one.
        depth: How many others it stands in.
    """
    name = _local(element)
    if depth > _DEEPEST or name.endswith("Pr"):
        return ""
    if name == "t":
        return element.text or ""

    def part(tag: str) -> str:
        return "".join(omml_text(child, depth + 1) for child in element if _local(child) == tag)

    def character(properties: str, tag: str, otherwise: str) -> str:
        """A property's character; an empty one is none."""
        for child in element:
            if _local(child) == properties:
                for setting in child:
                    if _local(setting) == tag:
                        return next((str(value) for key, value in setting.attrib.items() if key.endswith("}val")), "")
        return otherwise

    match name:
        case "f":
            return _joined([part("num"), part("den")], _fraction)
        case "sSup":
            return _joined([part("e"), part("sup")], lambda parts: _scripts(parts, "^"))
        case "sSub":
            return _joined([part("e"), part("sub")], lambda parts: _scripts(parts, "_"))
        case "sSubSup":
            return _joined([part("e"), part("sub"), part("sup")], lambda parts: _scripts(parts, "_^"))
        case "rad":
            if degree := part("deg"):
                return _joined([part("e"), degree], lambda parts: _around(parts, ["^(1/"], [_OPERATOR, None])) + ")"
            return _joined([part("e")], lambda parts: _root(parts[0]))
        case "nary":
            limits = [(sign, limit) for sign, limit in (("_", part("sub")), ("^", part("sup"))) if limit]
            sign = character("naryPr", "chr", "\u222b")
            bounds = "".join(script + "".join((*_wrapped(limit),)) for script, limit in limits)
            return f"{sign}{bounds} {part('e')}"
        case "d":
            inside = character("dPr", "sepChr", "|").join(
                omml_text(child, depth + 1) for child in element if _local(child) == "e"
            )
            return f"{character('dPr', 'begChr', '(')}{inside}{character('dPr', 'endChr', ')')}"
        case "func":
            argument = part("e")
            return f"{part('fName')}{argument}" if argument.startswith("(") else f"{part('fName')} {argument}"
        case "limLow" | "limUpp":
            return _joined([part("e"), part("lim")], lambda parts: _scripts(parts, "_" if name == "limLow" else "^"))
        case "m" | "eqArr":
            rows = [omml_text(child, depth + 1) for child in element if _local(child) in ("mr", "e")]
            return "; ".join(rows)
        case "mr":
            return ", ".join(omml_text(child, depth + 1) for child in element)
    return "".join(omml_text(child, depth + 1) for child in element)


def _joined(parts: list[str], signs_of: Callable[[list[str]], list[str]]) -> str:
    signs = signs_of(parts)
    return signs[0] + "".join(part + sign for part, sign in zip(parts, signs[1:], strict=True))


def _wrapped(limit: str) -> tuple[str, str, str]:
    opening, closing = _in_brackets(limit, _OPERATOR)
    return opening, limit, closing


def _local(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
