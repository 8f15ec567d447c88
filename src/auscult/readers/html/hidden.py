"""Hidden elements of a page, and panels (of accordions and tabs) that are hidden only until a reader opens them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Final

from auscult.readers.html.measures import ROLES_AROUND, Measure
from auscult.readers.html.standard import HEADINGS, LISTS
from auscult.readers.tree import Element, descend

# fmt: off
_INVISIBLE: Final = frozenset({
    "applet", "area", "audio", "canvas", "clippath", "datalist", "defs", "desc", "embed", "head", "map", "marker",
    "mask", "math-annotation", "metadata", "noembed", "noframes", "noscript", "param", "pattern", "rp", "script",
    "source", "style", "symbol", "template", "title", "track", "video",
})
# fmt: on
HIDDEN_STYLE: Final = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_LONGEST_UNSEEN: Final = 100
PANEL: Final = "panel"
"""Attribute of elements that begin with the words of their control as a heading. No page has it."""
# Words that name the action of a button. Such words are no heading.
_DOES: Final = re.compile(
    r"(?:show|read|see|view|hide|toggle|expand|collapse|open|close|load|learn|go to)\b.*|(?:more|less|menu|next"
    r"|previous|back|search|share|filter|login|log in)|\W*",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST_HEADING: Final = 200
_MOST_IN_HEADING: Final = 30
_POPS_UP: Final = frozenset({"dialog", "grid", "listbox", "menu", "tree", "true"})
_TOGGLES: Final = frozenset({"collapse", "pill", "tab"})
_PANEL: Final = re.compile(r"(?:^|\s)(?:tab-pane|tab-?panel|accordion-(?:panel|content|body)|collapse)(?:\s|$)")


def is_invisible(element: Element) -> bool:
    """Whether a browser never shows the text of an element."""
    return element.tag in _INVISIBLE or (element.tag == "dialog" and "open" not in element.attributes)


def is_hidden(element: Element, measure: Measure) -> bool:
    """Whether an element is hidden by an attribute, which a script may remove."""
    attributes = element.attributes
    if not attributes:
        return False
    if "hidden" in attributes and attributes["hidden"].lower() != "until-found":
        return True
    # Short elements hidden from screen readers only are ornaments. Long ones are text.
    ornament = attributes.get("aria-hidden", "").lower() == "true" and measure.length < _LONGEST_UNSEEN
    return ornament or bool(HIDDEN_STYLE.search(attributes.get("style", "")))


def hidden_elements(page: Element, measures: dict[int, Measure], panels: set[int], *, whole: bool) -> set[int]:
    """Return the ids of the outermost hidden elements.

    Args:
        page: Tree of the page.
        measures: Result of `measure_elements` for it.
        panels: Ids of panels; they are not hidden.
        whole: Whether to return no ids if the page hides more than it shows. A script then shows its text.
    """
    hidden: set[int] = set()
    unseen = never = 0
    stack = [page]
    while stack:
        element = stack.pop()
        length = measures[id(element)].length
        if is_invisible(element):
            never += length
        elif id(element) not in panels and is_hidden(element, measures[id(element)]):
            hidden.add(id(element))
            unseen += length
        else:
            stack += element.elements
    seen = measures[id(page)].length - never - unseen
    return set() if whole and unseen >= _LONGEST_UNSEEN and unseen > seen else hidden


@dataclass(slots=True)
class _Controls:
    """Controls of a page, and the elements that they may open.

    A control comes with the level of the heading that its words become in its panel; 0 if it is in a heading.

    Attributes:
        named: Elements by their `id`.
        opening: Controls with the `id`s of the elements that they open.
        before: By `id()` of an element, the button right before it.
    """

    named: dict[str, Element] = field(default_factory=dict)
    opening: list[tuple[Element, list[str], int]] = field(default_factory=list)
    before: dict[int, tuple[Element, int]] = field(default_factory=dict)


def _find_controls(page: Element) -> _Controls:
    """Return the controls of a page. A <summary> that is no heading yet becomes one."""
    controls = _Controls()
    level = 1
    stack: list[tuple[Element, bool]] = [(page, False)]
    while stack:
        element, in_heading = stack.pop()
        if element.tag in HEADINGS or element.get("role") == "heading":
            level, in_heading = int(element.tag[1]) if element.tag in HEADINGS else level, True
        if name := element.get("id"):
            controls.named.setdefault(name, element)
        headed = in_heading or any(child.tag in HEADINGS for child in element.elements)
        if element.tag == "summary" and not headed and _is_heading(element):
            element.attributes.update({"role": "heading", "aria-level": str(min(level + 1, 6))})
        if targets := _targets_of(element):
            controls.opening.append((element, targets, 0 if in_heading else min(level + 1, 6)))
        inner = element.elements
        for before, after in pairwise(inner):
            button = before if before.tag == "button" or before.get("aria-expanded") else before.child("button")
            if button and button.get("aria-haspopup").lower() not in _POPS_UP and after.tag not in LISTS:
                below = 0 if in_heading or before.tag in HEADINGS else min(level + 1, 6)
                controls.before[id(after)] = button, below
        stack.extend((child, in_heading) for child in reversed(inner))
    # Labels of tab panels that name no panel themselves.
    naming = {id(control) for control, _, _ in controls.opening}
    for element in controls.named.values():
        if element.get("role") == "tabpanel":
            label = controls.named.get(element.get("aria-labelledby"))
            if label is not None and id(label) not in naming:
                controls.opening.append((label, [element.get("id")], 2))
    return controls


def open_panels(page: Element) -> set[int]:
    """Find the panels that controls open, and move the words of each control into its panel as a heading.

    Args:
        page: Tree of the page, which is modified.

    Returns:
        The ids of the panels' elements.
    """
    controls = _find_controls(page)
    panels: set[int] = set()
    for control, targets, below in controls.opening:
        for target in targets:
            panel = controls.named.get(target)
            if panel is None or not (_is_panel(panel) or control.get("aria-expanded")):
                continue
            if id(panel) not in panels and below and len(targets) == 1:
                _head_panel(panel, control, below)
            panels.add(id(panel))
    # Some controls name no panel. A hidden element after a button, or one with a label on the page, is a panel, too.
    for node in [*descend(page)]:
        if not isinstance(node, Element) or id(node) in panels or not _is_panel(node):
            continue
        if id(node) in controls.before:
            control, below = controls.before[id(node)]
            if below and control.tag == "button":
                _head_panel(node, control, below)
            panels.add(id(node))
        elif (
            node.get("aria-labelledby") in controls.named
            and node.get("role") not in ROLES_AROUND
            and node.tag != "dialog"
        ):
            panels.add(id(node))
    return panels


def _head_panel(panel: Element, control: Element, level: int) -> None:
    """Move the words of a control into its panel as a heading, unless the panel begins with them."""
    # A control that contains its panel, or very many elements, is no heading of it.
    inside = [*islice(descend(control), _MOST_IN_HEADING)]
    apart = len(inside) < _MOST_IN_HEADING and all(node is not panel for node in inside)
    if apart and _is_heading(control) and not panel.beginning(_LONGEST_HEADING).startswith(control.words()):
        heading = Element("div", {"role": "heading", "aria-level": str(level)})
        heading.children, control.children = control.children, []
        panel.children.insert(0, heading)
        panel.attributes[PANEL] = ""


def _is_heading(control: Element) -> bool:
    words = control.beginning(_LONGEST_HEADING)
    return len(words) <= _LONGEST_HEADING and not _DOES.fullmatch(words)


def _targets_of(element: Element) -> list[str]:
    """Return the `id` attributes of the elements that a control opens."""
    attributes = element.attributes
    if not attributes or attributes.get("aria-haspopup", "").lower() in _POPS_UP:
        return []
    if "aria-controls" in attributes and element.tag not in ("input", "select", "textarea"):
        return attributes["aria-controls"].split()
    toggles = (attributes.get("data-bs-toggle") or attributes.get("data-toggle") or "").lower() in _TOGGLES
    if toggles or attributes.get("role") == "tab":
        target = attributes.get("data-bs-target") or attributes.get("data-target") or attributes.get("href") or ""
        return [target[1:]] if target.startswith("#") else []
    return []


def _is_panel(element: Element) -> bool:
    attributes = element.attributes
    is_closed = (
        "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or HIDDEN_STYLE.search(attributes.get("style", ""))
    )
    return (
        bool(is_closed)
        or attributes.get("role") == "tabpanel"
        or _PANEL.search(attributes.get("class", "")) is not None
    )
