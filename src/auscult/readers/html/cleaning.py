"""What of a page is not its text: navigation, banners, forms, what is hidden, and lists of links to elsewhere.

Nothing is guessed away that could be what the page says: a list of links below "Symptoms include:" stays, and where
the rules would leave no words, fewer of them hold. Names of classes and ids count where what they name is a small part
of the page and holds neither its title nor its main part.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final

from auscult.readers.flow import has_words
from auscult.readers.html.around import Measure, is_around, is_content, is_invisible, measured
from auscult.readers.html.elements import HEADINGS, LISTS
from auscult.readers.tree import Element, Piece, descend

_ELSEWHERE: Final = re.compile(
    r"\W*(?:(?:see|read) also|read more|related\b.*|more (?:about|in|on|from)\b.*|more information|contents|share\b.*"
    r"|(?:external|useful|quick) links|in this (?:section|guide|page|article)|on this page|page contents|topics|tags"
    r"|table of contents|navigation|menu|follow us.*|popular\b.*|you (?:may|might) also.*)\W*",
    re.IGNORECASE,
)
_LISTS_OF_LINKS: Final = LISTS | {"ol", "dl", "div", "section", "table", "p"}
_FEWEST_LINKS: Final = 3
_LINKED: Final = 0.75
_LONGEST_LINK: Final = 80
_LEAST_OF_MAIN: Final = 1 / 3


class Care(IntEnum):
    """How much is left out."""

    INVISIBLE = 0
    AROUND = 1
    MAIN_ONLY = 2
    LINKS = 3


def clean(page: Element, most: Care = Care.LINKS) -> bool:
    """Mark what is not the text of a page as dropped.

    Args:
        page: Its tree.
        most: The care to begin with.

    Returns:
        Whether words are left.
    """
    elements = [node for node in descend(page) if isinstance(node, Element)]
    _restore(elements)
    measures = measured(page)
    for care in range(most, -1, -1):
        _restore(elements)
        _drop_around(page, measures, care)
        if care >= Care.MAIN_ONLY:
            _keep_main(page, elements)
        if care >= Care.LINKS:
            _drop_lists_of_links(page)
        if _has_words(page):
            return True
    return False


def _restore(elements: list[Element]) -> None:
    for element in elements:
        element.dropped = False


def _has_words(page: Element) -> bool:
    kept = descend(page, lambda element: not element.dropped)
    return any(isinstance(node, Piece) and has_words(node.text) for node in kept)


def _drop_around(page: Element, measures: dict[int, Measure], care: int) -> None:
    total = measures[id(page)].length
    stack: list[tuple[Element, bool, bool]] = [(page, False, False)]
    while stack:
        parent, inside, in_heading = stack.pop()
        for element in parent.elements:
            if is_invisible(element):
                element.dropped = True
            elif care >= Care.AROUND:
                measure = measures[id(element)]
                element.dropped = is_around(element, measure, inside, in_heading, total)
            if not element.dropped:
                content = inside or is_content(element)
                stack.append((element, content, in_heading or element.tag in HEADINGS))


def _keep_main(page: Element, elements: list[Element]) -> None:
    """Drop what stands beside the main part, if that holds a good part of the words."""
    mains = [each for each in elements if (each.tag == "main" or each.get("role") == "main") and not each.dropped]
    measures = measured(page)
    kept = [each for each in mains if id(each) in measures]
    if not kept or sum(measures[id(each)].length for each in kept) < _LEAST_OF_MAIN * measures[id(page)].length:
        return
    chosen = {id(each) for each in kept}
    order: list[tuple[Element, Element]] = []
    stack = [page]
    while stack:
        parent = stack.pop()
        for element in parent.elements:
            order.append((element, parent))
            if id(element) not in chosen:
                stack.append(element)
    # An element stays if it is a main part or leads to one.
    for element, parent in reversed(order):
        if id(element) in chosen:
            chosen.add(id(parent))
    for element, _ in order:
        if id(element) not in chosen:
            element.dropped = True


def _drop_lists_of_links(page: Element) -> None:
    measures = measured(page)
    total = measures[id(page)].length
    before = ""
    dropped: list[Element] = []
    lost = 0
    stack: list[tuple[Element | Piece, bool]] = [(page, False)]
    while stack:
        node, inside = stack.pop()
        if isinstance(node, Piece):
            before = node.text.strip() or before
            continue
        measure = measures[id(node)]
        if node.tag in _LISTS_OF_LINKS and _is_links(measure) and _leads_away(measure, before, inside):
            dropped.append(node)
            lost += measure.length
            continue
        inside = inside or is_content(node)
        stack.extend(
            (child, inside) for child in reversed(node.children) if isinstance(child, Piece) or not child.dropped
        )
    # A page of links, such as a list of all topics, is what it is.
    if 2 * lost <= total:
        for element in dropped:
            element.dropped = True


def _is_links(measure: Measure) -> bool:
    few = measure.links < _FEWEST_LINKS
    return not few and _LINKED * measure.length <= measure.linked <= _LONGEST_LINK * measure.links


def _leads_away(measure: Measure, before: str, content: bool) -> bool:
    """Whether a list of links leads elsewhere, rather than says something."""
    if before.endswith(":") and not _ELSEWHERE.fullmatch(before):
        return False
    if measure.inward == measure.links or _ELSEWHERE.fullmatch(before[:100]):
        return True
    return not content


__all__ = ["Care", "clean"]
