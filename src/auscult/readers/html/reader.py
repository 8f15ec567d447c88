"""Web pages: their text as people read it, every character with its place in the page's source.

Headings begin sections; lists, definitions and tables keep their shape (`readers.tables`); links are their labels and
are never followed; navigation, banners, forms and hidden parts are left out (`readers.html.cleaning`). What the head of
a page says of it becomes its facts: title, publisher, address, language, date, authors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.dates import iso_date
from auscult.readers.decoding import decoded
from auscult.readers.equations import write_mathml
from auscult.readers.flow import Facts, Flow, draft_of, has_words
from auscult.readers.html import standard as known
from auscult.readers.html.cleaning import Care, clean, heads_links
from auscult.readers.html.parsing import parse_html
from auscult.readers.signs import is_sign_font, shown
from auscult.readers.tables import is_data
from auscult.readers.tree import Element, Piece, Role, descend, written
from auscult.readers.typesetting import Typesetter

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


_BEGINNING: Final = re.compile(rb"\s*(?:<!--.*?-->\s*)*+<(?:!doctype\s+html|html|head|body|title|h1)\b", re.I | re.S)
_XHTML: Final = re.compile(rb"\s*<\?xml[^>]*>\s*(?:<!--.*?-->\s*)*+<(?:!doctype\s+html|html)\b", re.I | re.S)
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_DECLARED: Final = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([\w-]+)", re.IGNORECASE)
_ROLES: Final = {
    **dict.fromkeys(known.BLOCKS | known.ROW_GROUPS | known.CELLS | {"tr", "body", "legend"}, Role.BLOCK),
    **dict.fromkeys(known.HEADINGS, Role.HEADING),
    **dict.fromkeys(known.LISTS, Role.LIST),
    "ol": Role.NUMBERED,
    "li": Role.ITEM,
    "dt": Role.TERM,
    "dd": Role.DEFINITION,
    "br": Role.BREAK,
    "pre": Role.VERBATIM,
    "table": Role.TABLE,
}


_STRUCK: Final = frozenset({"del", "s", "strike"})
_STRUCK_CLASSES: Final = frozenset({"line-through", "strikethrough", "text-decoration-line-through"})
_FIELDS: Final = frozenset({"label", "output", "select", "textarea"})
_SUPER: Final = re.compile(r"vertical-align\s*:\s*super", re.IGNORECASE)
_FONT: Final = re.compile(r"font-family\s*:\s*([^;,]+)", re.IGNORECASE)
_WEIGHT: Final = re.compile(r"font-weight\s*:\s*(\w+)", re.IGNORECASE)
_LONGEST_BOLD: Final = 100


class HtmlReader:
    """Reads HTML and XHTML, whole pages and parts of them, however broken."""

    name = "HTML"
    suffixes = (".html", ".htm", ".xhtml", ".xht")

    def recognises(self, file: SourceFile) -> bool:
        """Whether it begins as a page does, or is called as one and begins with a tag."""
        head = file.head
        if _BEGINNING.match(head) or _XHTML.match(head):
            return True
        return file.suffix in self.suffixes and not head.startswith((b"%PDF", b"PK", b"{\\rtf"))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """The page.

        Raises:
            UnreadableError: It has no words.
        """
        yield read_page(file.content)


def read_page(content: bytes, care: Care = Care.LINKS) -> DraftDocument:
    """A page, or a part of one.

    Args:
        content: Its bytes.
        care: How much of what is not its text is left out: of the narrative of a record, what is not seen. The headings
            of a record are all that it has.

    Raises:
        UnreadableError: It has no words.
    """
    source, encoding = decoded(content, declared_encoding(content[:4096]))
    page = parse_html(source)
    facts = facts_of(page)
    if "<m" in source:
        write_mathml(page)
    write_looks(page)
    clean(page, care)
    mark_bold_headings(page)
    flow = Flow()
    Typesetter(flow, role_of, level_of).set(page)
    # Where lists of links are left out, "Related conditions" is left with nothing below it.
    without = heads_links if care >= Care.LINKS else None
    return draft_of(flow, facts, media_type="text/html", encoding=encoding, without=without, divided=care < Care.LINKS)


def declared_encoding(head: bytes) -> str:
    """What the first bytes of a page say its encoding is; empty where they say nothing."""
    if declared := _DECLARED.match(head.lstrip()):
        return declared[1].decode("ascii", "replace")
    for meta in parse_html(head.decode("latin-1")).all("meta"):
        if charset := meta.get("charset").strip():
            return charset
        if meta.get("http-equiv").lower() == "content-type" and (found := _CHARSET.search(meta.get("content"))):
            return found[1]
    return ""


def role_of(element: Element) -> Role:
    """The part that an element of HTML plays."""
    if element.tag in _STRUCK or (element.attributes and _is_struck(element)):
        return Role.STRUCK
    role = _ROLES.get(element.tag, Role.INLINE)
    return Role.HEADING if role is not Role.HEADING and element.get("role") == "heading" else role


def _is_struck(element: Element) -> bool:
    return "line-through" in element.get("style").lower() or not _STRUCK_CLASSES.isdisjoint(
        element.get("class").split()
    )


def write_looks(page: Element) -> None:
    """Write what styles show: the signs of fonts (boxes that are ticked or not), raised letters, fields apart."""
    last = ""
    waiting = [(child, page, place, "") for place, child in reversed([*enumerate(page.children)])]
    while waiting:
        node, parent, place, font = waiting.pop()
        if isinstance(node, Element):
            if node.tag in _FIELDS:
                node.children = [written(" "), *node.children, written(" ")]
            if node.attributes:
                if _SUPER.search(node.get("style")):
                    node.tag = "sup"
                named = _FONT.search(node.get("style"))
                font = node.get("face") or (named[1].strip("\"' ") if named else font)
            waiting += [(child, node, at, font) for at, child in reversed([*enumerate(node.children)])]
            continue
        if font and is_sign_font(font) and node.text.strip():
            parent.children[place] = written((" " if last[-1:].isspace() else "") + shown(font, node.text))
        last = node.text


def mark_bold_headings(page: Element) -> None:
    """Mark the bold lines of a page as headings, where it has no others but its title."""
    nodes = [*descend(page, lambda each: not each.dropped)]
    elements = [each for each in nodes if isinstance(each, Element) and not each.dropped]
    headings = [each for each in elements if role_of(each) is Role.HEADING and has_words(each.beginning(_LONGEST_BOLD))]
    if len(headings) > 1 or any(level_of(each) > 1 for each in headings):
        return
    cells = {
        id(each)
        for table in elements
        if table.tag == "table" and is_data(table, role_of)
        for each in table.all("p", "div")
    }
    for element in [page, *elements]:
        if element.tag not in ("", "p", "div", "center", "section", "body") or id(element) in cells:
            continue
        heavy = _weight(element, bold=False)
        children: list[Element | Piece] = []
        line: list[Element | Piece] = []
        for child in [*element.children, Element("br")]:
            if isinstance(child, Piece) or role_of(child) is Role.INLINE:
                line.append(child)
                continue
            if _is_bold_line(line, heavy):
                heading = Element("div", {"role": "heading", "aria-level": "2"})
                heading.children = line
                line = [heading]
            children += [*line, child]
            line = []
        element.children = children[:-1]


def _weight(element: Element, *, bold: bool) -> bool:
    """Whether letters of an element are bold, in one whose letters are or are not."""
    if told := _WEIGHT.search(element.get("style")) if element.attributes else None:
        return told[1].lower().startswith("bold") or told[1][0] in "6789"
    return bold or element.tag in ("b", "strong")


def _is_bold_line(line: list[Element | Piece], heavy: bool) -> bool:
    """Whether all words of a line are bold, and it is short and ends as headings do."""
    words = ""
    waiting: list[tuple[Element | Piece, bool]] = [(each, heavy) for each in reversed(line)]
    while waiting:
        node, bold = waiting.pop()
        if isinstance(node, Piece):
            if has_words(node.text) and not bold:
                return False
            words += node.text
        elif role_of(node) is not Role.INLINE or node.tag in ("input", "img"):
            return False
        elif not node.dropped:
            inner = _weight(node, bold=bold)
            waiting += [(each, inner) for each in reversed(node.children)]
    words = words.strip()
    return has_words(words) and len(words) <= _LONGEST_BOLD and words[-1] not in ".,;"


def level_of(element: Element) -> int:
    """The level of a heading."""
    told = element.get("aria-level")
    if told in ("1", "2", "3", "4", "5", "6"):
        return int(told)
    return int(element.tag[1]) if element.tag in known.HEADINGS else 2
