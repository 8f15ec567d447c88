"""Web pages: their text as people read it, every character with its place in the page's source.

Headings begin sections; lists, definitions and tables keep their shape (`readers.tables`); links are their labels and
are never followed; navigation, banners, forms and hidden parts are left out (`readers.html.cleaning`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.decoding import decoded
from auscult.readers.drafting import draft_of
from auscult.readers.flow import Flow
from auscult.readers.html import elements as known
from auscult.readers.html.cleaning import Care, clean
from auscult.readers.html.page_facts import facts_of
from auscult.readers.html.parsing import parse_html
from auscult.readers.roles import Role
from auscult.readers.tree import Element
from auscult.readers.typesetting import Typesetter

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
        care: How much of what is not its text is left out: of the narrative of a record, what is not seen.

    Raises:
        UnreadableError: It has no words.
    """
    source, encoding = decoded(content, declared_encoding(content[:4096]))
    page = parse_html(source)
    facts = facts_of(page)
    clean(page, care)
    flow = Flow()
    Typesetter(flow, role_of, level_of).set(page)
    return draft_of(flow, facts, media_type="text/html", encoding=encoding)


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
    role = _ROLES.get(element.tag, Role.INLINE)
    return Role.HEADING if role is not Role.HEADING and element.get("role") == "heading" else role


def level_of(element: Element) -> int:
    """The level of a heading."""
    told = element.get("aria-level")
    if told in ("1", "2", "3", "4", "5", "6"):
        return int(told)
    return int(element.tag[1]) if element.tag in known.HEADINGS else 2


__all__ = ["HtmlReader", "declared_encoding", "level_of", "role_of"]
