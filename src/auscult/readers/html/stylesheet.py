"""Style sheets of a page: which words they hide, strike out, raise, or number in letters.

Only this file imports the libraries for CSS: tinycss2 parses it, cssselect2 matches selectors. The result is written
into the `style` attributes of the tree, where the rules for inline styles find it. Style sheets in other files are read
where they are at hand, as in a book. Of the rules for media, those of a wide screen apply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

import cssselect2
import tinycss2

from auscult.readers.contract import UnreadableError
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
_PROPERTY: Final = re.compile(
    r"(?:display|visibility|text-decoration|list-style|vertical-align|font-family)[\w-]*\s*:", re.I
)
# Comments, and what hides a style sheet from programs that do not know it.
_COMMENT: Final = re.compile(r"/\*.*?\*/|<!\[CDATA\[|\]\]>|<!--|-->", re.DOTALL)
# Statements without a block, which are no part of the selector after them.
_STATEMENT: Final = re.compile(r"@(?:charset|import|layer|namespace)\b[^;{}]*+;", re.IGNORECASE)
_IMPORT: Final = re.compile(
    r"""@import\s+(?:url\(\s*)?(?:"([^"\n]*)"|'([^'\n]*)'|([^"')\s;{}]++))\s*\)?([^;{}]*+);""", re.IGNORECASE
)
_STRING: Final = re.compile(r"""content\s*:\s*(?:"[^"\n]*"|'[^'\n]*')""", re.IGNORECASE)
_RULE: Final = re.compile(r"(?<![^{}])([^{}]*+)\{([^{}]*+)\}")
_NAME: Final = re.compile(r"[.#]([\w-]+)")
_LONGEST_SHEET: Final = 2_000_000
_LONGEST_SELECTOR: Final = 300
_MOST_SELECTORS: Final = 5_000
_MOST_MATCHES: Final = 1_000_000
# Each space in a selector is one more search of the outer elements: the cost is the depth to that power.
_MOST_COSTS: Final = 100_000
_SIMPLE: Final = re.compile(r"(?:[\w\s.#>*+\-\[\]=\"'^$|()]|\\.|:not(?=\()|:(?:root|link|first-child|last-child)\b)+")


class _Declared(NamedTuple):
    """A value of a property, and what decides which of several values applies: the largest key."""

    key: tuple[bool, tuple[int, int, int], int]
    value: str


def apply_style_sheets(page: Element, linked: Callable[[str], str] = lambda _: "") -> bool:
    """Write what a page's style sheets say of its elements into their `style` attributes.

    Args:
        page: Tree of the page, which is modified.
        linked: Returns the style sheet at an address that the page links to; "" if it is not at hand. It may raise
            `UnreadableError`.

    Returns:
        Whether all rules that may hide or strike out words were applied. False if that costs too much, or if a style
        sheet cannot be read.
    """
    sheets, is_read = list[str](), True
    for each in page.all("style", "link"):
        if not _is_of_screen(each.get("media").lower()):
            continue
        kinds = each.get("rel").lower().split()
        is_linked = each.tag == "link" and "stylesheet" in kinds and "alternate" not in kinds
        try:
            sheets.append(insert_imports(each.get(CSS), linked) + (linked(each.get("href")) if is_linked else ""))
        except UnreadableError:
            is_read = False
    sheet = "\n".join(sheets)
    if not _RELEVANT.search(sheet):
        return is_read
    if len(sheet) > _LONGEST_SHEET:
        return False
    elements, tree, depth = _copy_tree(page)
    matcher = cssselect2.Matcher()
    try:
        complete = _add_rules(matcher, _drop_unused_rules(sheet, elements.values()), depth)
    except RecursionError:
        return False
    if sum(_count_matches(matcher, element) for element in elements.values()) > _MOST_MATCHES:
        return False
    for wrapper in cssselect2.ElementWrapper.from_html_root(tree).iter_subtree():
        element = elements[id(wrapper.etree_element)]
        if found := matcher.match(wrapper):
            _write_style(element, found)
    return complete and is_read


def insert_imports(sheet: str, read_sheet: Callable[[str], str]) -> str:
    """Return a style sheet with those that it imports before its own rules.

    Args:
        sheet: The style sheet.
        read_sheet: Returns the style sheet at an address; "" if it is not at hand.

    Raises:
        UnreadableError: They are too long together.
    """
    if "@import" not in sheet.lower():
        return sheet
    sheets, length = list[str](), 0
    for *addresses, media in _IMPORT.findall(_COMMENT.sub("", sheet)):
        if _is_of_screen(media.lower()):
            sheets.append(read_sheet("".join(addresses)))
            length += len(sheets[-1])
        if length > _LONGEST_SHEET:
            expected = f"style sheets of at most {_LONGEST_SHEET:,} characters"
            raise UnreadableError("too large", expected, "longer ones", "save it again with one style sheet")
    return "\n".join([*sheets, sheet])


def _count_matches(matcher: Any, element: Element) -> int:
    """Return how many selectors are matched with an element."""
    classes = sum(len(matcher.class_selectors.get(name, ())) for name in element.get("class").split())
    named = len(matcher.id_selectors.get(element.get("id"), ())) if element.get("id") else 0
    tagged = len(matcher.lower_local_name_selectors.get(element.tag, ()))
    return classes + named + tagged + len(matcher.other_selectors)


def _drop_unused_rules(sheet: str, elements: Iterable[Element]) -> str:
    """Return a style sheet without most of the rules that change nothing: parsing those takes the most time."""
    names = {name for element in elements for name in (*element.get("class").split(), element.get("id"))}

    def kept(rule: re.Match[str]) -> str:
        if not _PROPERTY.search(rule[2]):
            return ""
        is_used = any(
            ":not" in selector or "\\" in selector or names.issuperset(_NAME.findall(selector))
            for selector in rule[1].split(",")
        )
        return rule[0] if is_used else ""

    return _RULE.sub(kept, _STATEMENT.sub("", _STRING.sub("", _COMMENT.sub("", sheet))))


def _add_rules(matcher: Any, sheet: str, depth: int) -> bool:
    """Add the rules of a style sheet to a matcher. Return whether all of them were added."""
    complete, count = True, 0
    for prelude, declarations in _read_rules(
        tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
    ):
        for selector in _compile_selectors(prelude, depth):
            count += 1
            if count > _MOST_SELECTORS:
                return False
            if selector is None:
                complete = False
            else:
                matcher.add_selector(selector, declarations)
    return complete


def _copy_tree(page: Element) -> tuple[dict[int, Element], Any, int]:
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


def _read_rules(nodes: list[Any]) -> Iterator[tuple[list[Any], dict[str, tuple[bool, str]]]]:
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


def _compile_selectors(prelude: list[Any], depth: int) -> Iterator[Any]:
    """Yield the compiled selectors of a rule; None for one that costs too much to match.

    Selectors of states (`:hover`) and of parts that are no elements (`::before`) match nothing and are left out.
    """
    for written in tinycss2.serialize(prelude).split(","):
        text = " ".join(written.split())
        if len(text) > _LONGEST_SELECTOR:
            yield None
            continue
        if not _SIMPLE.fullmatch(text):
            continue
        spaces = text.count(" ") - 2 * len(re.findall(r" [>+] ", text))
        if depth ** min(spaces, 10) > _MOST_COSTS:
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
    if not any(_READ[name].match(each.value) for name, each in values.items()):
        return
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
