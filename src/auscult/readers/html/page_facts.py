"""What a page says of itself: title, publisher, address, language, date, authors."""

from __future__ import annotations

import re
from typing import Final

from auscult.readers.dates import iso_date
from auscult.readers.drafting import Facts
from auscult.readers.tree import Element

# The first that is there: what was changed last is what counts.
_DATES: Final = (
    "article:modified_time", "og:updated_time", "dcterms.modified", "dc.date.modified", "last-modified", "datemodified",
    "dcterms.date", "dc.date", "date", "article:published_time", "dcterms.issued", "dcterms.created",
    "citation_publication_date", "datepublished",
)  # fmt: skip
_AUTHORS: Final = ("author", "dc.creator", "dcterms.creator", "citation_author", "article:author")
_SITES: Final = ("og:site_name", "application-name", "dc.publisher", "dcterms.publisher")
_SEPARATOR: Final = re.compile(r"\s+(?:[|·»•–—-]|::)\s+")
_LONGEST_SITE = 6
_LONGEST_FACT: Final = 500


def facts_of(page: Element) -> Facts:
    """Read a page's head: its title without the site's name, the site, the canonical address, language, date, authors.

    Where the head has no date, the first `<time>` is it.
    """
    told: dict[str, list[str]] = {}
    for meta in page.all("meta"):
        name = (meta.get("property") or meta.get("name")).strip().lower()
        if name and (content := " ".join(meta.get("content").split())[:_LONGEST_FACT]):
            told.setdefault(name, []).append(content)
    source = next((told[name][0] for name in _SITES if name in told), "")
    titled = page.first("title")
    metadata: dict[str, str] = {}
    root = page.first("html")
    if language := (root.get("lang") or root.get("xml:lang")).strip() if root else "":
        metadata["language"] = language[:35]
    dates = [each for name in _DATES for each in told.get(name, ())] or [
        each.get("datetime") for each in page.all("time")
    ]
    if date := next(filter(None, map(iso_date, dates)), ""):
        metadata["date"] = date
    if authors := next((told[name] for name in _AUTHORS if name in told), []):
        metadata["author"] = "; ".join(dict.fromkeys(authors))
    title, site = without_site(titled.words() if titled else "", source)
    return Facts(
        title=title or told.get("og:title", [""])[0],
        source=source or site,
        url=_canonical(page) or told.get("og:url", [""])[0],
        metadata=metadata,
    )


def without_site(title: str, site: str) -> tuple[str, str]:
    """A page's title without the name of the site beside it, and that name; empty where there is none.

    "Gout - Symptoms - NHS" is "Gout - Symptoms" where the site is called so, or where its name is not known: up to six
    words at the end that begin with a capital are taken for it.
    """
    separators = list(_SEPARATOR.finditer(title))
    if not separators:
        return title, ""
    first, last = title[: separators[0].start()], title[separators[-1].end() :]
    named = site.casefold() == last.casefold() if site else len(last.split()) <= _LONGEST_SITE and last[:1].isupper()
    if named:
        return title[: separators[-1].start()], last
    if site and site.casefold() == first.casefold():
        return title[separators[0].end() :], first
    return title, ""


def _canonical(page: Element) -> str:
    for link in page.all("link"):
        if "canonical" in link.get("rel").lower().split() and link.get("href").startswith(("http://", "https://")):
            return link.get("href").strip()
    return ""


__all__ = ["facts_of", "without_site"]
