"""Measures of the elements of a page, on which the rules for what is left out are based."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from auscult.readers.html.standard import HEADINGS
from auscult.readers.tree import Element, Piece

_ASKING: Final = frozenset({"email", "password", "search", "tel", "url"})
_CONTENT: Final = frozenset({"article", "main"})
_VISITORS: Final = re.compile(
    r"comment[-_]?(?:author|meta|metadata|reply|date|list)|commentmetadata|avatar|reply|vcard|says"
)
_SHORTEST_PROSE: Final = 60
_WORDS_MEET: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
AROUND_TEXT: Final = "around the text"
"""Value of `Element.dropped` for elements around the text."""
IN_TABLES: Final = frozenset({"tbody", "td", "tfoot", "th", "thead", "tr"})
LEAST_LINKED: Final = 1 / 4
"""Share of an element's characters in links, from which on it has many links."""
FEWEST_LINKS: Final = 3
"""Number of links, from which on an element has several."""
LONGEST_NEWS: Final = 800
"""Characters of an item in a list of other articles, at most."""
LONGEST_LABEL: Final = 80
"""Characters of a label, at most."""
ROLES_AROUND: Final = frozenset({"alertdialog", "banner", "contentinfo", "dialog", "menu", "navigation", "search"})
"""Roles (WAI-ARIA) of elements around the text."""


@dataclass(slots=True)
class Measure:
    """Counts of what an element contains, without dropped elements.

    Attributes:
        length: Number of characters.
        linked: Characters in links.
        prose: Characters in pieces of text as long as sentences, outside of links.
        links: Number of links.
        inward: Links to a place on the same page.
        content: Elements that are marked as main content (`is_content`) or are an `<h1>`.
        ticks: Check boxes, radio buttons and select fields.
        asks: Input fields for an address, a password or a search.
        visitors: Signs of comments by visitors: their names and pictures, "reply", forms.
        headings: Headings with words.
        heading_length: Characters in headings.
        heading_linked: Characters in headings and in links.
    """

    length: int = 0
    linked: int = 0
    prose: int = 0
    links: int = 0
    inward: int = 0
    content: int = 0
    ticks: int = 0
    asks: int = 0
    visitors: int = 0
    headings: int = 0
    heading_length: int = 0
    heading_linked: int = 0

    def add(self, other: Measure) -> None:
        """Add the counts of another element."""
        self.length += other.length
        self.linked += other.linked
        self.prose += other.prose
        self.links += other.links
        self.inward += other.inward
        self.content += other.content
        self.ticks += other.ticks
        self.asks += other.asks
        self.visitors += other.visitors
        self.headings += other.headings
        self.heading_length += other.heading_length
        self.heading_linked += other.heading_linked


def measure_elements(page: Element) -> dict[int, Measure]:
    """Return the measure of every element that is not dropped, by the id of the element."""
    order: list[tuple[Element, Element | None, bool]] = []
    stack: list[tuple[Element, Element | None, bool]] = [(page, None, False)]
    measures: dict[int, Measure] = {}
    while stack:
        element, parent, linked = stack.pop()
        order.append((element, parent, linked))
        measure = measures[id(element)] = Measure()
        measure.content = int(element.tag == "h1" or is_content(element))
        kind = element.get("type").lower()
        measure.ticks = int(element.tag == "select" or (element.tag == "input" and kind in ("checkbox", "radio")))
        measure.asks = int(element.tag == "input" and kind in _ASKING)
        measure.visitors = int(element.tag in ("form", "textarea") or bool(_VISITORS.search(element.get("class"))))
        if element.tag == "a" and (href := element.get("href")) and not linked:
            linked = True
            measure.links = 1
            measure.inward = int(href.startswith("#"))
        for child in element.children:
            if isinstance(child, Piece):
                length = len(child.text.strip())
                measure.length += length
                if linked:
                    measure.linked += length
                elif length >= _SHORTEST_PROSE:
                    measure.prose += length
            elif not child.dropped:
                stack.append((child, element, linked))
    for element, parent, _ in reversed(order):
        measure = measures[id(element)]
        if element.tag in HEADINGS:
            measure.headings = int(measure.length > 0)
            measure.heading_length, measure.heading_linked = measure.length, measure.linked
        if parent is not None:
            measures[id(parent)].add(measure)
    return measures


def is_content(element: Element) -> bool:
    """Whether an element is marked as the main content of its page."""
    return element.tag in _CONTENT or element.get("role") in _CONTENT


def names_of(element: Element) -> str:
    """Return the classes and the id of an element in lower case, with "-" between words ("artTeaser": "art-teaser")."""
    return _WORDS_MEET.sub("-", f"{element.get('class')} {element.get('id')}").lower()
