"""What sites, themes and modules call the parts around a text, in classes and ids.

Names are patterns over classes and ids as they are, or over `called_names`.
"""

from __future__ import annotations

import re
from typing import Final

from auscult.readers.tree import Element

_WORDS_MEET: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_DASHES: Final = re.compile(r"-{2,}")
BANNER: Final = re.compile(
    r"\bcookies?[-_]?(?:bar|banner|consent|dialog|law|message|modal|notice|policy|popup)|(?:^|\s)cookies?(?:\s|$)|\bgdpr"
    r"|\bonetrust|\bcookiebot|\bborlabs|\bbrlbs|\bcc-window|\bconsent[-_](?:banner|dialog|manager|modal|popup)",
    re.IGNORECASE,
)
SKIPPED: Final = re.compile(r"\b(?:skip[-_]?(?:link|nav|to)|breadcrumbs?)\b|__skip", re.IGNORECASE)
# What sites call the parts around a text: whole words of classes and ids ("site-footer", "related-posts").
NAMED_AROUND: Final = re.compile(
    r"(?:(?:site|page|main|global|top|bottom|left|right|primary|secondary|blog|mobile|entry|post|article|wp)[-_]?)?"
    r"(?:footer|masthead|navbar|nav|navigation|menu|sidebars?|comments|comment[-_]?(?:list|form|respond)|disqus[-_]thread"
    r"|respond|share|sharing|share(?:daddy|aholic)|share[-_]?(?:buttons?|links?|bar|tools)|addtoany[-_]\w+|pagination|pager"
    r"|social[-_]?(?:media|links?|icons?|share|sharing|bar|buttons?)|related[-_]?(?:posts?|articles?|links?|stories)"
    r"|jp[-_]relatedposts|post[-_]?(?:nav|meta(?:data)?)|entry[-_]?(?:meta|utility)|newsletter|subscribe|adverts?"
    r"|advertisements?|ads?|copyright|impressum|tag[-_]?(?:cloud|list|links)|login|author[-_]?(?:box|bio)|widget[-_]?area"
    r"|(?:site|page)[-_]?header)(?:[-_]?(?:wrapper|wrap|container|area|block|inner|outer|section|box|widget))?",
    re.IGNORECASE,
)
# What themes and modules call such parts, as words of a longer name ("content-related-stories", "artTeaser"). The first
# name nothing that a text may say, as "social" (history), "sponsor" (of a trial) or "recommendation" do. The others are
# believed of what is links for a good part.
LABELS: Final = re.compile(
    r"(?<![a-z])(?:(?:related|recommended)-?(?:articles|contents?|items|links|news|pages|posts|reading|stories)"
    r"|shar(?:e|ing)-?(?:bar|box|buttons?|icons?|label|links?|list|this|title|tools)|newsletter|outbrain|taboola|byline"
    r"|social-?(?:bar|box|buttons?|icons?|links?|media|nav|networks?|share|sharing)|pagination|pager|paywall|copyright"
    r"|credits?|prev-?next|next-?prev|read-?(?:also|more|next)|see-?also|comments?-?(?:count|link|policy|rules)"
    r"|copy-right|read(?:ing)?-?time|(?:caption|image|img|media|photo|picture)[a-z-]*-(?:author|source))(?![a-z])"
)
WORDS_AROUND: Final = re.compile(
    r"(?<![a-z])(?:related|teasers?|shar(?:e|ing)|social|subscri(?:be|ption)|sponsor(?:ed)?|promo(?:s|box)?|trending"
    r"|advert(?:s|isements?|orial)?|popular|most-?read|sidebar[a-z]*|footer|breadcrumbs?|bio|tags|cta"
    r"|(?:no-?|hidden-)print|print-none|toolbar|rss|menu|nav(?:bar|igation)?|masthead|login|more-?articles|shop|disqus"
    r"|feedback|vote|poll|ratings?)(?![a-z])"
)
# What such parts are called that say nothing of a page's subject, links or not.
NEVER_TEXT: Final = re.compile(
    r"(?<![a-z])(?:newsletter-?(?:box|form|signup|teaser)?|donat(?:e|ion)-?(?:box|cta|form)|(?:article-)?donation-cta"
    r"|sabox[a-z]*|(?:contributors?|mini|short|wpzoom)-bio|author-?(?:bio|box|container|description|text)"
    r"|recent-?(?:posts|comments)|related-?posts?|print-button|post-ratings?|shariff[a-z]*|akismet[a-z-]*|ad-(?:container|heading|label|wrapper)|advertisements?"
    r"|(?:add|new)-comment|comments?-?(?:add|disclosure|form|meta|new|policy|rules)|affiliate-?(?:disclaimer|disclosure)"
    r"|(?:advertiser|editorial)-disclosure|subscription-cta|paywall|(?:abo)?werbung|buybox|app-?stores?"
    r"|licen[cs]e-?info|copyright|(?:next|prev)post|likes-other-gravatars?|(?:blog|site)-?(?:name|title|description|tagline)|detail-themes)(?![a-z])"
)
# What leads to other articles and what visitors wrote, however long it is beside a short text, and called articles.
OTHER_ARTICLES: Final = re.compile(
    r"(?<![a-z])(?:related-?(?:posts?|articles?|stories)|yarpp-related|similar-?(?:posts?|articles?|stories)"
    r"|interesting-?articles|recommended-?(?:posts?|articles?|stories)|read-?next|next-?read|more-?(?:articles|stories)"
    r"|(?:next|prev(?:ious)?)-?(?:posts?|story|article)-?(?:thumbnails)?)(?![a-z])"
)
BY_VISITORS: Final = re.compile(r"(?<![a-z])(?:comments-?(?:area|body|section)|(?:article|news)-comments)(?![a-z])")
SURELY_BY_VISITORS: Final = re.compile(r"(?<![a-z])(?:comments?-?list|comments?-(?:form|policy|rules))(?![a-z])")
# What WordPress calls the parts of a sidebar; a page builder lays out pages of them.
WIDGETS: Final = re.compile(
    r"(?:^|\s)widget-(?:archive|block|calendar|categories|custom-html|links|meta|nav-menu|pages|recent-\w+|rss|search"
    r"|tag-cloud|text)(?:\s|$)"
)
PAGE_BUILDER: Final = re.compile(r"\b(?:so-panel|elementor)")
OWN_FOOT: Final = re.compile(r"(?:article|entry|post)-?footer")
FOOTERS: Final = re.compile(
    r"(?:^|\s)(?:[a-z]{1,2}-)?(?:dark-|main-|page-|site-)?(?:pre)?footer"
    r"(?:-(?:area|block|bottom|container|content|inner|main|outer|top|widgets?|wrap))*(?:\s|$)"
)
SIDEBARS: Final = re.compile(r"(?:(?:left|main|primary|right|secondary|site)[-_]?)?(?:aside|sidebar)", re.IGNORECASE)
NEWS: Final = re.compile(r"(?<![a-z])(?:articles?|blog|excerpts?|news|posts?|press|stor(?:y|ies)|teasers?)(?![a-z])")
TEASER: Final = re.compile(r"(?<![a-z])teasers?(?![a-z])")
AUTHOR: Final = re.compile(
    r"(?<![a-z])(?:author-?(?:about|bio|box|card|description|info|profile)|(?:about-?|post-?|article-?|entry-?)author)"
    r"(?![a-z])"
)
VISITORS: Final = re.compile(
    r"comment[-_]?(?:author|meta|metadata|reply|date|list)|commentmetadata|avatar|reply|vcard|says"
)
COMMENTS: Final = re.compile(r"comments?|respond|disqus", re.IGNORECASE)
MARK_OF_SITE: Final = re.compile(
    r"\u00a9|\(c\)|copyright|all rights reserved|cookie|newsletter|subscribe", re.IGNORECASE
)


def called_names(element: Element) -> str:
    """Return classes and id of an element, in small letters with "-" between words: "site-footer" for siteFooter."""
    return _DASHES.sub("-", _WORDS_MEET.sub("-", f"{element.get('class')} {element.get('id')}")).lower()
