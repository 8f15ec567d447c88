"""Tables of a PDF: rows of pieces that stand in columns, and the cells that they are of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from auscult.readers.pdf.words import Piece, Word, piece_of

_MARKER: Final = re.compile(r"(?:[-*•‣◦▪●○·–—□■➢✓→]|\(?\d{1,2}[.)]|\(?[a-z][.)]|\([ivx]{1,4}\))$")
_NUMBERED: Final = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}\.?|(?:[A-Z]|[IVX]{1,4})[.)]?|\[[^\[\]]+\]")
# In sizes of the font.
_GAP: Final = 0.5
_ALIGNED: Final = 1.0
_ALIKE: Final = 0.2
_LOOK_BACK: Final = 12


def without_markers_apart(row: list[Piece]) -> list[Piece]:
    """A row whose list marker or section number is no cell of its own, though a wide gap follows it."""
    while len(row) > 1 and len(row[0].words) == 1 and _heads(row[0].words[0]):
        row = [piece_of((*row[0].words, *row[1].words)), *row[2:]]
    return [piece_of(word for piece in row for word in piece.words)] if _stretched(row) else row


def _stretched(row: Sequence[Piece]) -> bool:
    """Whether gaps are wide, and all alike, because a line was stretched to its column's width."""
    if len(row) < 3 or any(len(piece.words) > 1 for piece in row[1:]):
        return False
    gaps = [after.left - before.right for before, after in pairwise(row)]
    return max(gaps) - min(gaps) <= _ALIKE * row[0].size and max(gaps) <= 3 * row[0].size


def marks(word: Word) -> bool:
    """Whether a word is the marker of a list's item: "•", "2.", "b)"."""
    return _MARKER.match(word.text) is not None


def _heads(word: Word) -> bool:
    """Whether a word stands before what it marks or numbers: "•", "2.1", "A."; a number alone only in bold."""
    sign = len(word.text) == 1 and not word.text.isalnum() and word.text not in "-–—"
    numbered = _NUMBERED.fullmatch(word.text) is not None
    return sign or marks(word) or (numbered and (word.bold or word.text[-1] in ".)]"))


def stretches(rows: Sequence[list[Piece]]) -> Iterator[tuple[bool, list[list[Piece]]]]:
    """Rows in turn, in stretches that are a table and that are not."""
    at = 0
    plain: list[list[Piece]] = []
    while at < len(rows):
        end = _table_end(rows, at)
        if end:
            if plain:
                yield False, plain
                plain = []
            yield True, [*rows[at:end]]
            at = end
        else:
            plain.append(rows[at])
            at += 1
    if plain:
        yield False, plain


def _table_end(rows: Sequence[list[Piece]], at: int) -> int:
    """Where a table that begins at a row ends; 0 where none begins."""
    if len(rows[at]) < 2:
        return 0
    end, full = at + 1, 1
    while end < len(rows):
        row, before = rows[end], rows[end - 1]
        size = row[0].size
        gap = min(piece.top for piece in row) - max(piece.bottom for piece in before)
        if gap > 2.5 * size or not _in_columns(row, rows[max(at, end - _LOOK_BACK) : end], size):
            break
        full += len(row) > 1
        end += 1
    while len(rows[end - 1]) < 2 and not _inner(rows[end - 1], rows[max(at, end - _LOOK_BACK) : end - 1]):
        end -= 1
    return end if full >= 2 else 0


def _in_columns(row: Sequence[Piece], above: Sequence[list[Piece]], size: float) -> bool:
    """Whether each piece of a row stands in a column of those above, and the row is no line of prose."""
    if len(row) == 1 and not _inner(row, above):
        return False
    known = [piece for other in above for piece in other if len(other) > 1]
    fits = [any(_aligned(piece, other, size) for other in known) for piece in row]
    return sum(fits) >= max(1, len(row) - 1)


def _inner(row: Sequence[Piece], above: Sequence[list[Piece]]) -> bool:
    """Whether a row's one piece goes on within a cell: it is no wider than its column."""
    piece = row[0]
    for other in reversed(above):
        if len(other) > 1:
            crossed = sum(piece.left < each.right and piece.right > each.left for each in other)
            return crossed <= 1 and any(abs(piece.left - each.left) <= piece.size for each in other)
    return False


def _aligned(piece: Piece, other: Piece, size: float) -> bool:
    near = _ALIGNED * size
    middles = abs(piece.left + piece.right - other.left - other.right) / 2
    return abs(piece.left - other.left) <= near or abs(piece.right - other.right) <= near or middles <= near


def cells_of(rows: Sequence[list[Piece]]) -> list[list[list[Piece]]]:
    """A table's rows as cells."""
    # The row with most pieces says where columns begin.
    columns = [piece.left for piece in max(rows, key=len)]
    placed = [[(_column(columns, piece), piece) for piece in row] for row in rows]
    return _drawn_by_row(placed, len(columns)) or _by_line(placed, len(columns))


def _column(columns: Sequence[float], piece: Piece) -> int:
    return min(range(len(columns)), key=lambda each: abs(columns[each] - piece.left))


Placed = Sequence[Sequence[tuple[int, Piece]]]


def _drawn_by_row(placed: Placed, width: int) -> list[list[list[Piece]]]:
    """Cells in the order in which they are drawn: a row begins where the column is none further right.

    Nothing where such rows would overlap on the page: the table was drawn in another order.
    """
    drawn = sorted((each for row in placed for each in row), key=lambda each: each[1].words[0].order)
    found: list[list[list[Piece]]] = []
    before = width
    for column, piece in drawn:
        cell = found[-1][column] if found else []
        below = not cell or piece.top >= cell[-1].bottom - _GAP * piece.size
        if column < before or not below or (column == before and cell and _leaves(cell[-1], piece)):
            found.append([[] for _ in range(width)])
        found[-1][column].append(piece)
        before = column
    tops = [min(piece.top + piece.size / 2 for cell in row for piece in cell) for row in found]
    bottoms = [max(piece.bottom - piece.size / 2 for cell in row for piece in cell) for row in found]
    return found if all(bottom <= top for bottom, top in zip(bottoms, tops[1:], strict=False)) else []


def _leaves(above: Piece, piece: Piece) -> bool:
    """Whether a gap parts a line from the cell above it."""
    return piece.top - above.bottom > _GAP * piece.size


def _by_line(placed: Placed, width: int) -> list[list[list[Piece]]]:
    """A row a line; one without a first cell goes on with the row above."""
    found: list[list[list[Piece]]] = []
    for row in placed:
        if not found or not all(column for column, _ in row):
            found.append([[] for _ in range(width)])
        for column, piece in row:
            found[-1][column].append(piece)
    return found
