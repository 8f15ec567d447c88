"""The parts that elements play in a text, whatever they are called."""

from __future__ import annotations

from enum import Enum, auto


class Role(Enum):
    """The part that an element plays in a text.

    INLINE goes on with the line. ITEM and NUMBERED stand in lists, which are BLOCKs, on lines of their own behind a
    marker. A DEFINITION goes on behind its TERM. BREAK ends a line. VERBATIM keeps its white space. A TABLE becomes
    lines that can be read alone, or, where it only lays out a page, blocks. DROPPED is not read.
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


__all__ = ["Role"]
