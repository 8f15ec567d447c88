"""Tables of a PDF: which lines make one, its columns, and which of its lines are one row.

A row's cells may wrap over several lines. What says so, the surest first: ruling lines between rows, cells that are
drawn one after the other, smaller steps between the lines of a row than between rows, and lines that go on with words
for which the line above had no place. Where nothing says so, a line is a row.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from statistics import median
from typing import Final

from auscult.readers.pdf.words import Piece, Rule

# In sizes of the font.
_GAP: Final = 0.5
_ALIGNED: Final = 1.0
_WIDEST_STEP: Final = 1.8
_STEPS_APART: Final = 0.2
_LOOK_BACK: Final = 12
_ACROSS: Final = 0.8
_FEWEST_BANDS: Final = 3
_MOST_LINES_OF_BAND: Final = 4
_MOST_LINES_OF_CELL: Final = 8
_LONGEST_VALUE: Final = 2
# A phrase does not end with these: English, German, French, Spanish.
_UNFINISHED: Final = re.compile(
    r"(?:[-\u2010,(/&]|\b(?:and|or|to|of|the|an?|with|in|for|by|on|per|und|oder|bis|von|mit|et|ou|de|des|du|y|o))$",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[(<>≤≥±+–−-]*\d")
Line = Sequence[tuple[int, Piece]]
"""Pieces at one height, from left to right, each with its column."""
Row = list[list[Piece]]
"""A cell a column, from the left."""


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


def cells_of(rows: Sequence[list[Piece]], rules: Sequence[Rule] = ()) -> list[Row]:
    """Return a table's rows as cells.

    Args:
        rows: Its lines.
        rules: Level lines of its page.
    """
    # The row with most pieces says where columns begin.
    columns = [piece.left for piece in max(rows, key=len)]
    lines = [[(_column(columns, piece), piece) for piece in row] for row in rows]
    parted = _by_rule(lines, len(columns), rules)
    if parted:
        return parted
    drawn = _drawn_by_row(lines, len(columns))
    if drawn and _drawn_by_cell(lines):
        return drawn
    if stepped := _by_steps(lines, len(columns), by_line=bool(drawn)):
        return stepped
    return _by_words(drawn or _by_first_cell(lines, len(columns)), _right_edges(lines, len(columns)))


def _by_rule(placed: Sequence[Line], width: int, rules: Sequence[Rule]) -> list[Row]:
    """A row between two drawn lines; nothing where lines part groups of rows, or the header only."""
    pieces = [piece for row in placed for _, piece in row]
    left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    heights: dict[int, float] = {}
    for rule in set(rules):
        across = min(rule.right, right) - max(rule.left, left)
        heights[round(rule.height)] = heights.get(round(rule.height), 0.0) + max(across, 0.0)
    parting = sorted(height for height, across in heights.items() if across >= _ACROSS * (right - left))
    bands: dict[int, list[Line]] = {}
    for row in placed:
        middle = sum(piece.top + piece.bottom for _, piece in row) / (2 * len(row))
        bands.setdefault(bisect(parting, middle), []).append(row)
    if len(bands) < _FEWEST_BANDS or median(map(len, bands.values())) > _MOST_LINES_OF_BAND:
        return []
    edges = _right_edges(placed, width)
    found: list[Row] = []
    for band in bands.values():
        wrapped = len(band) <= _MOST_LINES_OF_CELL and all(_goes_on(*pair, edges) for pair in pairwise(band))
        for place, row in enumerate(band):
            if not place or not wrapped:
                found.append([[] for _ in range(width)])
            for column, piece in row:
                found[-1][column].append(piece)
    return found


def _right_edges(lines: Sequence[Line], width: int) -> list[float]:
    """Return how far each column reaches, in points."""
    edges = [0.0] * width
    for column, piece in chain.from_iterable(lines):
        edges[column] = max(edges[column], piece.right)
    return edges


def _goes_on(row: Line, below: Line, edges: Sequence[float]) -> bool:
    """Whether a line goes on with the cells above: in one a word had no place, and in none stand two numbers."""
    pairs = [(column, one, other) for column, one in row for at, other in below if at == column]
    if any(one.text[0].isdigit() and other.text[0].isdigit() for _, one, other in pairs):
        return False
    return any(has_no_place(one, other, edges[column]) for column, one, other in pairs)


def _column(columns: Sequence[float], piece: Piece) -> int:
    return min(range(len(columns)), key=lambda each: abs(columns[each] - piece.left))


def _drawn_by_row(placed: Sequence[Line], width: int) -> list[Row]:
    """Cells in the order in which they are drawn: a row begins where the column is none further right.

    Nothing where such rows would overlap on the page: the table was drawn in another order.
    """
    drawn = sorted((each for row in placed for each in row), key=lambda each: each[1].words[0].order)
    found: list[Row] = []
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


def _drawn_by_cell(lines: Sequence[Line]) -> bool:
    """Whether a cell's lines are drawn before the next cell to its right, which begins higher up."""
    drawn = sorted(chain.from_iterable(lines), key=lambda each: each[1].words[0].order)
    return any(
        one[0] < other[0] and other[1].bottom < one[1].bottom - _GAP * one[1].size for one, other in pairwise(drawn)
    )


