"""Reader of articles in JATS, the format of PubMed Central: abstract and body by sections, without references."""

from __future__ import annotations

from typing import Final

from auscult.readers.contract import DraftDocument
from auscult.readers.dates import iso_of
from auscult.readers.flow import Facts, Flow, draft_of
from auscult.readers.tree import Element, Piece, Role, descend, written
from auscult.readers.typesetting import Typesetter

MEDIA_TYPE: Final = "application/jats+xml"
_DATES: Final = ("epub", "pub", "ppub", "collection", "pmc-release", "")
_TITLE: Final = "section-title"
_MOST_AUTHORS: Final = 20
# fmt: off
_ROLES: Final = {
    **dict.fromkeys((
        "ack", "app", "array", "boxed-text", "caption", "def-item", "disp-formula", "disp-quote", "fig", "fn", "kwd",
        "label", "license-p", "p", "sec", "statement", "table-wrap", "table-wrap-foot", "td", "th", "title", "tr",
        "verse-group", "verse-line", "speech", "supplementary-material", "attrib",
    ), Role.BLOCK),
    **dict.fromkeys((
        "front-stub", "graphic", "inline-graphic", "media", "object-id", "ref-list", "response", "sub-article",
        "tex-math",
    ), Role.DROPPED),
    "break": Role.BREAK, "code": Role.VERBATIM, "preformat": Role.VERBATIM, "def": Role.DEFINITION, "term": Role.TERM,
    "list-item": Role.ITEM, "table": Role.TABLE, _TITLE: Role.HEADING,
}
# fmt: on
_NESTED: Final = ("ack", "app", "glossary", "notes", "sec")
_PARTS: Final = (*_NESTED, "abstract", "app-group", "back", "body", "floats-group")


def read_jats(article: Element, encoding: str) -> DraftDocument:
    """Read one article.

    Args:
        article: The element `article`.
        encoding: Encoding of the file.

    Raises:
        UnreadableError: The article has no words.
    """
    flow = Flow()
    typesetter = Typesetter(flow, _role_of, lambda title: int(title.get("level")))
    meta = article.child("front", "article-meta") or Element("article-meta")
    if titled := meta.child("title-group", "article-title"):
        typesetter.heading(titled, 1)
    for part in [*meta.elements, *article.elements]:
        if part.tag == "abstract" and part.get("abstract-type") not in ("graphical", "teaser", "toc"):
            if part.child("title") is None:
                heading = Element(_TITLE)
                heading.children.append(written("Abstract"))
                typesetter.heading(heading, 2)
            _prepare(part, depth=2)
            typesetter.set(part)
        elif part.tag in ("back", "body", "floats-group"):
            _prepare(part, depth=1)
            typesetter.set(part)
        flow.block()
    return draft_of(flow, _facts(article, meta), media_type=MEDIA_TYPE, encoding=encoding)


def _prepare(part: Element, depth: int) -> None:
    """Mark titles with the depth of their sections, and drop elements that are not part of the text."""
    stack = [(part, depth)]
    while stack:
        parent, depth = stack.pop()
        for element in parent.elements:
            inner = depth
            if parent.tag in _PARTS and element.tag == "title":
                element.tag = _TITLE
                element.attributes["level"] = str(depth)
            elif element.tag in _NESTED:
                inner = depth + 1
            elif element.tag == "label":
                element.dropped = "labels" if parent.tag in (*_PARTS, "list-item", "fn") else ""
            elif element.tag == "sup":
                element.dropped = "marks of references" if _is_citation(element) else ""
            stack.append((element, inner))


def _is_citation(sup: Element) -> bool:
    """Whether a superscript consists of numbers of references or notes."""
    cited = [each for each in sup.elements if each.tag == "xref" and each.get("ref-type") in ("bibr", "fn")]
    beside = "".join(child.text for child in sup.children if isinstance(child, Piece))
    return bool(cited) and len(cited) == len(sup.elements) and not any(map(str.isalpha, beside))


def _role_of(element: Element) -> Role:
    if element.tag == "strike":
        return Role.STRUCK
    if element.tag == "list":
        return Role.NUMBERED if element.get("list-type") == "order" else Role.LIST
    return _ROLES.get(element.tag, Role.INLINE)


def _facts(article: Element, meta: Element) -> Facts:
    ids = {each.get("pub-id-type"): each.words() for each in meta.elements if each.tag == "article-id"}
    pmcid = ids.get("pmcid") or ids.get("pmc", "")
    pmcid = f"PMC{pmcid}" if pmcid.isdecimal() else pmcid
    doi = ids.get("doi", "")
    journal = article.child("front", "journal-meta")
    named = journal.first("journal-title") if journal else None
    licence = meta.child("permissions", "license")
    metadata = {
        "pmcid": pmcid,
        "doi": doi,
        "pmid": ids.get("pmid", ""),
        "date": _date(meta),
        "author": _authors(meta),
        "language": article.get("lang"),
        "type": article.get("article-type"),
        "licence": (licence.get("href") or licence.words()[:300]) if licence else "",
        "keywords": "; ".join(kwd.words() for kwd in meta.all("kwd"))[:500],
    }
    url = f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/" if pmcid else f"https://doi.org/{doi}" if doi else ""
    titled = meta.child("title-group", "article-title")
    return Facts(
        title=titled.words() if titled else "",
        source=named.words() if named else "",
        url=url,
        metadata={name: value for name, value in metadata.items() if value},
    )


def _date(meta: Element) -> str:
    """Return the date of publication, preferably the electronic one."""
    dates = {each.get("pub-type") or each.get("date-type"): each for each in meta.elements if each.tag == "pub-date"}
    for kind in (*_DATES, *dates):
        if (date := dates.get(kind)) is not None:
            parts = [part.words() if (part := date.child(name)) else "" for name in ("year", "month", "day")]
            if found := iso_of(*parts):
                return found
    return ""


def _authors(meta: Element) -> str:
    names = []
    for contributor in meta.all("contrib"):
        if contributor.get("contrib-type") in ("author", ""):
            parts = [contributor.first("given-names"), contributor.first("surname")]
            names.append(" ".join(part.words() for part in parts if part))
    return "; ".join(list(filter(None, names))[:_MOST_AUTHORS])


def articles_in(root: Element) -> list[Element]:
    """Return the articles of a file: the root element, or those in a set."""
    if root.tag == "article":
        return [root]
    found = descend(root, lambda each: each.tag != "article")
    return [node for node in found if isinstance(node, Element) and node.tag == "article"]
