"""Rules by links: lists of links to elsewhere, lists of other articles, and cards that invite to another page."""

from __future__ import annotations

import re
from typing import Final

from auscult.readers.html.measures import (
    AROUND_TEXT,
    FEWEST_LINKS,
    IN_TABLES,
    LEAST_LINKED,
    LONGEST_NEWS,
    Measure,
    is_content,
    measure_elements,
    names_of,
)
from auscult.readers.html.standard import HEADINGS, LISTS
from auscult.readers.tree import Element, Piece, descend

_NEWS: Final = re.compile(
    r"(?<![a-z])(?:articles?|blog|entry|entries|excerpts?|news|posts?|press|stor(?:y|ies)|teasers?)(?![a-z])"
)
_LEAST_PROSE: Final = 500
_MOST_OF_PROSE: Final = 0.8
_MOST_OF_CARD: Final = 0.1
_LEADS: Final = frozenset({"aside", "div", "figure", "p", "section"})
_ALL_LINKED: Final = 0.9
_SENTENCES: Final = 1000
_LONGEST_LEAD: Final = 300
_KEPT_SHAPES: Final = ("table", "dl", "ol")
_ELSEWHERE: Final = re.compile(
    r"\W*(?:(?:see|read) also|read more|related\b.*|more (?:about|in|on|from)\b.*|more information|contents|share\b.*"
    r"|(?:external|useful|quick) links|in this (?:section|guide|page|article)|on this page|page contents|topics|tags"
    r"|table of contents|navigation|menu|follow us.*|popular\b.*|you (?:may|might) also.*)\W*",
    re.IGNORECASE,
)
_LISTS_OF_LINKS: Final = LISTS | {"ol", "dl", "div", "section", "table", "p"}
_LINKED: Final = 0.75
_LONGEST_LINK: Final = 80
_MOST_LINKS_WORDS: Final = 4


def drop_lists_of_links(page: Element) -> None:
    """Drop lists of links to elsewhere and invitations to other pages, unless most of the page consists of them."""
    measures = measure_elements(page)
    total = measures[id(page)].length
    before = ""
    dropped: list[Element] = []
    lost = 0
    beside = _find_links_beside_prose(page, measures)
    news = _find_news_items(page, measures)
    stack: list[tuple[Element | Piece, bool, bool]] = [(page, False, measures[id(page)].prose >= _LEAST_PROSE)]
    while stack:
        node, inside, cards = stack.pop()
        if isinstance(node, Piece):
            before = node.text.strip() or before
            continue
        measure = measures[id(node)]
        # Long links are those of a text.
        linked = _LINKED * measure.length <= measure.linked <= _LONGEST_LINK * measure.links
        listed = node.tag in _LISTS_OF_LINKS and measure.links >= FEWEST_LINKS and linked
        listed = listed and _leads_away(measure, before, inside)
        cards = cards and node.tag not in _KEPT_SHAPES and node.tag not in LISTS
        card = id(node) in news or _is_card(node, measure, total) or _is_lead(node, measure)
        card = card and cards and not before.endswith(":")
        if listed or card or id(node) in beside:
            dropped.append(node)
            lost += measure.length
            continue
        inside = inside or is_content(node)
        stack.extend(
            (child, inside, cards) for child in reversed(node.children) if isinstance(child, Piece) or not child.dropped
        )
    # A page that is mostly links, such as a list of all topics, keeps them, unless it has enough sentences beside them.
    prose = measures[id(page)].prose
    left = prose - sum(measures[id(element)].prose for element in dropped)
    if 2 * lost <= total or left >= max(_MOST_OF_PROSE * prose, _SENTENCES):
        for element in dropped:
            element.dropped = AROUND_TEXT


