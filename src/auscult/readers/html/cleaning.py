"""What of a page is not its text: navigation, banners, forms, what is hidden, and lists of links to elsewhere.

An element's kind, role, names and measure tell that it is not seen, or stands around the text. Nothing is guessed away
that could be what the page says: a list of links below "Symptoms include:" stays, and where the rules would leave no
words, fewer of them hold. Names of classes and ids count where what they name is a small part of the page, holds
neither its title nor its main part, and has links or fields of its own, as all that stands around a text has: a
laboratory's "comments" have none. What is hidden until a reader opens it (panels of accordions and tabs) is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice, pairwise
from typing import Final

from auscult.readers.flow import has_words
from auscult.readers.html.phrases import stands_around
from auscult.readers.html.standard import HEADINGS, LISTS
from auscult.readers.tree import NEVER_SHOWN, Element, Piece, descend

# fmt: off
_INVISIBLE: Final = frozenset({
    "applet", "area", "audio", "canvas", "datalist", "embed", "head", "iframe", "map", "math-annotation", "noembed",
    "noframes", "noscript", "object", "param", "picture", "rp", "rt", "script", "source", "style", "svg", "template",
    "title", "track", "video",
})
# fmt: on
_ASKING: Final = frozenset({"email", "password", "search", "tel", "url"})
_ROLES_AROUND: Final = frozenset({"alertdialog", "banner", "contentinfo", "dialog", "menu", "navigation", "search"})
_AROUND: Final = frozenset({"aside", "footer", "header"})
_CONTENT: Final = frozenset({"article", "main"})
_AROUND_TEXT: Final = "around the text"
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
# What themes and modules call such parts, as words of a longer name ("content-related-stories", "artTeaser"). The first
# name nothing that a text may say, as "social" (history), "sponsor" (of a trial) or "recommendation" do. The others are
# believed of what is links for a good part.
_LABELS: Final = re.compile(
    r"(?<![a-z])(?:(?:related|recommended)-?(?:articles|contents?|items|links|news|pages|posts|reading|stories)"
    r"|shar(?:e|ing)-?(?:bar|box|buttons?|icons?|label|links?|list|this|title|tools)|newsletter|outbrain|taboola|byline"
    r"|social-?(?:bar|box|buttons?|icons?|links?|media|nav|networks?|share|sharing)|pagination|pager|paywall|copyright"
    r"|credits?|prev-?next|next-?prev|read-?(?:also|more|next)|see-?also|comments?-?(?:count|link|policy|rules)"
    r"|copy-right|read(?:ing)?-?time|(?:caption|image|img|media|photo|picture)[a-z-]*-(?:author|source))(?![a-z])"
)
_WORDS_AROUND: Final = re.compile(
    r"(?<![a-z])(?:related|teasers?|shar(?:e|ing)|social|subscri(?:be|ption)|sponsor(?:ed)?|promo(?:s|box)?|trending"
    r"|advert(?:s|isements?|orial)?|popular|most-?read|sidebar[a-z]*|footer|breadcrumbs?|bio|tags|cta"
    r"|(?:no-?|hidden-)print|print-none|toolbar|rss|menu|nav(?:bar|igation)?|masthead|login|more-?articles|shop|disqus"
    r"|feedback|vote|poll|ratings?)(?![a-z])"
)
# What such parts are called that say nothing of a page's subject, links or not.
_NEVER_TEXT: Final = re.compile(
    r"(?<![a-z])(?:newsletter-?(?:box|form|signup|teaser)?|donat(?:e|ion)-?(?:box|cta|form)|(?:article-)?donation-cta"
    r"|sabox[a-z]*|(?:contributors?|mini|short|wpzoom)-bio|author-?(?:bio|box|container|description|text)|recent-?(?:posts|comments)|related-?posts?|print-button"
    r"|post-ratings?|shariff[a-z]*|akismet[a-z-]*|ad-(?:container|heading|label|wrapper)|advertisements?"
    r"|(?:add|new)-comment|comments?-?(?:add|disclosure|form|meta|new|policy|rules)|affiliate-?(?:disclaimer|disclosure)"
    r"|(?:advertiser|editorial)-disclosure|subscription-cta|buybox|app-?stores?|licen[cs]e-?info|copyright|(?:next|prev)post"
    r"|detail-themes)(?![a-z])"
)
# What leads to other articles and what visitors wrote, however long it is beside a short text, and called articles.
_OTHER_ARTICLES: Final = re.compile(
    r"(?<![a-z])(?:related-?(?:posts?|articles?|stories)|yarpp-related|similar-?(?:posts?|articles?|stories)"
    r"|interesting-?articles|recommended-?(?:posts?|articles?|stories)|read-?next|next-?read|more-?(?:articles|stories)"
    r"|(?:next|prev(?:ious)?)-?(?:posts?|story|article)-?(?:thumbnails)?)(?![a-z])"
)
_BY_VISITORS: Final = re.compile(
    r"(?<![a-z])(?:comment-?list|comments-?(?:area|list|section|body)|(?:article|news)-comments)(?![a-z])"
)
# What WordPress calls the parts of a sidebar; a page builder lays out pages of them.
_WIDGETS: Final = re.compile(
    r"(?:^|\s)widget-(?:archive|block|calendar|categories|custom-html|links|meta|nav-menu|pages|recent-\w+|rss|search"
    r"|tag-cloud|text)(?:\s|$)"
)
_PAGE_BUILDER: Final = re.compile(r"\b(?:so-panel|elementor)")
_FOOTERS: Final = re.compile(
    r"(?:^|\s)(?:[a-z]{1,2}-)?(?:dark-|main-|page-|site-)?(?:pre)?footer"
    r"(?:-(?:area|block|bottom|container|content|inner|main|outer|top|widgets?|wrap))*(?:\s|$)"
)
#: Characters of sentences that are left then.
_LEAST_BESIDE: Final = 300
_SIDEBARS: Final = re.compile(r"(?:(?:left|main|primary|right|secondary|site)[-_]?)?(?:aside|sidebar)", re.IGNORECASE)
_NEWS: Final = re.compile(
    r"(?<![a-z])(?:articles?|blog|entry|entries|excerpts?|news|posts?|press|stor(?:y|ies)|teasers?)(?![a-z])"
)
_LONGEST_NEWS: Final = 800
_TEASER: Final = re.compile(r"(?<![a-z])teasers?(?![a-z])")
#: Of the words of a page, and of its sentences.
_MOST_NEVER_TEXT: Final = 1 / 10
_AUTHOR: Final = re.compile(
    r"(?<![a-z])(?:author-?(?:about|bio|box|card|description|info|profile)|(?:about-?|post-?|article-?|entry-?)author)"
    r"(?![a-z])"
)
_WORDS_MEET: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_LONGEST_LABEL: Final = 80
#: Times what is left of a part, and characters: more than the buttons have that share a page.
_LEAST_LEFT_OUT: Final = 3
_FEWEST_LEFT_OUT: Final = 60
_VISITORS: Final = re.compile(
    r"comment[-_]?(?:author|meta|metadata|reply|date|list)|commentmetadata|avatar|reply|vcard|says"
)
_COMMENTS: Final = re.compile(r"comments?|respond|disqus", re.IGNORECASE)
_MARK_OF_SITE: Final = re.compile(
    r"\u00a9|\(c\)|copyright|all rights reserved|cookie|newsletter|subscribe", re.IGNORECASE
)
_MOST_AROUND: Final = 1 / 3
_LONGEST_BANNER: Final = 3000
_MOST_LABEL_WORDS: Final = 3
_LEAST_LINKED: Final = 1 / 4
_LONGEST_FORM: Final = 300
_FEWEST_TICKS: Final = 3
_LONGEST_UNSEEN: Final = 100
_SHORTEST_PROSE: Final = 60
_LEAST_PROSE: Final = 500
_MOST_OF_PROSE: Final = 0.8
_MOST_OF_CARD: Final = 0.1
_LEADS: Final = frozenset({"aside", "div", "figure", "p", "section"})
_ALL_LINKED: Final = 0.9
_SENTENCES: Final = 1000
_LONGEST_LEAD: Final = 300
_KEPT_SHAPES: Final = ("table", "dl", "ol")
_IN_TABLES: Final = frozenset({"tbody", "td", "tfoot", "th", "thead", "tr"})


@dataclass(slots=True)
class Measure:
    """What an element holds.

    Attributes:
        length: Characters.
        linked: Those of them in links.
        prose: Those of them in stretches as long as sentences, outside of links.
        links: Links.
        inward: Those of them to a place on the page.
        content: Parts that are called the text or its title.
        ticks: Check boxes, radio buttons and choices from a list.
        asks: Fields for an address, a password or what is searched for.
        visitors: Signs of what visitors wrote: their names and pictures, "reply", a field for more.
        headings: Headings with words.
        heading_length: Characters of these.
        heading_linked: Those of them in links.
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
        """Count what another holds too."""
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
        measure = found[id(element)]
        if element.tag in HEADINGS:
            measure.headings = int(measure.length > 0)
            measure.heading_length, measure.heading_linked = measure.length, measure.linked
        if parent is not None:
            found[id(parent)].add(measure)
    return found


