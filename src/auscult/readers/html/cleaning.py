"""Remove from a page everything that is not its text: navigation, banners, forms, hidden parts, lists of links.

The rules look at tags, roles and names (`names`), at links (`links`) and at what is hidden (`hidden`). They leave out
nothing that may be text: a list of links below "Symptoms include:" stays. If the rules would leave no words, fewer
rules are applied. Panels that a reader opens (of accordions and tabs) are text.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from auscult.readers.flow import has_words
from auscult.readers.html.hidden import hidden_elements, is_invisible, open_panels
from auscult.readers.html.links import drop_lists_of_links
from auscult.readers.html.measures import AROUND_TEXT, IN_TABLES, LONGEST_LABEL, Measure, is_content, measure_elements
from auscult.readers.html.names import is_around
from auscult.readers.html.phrases import stands_around
from auscult.readers.html.standard import HEADINGS
from auscult.readers.tree import NEVER_SHOWN, Element, Piece, descend

_LEAST_OF_MAIN: Final = 1 / 3
#: Characters left out of an element, in lengths of its words and at least: more than buttons for sharing have.
_LEAST_LEFT_OUT: Final = 3
_FEWEST_LEFT_OUT: Final = 60


class Care(IntEnum):
    """How many rules are applied; each value includes the lower ones.

    Attributes:
        INVISIBLE: Leave out hidden elements and those that a browser never shows.
        AROUND: Leave out elements around the text (`names`).
        MAIN_ONLY: Leave out everything beside the main part, if the page has one.
        LINKS: Leave out lists of links and labels of what was left out.
    """

    INVISIBLE = 0
    AROUND = 1
    MAIN_ONLY = 2
    LINKS = 3


def clean(page: Element, most: Care = Care.LINKS) -> bool:
    """Mark elements that are not the text of a page as dropped.

    Args:
        page: Tree of the page.
        most: Rules to try first. Fewer are applied if no words are left.

    Returns:
        Whether words are left.
    """
    panels = open_panels(page)
    elements = [node for node in descend(page) if isinstance(node, Element)]
    _restore(elements)
    measures = measure_elements(page)
    whole = most >= Care.AROUND
    hidden = hidden_elements(page, measures, panels, whole=whole)
    # If no words are left, a script shows what the page hides: try again with the hidden elements.
    for left_out in (hidden, set[int]()) if whole else (hidden,):
        for care in range(most, -1, -1):
            _restore(elements)
            _drop_around(page, measures, care, left_out)
            if care >= Care.MAIN_ONLY:
                _keep_main(page, elements)
            if care >= Care.LINKS:
                drop_lists_of_links(page)
                _drop_labels(page)
            kept = descend(page, lambda element: not element.dropped)
            if any(isinstance(node, Piece) and has_words(node.text) for node in kept):
                return True
    return False


def _restore(elements: list[Element]) -> None:
    for element in elements:
        element.dropped = ""


def _drop_around(page: Element, measures: dict[int, Measure], care: int, hidden: set[int]) -> None:
    whole = measures[id(page)]
    stack: list[tuple[Element, bool, bool]] = [(page, False, False)]
    while stack:
        parent, inside, in_heading = stack.pop()
        for element in parent.elements:
            if is_invisible(element):
                element.dropped = NEVER_SHOWN
            elif id(element) in hidden:
                element.dropped = "hidden"
            elif care >= Care.AROUND and is_around(element, measures[id(element)], inside, in_heading, whole):
                element.dropped = AROUND_TEXT
            if not element.dropped:
                heading = element.tag in HEADINGS or element.get("role") == "heading"
                stack.append((element, inside or is_content(element), in_heading or heading))


def _keep_main(page: Element, elements: list[Element]) -> None:
    """Drop everything beside the main parts if these have at least a third of the page's characters."""
    mains = [
        element
        for element in elements
        if (element.tag == "main" or element.get("role") == "main") and not element.dropped
    ]
    measures = measure_elements(page)
    present = [element for element in mains if id(element) in measures]
    length = sum(measures[id(element)].length for element in present)
    if not present or length < _LEAST_OF_MAIN * measures[id(page)].length:
        return
    chosen = {id(element) for element in present}
    order: list[tuple[Element, Element]] = []
    stack = [page]
    while stack:
        parent = stack.pop()
        for element in parent.elements:
            order.append((element, parent))
            if id(element) not in chosen:
                stack.append(element)
    # Keep a main part, everything in it, and the elements that contain it.
    for element, parent in reversed(order):
        if id(element) in chosen:
            chosen.add(id(parent))
    for element, _ in order:
        if id(element) not in chosen:
            element.dropped = element.dropped or AROUND_TEXT


def _drop_labels(page: Element) -> None:
    """Drop labels and headings of what was left out, such as "More on this" after its links are dropped."""
    left, lost = measure_elements(page), _count_left_out(page)
    stack = [page]
    while stack:
        for element in stack.pop().elements:
            if element.dropped:
                continue
            measure = left[id(element)]
            short = 0 < measure.length <= LONGEST_LABEL and not (measure.content or is_content(element))
            label = short and not measure.prose and _is_label(element, lost[id(element)])
            if label or (short and element.tag not in IN_TABLES and stands_around(_kept_words(element))):
                element.dropped = AROUND_TEXT
            else:
                stack.append(element)
    _drop_headings(page)


def _is_label(element: Element, lost: int) -> bool:
    """Whether the words of an element are only a label of its `lost` characters that were left out."""
    if lost < _FEWEST_LEFT_OUT:
        return False
    words = _kept_words(element)
    # "Call 112" and "Stop it before surgery." are no labels.
    says = any(letter.isdigit() for letter in words) or words.endswith((".", "!"))
    return not says and lost >= _LEAST_LEFT_OUT * len(words)


def _kept_words(element: Element) -> str:
    nodes = descend(element, lambda node: not node.dropped)
    return " ".join("".join(node.text for node in nodes if isinstance(node, Piece)).split())


def _count_left_out(page: Element) -> dict[int, int]:
    """Return the number of characters around the text that were left out of each element, by the element's id."""
    order: list[tuple[Element, Element]] = []
    lost = {id(page): 0}
    stack = [page]
    while stack:
        parent = stack.pop()
        for element in parent.elements:
            if not element.dropped:
                lost[id(element)] = 0
                order.append((element, parent))
                stack.append(element)
            elif element.dropped == AROUND_TEXT:
                lost[id(parent)] += _shown_length(element)
    for element, parent in reversed(order):
        lost[id(parent)] += lost[id(element)]
    return lost


def _shown_length(element: Element) -> int:
    nodes = descend(element, lambda node: not is_invisible(node))
    return sum(len(node.text.strip()) for node in nodes if isinstance(node, Piece))


def _drop_headings(page: Element) -> None:
    """Drop headings if everything below them was left out."""
    last: Element | None = None
    lost = 0
    # The <h1>, which is processed after the page, ends the part below the last heading.
    stack: list[Element | Piece] = [Element("h1"), page]
    while stack:
        node = stack.pop()
        if isinstance(node, Piece):
            last = None if node.text.strip() else last
        elif node.dropped:
            lost += _shown_length(node) if node.dropped == AROUND_TEXT and last is not None else 0
        elif node.tag in HEADINGS:
            if last is not None and node.tag <= last.tag and _is_label(last, lost):
                last.dropped = AROUND_TEXT
            last, lost = (node if node.tag != "h1" else None), 0
        else:
            stack.extend(reversed(node.children))
