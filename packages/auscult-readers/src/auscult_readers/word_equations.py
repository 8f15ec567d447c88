"""Equations of Word (OMML), rich text and Word's fields on one line, as `auscult.readers.equations` does for MathML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from auscult.readers.equations import brackets_of, fraction_signs, root_signs, script_signs

_DEEPEST: Final = 40
_INTEGRAL: Final = "\u222b"


def fraction(above: str, below: str) -> str:
    """Return a fraction on one line."""
    return _put_signs([above, below], fraction_signs)


def root(radicand: str, degree: str = "") -> str:
    """Return a root on one line, a square root if it has no degree."""
    return _put_signs([radicand, degree] if degree else [radicand], root_signs)


def enclosed(text: str) -> str:
    """Return a text, in brackets if it has an operator of its own."""
    opening, closing = brackets_of(text)
    return f"{opening}{text}{closing}"


def beside(before: str, after: str) -> bool:
    """Whether a number directly follows another one, as in "2½": without a blank it would become "21/2"."""
    return before[-1:].isdigit() and after[:1].isdigit()


def _put_signs(parts: list[str], signs_of: Callable[[list[str]], list[str]]) -> str:
    first, *others = signs_of(parts)
    return first + "".join(part + sign for part, sign in zip(parts, others, strict=True))


# Parts of Word's structures by their tags, and the function that returns the signs around them.
_STRUCTURES: Final[dict[str, tuple[tuple[str, ...], Callable[[list[str]], list[str]]]]] = {
    "f": (("num", "den"), fraction_signs),
    "sSup": (("e", "sup"), partial(script_signs, signs="^")),
    "sSub": (("e", "sub"), partial(script_signs, signs="_")),
    "sSubSup": (("e", "sub", "sup"), partial(script_signs, signs="_^")),
    "limLow": (("e", "lim"), partial(script_signs, signs="_")),
    "limUpp": (("e", "lim"), partial(script_signs, signs="^")),
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
        return _put_signs([part(tag) for tag in tags], signs_of)
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


def _local(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