def is_content(element: Element) -> bool:
    """Whether an element is called the text of its page."""
    return element.tag in _CONTENT or element.get("role") in _CONTENT


def is_hidden(element: Element, measure: Measure) -> bool:
    """Whether an element is hidden by an attribute, which a script may take away."""
    given = element.attributes
    if not given:
        return False
    if "hidden" in given and given["hidden"].lower() != "until-found":
        return True
    # Hidden from who listens alone are ornaments, and not pages of text.
    ornament = given.get("aria-hidden", "").lower() == "true" and measure.length < _LONGEST_UNSEEN
    return ornament or bool(_HIDDEN_STYLE.search(given.get("style", "")))


def is_around(element: Element, measure: Measure, inside: bool, in_heading: bool, whole: Measure) -> bool:
    """Whether an element stands around the text.

    Args:
        element: Any that is seen.
        measure: Its own.
        inside: Whether it is inside of what is called the text.
        in_heading: Whether it is inside of a heading.
        whole: The page's measure.
    """
    total = whole.length
    tag, role, length = element.tag, element.get("role").lower(), measure.length
    if tag in ("button", "option"):
        # The heading of a part that folds is a button.
        return not in_heading if tag == "button" else "selected" not in element.attributes
    if tag in ("nav", "search") or role in _ROLES_AROUND:
        return True
    if tag == "form":
        # Some sites put a form around the whole page. A form with boxes to tick is a questionnaire.
        if length * 2 >= total or measure.ticks >= _FEWEST_TICKS:
            return False
        return measure.asks > 0 or (not measure.ticks and length < _LONGEST_FORM)
    if not inside and (tag in _AROUND or role == "complementary"):
        # The header of a page may hold its title, and what introduces it.
        return (tag != "header" or not measure.content) and _is_site(element, measure)
    if tag == "sup":
        # The mark of a note.
        only = [child for child in element.elements if child.tag == "a"]
        return len(only) == 1 and only[0].get("href").startswith("#") and length <= len("[100]")
    named = f"{element.get('class')} {element.get('id')}"
    if tag in _WHOLE or not named.strip():
        return False
    if length < _LONGEST_BANNER and (_BANNER.search(named) or (length < 300 and _SKIPPED.search(named))):
        return True
    called = _called(element)
    if tag not in HEADINGS and _is_beside_text(called, measure, whole):
        return True
    small = max(length / max(total, 1), measure.prose / max(whole.prose, 1)) < _MOST_NEVER_TEXT
    # A part that is called an article, or has a title, is not all that has.
    beside = small and measure.content < max(whole.content, 1) and tag not in HEADINGS and tag not in _IN_TABLES
    if beside and _NEVER_TEXT.search(called):
        return True
    if measure.content or length >= _MOST_AROUND * total:
        return False
    if beside and _WIDGETS.search(called) and not _PAGE_BUILDER.search(called):
        return True
    names = [each for each in named.split() if _NAMED_AROUND.fullmatch(each)]
    if any(map(_COMMENTS.search, names)):
        return measure.visitors > 0
    if names and _is_site(element, measure):
        return True
    # The part that has the text is not around it, whatever it is called.
    if tag in HEADINGS or tag in _IN_TABLES or measure.prose * 5 >= max(whole.prose, 1):
        return False
    labelled = _LABELS.search(called) is not None
    if labelled and length <= _LONGEST_LABEL and not measure.prose:
        return True
    if measure.links <= measure.inward:
        return False
    linked = measure.linked >= _LEAST_LINKED * length
    return (
        ((labelled or _FOOTERS.search(called) is not None) and _is_site(element, measure))
        or (small and length <= _LONGEST_NEWS and measure.heading_linked > 0 and _TEASER.search(called) is not None)
        or (linked and _WORDS_AROUND.search(called) is not None)
        or _AUTHOR.search(called) is not None
    )


