"""Marked-up text as a tree: elements, the parts they play, and text that knows where in the source it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from itertools import islice
from typing import Final, NamedTuple


class Role(Enum):
    """The part that an element plays in a text.

    INLINE goes on with the line. ITEM and NUMBERED stand in lists, which are BLOCKs, on lines of their own behind a
    marker. A DEFINITION goes on behind its TERM. BREAK ends a line. VERBATIM keeps its white space. A TABLE becomes
    lines that can be read alone, or, where it only lays out a page, blocks. DROPPED is not read. STRUCK is not
    read either, and its words are counted.
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
"""Why scripts, titles of windows and the like are left out, which nobody takes for text."""


class Piece(NamedTuple):
    """Characters of a text, and the range of the decoded source that they are.

    Where the lengths are equal, so are the characters; else the piece is whole (`&` for `&amp;`). A piece that stands
    in no source ("- " of a list item) starts at `NOWHERE`.
    """

    text: str
    start: int
    end: int


def written(text: str) -> Piece:
    """A piece of ours, which stands in no source."""
    return Piece(text, NOWHERE, NOWHERE)


class Element:
    """An element of a tree.

    Attributes:
        tag: Its name, without a namespace.
        attributes: Those that readers look at, by name without namespace.
        children: In order.
        dropped: Why it is left out of the text ("hidden"); empty where it is not.
    """

    __slots__ = ("attributes", "children", "dropped", "tag")

    def __init__(self, tag: str, attributes: dict[str, str] | None = None) -> None:
        self.tag = tag
        self.attributes = attributes or {}
        self.children: list[Element | Piece] = []
        self.dropped = ""

    def get(self, name: str) -> str:
        """An attribute; empty where there is none."""
        return self.attributes.get(name, "")

    @property
    def elements(self) -> list[Element]:
        """Its children that are elements."""
        return [child for child in self.children if isinstance(child, Element)]

    def child(self, *path: str) -> Element | None:
        """What a path of tags leads to, always the first of its name; None where it leads nowhere."""
        found: Element | None = self
        for tag in path:
            found = next((each for each in found.elements if each.tag == tag), None) if found else None
        return found

    def all(self, *tags: str) -> Iterator[Element]:
        """Every element of these names below it, in order."""
        for node in descend(self):
            if isinstance(node, Element) and node.tag in tags:
                yield node

    def first(self, *tags: str) -> Element | None:
        """The first of `all`."""
        return next(self.all(*tags), None)

    def words(self) -> str:
        """All text below it, white space one blank."""
        return " ".join("".join(node.text for node in descend(self) if isinstance(node, Piece)).split())

    def beginning(self, most: int) -> str:
        """The beginning of `words`: all of it, or more characters than that."""
        text = ""
        for node in islice(descend(self), most):
            text += node.text if isinstance(node, Piece) else ""
            if len(text) > 4 * most:
                break
        return " ".join(text.split())

    def words_apart(self) -> str:
        """The text of its children with blanks between them, as of the parts of a name; its own where it has none."""
        return " ".join(filter(None, (child.words() for child in self.elements))) or self.words()


def descend(root: Element, into: Callable[[Element], bool] = lambda _: True) -> Iterator[Element | Piece]:
    """All below an element in the order of the source, however deep.

    Args:
        root: Is not handed out itself.
        into: Whether to go into an element, which is handed out either way.
    """
    stack: list[Element | Piece] = root.children[::-1]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Element) and into(node):
            stack.extend(reversed(node.children))
