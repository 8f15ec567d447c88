"""Styles of a page's own `<style>` elements: which words they hide, strike out, raise, or number in letters.

Only this file imports the libraries for CSS: tinycss2 parses it, cssselect2 matches selectors. The result is written
into the `style` attributes of the tree, where the rules for inline styles find it. Style sheets in other files are not
in the page. Of the rules for media, those of a wide screen apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

import cssselect2
import tinycss2

from auscult.readers.html.standard import CSS
from auscult.readers.tree import Element

#: Properties that change what a person reads, and what is read of them.
_READ: Final = {
    "display": re.compile(r"none\b"),
    "visibility": re.compile(r"hidden\b"),
    "text-decoration": re.compile(r".*\bline-through\b", re.DOTALL),
    "text-decoration-line": re.compile(r".*\bline-through\b", re.DOTALL),
    "list-style": re.compile(r"."),
    "list-style-type": re.compile(r"."),
    "vertical-align": re.compile(r"(?:super|sub)\b"),
    "font-family": re.compile(r"."),
}
_RELEVANT: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|line-through|list-style|vertical-align\s*:\s*su"
    r"|font-family\s*:[^;}]*(?:symbol|dings)",
    re.IGNORECASE,
)
# Matching costs the product of rules and elements, and of the depth for each space in a selector.
_MOST_MATCHES: Final = 5_000_000
_MOST_COSTS: Final = 100_000
_LONGEST_SHEET: Final = 2_000_000
_LONGEST_SELECTOR: Final = 300
_SIMPLE: Final = re.compile(r"(?:[\w\s.#>*+\-\[\]=\"'^$|()]|\\.|:not(?=\()|:(?:root|link|first-child|last-child)\b)+")


class _Declared(NamedTuple):
    """A value of a property, and what decides which of several values applies: the largest key."""

    key: tuple[bool, tuple[int, int, int], int]
    value: str


def apply_style_sheets(page: Element) -> bool:
    """Write what a page's style sheets say of its elements into their `style` attributes.

    Args:
        page: Tree of the page, which is modified.

    Returns:
        Whether all rules that may hide or strike out words were applied. False if there are too many of them.
    """
    styles = [style for style in page.all("style") if _is_of_screen(style.get("media").lower())]
    sheet = "\n".join(style.get(CSS) for style in styles)
    if not _RELEVANT.search(sheet):
        return True
    if len(sheet) > _LONGEST_SHEET:
        return False
    elements, tree, depth = _mirrored(page)
    matcher = cssselect2.Matcher()
    complete, count = True, 0
    for prelude, declarations in _rules(tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)):
        for selector in _selectors(prelude, depth):
            if selector is None:
                complete = False
                continue
            count += 1
            matcher.add_selector(selector, declarations)
    if count * len(elements) > _MOST_MATCHES:
        return False
    for wrapper in cssselect2.ElementWrapper.from_html_root(tree).iter_subtree():
        element = elements.get(id(wrapper.etree_element))
        if element is not None and (found := matcher.match(wrapper)):
            _write_style(element, found)
    return complete


def _mirrored(page: Element) -> tuple[dict[int, Element], Any, int]:
    """Return the elements by the `id()` of their copies in a tree that cssselect2 takes, that tree, and its depth."""
    root = ElementTree.Element("html")
    elements: dict[int, Element] = {}
    deepest = 0
    outer = page.child("html") or page
    root.attrib.update(outer.attributes)
    elements[id(root)] = outer
    waiting: list[tuple[Element, Any, int]] = [(outer, root, 1)]
    while waiting:
        element, copy, depth = waiting.pop()
        deepest = max(deepest, depth)
        for child in element.elements:
            inner = ElementTree.SubElement(copy, child.tag, child.attributes)
            elements[id(inner)] = child
            waiting.append((child, inner, depth + 1))
    return elements, root, deepest


def _rules(nodes: list[Any]) -> Iterator[tuple[list[Any], dict[str, tuple[bool, str]]]]:
    """Yield the selectors of each rule, and its declarations that are read: whether important, and the value."""
    waiting = [*reversed(nodes)]
    while waiting:
        node = waiting.pop()
        if node.type == "at-rule" and node.lower_at_keyword == "media" and node.content:
            if _is_of_screen(tinycss2.serialize(node.prelude).lower()):
                inner = tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
                waiting += reversed(inner)
        elif node.type == "qualified-rule":
            declared = {}
            for each in tinycss2.parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True):
                if each.type == "declaration" and each.lower_name in _READ:
                    declared[each.lower_name] = each.important, tinycss2.serialize(each.value).strip().lower()
            if declared:
                yield node.prelude, declared


def _is_of_screen(media: str) -> bool:
    return not re.search(r"print|speech|max-width|max-device|prefers|not\b", media)


def _selectors(prelude: list[Any], depth: int) -> Iterator[Any]:
    """Yield the compiled selectors of a rule; None for one that costs too much to match.

    Selectors of states (`:hover`) and of parts that are no elements (`::before`) match nothing and are left out.
    """
    for text in tinycss2.serialize(prelude).split(","):
        if not _SIMPLE.fullmatch(text):
            continue
        spaces = len(re.findall(r"\s+", re.sub(r"\s*([>+])\s*", r"\1", text.strip())))
        if len(text) > _LONGEST_SELECTOR or depth ** min(spaces, 10) > _MOST_COSTS:
            yield None
            continue
        try:
            yield from cssselect2.compile_selector_list(text)
        except cssselect2.SelectorError:
            # Browsers ignore an invalid selector, too.
            continue


def _write_style(element: Element, found: list[Any]) -> None:
    """Write the values that apply to an element into its `style` attribute."""
    values: dict[str, _Declared] = {}

    def declare(name: str, declared: _Declared) -> None:
        if name not in values or declared.key >= values[name].key:
            values[name] = declared

    for specificity, order, _, declarations in found:
        for name, (important, value) in declarations.items():
            declare(name, _Declared((important, specificity, order), value))
    inline = element.get("style")
    for each in tinycss2.parse_blocks_contents(inline, skip_comments=True, skip_whitespace=True):
        if each.type == "declaration" and each.lower_name in _READ:
            value = tinycss2.serialize(each.value).strip().lower()
            # An inline style has precedence over every selector.
            declare(each.lower_name, _Declared((each.important, (9, 0, 0), 0), value))
    applied = [f"{name}:{each.value}" for name, each in values.items() if _READ[name].match(each.value)]
    kept = [
        tinycss2.serialize([each])
        for each in tinycss2.parse_blocks_contents(inline, skip_comments=True, skip_whitespace=True)
        if each.type == "declaration" and each.lower_name not in _READ
    ]
    element.attributes["style"] = ";".join([*kept, *applied])