def _is_beside_text(called: str, measure: Measure, whole: Measure) -> bool:
    """Whether a part is other articles, what visitors wrote or a sidebar, and the text of its page is elsewhere.

    Args:
        called: Its names, in small letters with "-" between words.
        measure: Its own.
        whole: The page's.
    """
    left = whole.prose - measure.prose
    if measure.links <= measure.inward or left < _LEAST_BESIDE:
        return False
    if _BY_VISITORS.search(called):
        return True
    if left < measure.prose:
        return False
    is_sidebar = measure.content < max(whole.content, 1) and any(map(_SIDEBARS.fullmatch, called.split()))
    return _OTHER_ARTICLES.search(called) is not None or (is_sidebar and measure.links >= _FEWEST_LINKS)


def _is_site(element: Element, measure: Measure) -> bool:
    """Whether what looks as if around the text is a site's, and no part of the text."""
    links = measure.links >= _FEWEST_LINKS or measure.linked >= _LEAST_LINKED * measure.length
    if (measure.links and links) or measure.asks:
        return True
    if measure.length >= _LONGEST_BANNER:
        return False
    words = element.words()
    return len(words.split()) <= _MOST_LABEL_WORDS or _MARK_OF_SITE.search(words) is not None


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
    panels = open_panels(page)
    elements = [node for node in descend(page) if isinstance(node, Element)]
    _restore(elements)
    measures = measured(page)
    whole = most >= Care.AROUND
    hidden = _hidden(page, measures, panels, whole=whole)
    # A page of which nothing is left is shown by a script, however it is hidden.
    for left_out in (hidden, set[int]()) if whole else (hidden,):
        for care in range(most, -1, -1):
            _restore(elements)
            _drop_around(page, measures, care, left_out)
            if care >= Care.MAIN_ONLY:
                _keep_main(page, elements)
            if care >= Care.LINKS:
                _drop_lists_of_links(page)
                _drop_labels(page)
            if _has_words(page):
                return True
    return False