def _find_links_beside_prose(page: Element, measures: dict[int, Measure]) -> set[int]:
    """Return the ids of blocks of links beside the element that contains nearly all sentences of a page.

    Such a block does not contain the title of the page. At least half of it is links; a quarter is enough for several
    links, as in lists of other articles with their first sentences. Tables and references need three quarters.
    """
    total = measures[id(page)].prose
    title = page.first("h1")
    blocks: set[int] = set()
    part: Element | None = page if total >= _LEAST_PROSE else None
    while part:
        inner = [child for child in part.elements if not child.dropped]
        part = next((child for child in inner if measures[id(child)].prose >= _MOST_OF_PROSE * total), None)
        for child in inner if part else ():
            if child is part:
                continue
            measure = measures[id(child)]
            least = LEAST_LINKED if measure.links >= FEWEST_LINKS else 1 / 2
            # Names in tables and in lists of references are links, too.
            least = _LINKED if child.tag in _KEPT_SHAPES or child.first(*_KEPT_SHAPES) else least
            outward = measure.links > measure.inward and measure.linked >= least * measure.length
            if outward and all(node is not title for node in (child, *descend(child))):
                blocks.add(id(child))
    return blocks


def _find_news_items(page: Element, measures: dict[int, Measure]) -> set[int]:
    """Return the ids of items of lists of other articles: each has a heading that is a link, and little else.

    Such items are siblings, and a name of theirs or of their parent is "news", "posts", "teaser" or the like.
    """
    total = measures[id(page)].length
    news: set[int] = set()
    stack = [page]
    while stack:
        parent = stack.pop()
        inner = [child for child in parent.elements if not child.dropped]
        stack += inner
        items = [child for child in inner if _has_linked_heading(child, measures, total)]
        if len(items) > 1:
            listed = _NEWS.search(names_of(parent)) is not None
            news.update(id(item) for item in items if listed or _NEWS.search(names_of(item)))
    return news


def _has_linked_heading(element: Element, measures: dict[int, Measure], total: int) -> bool:
    """Whether an element is a small part of a page with one heading, which is a link to elsewhere."""
    measure = measures[id(element)]
    if element.tag in HEADINGS or element.tag in IN_TABLES or measure.links <= measure.inward:
        return False
    if measure.length > min(LONGEST_NEWS, _MOST_OF_CARD * total):
        return False
    return measure.headings == 1 and measure.heading_linked >= _ALL_LINKED * measure.heading_length


def _is_card(element: Element, measure: Measure, total: int) -> bool:
    """Whether an element invites to another page: a link around a heading or paragraph, or a small aside or article."""
    if measure.length >= _MOST_OF_CARD * total or measure.links <= measure.inward:
        return False
    if element.tag == "aside":
        return measure.linked * 2 >= measure.length
    if element.tag == "article":
        return measure.linked >= LEAST_LINKED * measure.length
    if element.tag != "a" or element.get("href").startswith(("tel:", "mailto:")):
        return False
    return element.first("h1", "h2", "h3", "h4", "h5", "h6", "p") is not None


def _is_lead(element: Element, measure: Measure) -> bool:
    """Whether a paragraph or block is only a link to another page, without a heading."""
    if element.tag not in _LEADS or measure.links <= measure.inward or measure.length > _LONGEST_LEAD:
        return False
    alone = measure.linked >= _ALL_LINKED * measure.length > 0
    return (
        alone
        and element.first(*HEADINGS) is None
        and not any(link.get("href").startswith(("tel:", "mailto:")) for link in element.all("a"))
    )


def _leads_away(measure: Measure, before: str, content: bool) -> bool:
    """Whether a list of links is navigation rather than text.

    Args:
        measure: Measure of the list.
        before: Text before the list. "Symptoms include:" makes it text, "See also:" makes it navigation.
        content: Whether the list is inside of an element marked as main content.
    """
    if before.endswith(":") and not _ELSEWHERE.fullmatch(before):
        return False
    if measure.inward == measure.links or _ELSEWHERE.fullmatch(before[:100]):
        return True
    return not content


def heads_links(heading: str) -> bool:
    """Whether a heading, of a few words, announces a list of links to elsewhere ("Related conditions")."""
    return len(heading.split()) <= _MOST_LINKS_WORDS and _ELSEWHERE.fullmatch(heading) is not None
