"""Tables of a PDF: the lines of each table, its columns, and which lines are one row.

The cells of a row may wrap over several lines. The evidence for this, the surest first: ruling lines between rows;
cells that are drawn one after the other; smaller steps within a row than between rows; lines whose first word did not
fit on the line above. Without evidence, each line is a row.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from statistics import fmean, median
from typing import Final

from auscult_readers.pdf.centred_rows import centred_rows
from auscult_readers.pdf.glyphs import Rule
from auscult_readers.pdf.table_lines import (
    Line,
    Row,
    are_two_values,
    extend,
    has_no_place,
    height,
    is_finished,
    is_value,
    letter_size,
    middle,
    overlap,
    pairs,
    right_edges,
    row_of,
)
from auscult_readers.pdf.words import Piece

# Distances are in sizes of the font.
# A larger gap in a column divides cells; a smaller one, lines of one cell.
_GAP: Final = 0.5
# A larger gap between two rows ends a table.
_FARTHEST_ROW: Final = 2.5
# Pieces of one column begin, end or are centred at most so far apart.
_ALIGNED: Final = 1.0
_WIDEST_STEP: Final = 1.8
_STEPS_APART: Final = 0.2
_LOOK_BACK: Final = 12
_ACROSS: Final = 0.8
_BETWEEN: Final = 0.8
"""In heights of a line: pieces whose middles are closer are not two lines of one cell."""
_FEWEST_BANDS: Final = 3
_MOST_LINES_OF_BAND: Final = 4
_MOST_LINES_OF_CELL: Final = 8


def stretches(rows: Sequence[list[Piece]]) -> Iterator[tuple[bool, list[list[Piece]]]]:
    """Divide rows into runs: yield True with the rows of a table, False with other rows."""
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
    """Return the index after the last row of a table that begins at row `at`; 0 if none begins there."""
    if len(rows[at]) < 2 and not (at + 1 < len(rows) and len(rows[at + 1]) > 1 and _is_beside(rows[at], rows[at + 1])):
        return 0
    end, full = at + 1, 1
    while end < len(rows):
        row, before = rows[end], rows[end - 1]
        gap = min(piece.top for piece in row) - max(piece.bottom for piece in before)
        above, below = rows[max(at, end - _LOOK_BACK) : end], rows[end + 1 : end + 2]
        if gap > _FARTHEST_ROW * row[0].size or not (_is_beside(row, before) or _in_columns(row, above, below)):
            break
        full += len(row) > 1
        end += 1
    while full >= 2 and len(rows[end - 1]) < 2:
        row, above = rows[end - 1], rows[max(at, end - _LOOK_BACK) : end - 1]
        if _is_beside(row, above[-1]) or _inner(row, above):
            break
        end -= 1
    return end if full >= 2 else 0


def _is_beside(row: Sequence[Piece], near: Sequence[Piece]) -> bool:
    """Whether a row is one piece beside others, half a line above or below them, as in a centred cell."""
    piece = row[0]
    return len(row) == 1 and all(
        abs(piece.top + piece.bottom - other.top - other.bottom) < 2 * _BETWEEN * (piece.bottom - piece.top)
        and (other.right <= piece.left or piece.right <= other.left)
        for other in near
    )


def _in_columns(row: Sequence[Piece], above: Sequence[list[Piece]], below: Sequence[list[Piece]]) -> bool:
    """Whether the pieces of a row, except one, align with columns of the rows above, and it is no line of prose.

    Args:
        row: The row.
        above: Rows above it.
        below: The row below it; empty for the last one.
    """
    if len(row) == 1 and not (_inner(row, above) or any(_is_beside(row, near) for near in below)):
        return False
    known = [piece for other in above for piece in other if len(other) > 1]
    fits = [any(_aligned(piece, other, row[0].size) for other in known) for piece in row]
    return sum(fits) >= max(1, len(row) - 1)


def _inner(row: Sequence[Piece], above: Sequence[list[Piece]]) -> bool:
    """Whether the only piece of a row continues a cell: it is no wider than the column."""
    piece = row[0]
    nearest = next((other for other in reversed(above) if len(other) > 1), [])
    crossed = sum(piece.left < neighbour.right and piece.right > neighbour.left for neighbour in nearest)
    # A line of prose or a heading after the table begins where the first column does.
    is_first = all(neighbour.left >= piece.left - piece.size for other in above for neighbour in other)
    known = nearest if is_first else [neighbour for other in above for neighbour in other]
    return crossed <= 1 and any(abs(piece.left - neighbour.left) <= piece.size for neighbour in known)


def _aligned(piece: Piece, other: Piece, size: float) -> bool:
    near = _ALIGNED * size
    middles = abs(piece.left + piece.right - other.left - other.right) / 2
    return abs(piece.left - other.left) <= near or abs(piece.right - other.right) <= near or middles <= near


def cells_of(rows: Sequence[list[Piece]], rules: Sequence[Rule] = ()) -> list[Row]:
    """Return a table's rows as cells.

    Args:
        rows: Lines of the table.
        rules: Horizontal lines drawn on its page.
    """
    # The columns begin where the pieces of the fullest row do.
    columns = [piece.left for piece in max(rows, key=len)]
    lines = [[(_nearest_column(columns, piece), piece) for piece in row] for row in rows]
    if centred := centred_rows(lines, len(columns)):
        return centred
    if parted := _by_rule(lines, len(columns), rules):
        return parted
    drawn = _drawn_by_row(lines, len(columns))
    if drawn and _drawn_by_cell(lines):
        return drawn
    if stepped := _by_steps(lines, len(columns), by_line=bool(drawn)):
        return stepped
    return _by_words(drawn or _by_first_cell(lines, len(columns)), right_edges(lines, len(columns)))


def _by_rule(placed: Sequence[Line], width: int, rules: Sequence[Rule]) -> list[Row]:
    """Return the rows between drawn lines; an empty list if those separate only groups of rows or the header."""
    pieces = [piece for row in placed for _, piece in row]
    left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    heights: dict[int, float] = {}
    for rule in set(rules):
        across = min(rule.right, right) - max(rule.left, left)
        heights[round(rule.height)] = heights.get(round(rule.height), 0.0) + max(across, 0.0)
    parting = sorted(height for height, across in heights.items() if across >= _ACROSS * (right - left))
    bands: dict[int, list[Line]] = {}
    for row in placed:
        bands.setdefault(bisect(parting, fmean(map(height, row))), []).append(row)
    if len(bands) < _FEWEST_BANDS or median(map(len, bands.values())) > _MOST_LINES_OF_BAND:
        return []
    edges = right_edges(placed, width)
    rows: list[Row] = []
    for band in bands.values():
        wrapped = len(band) <= _MOST_LINES_OF_CELL and all(_goes_on(*pair, edges) for pair in pairwise(band))
        for place, row in enumerate(band):
            if not place or not wrapped:
                rows.append([[] for _ in range(width)])
            for column, piece in row:
                rows[-1][column].append(piece)
    return rows


def _goes_on(row: Line, below: Line, edges: Sequence[float]) -> bool:
    """Whether a line continues the cells above: a word of one did not fit there, and no cell has two numbers."""
    shared = pairs(row, below)
    if any(one.text[0].isdigit() and other.text[0].isdigit() for _, one, other in shared):
        return False
    return any(has_no_place(one, other, edges[column]) for column, one, other in shared)


def _drawn_by_row(placed: Sequence[Line], width: int) -> list[Row]:
    """Return the rows that the order of drawing suggests: a new row begins when the column does not advance.

    The list is empty if such rows overlap on the page; the table was then drawn in another order.
    """
    drawn = sorted((each for row in placed for each in row), key=lambda each: each[1].words[0].order)
    rows: list[Row] = []
    before = width
    for column, piece in drawn:
        cell = rows[-1][column] if rows else []
        below = not cell or piece.top >= cell[-1].bottom - _GAP * piece.size
        is_apart = bool(cell) and piece.top - cell[-1].bottom > _GAP * piece.size
        if column < before or not below or (column == before and is_apart):
            rows.append([[] for _ in range(width)])
        rows[-1][column].append(piece)
        before = column
    tops = [min(piece.top + piece.size / 2 for cell in row for piece in cell) for row in rows]
    bottoms = [max(piece.bottom - piece.size / 2 for cell in row for piece in cell) for row in rows]
    return rows if all(bottom <= top for bottom, top in zip(bottoms, tops[1:], strict=False)) else []


def _nearest_column(columns: Sequence[float], piece: Piece) -> int:
    return min(range(len(columns)), key=lambda each: abs(columns[each] - piece.left))


def _drawn_by_cell(lines: Sequence[Line]) -> bool:
    """Whether all lines of a cell are drawn before the cell to its right, which begins higher."""
    drawn = sorted(chain.from_iterable(lines), key=lambda each: each[1].words[0].order)
    return any(
        one[0] < other[0] and other[1].bottom < one[1].bottom - _GAP * one[1].size for one, other in pairwise(drawn)
    )


def _by_steps(lines: Sequence[Line], width: int, *, by_line: bool) -> list[Row]:
    """Return rows of lines that are closer together than rows are; an empty list if the steps are no evidence.

    Args:
        lines: Lines of the table.
        width: The number of columns.
        by_line: Whether close lines that are no row become one row each. Otherwise a line without a first cell
            continues the row above.
    """
    steps = [middle(below) - middle(above) for above, below in pairwise(lines)]
    widest = _widest_inner_step(steps, letter_size(lines))
    if widest is None:
        return []
    groups = [[lines[0]]]
    for step, line in zip(steps, lines[1:], strict=True):
        if step <= widest:
            groups[-1].append(line)
        else:
            groups.append([line])
    edges = right_edges(lines, width)
    wrapped = [len(group) > 1 and _is_one_row(group, edges) for group in groups]
    # Wider steps also separate groups of rows.
    if 2 * sum(len(group) > 1 for group in groups) > 3 * sum(wrapped):
        return []
    rows: list[Row] = []
    for group, is_row in zip(groups, wrapped, strict=True):
        if is_row:
            rows.append(row_of([*chain.from_iterable(group)], width))
        else:
            rows += [row_of(line, width) for line in group] if by_line else _by_first_cell(group, width)
    return rows


def _widest_inner_step(steps: Sequence[float], size: float) -> float | None:
    """Return the widest step between lines of a row, in points; None if the steps are not of two sizes."""
    ordered = sorted(steps)
    jumps = [
        (after - before, before)
        for before, after in pairwise(ordered)
        if before <= _WIDEST_STEP * size and after - before >= _STEPS_APART * size
    ]
    return max(jumps)[1] if jumps else None


def _is_one_row(group: Sequence[Line], edges: Sequence[float]) -> bool:
    """Whether each line of a group continues cells of the line above."""
    values = [column for line in group for column, piece in line if is_value(piece)]
    if len(group) > _MOST_LINES_OF_CELL or len(values) > len(set(values)):
        return False
    if overlap([*chain.from_iterable(group)]):
        return False
    filled = len({column for line in group for column, _ in line})
    # Small letters are no evidence in a table that has only small letters.
    capital = not group[0][0][1].text[0].islower()
    return all(
        (min(len(above), len(below)) < filled or (capital and _begins_small(below)))
        and _goes_on_near(above, below, edges)
        for above, below in pairwise(group)
    )


def _begins_small(line: Line) -> bool:
    """Whether most pieces of a line begin with a small letter."""
    return 2 * sum(piece.text[0].islower() for _, piece in line) >= len(line)


def _goes_on_near(above: Line, below: Line, edges: Sequence[float]) -> bool:
    """Whether a line may continue cells of the line above, to which it is close."""
    shared = pairs(above, below)
    if any(are_two_values(one, other) for _, one, other in shared):
        return False
    wraps = {column: has_no_place(one, other, edges[column]) for column, one, other in shared}
    begins_anew = not wraps.get(0, True) and not below[0][1].text[0].islower()
    return not begins_anew and (not wraps or any(wraps.values()))


def _by_first_cell(lines: Sequence[Line], width: int) -> list[Row]:
    """Return one row per line. A line without a first cell continues the row above."""
    rows = [row_of(lines[0], width)]
    for line in lines[1:]:
        if line[0][0] > 0:
            extend(rows[-1], line)
        else:
            rows.append(row_of(line, width))
    return rows


def _by_words(rows: Sequence[Row], edges: Sequence[float]) -> list[Row]:
    """Join rows with the row above if their words can only be its continuation.

    Args:
        rows: From top to bottom.
        edges: Right edge of each column, in points.
    """
    joined = [*rows[:1]]
    for row in rows[1:]:
        line = [(column, piece) for column, cell in enumerate(row) for piece in cell]
        if _continues(joined[-1], line, edges):
            extend(joined[-1], line)
        else:
            joined.append(row)
    return joined


def _continues(row: Row, line: Line, edges: Sequence[float]) -> bool:
    """Whether the words of a line can only be a continuation of the row above."""
    step = min(map(height, line)) - max(height((0, piece)) for cell in row for piece in cell)
    if step > _WIDEST_STEP * line[0][1].size or not all(row[column] for column, _ in line):
        return False
    ends = [(row[column][-1], piece) for column, piece in line]
    whole = [(column, piece) for column, cell in enumerate(row) for piece in cell] + [*line]
    if any(are_two_values(one, other) for one, other in ends) or overlap(whole):
        return False
    wraps = [has_no_place(one, other, edges[column]) for (column, _), (one, other) in zip(line, ends, strict=True)]
    small = [piece.text[0].islower() for _, piece in line]
    if line[0][0] > 0:
        goes_on = (begins or not is_finished(one) for begins, (one, _) in zip(small, ends, strict=True))
        return any(wrap and words for wrap, words in zip(wraps, goes_on, strict=True))
    begins = row[0][0].text[0]
    return all(small) and 2 * sum(wraps) >= len(wraps) and (begins.isupper() or begins.isdigit())