def _by_steps(lines: Sequence[Line], width: int, *, by_line: bool) -> list[Row]:
    """Return rows of lines that stand nearer to each other than rows do; nothing where steps do not tell.

    Args:
        lines: Of the table.
        width: Its number of columns.
        by_line: Whether near lines that are no row are one each; else what has no first cell goes on.
    """
    steps = [_middle(below) - _middle(above) for above, below in pairwise(lines)]
    widest = _widest_inner_step(steps, median(piece.size for _, piece in chain.from_iterable(lines)))
    if widest is None:
        return []
    groups = [[lines[0]]]
    for step, line in zip(steps, lines[1:], strict=True):
        if step <= widest:
            groups[-1].append(line)
        else:
            groups.append([line])
    edges = _right_edges(lines, width)
    wrapped = [len(group) > 1 and _is_one_row(group, edges) for group in groups]
    # Groups of rows are parted by wider steps, too.
    if 2 * sum(len(group) > 1 for group in groups) > 3 * sum(wrapped):
        return []
    found: list[Row] = []
    for group, is_row in zip(groups, wrapped, strict=True):
        if is_row:
            found.append(_row([*chain.from_iterable(group)], width))
        else:
            found += [_row(line, width) for line in group] if by_line else _by_first_cell(group, width)
    return found


def _middle(line: Line) -> float:
    return median(map(_height, line))


def _height(placed: tuple[int, Piece]) -> float:
    """Return the middle of a piece, in points from the page's top."""
    return (placed[1].top + placed[1].bottom) / 2


def _widest_inner_step(steps: Sequence[float], size: float) -> float | None:
    """Return the widest step between lines of a row, in points; None where steps are not of two kinds."""
    ordered = sorted(steps)
    jumps = [
        (after - before, before)
        for before, after in pairwise(ordered)
        if before <= _WIDEST_STEP * size and after - before >= _STEPS_APART * size
    ]
    return max(jumps)[1] if jumps else None


def _is_one_row(group: Sequence[Line], edges: Sequence[float]) -> bool:
    """Whether each line of a group goes on with cells of the one above."""
    values = [column for line in group for column, piece in line if _is_value(piece)]
    if len(group) > _MOST_LINES_OF_CELL or len(values) > len(set(values)):
        return False
    if _overlap([*chain.from_iterable(group)]):
        return False
    filled = len({column for line in group for column, _ in line})
    # A table may be in small letters throughout.
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
    """Whether a line may go on with cells of the one above, to which it stands near."""
    pairs = _pairs(above, below)
    if any(map(_are_two_values, pairs)):
        return False
    wraps = {column: has_no_place(one, other, edges[column]) for column, one, other in pairs}
    begins_anew = not wraps.get(0, True) and not below[0][1].text[0].islower()
    return not begins_anew and (not wraps or any(wraps.values()))


