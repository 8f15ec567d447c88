"""Rows of a table whose cells are centred: a cell of one line stands beside the middle of one of two or three.

Lines of such a row lie between each other, nearer than lines of one cell do. Which lines are a row is told by where
its cells stand: each is as far from the row's top as from its bottom. Of all ways to part the lines into such rows the
one is taken that cuts fewest phrases, joins fewest that begin anew, and leaves fewest rows without a first cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Final

from auscult.readers.pdf.table_lines import (
    Line,
    Placed,
    Row,
    are_two_values,
    has_no_place,
    height,
    is_finished,
    letter_size,
    middle,
    right_edges,
    row_of,
)

_MOST_LINES: Final = 12
"""Of a row; lines at half steps are two."""
# Of the step between two lines of a cell.
_BETWEEN: Final = 0.8
_SAME_CELL: Final = 1.2
# Of the letters' size.
_CENTRED: Final = 0.25
# What counts against a row: that its first cell is missing, that it cuts a phrase, that it joins two.
_WITHOUT_FIRST, _CUT, _JOINED, _SPANNED = 4, 2, 1, 1


def centred_rows(lines: Sequence[Line], width: int) -> list[Row]:
    """Return the rows of a table; nothing where no line stands between those of a cell, or they cannot be so.

    A short cell that stands beside the middle of several rows of values belongs to each of them, and is repeated.

    Args:
        lines: From top to bottom.
        width: The number of columns.
    """
    columns = [[each for line in lines for each in line if each[0] == column] for column in range(width)]
    steps = [height(below) - height(above) for cells in columns for above, below in pairwise(cells)]
    step = min((each for each in steps if each > _BETWEEN * letter_size(lines)), default=0.0)
    near = [middle(below) - middle(above) < _BETWEEN * step for above, below in pairwise(lines)]
    if not any(near):
        return []
    rows = _Rows(lines, width, step, near)
    return rows.best()


class _Rows:
    """Ways to part lines into rows."""

    def __init__(self, lines: Sequence[Line], width: int, step: float, near: Sequence[bool]) -> None:
        """Take a table's lines.

        Args:
            lines: From top to bottom.
            width: The number of columns.
            step: Points between two lines of a cell.
            near: By pair of lines that follow each other, whether they are nearer than that.
        """
        self._lines, self._width, self._step, self._near = lines, width, step, near
        self._size = letter_size(lines)
        self._edges = right_edges(lines, width)

    def best(self) -> list[Row]:
        """Return the rows of the way that least speaks against; nothing where there is none."""
        # By number of lines: what speaks against the best rows of so many, and where the last of them begins.
        known: list[tuple[float, int] | None] = [(0.0, 0)]
        for end in range(1, len(self._lines) + 1):
            ways = [
                (before[0] + against, start)
                for start in range(max(0, end - _MOST_LINES), end)
                if (before := known[start]) is not None and (against := self._against(start, end)) is not None
            ]
            # Of two ways that are as good, the one with more rows.
            known.append(min(ways, key=lambda way: (way[0], -way[1]), default=None))
        found: list[Row] = []
        end = len(self._lines)
        while end:
            last = known[end]
            if last is None:
                return []
            found[:0] = self._rows(last[1], end)
            end = last[1]
        return found

    def _against(self, start: int, end: int) -> float | None:
        """Return what speaks against some lines as a row; None where they are none."""
        cuts = [place for place in (start - 1, end - 1) if 0 <= place < len(self._near)]
        if any(self._near[place] for place in cuts):
            return None
        cells = self._cells(start, end)
        centre = (middle(self._lines[start]) + middle(self._lines[end - 1])) / 2
        if any(abs(height(cell[0]) + height(cell[-1]) - 2 * centre) > 2 * _CENTRED * self._size for cell in cells):
            return None
        inner = [pair for cell in cells for pair in pairwise(cell)]
        if self._is_spanned(start, end, cells):
            return _SPANNED
        if any(height(two) - height(one) > _SAME_CELL * self._step for one, two in inner):
            return None
        if any(are_two_values(one[1], two[1]) for one, two in inner):
            return None
        without = _WITHOUT_FIRST * (cells[0][0][0] > 0)
        return without + _JOINED * sum(self._begins(*pair) for pair in inner) + _CUT * self._cut(cells, end)

    def _cut(self, cells: Sequence[Sequence[Placed]], end: int) -> int:
        """Return the number of phrases of a row's cells that go on below it.

        Args:
            cells: Of the row.
            end: Behind its last line.
        """
        below = {each[0]: each for line in reversed(self._lines[end : end + 2]) for each in line}
        ends = ((cell[-1], below[cell[-1][0]]) for cell in cells if cell[-1][0] in below)
        return sum(
            height(two) - height(one) <= _SAME_CELL * self._step
            and not are_two_values(one[1], two[1])
            and not self._begins(one, two)
            for one, two in ends
        )

    def _begins(self, one: Placed, two: Placed) -> bool:
        """Whether a piece begins anew below another of its column: that is finished, and there was place for more."""
        above, below = one[1], two[1]
        if above.bold != below.bold:
            return True
        if below.text[0].islower() or not is_finished(above):
            return False
        return not has_no_place(above, below, self._edges[one[0]])

    def _cells(self, start: int, end: int) -> list[list[Placed]]:
        """Return the pieces of some lines by column, from the left; of columns that have any."""
        pieces = [*chain.from_iterable(self._lines[start:end])]
        cells = [[each for each in pieces if each[0] == column] for column in range(self._width)]
        return [cell for cell in cells if cell]

    def _is_spanned(self, start: int, end: int, cells: Sequence[Sequence[Placed]]) -> bool:
        """Whether lines are rows of values beside a first cell that is one for all of them."""
        first, others = cells[0], cells[1:]
        if first[0][0] > 0 or not others or not _is_one_cell(first, _SAME_CELL * self._step):
            return False
        heights = [[height(each) for each in cell] for cell in others]
        tallest = max(heights, key=len)
        level = all(min(abs(at - each) for each in tallest) <= _CENTRED * self._size for at in chain(*heights))
        values = any(
            all(are_two_values(one[1], two[1]) for one, two in pairwise(cell)) for cell in others if len(cell) > 1
        )
        return level and values and len(tallest) > len(first)

    def _rows(self, start: int, end: int) -> list[Row]:
        lines, cells = self._lines[start:end], self._cells(start, end)
        if not self._is_spanned(start, end, cells):
            return [row_of([*chain.from_iterable(lines)], self._width)]
        rest = [[each for each in line if each[0] > 0] for line in lines]
        return [row_of([*cells[0], *line], self._width) for line in rest if line]


def _is_one_cell(cell: Sequence[Placed], step: float) -> bool:
    return all(height(two) - height(one) <= step for one, two in pairwise(cell))