def _restore(elements: list[Element]) -> None:
    for element in elements:
        element.dropped = ""


def _has_words(page: Element) -> bool:
    kept = descend(page, lambda element: not element.dropped)
    return any(isinstance(node, Piece) and has_words(node.text) for node in kept)


def _is_invisible(element: Element) -> bool:
    """Whether a browser never shows an element as text."""
    return element.tag in _INVISIBLE or (element.tag == "dialog" and "open" not in element.attributes)


def _hidden(page: Element, measures: dict[int, Measure], panels: set[int], *, whole: bool) -> set[int]:
    """The ids of the outermost elements that are hidden; none where a page hides more than it shows, for a script."""
    shut: set[int] = set()
    unseen = never = 0
    stack = [page]
    while stack:
        element = stack.pop()
        length = measures[id(element)].length
        if _is_invisible(element):
            never += length
        elif id(element) not in panels and is_hidden(element, measures[id(element)]):
            shut.add(id(element))
            unseen += length
        else:
            stack += element.elements
    seen = measures[id(page)].length - never - unseen
    return set() if whole and unseen >= _LONGEST_UNSEEN and unseen > seen else shut


# What a button says of what it does, which is no heading.
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


def open_panels(page: Element) -> set[int]:
    """Open the panels that controls of a page open, and give each its control's words as a heading.

    Args:
        page: Its tree, in which words of controls are moved into their panels.

    Returns:
        The ids of the panels' elements.
    """
    named: dict[str, Element] = {}
    controls: list[tuple[Element, list[str], int]] = []
    beside: dict[int, tuple[Element, int]] = {}
    level = 1
    stack: list[tuple[Element, bool]] = [(page, False)]
    while stack:
        element, in_heading = stack.pop()
        if element.tag in HEADINGS or element.get("role") == "heading":
            level, in_heading = int(element.tag[1]) if element.tag in HEADINGS else level, True
        if name := element.get("id"):
            named.setdefault(name, element)
        headed = in_heading or any(each.tag in HEADINGS for each in element.elements)
        if element.tag == "summary" and not headed and _is_heading(element):
            element.attributes.update({"role": "heading", "aria-level": str(min(level + 1, 6))})
        if targets := _targets(element):
            controls.append((element, targets, 0 if in_heading else min(level + 1, 6)))
        inner = element.elements
        for before, after in pairwise(inner):
            button = before if before.tag == "button" or before.get("aria-expanded") else before.child("button")
            if button and button.get("aria-haspopup").lower() not in _POPS_UP and after.tag not in LISTS:
                beside[id(after)] = button, 0 if in_heading or before.tag in HEADINGS else min(level + 1, 6)
        stack.extend((each, in_heading) for each in reversed(inner))
    naming = {id(each) for each, _, _ in controls}
    for element in named.values():
        control = named.get(element.get("aria-labelledby")) if element.get("role") == "tabpanel" else None
        if control is not None and id(control) not in naming:
            controls.append((control, [element.get("id")], 2))
    panels: set[int] = set()
    for control, targets, below in controls:
        for target in targets:
            panel = named.get(target)
            if panel is None or not (_is_panel(panel) or control.get("aria-expanded")):
                continue
            if id(panel) not in panels and below and len(targets) == 1:
                _head_panel(panel, control, below)
            panels.add(id(panel))
    # Some name no panel: what is hidden behind a button is what it opens, and what has a label that is seen is a part.
    for node in [*descend(page)]:
        if isinstance(node, Element) and id(node) not in panels and _is_panel(node):
            if id(node) in beside:
                control, below = beside[id(node)]
                if below and control.tag == "button":
                    _head_panel(node, control, below)
                panels.add(id(node))
            elif (
                node.get("aria-labelledby") in named and node.get("role") not in _ROLES_AROUND and node.tag != "dialog"
            ):
                panels.add(id(node))
    return panels