def _by_first_cell(lines: Sequence[Line], width: int) -> list[Row]:
    """Return a row a line; one without a first cell goes on with the row above."""
    found = [_row(lines[0], width)]
    for line in lines[1:]:
        if line[0][0] > 0:
            _extend(found[-1], line)
        else:
            found.append(_row(line, width))
    return found


def _by_words(rows: Sequence[Row], edges: Sequence[float]) -> list[Row]:
    """Return rows, joined where the later one can only be read with the one above.

    Args:
        rows: From top to bottom.
        edges: How far each column reaches.
    """
    found = [*rows[:1]]
    for row in rows[1:]:
        line = [(column, piece) for column, cell in enumerate(row) for piece in cell]
        if _continues(found[-1], line, edges):
            _extend(found[-1], line)
        else:
            found.append(row)
    return found


def _continues(row: Row, line: Line, edges: Sequence[float]) -> bool:
    """Whether words go on with those of the row above, in the only way in which they can be read."""
    step = min(map(_height, line)) - max(_height((0, piece)) for cell in row for piece in cell)
    if step > _WIDEST_STEP * line[0][1].size or not all(row[column] for column, _ in line):
        return False
    pairs = [(column, row[column][-1], piece) for column, piece in line]
    whole = [(column, piece) for column, cell in enumerate(row) for piece in cell] + [*line]
    if any(map(_are_two_values, pairs)) or _overlap(whole):
        return False
    wraps = [has_no_place(one, other, edges[column]) for column, one, other in pairs]
    small = [piece.text[0].islower() for _, piece in line]
    if line[0][0] > 0:
        goes_on = (begins or _UNFINISHED.search(one.text) for begins, (_, one, _) in zip(small, pairs, strict=True))
        return any(wrap and words for wrap, words in zip(wraps, goes_on, strict=True))
    begins = row[0][0].text[0]
    return all(small) and 2 * sum(wraps) >= len(wraps) and (begins.isupper() or begins.isdigit())


def _pairs(above: Line, below: Line) -> list[tuple[int, Piece, Piece]]:
    """Return pieces of two lines that stand in one column, with the column."""
    return [(column, one, other) for column, one in above for at, other in below if at == column]


def _are_two_values(pair: tuple[int, Piece, Piece]) -> bool:
    """Whether a column's pieces of two lines are a number each."""
    _, one, other = pair
    return all(_NUMBER.match(piece.text) for piece in (one, other)) and not _UNFINISHED.search(one.text)


def _overlap(placed: Line) -> bool:
    """Whether pieces reach into a column to their right: a heading over columns, or a line stretched to its width."""
    return any(column < at and piece.right > other.left for column, piece in placed for at, other in placed)


def _is_value(piece: Piece) -> bool:
    """Whether a piece is a number, with a unit or a sign at most."""
    return len(piece.words) <= _LONGEST_VALUE and _NUMBER.match(piece.text) is not None


def _row(line: Line, width: int) -> Row:
    row: Row = [[] for _ in range(width)]
    _extend(row, line)
    return row


def _extend(row: Row, line: Line) -> None:
    for column, piece in line:
        row[column].append(piece)


def _leaves(above: Piece, piece: Piece) -> bool:
    """Whether a gap parts a line from the cell above it."""
    return piece.top - above.bottom > _GAP * piece.size


def has_no_place(before: Piece, line: Piece, right: float) -> bool:
    """Whether the next line's first word had no place on the line before, which may reach to `right`."""
    first = line.words[0]
    return before.right + 0.3 * before.size + first.right - first.left > right - 0.3 * before.size
