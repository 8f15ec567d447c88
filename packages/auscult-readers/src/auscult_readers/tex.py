r"""Equations in TeX on one line: `$\geq 5$` is "≥ 5", and `\frac{a+b}{c}` is "(a+b)/c", as in `readers.equations`.

What cannot be converted is kept as it is written.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Final

from latex2mathml.converter import convert_to_element

from auscult.readers.equations import write_mathml
from auscult.readers.tree import Element, Piece, descend, written

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element as MathElement

# Articles have a whole TeX document around an equation, which may be deeply nested.
_DOCUMENT: Final = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
_MATH_MODE: Final = re.compile(r"\\[()\[\]]|(?<!\\)\$+|(?<!\\)%[^\n]*\n")
_OPENING: Final = re.compile(r"(?<!\\)\{")
_CLOSING: Final = re.compile(r"(?<!\\)\}")
_UNEQUAL: Final = re.compile(r"\\not\s*=")
_LONGEST: Final = 4000
_DEEPEST: Final = 100
_RELATION: Final = re.compile(r"\s*([=≠<>≤≥≈≅≡∼∝⩽⩾≪≫→])\s*")
_BETWEEN: Final = {"mtr": "; ", "mtd": ", "}


def words_of_tex(source: str) -> str:
    """Return an equation in TeX on one line; the source if it cannot be converted.

    Args:
        source: The equation, perhaps with its dollar signs, or in a whole document.
    """
    document = _DOCUMENT.search(source)
    equation = " ".join(_MATH_MODE.sub(" ", document[1] if document else source).split())
    is_closed = len(_OPENING.findall(equation)) == len(_CLOSING.findall(equation))
    if not equation or not is_closed or len(equation) > _LONGEST:
        return equation
    try:
        tree, _ = _tree_of(convert_to_element(_UNEQUAL.sub(r"\\neq ", equation)), "", 0)
    # The parser raises errors of many kinds for what it does not expect.
    except Exception:
        return equation
    write_mathml(tree)
    text = "".join(node.text for node in descend(tree) if isinstance(node, Piece))
    # It keeps the names of commands that it does not know, and marks at which lines are aligned.
    if "\\" in text:
        return equation
    text = text if r"\&" in equation else text.replace("&", "")
    return " ".join(_RELATION.sub(r" \1 ", text.replace("^\u2218", "\u00b0")).split())


def _tree_of(given: MathElement, last: str, depth: int) -> tuple[Element, str]:
    """Return an element of MathML as one of our trees, and the last character in it.

    Args:
        given: The element.
        last: Character before it.
        depth: Number of elements around it.
    """
    if depth > _DEEPEST:
        raise RecursionError
    element = Element(given.tag)
    text = " " if given.tag == "mspace" and not given.get("width", "").startswith("neg") else unescape(given.text or "")
    if text:
        element.children.append(written(text))
        last = text[-1]
    for number, child in enumerate(given):
        between = _BETWEEN.get(child.tag, "") if number else ""
        inner, after = _tree_of(child, between[-1:] or last, depth + 1)
        # Without the blank, 2½ would become "21/2".
        if child.tag == "mfrac" and last.isdigit():
            between = " "
        element.children += [written(between), inner] if between else [inner]
        last = after
    return element, last
