"""Reader of web pages: their text as people read it, each character with its position in the source.

Headings begin sections. Lists, definitions and tables keep their shape (`readers.tables`). Of a link only the label is
read; it is never followed. Navigation, banners, forms and hidden parts are removed (`readers.html.cleaning`). Title,
publisher, address, language, date and authors are read from the head of a page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.dates import iso_date
from auscult.readers.decoding import decode_text
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.equations import write_mathml
from auscult.readers.flow import Flow, has_words
from auscult.readers.html import standard as known
from auscult.readers.html.cleaning import Care, clean
from auscult.readers.html.hidden import PANEL
from auscult.readers.html.links import heads_links
from auscult.readers.html.parsing import parse_html
from auscult.readers.html.ruby import write_readings
from auscult.readers.html.stylesheet import apply_style_sheets
from auscult.readers.signs import is_sign_font, shown
from auscult.readers.tables import is_data
from auscult.readers.tree import Element, Piece, Role, descend, written
from auscult.readers.typesetting import Typesetter

# In order of preference: the date of the last change comes before that of publication.
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
    """Read the title (without the site's name), site, canonical address, language, date and authors of a page.

    If the head has no date, that of the first `<time>` element with a date is used.
    """
    properties: dict[str, list[str]] = {}
    for meta in page.all("meta"):
        name = (meta.get("property") or meta.get("name")).strip().lower()
        if name and (content := " ".join(meta.get("content").split())[:_LONGEST_FACT]):
            properties.setdefault(name, []).append(content)
    source = next((properties[name][0] for name in _SITES if name in properties), "")
    titled = page.first("title")
    metadata: dict[str, str] = {}
    root = page.first("html")
    if language := (root.get("lang") or root.get("xml:lang")).strip() if root else "":
        metadata["language"] = language[:35]
    dates = [value for name in _DATES for value in properties.get(name, ())] or [
        element.get("datetime") for element in page.all("time")
    ]
    if date := next(filter(None, map(iso_date, dates)), ""):
        metadata["date"] = date
    if authors := next((properties[name] for name in _AUTHORS if name in properties), []):
        metadata["author"] = "; ".join(dict.fromkeys(authors))
    canonical = next(
        (
            link.get("href").strip()
            for link in page.all("link")
            if "canonical" in link.get("rel").lower().split() and link.get("href").startswith(("http://", "https://"))
        ),
        "",
    )
    title, site = without_site(titled.words() if titled else "", source)
    return Facts(
        title=title or properties.get("og:title", [""])[0],
        source=source or site,
        url=canonical or properties.get("og:url", [""])[0],
        metadata=metadata,
    )


def without_site(title: str, site: str) -> tuple[str, str]:
    """Divide the title of a page into the title itself and the name of its site, "" if it has none.

    "Gout - Symptoms - NHS" becomes "Gout - Symptoms" and "NHS" if `site` is "NHS". If `site` is empty, up to six words
    at the end are taken as the site's name if they begin with a capital.
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
    **dict.fromkeys(("iframe", "svg", "text", "foreignobject"), Role.BLOCK),
}


_ENCLOSING: Final = frozenset({"aside", "details", "dl", "fieldset", "figure", "menu", "ol", "ul"})
_STRUCK: Final = frozenset({"del", "s", "strike"})
_STRUCK_CLASSES: Final = frozenset({"line-through", "strikethrough", "text-decoration-line-through"})
_FIELDS: Final = frozenset({"label", "output", "select", "textarea"})
_SCRIPT: Final = re.compile(r"vertical-align\s*:\s*(super|sub)\b", re.IGNORECASE)
_FONT: Final = re.compile(r"font-family\s*:\s*([^;,]+)", re.IGNORECASE)
_WEIGHT: Final = re.compile(r"font-weight\s*:\s*(\w+)", re.IGNORECASE)
_LONGEST_BOLD: Final = 100


class HtmlReader:
    """Reads HTML and XHTML: whole pages and parts of pages, valid or not."""

    name = "HTML"
    suffixes = (".html", ".htm", ".xhtml", ".xht")

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file begins as a page does, or has a suffix of pages and is no PDF, ZIP or RTF file."""
        head = file.head
        if _BEGINNING.match(head) or _XHTML.match(head):
            return True
        return file.suffix in self.suffixes and not head.startswith((b"%PDF", b"PK", b"{\\rtf"))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the page as one document.

        Raises:
            UnreadableError: The page has no words.
        """
        yield read_page(file.content)


def read_page(content: bytes, care: Care = Care.LINKS, linked: Callable[[str], str] = lambda _: "") -> DraftDocument:
    """Read a page, or a part of one.

    Args:
        content: Bytes of the page.
        care: Rules for what is left out. Narratives of health records use a lower value than web pages.
        linked: Returns the style sheet at an address that the page links to; "" if it is not at hand.

    Raises:
        UnreadableError: The page has no words.
    """
    source, encoding, remarks = decode_text(content, declared_encoding(content[:4096]))
    page = parse_html(source)
    facts = facts_of(page)
    write_mathml(page)
    if not apply_style_sheets(page, linked):
        remarks = (*remarks, "a part of the style sheet was not applied: hidden or struck out words may be in the text")
    write_looks(page)
    write_readings(page)
    clean(page, care)
    mark_bold_headings(page)
    flow = Flow()
    Typesetter(flow, role_of, level_of, encloses_headings).set(page)
    # With its list of links left out, a heading such as "Related conditions" has no text.
    without = heads_links if care >= Care.LINKS else None
    draft = draft_of(flow, facts, media_type="text/html", encoding=encoding, without=without, divided=care < Care.LINKS)
    return replace(draft, remarks=(*remarks, *draft.remarks))


