"""Rows of a table whose cells are vertically centred: a cell of one line is beside the middle of one of two or three.

The lines of such a row are closer together than the lines of one cell. Lines can be a row if all of its cells have the
same middle. Of all ways to divide the lines into such rows, the best one has the lowest cost: it cuts the fewest
phrases, joins the fewest separate ones, and leaves the fewest rows without a first cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Final

from auscult_readers.pdf.table_lines import (
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
"""Lines of a row, counting each height at which a piece is."""
# In steps between two lines of a cell.
_BETWEEN: Final = 0.8
_SAME_CELL: Final = 1.2
# In sizes of the letters.
_CENTRED: Final = 0.25
# Costs of a row: no first cell, a phrase that it cuts, two phrases that it joins, a first cell for several rows.
_WITHOUT_FIRST, _CUT, _JOINED, _SPANNED = 4, 2, 1, 1


def centred_rows(lines: Sequence[Line], width: int) -> list[Row]:
    """Return the rows of a table with centred cells; an empty list if its cells are not centred.

    A first cell beside the middle of several rows of values belongs to each of them, and is repeated.

    Args:
        lines: Lines of the table, from top to bottom.
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
    """Search for the best way to divide lines into rows."""

    def __init__(self, lines: Sequence[Line], width: int, step: float, near: Sequence[bool]) -> None:
        """Prepare the search.

        Args:
            lines: Lines of the table, from top to bottom.
            width: The number of columns.
            step: Distance between two lines of a cell, in points.
            near: For each pair of adjacent lines, whether they are closer than lines of a cell.
        """
        self._lines, self._width, self._step, self._near = lines, width, step, near
        self._size = letter_size(lines)
        self._edges = right_edges(lines, width)

    def best(self) -> list[Row]:
        """Return the rows of lowest cost; an empty list if the lines cannot be divided."""
        # By number of lines: the lowest cost of rows of that many lines, and where the last row begins.
        known: list[tuple[float, int] | None] = [(0.0, 0)]
        for end in range(1, len(self._lines) + 1):
            ways = [
                (before[0] + against, start)
                for start in range(max(0, end - _MOST_LINES), end)
                if (before := known[start]) is not None and (against := self._against(start, end)) is not None
            ]
            # Of two ways with equal cost, prefer the one with more rows.
            known.append(min(ways, key=lambda way: (way[0], -way[1]), default=None))
        rows: list[Row] = []
        end = len(self._lines)
        while end:
            last = known[end]
            if last is None:
                return []
            rows[:0] = self._rows(last[1], end)
            end = last[1]
        return rows

    def _against(self, start: int, end: int) -> float | None:
        """Return the cost of the lines from `start` to `end` as a row; None if they cannot be one."""
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
        """Return the number of a row's cells whose phrases go on below it.

        Args:
            cells: Cells of the row.
            end: One past its last line.
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
        """Whether a piece begins a new phrase below another of its column, which is finished and had space for more."""
        above, below = one[1], two[1]
        if above.bold != below.bold:
            return True
        if below.text[0].islower() or not is_finished(above):
            return False
        return not has_no_place(above, below, self._edges[one[0]])

    def _cells(self, start: int, end: int) -> list[list[Placed]]:
        """Return the pieces of the lines from `start` to `end` by column, without empty columns."""
        pieces = [*chain.from_iterable(self._lines[start:end])]
        cells = [[each for each in pieces if each[0] == column] for column in range(self._width)]
        return [cell for cell in cells if cell]

    def _is_spanned(self, start: int, end: int, cells: Sequence[Sequence[Placed]]) -> bool:
        """Whether lines are rows of values that share one first cell."""
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
