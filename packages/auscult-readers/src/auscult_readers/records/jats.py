"""Reader of articles in JATS, the format of PubMed Central: abstract and body by sections, without references.

Replies, corrections and other articles inside of an article (`sub-article`, `response`) are sections of it, as they say
what of it is wrong. Equations are written on one line. One that is only a picture is counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from auscult.readers.contract import DraftDocument
from auscult.readers.dates import iso_of
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.equations import write_mathml
from auscult.readers.flow import Flow, has_words
from auscult.readers.tree import Element, Piece, Role, descend, written
from auscult.readers.typesetting import Typesetter
from auscult_readers.tex import words_of_tex

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
        "annotation", "annotation-xml", "front-stub", "graphic", "inline-graphic", "media", "object-id", "ref-list",
        "response", "sub-article",
    ), Role.DROPPED),
    "break": Role.BREAK, "code": Role.VERBATIM, "preformat": Role.VERBATIM, "def": Role.DEFINITION, "term": Role.TERM,
    "list-item": Role.ITEM, "table": Role.TABLE, _TITLE: Role.HEADING,
}
# fmt: on
_NESTED: Final = ("ack", "app", "glossary", "notes", "sec")
_PARTS: Final = (*_NESTED, "abstract", "app-group", "back", "body", "floats-group", "trans-abstract")
_INNER: Final = ("sub-article", "response")
_FORMULAS: Final = ("disp-formula", "inline-formula")
_WITH_EQUATIONS: Final = (*_FORMULAS, "math", "tex-math")
_PICTURES: Final = ("graphic", "inline-graphic")


def read_jats(article: Element, encoding: str) -> DraftDocument:
    """Read one article.

    Args:
        article: The element `article`.
        encoding: Encoding of the file.

    Raises:
        UnreadableError: The article has no words.
    """
    flow = Flow()
    meta = article.child("front", "article-meta") or Element("article-meta")
    pictures = _write_formulas(article)
    if titled := meta.child("title-group", "article-title"):
        _typesetter(flow).heading(titled, 1)
    _write_article(flow, article, 1)
    draft = draft_of(flow, _facts(article, meta), media_type=MEDIA_TYPE, encoding=encoding)
    told = (f"formulas that are only pictures: {pictures:,}",) if pictures else ()
    return replace(draft, remarks=(*draft.remarks, *told))


def _typesetter(flow: Flow) -> Typesetter:
    return Typesetter(flow, _role_of, lambda title: int(title.get("level")))


def _write_article(flow: Flow, article: Element, depth: int) -> None:
    """Write the parts of an article, and the articles inside of it as its sections.

    Args:
        flow: Takes the words.
        article: The article.
        depth: Level of its title.
    """
    waiting = [(article, depth)]
    while waiting:
        parent, depth = waiting.pop()
        if parent is not article:
            _typesetter(flow).heading(_heading_of_inner(parent), depth)
        inner: list[tuple[Element, int]] = []
        front = parent.child("front", "article-meta") or parent.child("front-stub") or Element("front-stub")
        for part in [*front.elements, *parent.elements]:
            if part.tag in ("abstract", "trans-abstract"):
                _write_abstract(flow, part, depth + 1)
            elif part.tag in ("back", "body", "floats-group"):
                _prepare(part, depth)
                _typesetter(flow).set(part)
            elif part.tag in _INNER:
                inner.append((part, depth + 1))
            flow.block()
        waiting += reversed(inner)


def _write_abstract(flow: Flow, abstract: Element, level: int) -> None:
    if abstract.get("abstract-type") in ("graphical", "teaser", "toc"):
        return
    if abstract.child("title") is None:
        heading = Element(_TITLE)
        heading.children.append(written("Abstract"))
        _typesetter(flow).heading(heading, level)
    _prepare(abstract, level)
    _typesetter(flow).set(abstract)


def _heading_of_inner(inner: Element) -> Element:
    """Return the title of an article inside of another; without one, its type ("correction") or name."""
    for path in (("front-stub",), ("front", "article-meta")):
        titled = inner.child(*path, "title-group", "article-title")
        if titled is not None and titled.words():
            return titled
    heading = Element(_TITLE)
    kind = inner.get("article-type") or inner.get("response-type") or inner.tag
    heading.children.append(written(kind.replace("-", " ").capitalize()))
    return heading


def _write_formulas(article: Element) -> int:
    """Write the equations of an article as text. Return the number of those that are only pictures.

    If an equation has several forms, MathML is read before TeX.
    """
    write_mathml(article)
    if not any(isinstance(node, Element) and node.tag in _WITH_EQUATIONS for node in descend(article)):
        return 0
    pictures = 0
    for element in descend(article, lambda each: not _is_equation(each)):
        if isinstance(element, Element) and _is_equation(element):
            forms = [each for each in descend(element) if isinstance(each, Element)]
            if any(each.tag == "math" for each in forms):
                for form in forms:
                    form.children = [] if form.tag == "tex-math" else form.children
            elif any(each.tag in _PICTURES for each in forms) and not has_words(element.words()):
                pictures += 1
    before = ""
    for node in descend(article):
        if isinstance(node, Piece):
            before = node.text
        elif node.tag == "tex-math" and node.words():
            node.children = [_equation(node, before)]
    return pictures


def _is_equation(element: Element) -> bool:
    forms = element.tag == "alternatives" and {"math", "tex-math"} & {each.tag for each in element.elements}
    return element.tag in _FORMULAS or bool(forms)


def _equation(tex: Element, before: str) -> Piece:
    """Return an equation in TeX as a piece, with its place in the source from its first command on.

    Args:
        tex: The element with the equation.
        before: Words before it.
    """
    pieces = [node for node in descend(tex) if isinstance(node, Piece)]
    source = "".join(piece.text for piece in pieces)
    text = words_of_tex(source)
    first = next((piece for piece in pieces if "\\" in piece.text), None)
    if first is not None:
        start, end = first.start + first.text.index("\\"), pieces[-1].end
        # A piece of the length of its source has its characters.
        if len(text) != end - start:
            return Piece(text, start, end)
    return written(f" {text}" if before[-1:].isspace() else text)


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
