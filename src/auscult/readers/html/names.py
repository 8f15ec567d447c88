"""Rules by names: tags, roles, classes and ids that mark an element as navigation, banner, form, footer or the like.

Names of classes and ids count only for a small part of the page that contains neither its title nor its main content
and has links or fields, as everything around a text has. A laboratory's "comments" have none.
"""

from __future__ import annotations

import re
from typing import Final

from auscult.readers.html.measures import (
    FEWEST_LINKS,
    IN_TABLES,
    LEAST_LINKED,
    LONGEST_LABEL,
    LONGEST_NEWS,
    ROLES_AROUND,
    Measure,
    names_of,
)
from auscult.readers.html.standard import HEADINGS
from auscult.readers.tree import Element


def _in_names(words: str) -> re.Pattern[str]:
    """Return a pattern of whole words in the result of `names_of`. White space in `words` does not count."""
    return re.compile(rf"(?<![a-z])(?:{words})(?![a-z])", re.VERBOSE)


# What the expressions below are for. Each is searched in the classes and the id of an element. Those in the first part
# count for any element of the stated size; the others only beside the text, or with links, as `is_around` says.
#
#   _BANNER          questions about cookies               up to 3,000 characters
#   _SKIPPED         links to skip to the text             up to 300 characters
#   _NEVER_TEXT      what no page has as its subject       a tenth of the page
#   _BY_VISITORS     comments                              more text beside it
#   _OTHER_ARTICLES  links to other articles               most of the text beside it
#   _SIDEBARS        columns beside the text               most of the text beside it, several links
#   _WIDGETS         parts of a sidebar in WordPress       a tenth of the page, not of a page builder
#   _NAMED_AROUND    parts of a site's layout              a third of the page, signs of a site
#   _LABELS          short labels, such as "Share"         80 characters, or signs of a site
#   _FOOTERS         ends of pages                         signs of a site
#   _TEASER          one article in a list of them         a tenth of the page, a heading that is a link
#   _WORDS_AROUND    words that may also name text         many links
#   _AUTHOR          who wrote the page                    links
_BANNER: Final = re.compile(
    r"""
    \bcookies?[-_]?(?:bar|banner|consent|dialog|law|message|modal|notice|policy|popup) | (?:^|\s)cookies?(?:\s|$)
    | \bgdpr | \bonetrust | \bcookiebot | \bcc-window | \bconsent[-_](?:banner|dialog|manager|modal|popup)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SKIPPED: Final = re.compile(r"\b(?:skip[-_]?(?:link|nav|to)|breadcrumbs?)\b|__skip", re.IGNORECASE)
_NEVER_TEXT: Final = _in_names(
    r"""
    newsletter-?(?:box|form|signup|teaser)? | subscription-cta | (?:article-)?donation-cta
    | donat(?:e|ion)-?(?:box|cta|form) | buybox | app-?stores?
    | sabox[a-z]* | (?:contributors?|mini|short|wpzoom)-bio | author-?(?:bio|box|container|description|text)
    | recent-?(?:posts|comments) | related-?posts? | (?:next|prev)post | detail-themes
    | print-button | post-ratings? | shariff[a-z]* | akismet[a-z-]*
    | (?:add|new)-comment | comments?-?(?:add|disclosure|form|meta|new|policy|rules)
    | ad-(?:container|heading|label|wrapper) | advertisements? | affiliate-?(?:disclaimer|disclosure)
    | (?:advertiser|editorial)-disclosure | licen[cs]e-?info | copyright
    """
)
_BY_VISITORS: Final = _in_names(r"comment-?list | comments-?(?:area|list|section|body) | (?:article|news)-comments")
_OTHER_ARTICLES: Final = _in_names(
    r"""
    related-?(?:posts?|articles?|stories) | similar-?(?:posts?|articles?|stories) | yarpp-related
    | recommended-?(?:posts?|articles?|stories) | more-?(?:articles|stories) | interesting-?articles
    | read-?next | next-?read | (?:next|prev(?:ious)?)-?(?:posts?|story|article)-?(?:thumbnails)?
    """
)
_SIDEBARS: Final = re.compile(r"(?:(?:left|main|primary|right|secondary|site)[-_]?)?(?:aside|sidebar)", re.IGNORECASE)
_WIDGETS: Final = re.compile(
    r"""
    (?:^|\s) widget-(?:archive|block|calendar|categories|custom-html|links|meta|nav-menu|pages|recent-\w+|rss|search
    |tag-cloud|text) (?:\s|$)
    """,
    re.VERBOSE,
)
# Page builders compose the text itself of widgets.
_PAGE_BUILDER: Final = re.compile(r"\b(?:so-panel|elementor)")
# Whole names ("site-footer", "related-posts").
_NAMED_AROUND: Final = re.compile(
    r"""
    (?:(?:site|page|main|global|top|bottom|left|right|primary|secondary|blog|mobile|entry|post|article|wp)[-_]?)?
    (?:
        footer | masthead | navbar | nav | navigation | menu | sidebars? | pagination | pager | widget[-_]?area
        | (?:site|page)[-_]?header | login | copyright | impressum | adverts? | advertisements? | ads?
        | comments | comment[-_]?(?:list|form|respond) | disqus[-_]thread | respond
        | share | sharing | share(?:daddy|aholic) | share[-_]?(?:buttons?|links?|bar|tools) | addtoany[-_]\w+
        | social[-_]?(?:media|links?|icons?|share|sharing|bar|buttons?) | newsletter | subscribe
        | related[-_]?(?:posts?|articles?|links?|stories) | jp[-_]relatedposts | tag[-_]?(?:cloud|list|links)
        | post[-_]?(?:nav|meta) | entry[-_]?(?:meta|utility) | author[-_]?(?:box|bio)
    )
    (?:[-_]?(?:wrapper|wrap|container|area|block|inner|outer|section|box|widget))?
    """,
    re.IGNORECASE | re.VERBOSE,
)
# No words that may name a part of the text, such as "social" (history), "sponsor" (of a trial) or "recommendation".
_LABELS: Final = _in_names(
    r"""
    (?:related|recommended)-?(?:articles|contents?|items|links|news|pages|posts|reading|stories)
    | read-?(?:also|more|next) | see-?also | prev-?next | next-?prev | pagination | pager
    | shar(?:e|ing)-?(?:bar|box|buttons?|icons?|label|links?|list|this|title|tools)
    | social-?(?:bar|box|buttons?|icons?|links?|media|nav|networks?|share|sharing)
    | newsletter | outbrain | taboola | paywall | comments?-?(?:count|link|policy|rules)
    | byline | read(?:ing)?-?time | credits? | copyright | copy-right
    | (?:caption|image|img|media|photo|picture)[a-z-]*-(?:author|source)
    """
)
_FOOTERS: Final = re.compile(
    r"""
    (?:^|\s) (?:[a-z]{1,2}-)?(?:dark-|main-|page-|site-)?(?:pre)?footer
    (?:-(?:area|block|bottom|container|content|inner|main|outer|top|widgets?|wrap))* (?:\s|$)
    """,
    re.VERBOSE,
)
_TEASER: Final = _in_names("teasers?")
_WORDS_AROUND: Final = _in_names(
    r"""
    related | teasers? | trending | popular | most-?read | more-?articles
    | shar(?:e|ing) | social | subscri(?:be|ption) | rss | feedback | vote | poll | ratings? | disqus
    | sponsor(?:ed)? | promo(?:s|box)? | advert(?:s|isements?|orial)? | shop | cta
    | sidebar[a-z]* | footer | masthead | menu | nav(?:bar|igation)? | breadcrumbs? | toolbar | login
    | bio | tags | (?:no-?|hidden-)print | print-none
    """
)
_AUTHOR: Final = _in_names(
    r"author-?(?:about|bio|box|card|description|info|profile) | (?:about-?|post-?|article-?|entry-?)author"
)
_COMMENTS: Final = re.compile(r"comments?|respond|disqus", re.IGNORECASE)
_MARK_OF_SITE: Final = re.compile(
    r"\u00a9|\(c\)|copyright|all rights reserved|cookie|newsletter|subscribe", re.IGNORECASE
)

_AROUND: Final = frozenset({"aside", "footer", "header"})
_WHOLE: Final = frozenset({"article", "body", "html", "main"})
#: Characters of sentences that must remain on the page.
_LEAST_BESIDE: Final = 300
#: Largest share of a page's characters, and of those in sentences, of a small part.
_MOST_NEVER_TEXT: Final = 1 / 10
_MOST_AROUND: Final = 1 / 3
#: An element with this part of the sentences of a page has text, whatever its names are.
_PARTS_OF_PROSE: Final = 5
_LONGEST_BANNER: Final = 3000
_LONGEST_SKIPPED: Final = 300
_LONGEST_FORM: Final = 300
_MOST_LABEL_WORDS: Final = 3
_FEWEST_TICKS: Final = 3


def is_around(element: Element, measure: Measure, inside: bool, in_heading: bool, page: Measure) -> bool:
    """Whether an element is around the text of a page, rather than part of it.

    Args:
        element: A visible element.
        measure: Measure of the element.
        inside: Whether it is inside of an element marked as main content.
        in_heading: Whether it is inside of a heading.
        page: Measure of the page.
    """
    by_tag = _is_around_by_tag(element, measure, inside, in_heading, page)
    return _is_around_by_name(element, measure, page) if by_tag is None else by_tag


def _is_around_by_tag(element: Element, measure: Measure, inside: bool, in_heading: bool, page: Measure) -> bool | None:
    """Decide as `is_around` does by tag and role; None where these decide nothing."""
    tag, role, length = element.tag, element.get("role").lower(), measure.length
    if tag in ("button", "option"):
        # The heading of a collapsible part is a button.
        return not in_heading if tag == "button" else "selected" not in element.attributes
    if tag in ("nav", "search") or role in ROLES_AROUND:
        return True
    if tag == "form":
        # Some sites put a form around the whole page. A form with check boxes is a questionnaire.
        if length * 2 >= page.length or measure.ticks >= _FEWEST_TICKS:
            return False
        return measure.asks > 0 or (not measure.ticks and length < _LONGEST_FORM)
    if not inside and (tag in _AROUND or role == "complementary"):
        # The header of a page may contain its title and an introduction.
        return (tag != "header" or not measure.content) and _is_site(element, measure)
    if tag == "sup":
        # Mark of a footnote.
        only = [child for child in element.elements if child.tag == "a"]
        return len(only) == 1 and only[0].get("href").startswith("#") and length <= len("[100]")
    return None


def _is_around_by_name(element: Element, measure: Measure, page: Measure) -> bool:
    """Whether an element is around the text of a page by its classes and id."""
    tag, length, total = element.tag, measure.length, page.length
    attributes = f"{element.get('class')} {element.get('id')}"
    if tag in _WHOLE or not attributes.strip():
        return False
    if length < _LONGEST_BANNER and _BANNER.search(attributes):
        return True
    if length < _LONGEST_SKIPPED and _SKIPPED.search(attributes):
        return True
    names = names_of(element)
    if tag not in HEADINGS and _is_beside_text(names, measure, page):
        return True
    small = max(length / max(total, 1), measure.prose / max(page.prose, 1)) < _MOST_NEVER_TEXT
    # An element with a title or main content is beside the text only if the page has others.
    beside = small and measure.content < max(page.content, 1) and tag not in HEADINGS and tag not in IN_TABLES
    if beside and _NEVER_TEXT.search(names):
        return True
    if measure.content or length >= _MOST_AROUND * total:
        return False
    if beside and _WIDGETS.search(names) and not _PAGE_BUILDER.search(names):
        return True
    whole_names = [name for name in attributes.split() if _NAMED_AROUND.fullmatch(name)]
    if any(map(_COMMENTS.search, whole_names)):
        return measure.visitors > 0
    if whole_names and _is_site(element, measure):
        return True
    if tag in HEADINGS or tag in IN_TABLES or measure.prose * _PARTS_OF_PROSE >= max(page.prose, 1):
        return False
    labelled = _LABELS.search(names) is not None
    if labelled and length <= LONGEST_LABEL and not measure.prose:
        return True
    if measure.links <= measure.inward:
        return False
    linked = measure.linked >= LEAST_LINKED * length
    return (
        ((labelled or _FOOTERS.search(names) is not None) and _is_site(element, measure))
        or (small and length <= LONGEST_NEWS and measure.heading_linked > 0 and _TEASER.search(names) is not None)
        or (linked and _WORDS_AROUND.search(names) is not None)
        or _AUTHOR.search(names) is not None
    )


def _is_beside_text(names: str, measure: Measure, page: Measure) -> bool:
    """Whether an element is other articles, comments by visitors or a sidebar, and the text is elsewhere on the page.

    Args:
        names: Result of `names_of` for the element.
        measure: Measure of the element.
        page: Measure of the page.
    """
    left = page.prose - measure.prose
    if measure.links <= measure.inward or left < _LEAST_BESIDE:
        return False
    if _BY_VISITORS.search(names):
        return True
    if left < measure.prose:
        return False
    is_sidebar = measure.content < max(page.content, 1) and any(map(_SIDEBARS.fullmatch, names.split()))
    return _OTHER_ARTICLES.search(names) is not None or (is_sidebar and measure.links >= FEWEST_LINKS)


def _is_site(element: Element, measure: Measure) -> bool:
    """Whether an element has signs of a site's layout: links, input fields, very few words or a copyright notice."""
    links = measure.links >= FEWEST_LINKS or measure.linked >= LEAST_LINKED * measure.length
    if (measure.links and links) or measure.asks:
        return True
    if measure.length >= _LONGEST_BANNER:
        return False
    words = element.words()
    return len(words.split()) <= _MOST_LABEL_WORDS or _MARK_OF_SITE.search(words) is not None
