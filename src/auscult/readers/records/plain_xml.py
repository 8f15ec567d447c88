"""XML of an unknown vocabulary: an element with words is a block, and one that is called as headings are, a heading."""

from __future__ import annotations

from typing import Final

from auscult.readers.contract import DraftDocument
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.flow import Flow
from auscult.readers.roles import Role
from auscult.readers.tree import Element, Piece
from auscult.readers.typesetting import Typesetter

MEDIA_TYPE: Final = "application/xml"
_HEADINGS: Final = frozenset({"title", "head", "heading", "name"})


def read_plain(root: Element, encoding: str) -> DraftDocument:
    """One document. Elements among words go on with the line; attributes are not read.

    Args:
        root: The root element.
        encoding: That the file was decoded by.

    Raises:
        UnreadableError: It has no words.
    """
    flow = Flow()
    top = Element("")
    top.children.append(root)
    _prepare(root)
    Typesetter(flow, _role_of, lambda element: int(element.get("level"))).set(top)
    return draft_of(flow, Facts(), media_type=MEDIA_TYPE, encoding=encoding)


def _prepare(root: Element) -> None:
    """Give each element its part and each heading the depth that it stands in."""
    stack = [(root, 0, False)]
    while stack:
        element, depth, among_words = stack.pop()
        leaf = not element.elements
        mixed = any(isinstance(child, Piece) and child.text.strip() for child in element.children)
        if among_words:
            part = "inline"
        elif element.tag.lower() in _HEADINGS and (leaf or mixed):
            part = "heading"
        else:
            part = "block"
        element.attributes = {"part": part, "level": str(min(depth, 99))}
        stack.extend((child, depth + 1, among_words or mixed) for child in element.elements)


def _role_of(element: Element) -> Role:
    return {"inline": Role.INLINE, "heading": Role.HEADING}.get(element.get("part"), Role.BLOCK)


__all__ = ["MEDIA_TYPE", "read_plain"]