def _head_panel(panel: Element, control: Element, level: int) -> None:
    """Make the words of its control the heading of a panel, unless it begins with them."""
    # A control that holds its panel, or a page, is no heading of it.
    inside = [*islice(descend(control), _MOST_IN_HEADING)]
    apart = len(inside) < _MOST_IN_HEADING and all(each is not panel for each in inside)
    if apart and _is_heading(control) and not panel.beginning(_LONGEST_HEADING).startswith(control.words()):
        heading = Element("div", {"role": "heading", "aria-level": str(level)})
        heading.children, control.children = control.children, []
        panel.children.insert(0, heading)


def _is_heading(control: Element) -> bool:
    words = control.beginning(_LONGEST_HEADING)
    return len(words) <= _LONGEST_HEADING and not _DOES.fullmatch(words)


def _targets(element: Element) -> list[str]:
    """The ids of what a control opens."""
    given = element.attributes
    if not given or given.get("aria-haspopup", "").lower() in _POPS_UP:
        return []
    if "aria-controls" in given and element.tag not in ("input", "select", "textarea"):
        return given["aria-controls"].split()
    toggles = (given.get("data-bs-toggle") or given.get("data-toggle") or "").lower() in _TOGGLES
    if toggles or given.get("role") == "tab":
        target = given.get("data-bs-target") or given.get("data-target") or given.get("href") or ""
        return [target[1:]] if target.startswith("#") else []
    return []


def _is_panel(element: Element) -> bool:
    given = element.attributes
    shut = (
        "hidden" in given
        or given.get("aria-hidden", "").lower() == "true"
        or _HIDDEN_STYLE.search(given.get("style", ""))
    )
    return bool(shut) or given.get("role") == "tabpanel" or _PANEL.search(given.get("class", "")) is not None


