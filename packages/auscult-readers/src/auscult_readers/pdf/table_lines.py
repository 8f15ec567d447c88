"""Lines of a table in a PDF: pieces of text with their columns, and comparisons of two lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from statistics import median
from typing import Final

from auscult_readers.pdf.words import Piece

_LONGEST_VALUE: Final = 2
# Width of a blank, in sizes of the font. Lines may end so far before the edge of their column.
_BLANK: Final = 0.3
# A phrase does not end with these: English, German, French, Spanish.
_UNFINISHED: Final = re.compile(
    r"(?:[-\u2010,(/&]|\b(?:and|or|to|of|the|an?|with|in|for|by|on|per|und|oder|bis|von|mit|et|ou|de|des|du|y|o))$",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[(<>≤≥±+–−-]*\d")
Placed = tuple[int, Piece]
"""A piece with its column, from 0 at the left."""
Line = Sequence[Placed]
"""Pieces at one height, from left to right, each with its column."""
Row = list[list[Piece]]
"""One cell per column, from the left."""


def height(placed: Placed) -> float:
    """Return the middle of a piece, in points from the page's top."""
    return (placed[1].top + placed[1].bottom) / 2


def middle(line: Line) -> float:
    """Return the middle of a line, in points from the page's top."""
    return median(map(height, line))


def letter_size(lines: Sequence[Line]) -> float:
    """Return the usual size of letters, in points."""
    return median(piece.size for _, piece in chain.from_iterable(lines))


def right_edges(lines: Sequence[Line], width: int) -> list[float]:
    """Return the right edge of each of `width` columns, in points."""
    edges = [0.0] * width
    for column, piece in chain.from_iterable(lines):
        edges[column] = max(edges[column], piece.right)
    return edges


def row_of(line: Line, width: int) -> Row:
    """Return a row of `width` cells with the pieces of a line."""
    row: Row = [[] for _ in range(width)]
    extend(row, line)
    return row


def extend(row: Row, line: Line) -> None:
    """Append the pieces of a line to the cells of a row."""
    for column, piece in line:
        row[column].append(piece)


def pairs(above: Line, below: Line) -> list[tuple[int, Piece, Piece]]:
    """Return the column, the piece above and the piece below for each column that both lines have."""
    return [(column, one, other) for column, one in above for at, other in below if at == column]


def are_two_values(one: Piece, other: Piece) -> bool:
    """Whether two pieces of a column are two numbers, and not one that is wrapped."""
    return all(_NUMBER.match(piece.text) for piece in (one, other)) and is_finished(one)


def is_finished(piece: Piece) -> bool:
    """Whether a phrase may end with a piece: it ends with no word such as "and", and no comma or hyphen."""
    return not _UNFINISHED.search(piece.text)


def is_value(piece: Piece) -> bool:
    """Whether a piece is a number, perhaps with a sign or a unit."""
    return len(piece.words) <= _LONGEST_VALUE and _NUMBER.match(piece.text) is not None


def overlap(placed: Line) -> bool:
    """Whether a piece extends into a column to its right: a heading over columns, or a stretched line."""
    return any(column < at and piece.right > other.left for column, piece in placed for at, other in placed)


def has_no_place(before: Piece, line: Piece, right: float) -> bool:
    """Whether the first word of a line does not fit at the end of the line before, which may extend to `right`."""
    first = line.words[0]
    blank = _BLANK * before.size
    return before.right + blank + first.right - first.left > right - blank
