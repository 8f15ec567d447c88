"""Small readings above words (`<ruby>`), as in Japanese pages: they follow the words in brackets."""

from __future__ import annotations

from itertools import pairwise

from auscult.readers.html.hidden import HIDDEN_STYLE
from auscult.readers.tree import Element, descend, written


def write_readings(page: Element) -> None:
    """Move readings behind the words that they are above.

    The parts of a word may each have their own reading. The word stays whole, so that a search finds it.
    """
    outside = [node for node in descend(page, lambda each: each.tag != "ruby") if isinstance(node, Element)]
    for parent in (page, *(each for each in outside if each.tag != "ruby")):
        readings = list[Element]()
        for child, after in pairwise([*parent.children, None]):
            if not isinstance(child, Element) or child.tag != "ruby":
                continue
            readings += _take_readings(child)
            if readings and not (isinstance(after, Element) and after.tag == "ruby"):
                parted = [part for reading in readings for part in (written(" "), reading)][1:]
                child.children += [written(" ("), *parted, written(")")]
                readings = []


def _take_readings(ruby: Element) -> list[Element]:
    """Remove the readings from an element, and return them."""
    readings = [each for each in ruby.all("rt") if each.words() and not HIDDEN_STYLE.search(each.get("style"))]
    taken = {id(each) for each in readings}
    for holder in [ruby, *(node for node in descend(ruby) if isinstance(node, Element))]:
        holder.children = [child for child in holder.children if id(child) not in taken]
    return readings