def _drop_around(page: Element, measures: dict[int, Measure], care: int, hidden: set[int]) -> None:
    whole = measures[id(page)]
    stack: list[tuple[Element, bool, bool]] = [(page, False, False)]
    while stack:
        parent, inside, in_heading = stack.pop()
        for element in parent.elements:
            if _is_invisible(element):
                element.dropped = NEVER_SHOWN
            elif id(element) in hidden:
                element.dropped = "hidden"
            elif care >= Care.AROUND and is_around(element, measures[id(element)], inside, in_heading, whole):
                element.dropped = _AROUND_TEXT
            if not element.dropped:
                heading = element.tag in HEADINGS or element.get("role") == "heading"
                stack.append((element, inside or is_content(element), in_heading or heading))


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
            element.dropped = element.dropped or _AROUND_TEXT


def _drop_lists_of_links(page: Element) -> None:
    measures = measured(page)
    total = measures[id(page)].length
    before = ""
    dropped: list[Element] = []
    lost = 0
    beside = _beside_prose(page, measures)
    news = _news_items(page, measures)
    stack: list[tuple[Element | Piece, bool, bool]] = [(page, False, measures[id(page)].prose >= _LEAST_PROSE)]
    while stack:
        node, inside, cards = stack.pop()
        if isinstance(node, Piece):
            before = node.text.strip() or before
            continue
        measure = measures[id(node)]
        listed = node.tag in _LISTS_OF_LINKS and _is_links(measure) and _leads_away(measure, before, inside)
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
    # A page of links, such as a list of all topics, is what it is; one of sentences beside more links is not.
    prose = measures[id(page)].prose
    left = prose - sum(measures[id(each)].prose for each in dropped)
    if 2 * lost <= total or left >= max(_MOST_OF_PROSE * prose, _SENTENCES):
        for element in dropped:
            element.dropped = _AROUND_TEXT


def _drop_labels(page: Element) -> None:
    """Drop labels and headings of what was left out: "More on this", with the links to it gone."""
    left, lost = measured(page), _left_out(page)
    stack = [page]
    while stack:
        for element in stack.pop().elements:
            if element.dropped:
                continue
            now = left[id(element)]
            short = 0 < now.length <= _LONGEST_LABEL and not (now.content or is_content(element))
            label = short and not now.prose and _is_label(element, lost[id(element)])
            if label or (short and element.tag not in _IN_TABLES and stands_around(_kept_words(element))):
                element.dropped = _AROUND_TEXT
            else:
                stack.append(element)
    _drop_headings(page)


def _is_label(element: Element, lost: int) -> bool:
    """Whether the words of an element say nothing without the `lost` characters that they were a label of."""
    if lost < _FEWEST_LEFT_OUT:
        return False
    words = _kept_words(element)
    # "Call 112" and "Stop it before surgery." say something.
    says = any(letter.isdigit() for letter in words) or words.endswith((".", "!"))
    return not says and lost >= _LEAST_LEFT_OUT * len(words)


def _kept_words(element: Element) -> str:
    kept = descend(element, lambda each: not each.dropped)
    return " ".join("".join(each.text for each in kept if isinstance(each, Piece)).split())


def _left_out(page: Element) -> dict[int, int]:
    """Return how many characters around the text were left out of each element that is not dropped, by its id."""
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
            elif element.dropped == _AROUND_TEXT:
                lost[id(parent)] += _shown_length(element)
    for element, parent in reversed(order):
        lost[id(parent)] += lost[id(element)]
    return lost


def _shown_length(element: Element) -> int:
    shown = descend(element, lambda each: not _is_invisible(each))
    return sum(len(each.text.strip()) for each in shown if isinstance(each, Piece))


