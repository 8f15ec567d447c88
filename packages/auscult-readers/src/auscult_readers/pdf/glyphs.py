"""Content of a PDF page: its characters and drawn lines, with their positions and looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

SLANTED: Final = 4
"""Value of `turn`, the number of quarter turns, for a slanted line."""


class Glyph(NamedTuple):
    """A character on a page; its box is in points from the upper left of the visible page.

    Attributes:
        size: Size of the font as drawn, in points.
        turn: Direction of its line in quarter turns clockwise: 0 for level, 1 for downwards; `SLANTED` otherwise.
        base: Distance of its base line from the top, if the line is level.
        in_field: Whether it is of a field of a form, or typed onto the page.
        span: On a slanted line: x and y of the points where the character begins and ends. None otherwise.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool
    turn: int
    base: float
    span: tuple[float, float, float, float] | None = None
    in_field: bool = False


class Rule(NamedTuple):
    """A horizontal line on a page. `thin` is False for an edge of a box."""

    left: float
    right: float
    height: float
    thin: bool


@dataclass(frozen=True, slots=True)
class PageContent:
    """The content of a page.

    Attributes:
        glyphs: Characters in drawing order. White space is " " without a box.
        images: Whether the page has pictures.
        drawings: Whether the page has drawings: paths, shadings or form objects.
        unmapped: Number of characters that the font does not map to letters.
        rules: Horizontal lines and edges of boxes.
        struck: Struck-out words; they are not in `glyphs`.
        unread: Number of comments and stamps whose text is not read, by kind.
    """

    width: float
    height: float
    glyphs: tuple[Glyph, ...]
    images: bool
    drawings: bool
    unmapped: int
    rules: tuple[Rule, ...]
    struck: str
    unread: Mapping[str, int]


SPACE: Final = Glyph(" ", 0, 0, 0, 0, 0, False, 0, 0)
MADE_BLANK: Final = SPACE._replace(bold=True)
"""A blank that PDFium inserts where letters are drawn apart or at another height."""


def is_within(glyph: Glyph, left: float, top: float, right: float, bottom: float) -> bool:
    """Return whether the middle of a character is in a box."""
    return left <= (glyph.left + glyph.right) / 2 <= right and top <= (glyph.top + glyph.bottom) / 2 <= bottom
