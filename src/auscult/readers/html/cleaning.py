"""What of a page is not its text: navigation, banners, forms, what is hidden, and lists of links to elsewhere.

An element's kind, role, names and measure tell that it is not seen, or stands around the text. Nothing is guessed away
that could be what the page says: a list of links below "Symptoms include:" stays, and where the rules would leave no
words, fewer of them hold. Names of classes and ids count where what they name is a small part of the page and holds
neither its title nor its main part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from auscult.readers.flow import has_words
from auscult.readers.html.standard import HEADINGS, LISTS
from auscult.readers.tree import Element, Piece, descend

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
_MOST_LINKS_WORDS: Final = 4


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


def heads_links(heading: str) -> bool:
    """Whether a heading is that of a list of links to elsewhere ("Related conditions"), in a few words."""
    return len(heading.split()) <= _MOST_LINKS_WORDS and _ELSEWHERE.fullmatch(heading) is not None