def _drop_headings(page: Element) -> None:
    """Drop headings that have nothing below them but what was left out."""
    last: Element | None = None
    lost = 0
    # The end of the page ends what stands below its last heading, too.
    stack: list[Element | Piece] = [Element("h1"), page]
    while stack:
        node = stack.pop()
        if isinstance(node, Piece):
            last = None if node.text.strip() else last
        elif node.dropped:
            lost += _shown_length(node) if node.dropped == _AROUND_TEXT and last is not None else 0
        elif node.tag in HEADINGS:
            if last is not None and node.tag <= last.tag and _is_label(last, lost):
                last.dropped = _AROUND_TEXT
            last, lost = (node if node.tag != "h1" else None), 0
        else:
            stack.extend(reversed(node.children))


def _beside_prose(page: Element, measures: dict[int, Measure]) -> set[int]:
    """Return the ids of blocks of links beside the element that holds nearly all sentences of a page.

    Such a block does not hold the title of the page. It is mostly links, or has several and a good part of it is
    links, as lists of other articles with their first sentences are.
    """
    total = measures[id(page)].prose
    title = page.first("h1")
    found: set[int] = set()
    part: Element | None = page if total >= _LEAST_PROSE else None
    while part:
        inner = [each for each in part.elements if not each.dropped]
        part = next((each for each in inner if measures[id(each)].prose >= _MOST_OF_PROSE * total), None)
        for each in inner if part else ():
            if each is part:
                continue
            measure = measures[id(each)]
            least = _LEAST_LINKED if measure.links >= _FEWEST_LINKS else 1 / 2
            # Names in tables and in references are links, too.
            least = _LINKED if each.tag in _KEPT_SHAPES or each.first(*_KEPT_SHAPES) else least
            outward = measure.links > measure.inward and measure.linked >= least * measure.length
            if outward and all(node is not title for node in (each, *descend(each))):
                found.add(id(each))
    return found


def _news_items(page: Element, measures: dict[int, Measure]) -> set[int]:
    """Return the ids of items of lists of other articles: each has a heading that is a link, and little else.

    Such items stand beside each other, and they or their list are called news, posts, teasers or the like.
    """
    total = measures[id(page)].length
    found: set[int] = set()
    stack = [page]
    while stack:
        parent = stack.pop()
        inner = [each for each in parent.elements if not each.dropped]
        stack += inner
        items = [each for each in inner if _has_linked_heading(each, measures, total)]
        if len(items) > 1:
            listed = _NEWS.search(_called(parent)) is not None
            found.update(id(each) for each in items if listed or _NEWS.search(_called(each)))
    return found


def _called(element: Element) -> str:
    """Return the names of an element, in small letters with "-" between words."""
    return _WORDS_MEET.sub("-", f"{element.get('class')} {element.get('id')}").lower()


def _has_linked_heading(element: Element, measures: dict[int, Measure], total: int) -> bool:
    """Whether a small part of a page has one heading, which is a link to elsewhere."""
    measure = measures[id(element)]
    if element.tag in HEADINGS or element.tag in _IN_TABLES or measure.links <= measure.inward:
        return False
    if measure.length > min(_LONGEST_NEWS, _MOST_OF_CARD * total):
        return False
    return measure.headings == 1 and measure.heading_linked >= _ALL_LINKED * measure.heading_length


def _is_card(element: Element, measure: Measure, total: int) -> bool:
    """Whether an element invites to another page: a link around a heading or a paragraph, or a small part of links."""
    if measure.length >= _MOST_OF_CARD * total or measure.links <= measure.inward:
        return False
    if element.tag == "aside":
        return measure.linked * 2 >= measure.length
    if element.tag == "article":
        return measure.linked >= _LEAST_LINKED * measure.length
    if element.tag != "a" or element.get("href").startswith(("tel:", "mailto:")):
        return False
    return element.first("h1", "h2", "h3", "h4", "h5", "h6", "p") is not None


def _is_lead(element: Element, measure: Measure) -> bool:
    """Whether a paragraph or block is one link to another page, and no heading."""
    if element.tag not in _LEADS or measure.links <= measure.inward or measure.length > _LONGEST_LEAD:
        return False
    alone = measure.linked >= _ALL_LINKED * measure.length > 0
    return (
        alone
        and element.first(*HEADINGS) is None
        and not any(each.get("href").startswith(("tel:", "mailto:")) for each in element.all("a"))
    )


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