def declared_encoding(head: bytes) -> str:
    """Return the encoding that the first bytes of a page declare; "" if they declare none."""
    if declared := _DECLARED.match(head.lstrip()):
        return declared[1].decode("ascii", "replace")
    for meta in parse_html(head.decode("latin-1")).all("meta"):
        if charset := meta.get("charset").strip():
            return charset
        if meta.get("http-equiv").lower() == "content-type" and (found := _CHARSET.search(meta.get("content"))):
            return found[1]
    return ""


def role_of(element: Element) -> Role:
    """Return the role of an element of HTML."""
    if element.tag in _STRUCK:
        return Role.STRUCK
    if element.attributes:
        classes = element.get("class").split()
        if "line-through" in element.get("style").lower() or not _STRUCK_CLASSES.isdisjoint(classes):
            return Role.STRUCK
    role = _ROLES.get(element.tag, Role.INLINE)
    return Role.HEADING if role is not Role.HEADING and element.get("role") == "heading" else role


def encloses_headings(element: Element) -> bool:
    """Whether the headings in an element are not those of the text after it, as in a panel that a reader opens."""
    return element.tag in _ENCLOSING or element.get("role") == "tabpanel" or PANEL in element.attributes


def write_looks(page: Element) -> None:
    """Put into the tree what styles show: signs of symbol fonts (ticked boxes), raised letters, gaps around fields."""
    last = ""
    waiting = [(child, page, place, "") for place, child in reversed([*enumerate(page.children)])]
    while waiting:
        node, parent, place, font = waiting.pop()
        if isinstance(node, Element):
            if node.tag in _FIELDS or (node.tag == "tspan" and {"x", "y"} & node.attributes.keys()):
                node.children = [written(" "), *node.children, written(" ")]
            if node.attributes:
                if script := _SCRIPT.search(node.get("style")):
                    node.tag = script[1].lower()[:3]
                named = _FONT.search(node.get("style"))
                font = node.get("face") or (named[1].strip("\"' ") if named else font)
            waiting += [(child, node, at, font) for at, child in reversed([*enumerate(node.children)])]
            continue
        if font and is_sign_font(font) and node.text.strip():
            parent.children[place] = written((" " if last[-1:].isspace() else "") + shown(font, node.text))
        last = node.text


def mark_bold_headings(page: Element) -> None:
    """Mark the bold lines of a page as headings if it has no headings besides its title."""
    nodes = [*descend(page, lambda node: not node.dropped)]
    elements = [node for node in nodes if isinstance(node, Element) and not node.dropped]
    headings = [
        element
        for element in elements
        if role_of(element) is Role.HEADING and has_words(element.beginning(_LONGEST_BOLD))
    ]
    if len(headings) > 1 or any(level_of(heading) > 1 for heading in headings):
        return
    cells = {
        id(block)
        for table in elements
        if table.tag == "table" and is_data(table, role_of)
        for block in table.all("p", "div")
    }
    for element in [page, *elements]:
        if element.tag not in ("", "p", "div", "center", "section", "body") or id(element) in cells:
            continue
        heavy = _is_bold(element, bold=False)
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


def _is_bold(element: Element, *, bold: bool) -> bool:
    """Whether the letters of an element are bold; `bold`: whether those of its parent are."""
    if weight := _WEIGHT.search(element.get("style")) if element.attributes else None:
        return weight[1].lower().startswith("bold") or weight[1][0] in "6789"
    return bold or element.tag in ("b", "strong")


def _is_bold_line(line: list[Element | Piece], heavy: bool) -> bool:
    """Whether a line is short, all of its words are bold, and it ends without ".", "," and ";".

    Args:
        line: Inline elements and pieces of text.
        heavy: Whether letters of their parent are bold.
    """
    words = ""
    waiting: list[tuple[Element | Piece, bool]] = [(child, heavy) for child in reversed(line)]
    while waiting:
        node, bold = waiting.pop()
        if isinstance(node, Piece):
            if has_words(node.text) and not bold:
                return False
            words += node.text
        elif role_of(node) is not Role.INLINE or node.tag in ("input", "img"):
            return False
        elif not node.dropped:
            inner = _is_bold(node, bold=bold)
            waiting += [(child, inner) for child in reversed(node.children)]
    words = words.strip()
    return has_words(words) and len(words) <= _LONGEST_BOLD and words[-1] not in ".,;"


def level_of(element: Element) -> int:
    """Return the level of a heading, from 1 to 6."""
    stated = element.get("aria-level")
    if stated in ("1", "2", "3", "4", "5", "6"):
        return int(stated)
    return int(element.tag[1]) if element.tag in known.HEADINGS else 2
