"""Trees of marked-up text: elements, their roles, and pieces of text with offsets in the source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from itertools import islice
from typing import Final, NamedTuple


class Role(Enum):
    """The role of an element in a text.

    INLINE continues the line. An ITEM is on a line of its own, with a marker. A DEFINITION follows its TERM on the same
    line. BREAK ends a line. VERBATIM keeps its white space. A TABLE becomes lines that can be read alone, or blocks if
    it is only for layout. DROPPED is not read. STRUCK is not read either, but its words are counted.
    """

    INLINE = auto()
    BLOCK = auto()
    LIST = auto()
    NUMBERED = auto()
    ITEM = auto()
    TERM = auto()
    DEFINITION = auto()
    BREAK = auto()
    VERBATIM = auto()
    TABLE = auto()
    HEADING = auto()
    DROPPED = auto()
    STRUCK = auto()


NOWHERE: Final = -1
NEVER_SHOWN: Final = "never shown"
"""Value of `Element.dropped` for scripts, window titles and the like, which no reader of a page sees."""


class Piece(NamedTuple):
    """Characters of a text, and their range in the decoded source.

    If the lengths are equal, so are the characters. Otherwise the piece cannot be divided (`&` for `&amp;`). A piece
    that is not in the source ("- " of a list item) starts at `NOWHERE`.
    """

    text: str
    start: int
    end: int


def written(text: str) -> Piece:
    """Return a piece that is not in the source."""
    return Piece(text, NOWHERE, NOWHERE)


class Element:
    """An element of a tree.

    Attributes:
        tag: Name without a namespace.
        attributes: Attributes that readers use, by name without namespace.
        children: Elements and pieces of text, in order.
        dropped: Reason for which it is left out of the text ("hidden"); "" if it is not left out.
    """

    __slots__ = ("attributes", "children", "dropped", "tag")

    def __init__(self, tag: str, attributes: dict[str, str] | None = None) -> None:
        self.tag = tag
        self.attributes = attributes or {}
        self.children: list[Element | Piece] = []
        self.dropped = ""

    def get(self, name: str) -> str:
        """Return an attribute; "" if there is none."""
        return self.attributes.get(name, "")

    @property
    def elements(self) -> list[Element]:
        """Children that are elements."""
        return [child for child in self.children if isinstance(child, Element)]

    def child(self, *path: str) -> Element | None:
        """Return the element at a path of tags, the first of each name; None if there is none."""
        found: Element | None = self
        for tag in path:
            found = next((each for each in found.elements if each.tag == tag), None) if found else None
        return found

    def all_children(self, *tags: str) -> Iterator[Element]:
        """Yield every child with one of these tags."""
        return (child for child in self.elements if child.tag in tags)

    def all(self, *tags: str) -> Iterator[Element]:
        """Yield every descendant with one of these tags, in order."""
        for node in descend(self):
            if isinstance(node, Element) and node.tag in tags:
                yield node

    def first(self, *tags: str) -> Element | None:
        """Return the first element of `all`; None if there is none."""
        return next(self.all(*tags), None)

    def words(self) -> str:
        """Return all text in it, with white space collapsed."""
        return " ".join("".join(node.text for node in descend(self) if isinstance(node, Piece)).split())

    def beginning(self, most: int) -> str:
        """Return the beginning of `words`: all of it, or more than `most` characters."""
        text = ""
        for node in islice(descend(self), most):
            text += node.text if isinstance(node, Piece) else ""
            if len(text) > 4 * most:
                break
        return " ".join(text.split())


def descend(root: Element, into: Callable[[Element], bool] = lambda _: True) -> Iterator[Element | Piece]:
    """Yield all descendants of an element in the order of the source, without a limit of depth.

    Args:
        root: The element, which is not yielded itself.
        into: Returns whether to yield the content of an element; the element itself is yielded in any case.
    """
    stack: list[Element | Piece] = root.children[::-1]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Element) and into(node):
            stack.extend(reversed(node.children))
