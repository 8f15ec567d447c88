"""What tells that an element of a page is not seen, or stands around the text: its kind, role, names and measure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from auscult.readers.tree import Element, Piece

# fmt: off
_INVISIBLE: Final = frozenset({
    "applet", "area", "audio", "canvas", "datalist", "embed", "head", "iframe", "map", "math-annotation", "noembed",
    "noframes", "noscript", "object", "param", "picture", "rp", "rt", "script", "source", "style", "svg", "template",
    "title", "track", "video",
})
_CONTROLS: Final = frozenset({
    "button", "input", "label", "legend", "optgroup", "option", "output", "select", "textarea",
})
# fmt: on
_ROLES_AROUND: Final = frozenset({"alertdialog", "banner", "contentinfo", "dialog", "menu", "navigation", "search"})
_AROUND: Final = frozenset({"aside", "footer", "header"})
_CONTENT: Final = frozenset({"article", "main"})
_WHOLE: Final = frozenset({"article", "body", "html", "main"})
_HIDDEN_STYLE: Final = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_BANNER: Final = re.compile(
    r"\bcookies?[-_]?(?:bar|banner|consent|dialog|law|message|modal|notice|policy|popup)|(?:^|\s)cookies?(?:\s|$)|\bgdpr"
    r"|\bonetrust|\bcookiebot|\bcc-window|\bconsent[-_](?:banner|dialog|manager|modal|popup)",
    re.IGNORECASE,
)
_SKIPPED: Final = re.compile(r"\b(?:skip[-_]?(?:link|nav|to)|breadcrumbs?)\b|__skip", re.IGNORECASE)
# What sites call the parts around a text: whole words of classes and ids ("site-footer", "related-posts").
_NAMED_AROUND: Final = re.compile(
    r"(?:(?:site|page|main|global|top|bottom|left|right|primary|secondary|blog|mobile|entry|post|article|wp)[-_]?)?"
    r"(?:footer|masthead|navbar|nav|navigation|menu|sidebars?|comments|comment[-_]?(?:list|form|respond)|disqus[-_]thread"
    r"|respond|share|sharing|share(?:daddy|aholic)|share[-_]?(?:buttons?|links?|bar|tools)|addtoany[-_]\w+|pagination|pager"
    r"|social[-_]?(?:media|links?|icons?|share|sharing|bar|buttons?)|related[-_]?(?:posts?|articles?|links?|stories)"
    r"|jp[-_]relatedposts|post[-_]?(?:nav|meta)|entry[-_]?(?:meta|utility)|newsletter|subscribe|adverts?|advertisements?"
    r"|ads?|copyright|impressum|tag[-_]?(?:cloud|list|links)|login|author[-_]?(?:box|bio)|widget[-_]?area"
    r"|(?:site|page)[-_]?header)(?:[-_]?(?:wrapper|wrap|container|area|block|inner|outer|section|box|widget))?",
    re.IGNORECASE,
)
_MOST_AROUND: Final = 1 / 3
_LONGEST_BANNER: Final = 3000


@dataclass(slots=True)
class Measure:
    """What an element holds.

    Attributes:
        length: Characters.
        linked: Those of them in links.
        links: Links.
        inward: Those of them to a place on the page.
        content: Parts that are called the text or its title.
    """

    length: int = 0
    linked: int = 0
    links: int = 0
    inward: int = 0
    content: int = 0

    def add(self, other: Measure) -> None:
        """Count what another holds too."""
        self.length += other.length
        self.linked += other.linked
        self.links += other.links
        self.inward += other.inward
        self.content += other.content


def measured(page: Element) -> dict[int, Measure]:
    """The measure of every element that is not dropped, by its id."""
    order: list[tuple[Element, Element | None, bool]] = []
    stack: list[tuple[Element, Element | None, bool]] = [(page, None, False)]
    found: dict[int, Measure] = {}
    while stack:
        element, parent, linked = stack.pop()
        order.append((element, parent, linked))
        measure = found[id(element)] = Measure()
        measure.content = int(element.tag == "h1" or is_content(element))
        if element.tag == "a" and (href := element.get("href")) and not linked:
            linked = True
            measure.links = 1
            measure.inward = int(href.startswith("#"))
        for child in element.children:
            if isinstance(child, Piece):
                length = len(child.text.strip())
                measure.length += length
                measure.linked += length if linked else 0
            elif not child.dropped:
                stack.append((child, element, linked))
    for element, parent, _ in reversed(order):
        if parent is not None:
            found[id(parent)].add(found[id(element)])
    return found


def is_content(element: Element) -> bool:
    """Whether an element is called the text of its page."""
    return element.tag in _CONTENT or element.get("role") in _CONTENT


def is_invisible(element: Element) -> bool:
    """Whether a browser would not show an element, or not as text."""
    given = element.attributes
    if element.tag in _INVISIBLE or (element.tag == "dialog" and "open" not in given):
        return True
    if not given:
        return False
    if "hidden" in given and given["hidden"].lower() != "until-found":
        return True
    return given.get("aria-hidden", "").lower() == "true" or bool(_HIDDEN_STYLE.search(given.get("style", "")))


def is_around(element: Element, measure: Measure, inside: bool, in_heading: bool, total: int) -> bool:
    """Whether an element stands around the text.

    Args:
        element: Any that is seen.
        measure: Its own.
        inside: Whether it is inside of what is called the text.
        in_heading: Whether it is inside of a heading.
        total: Characters of the page.
    """
    tag, role, length = element.tag, element.get("role").lower(), measure.length
    if tag in _CONTROLS:
        # The heading of a part that folds is a button.
        return not in_heading
    if tag in ("nav", "search") or role in _ROLES_AROUND:
        return True
    if tag == "form":
        # Some sites put a form around the whole page.
        return length * 2 < total
    if not inside and (tag in _AROUND or role == "complementary"):
        # The header of a page may hold its title, and what introduces it.
        return tag != "header" or not measure.content
    if tag == "sup":
        # The mark of a note.
        only = [child for child in element.elements if child.tag == "a"]
        return len(only) == 1 and only[0].get("href").startswith("#") and length <= len("[100]")
    named = f"{element.get('class')} {element.get('id')}"
    if tag in _WHOLE or not named.strip():
        return False
    if length < _LONGEST_BANNER and (_BANNER.search(named) or (length < 300 and _SKIPPED.search(named))):
        return True
    return not measure.content and length < _MOST_AROUND * total and any(map(_NAMED_AROUND.fullmatch, named.split()))


__all__ = ["Measure", "is_around", "is_content", "is_invisible", "measured"]
