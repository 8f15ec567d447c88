"""Paragraphs, list items and tables of a PDF, rebuilt from where lines and pieces of lines stand."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from statistics import median
from typing import Final

from auscult.readers.pdf.words import Piece, Rule, Word, piece_of, rows_of, usual_size

_MARKER: Final = re.compile(r"(?:[-*•‣◦▪●○·–—□■☐☑☒➢✓→]|\(?\d{1,2}[.)]|\(?[a-z][.)]|\([ivx]{1,4}\))$")
_NUMBERED: Final = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}\.?|(?:[A-Z]|[IVX]{1,4})[.)]?|\[[^\[\]]+\]")
# In sizes of the font.
_GAP: Final = 0.5
_ALIGNED: Final = 1.0
_ALIKE: Final = 0.2
_LOOK_BACK: Final = 12
_ACROSS: Final = 0.8
_FEWEST_BANDS: Final = 3
_MOST_LINES_OF_BAND: Final = 4
_MOST_LINES_OF_CELL: Final = 8
Placed = Sequence[Sequence[tuple[int, Piece]]]


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


def cells_of(rows: Sequence[list[Piece]], rules: Sequence[Rule] = ()) -> list[list[list[Piece]]]:
    """A table's rows as cells.

    Args:
        rows: Its lines.
        rules: Level lines of its page.
    """
    # The row with most pieces says where columns begin.
    columns = [piece.left for piece in max(rows, key=len)]
    placed = [[(_column(columns, piece), piece) for piece in row] for row in rows]
    parted = _by_rule(placed, len(columns), rules)
    return parted or _drawn_by_row(placed, len(columns)) or _by_line(placed, len(columns))


def _by_rule(placed: Placed, width: int, rules: Sequence[Rule]) -> list[list[list[Piece]]]:
    """A row between two drawn lines; nothing where lines part groups of rows, or the header only."""
    pieces = [piece for row in placed for _, piece in row]
    left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    heights: dict[int, float] = {}
    for rule in set(rules):
        across = min(rule.right, right) - max(rule.left, left)
        heights[round(rule.height)] = heights.get(round(rule.height), 0.0) + max(across, 0.0)
    parting = sorted(height for height, across in heights.items() if across >= _ACROSS * (right - left))
    bands: dict[int, list[Sequence[tuple[int, Piece]]]] = {}
    for row in placed:
        middle = sum(piece.top + piece.bottom for _, piece in row) / (2 * len(row))
        bands.setdefault(bisect(parting, middle), []).append(row)
    if len(bands) < _FEWEST_BANDS or median(map(len, bands.values())) > _MOST_LINES_OF_BAND:
        return []
    edges = [
        max((piece.right for column, piece in chain.from_iterable(placed) if column == at), default=0.0)
        for at in range(width)
    ]
    found: list[list[list[Piece]]] = []
    for band in bands.values():
        wrapped = len(band) <= _MOST_LINES_OF_CELL and all(_goes_on(*pair, edges) for pair in pairwise(band))
        for place, row in enumerate(band):
            if not place or not wrapped:
                found.append([[] for _ in range(width)])
            for column, piece in row:
                found[-1][column].append(piece)
    return found


def _goes_on(row: Sequence[tuple[int, Piece]], below: Sequence[tuple[int, Piece]], edges: Sequence[float]) -> bool:
    """Whether a line goes on with the cells above: in one a word had no place, and in none stand two numbers."""
    pairs = [(column, one, other) for column, one in row for at, other in below if at == column]
    if any(one.text[0].isdigit() and other.text[0].isdigit() for _, one, other in pairs):
        return False
    return any(_full(one, other, edges[column]) for column, one, other in pairs)


def _column(columns: Sequence[float], piece: Piece) -> int:
    return min(range(len(columns)), key=lambda each: abs(columns[each] - piece.left))


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


_ENDED: Final = re.compile(r"[.:;!?]['\"”’)\]]*$")
_LARGER: Final = 1.08
# In sizes of the font.
_LOOSE: Final = 0.25
_INDENT: Final = 0.9


@dataclass(slots=True)
class Block:
    """A paragraph, a list item, or a table.

    Attributes:
        lines: Of a paragraph or an item, from top to bottom.
        rows: Of a table: cells of pieces.
        marked: Begins with a list's marker.
    """

    lines: list[Piece] = field(default_factory=list)
    rows: list[list[list[Piece]]] = field(default_factory=list)
    marked: bool = False

    @property
    def words(self) -> list[Word]:
        """All of its words, in order."""
        pieces = self.lines or [piece for row in self.rows for cell in row for piece in cell]
        return [word for piece in pieces for word in piece.words]

    @property
    def size(self) -> float:
        """Of most of its letters."""
        return usual_size(self.words)

    @property
    def bold(self) -> bool:
        """Whether all of it is."""
        return all(word.bold for word in self.words)


def blocks_of(region: Sequence[Piece], rules: Sequence[Rule] = ()) -> list[Block]:
    """What a stretch of a page holds, from top to bottom.

    Args:
        region: The stretch.
        rules: Level lines of the page.
    """
    found: list[Block] = []
    lines: list[Piece] = []
    for is_table, rows in stretches([without_markers_apart(row) for row in rows_of(region)]):
        if is_table:
            found += _paragraphs(lines)
            lines = []
            found.append(Block(rows=cells_of(rows, rules)))
        else:
            lines += [piece_of(word for piece in row for word in piece.words) for row in rows]
    return found + _paragraphs(lines)


def continued(blocks: Sequence[Block]) -> list[Block]:
    """Blocks of a whole document: a paragraph that a column's or a page's end cut is one again."""
    found: list[Block] = []
    for block in blocks:
        if found and _continues(found[-1], block):
            found[-1].lines.extend(block.lines)
        else:
            found.append(block)
    return found


def _continues(block: Block, following: Block) -> bool:
    if not block.lines or not following.lines or following.marked:
        return False
    last, first = block.lines[-1], following.lines[0]
    apart = first.words[0].page != last.words[-1].page or first.top < last.top
    alike = block.bold == following.bold and max(block.size, following.size) <= _LARGER * min(
        block.size, following.size
    )
    unfinished = len(last.words) > 1 and not _ENDED.search(last.words[-1].text)
    return apart and alike and unfinished and first.words[0].text[:1].islower()


def _paragraphs(lines: Sequence[Piece]) -> list[Block]:
    """Lines from top to bottom as paragraphs and list items."""
    if not lines:
        return []
    right = _right_edges(lines)
    within = _inner_gap(lines, right)
    found = [_begun(lines[0])]
    for before, line in pairwise(lines):
        if _breaks(found[-1], before, line, right[round(before.size)], within):
            found.append(_begun(line))
        else:
            found[-1].lines.append(line)
    return found


def _begun(line: Piece) -> Block:
    return Block(lines=[line], marked=len(line.words) > 1 and marks(line.words[0]))


def _right_edges(lines: Sequence[Piece]) -> dict[int, float]:
    """How far lines of a size reach."""
    edges: dict[int, float] = {}
    for line in lines:
        edges[round(line.size)] = max(edges.get(round(line.size), 0.0), line.right)
    return edges


def _inner_gap(lines: Sequence[Piece], right: dict[int, float]) -> float | None:
    """The usual gap between two lines of a paragraph, in sizes of the font."""
    gaps = [
        (line.top - before.bottom) / max(before.size, 1.0)
        for before, line in pairwise(lines)
        if round(before.size) == round(line.size) and _full(before, line, right[round(before.size)])
    ]
    return median(gaps) if gaps else None


def _full(before: Piece, line: Piece, right: float) -> bool:
    """Whether the next line's first word had no place any more on the line before."""
    first = line.words[0]
    return before.right + 0.3 * before.size + first.right - first.left > right - 0.3 * before.size


def _breaks(block: Block, before: Piece, line: Piece, right: float, within: float | None) -> bool:
    """Whether a line begins a new paragraph."""
    size = max(before.size, line.size)
    if size > _LARGER * min(before.size, line.size):
        return True
    if before.bold != line.bold and not _runs_on(before, line, right):
        return True
    if len(line.words) > 1 and marks(line.words[0]):
        return True
    gap = (line.top - before.bottom) / max(size, 1.0)
    if gap > (_GAP if within is None else within + _LOOSE) or gap < -size:
        return True
    if _sentence_goes_on(before, line, right):
        return False
    if block.marked and line.left < block.lines[0].left - 0.3 * size:
        return True
    indented = before.left + _INDENT * size < line.left < before.left + 4 * size
    return (indented and not block.marked and len(block.lines) > 1) or not _full(before, line, right)


def _sentence_goes_on(before: Piece, line: Piece, right: float) -> bool:
    """Whether a line that has some place left ends within a word or a sentence."""
    last, small = before.words[-1].text, line.words[0].text[:1].islower()
    if small and len(last) > 2 and last[-1] in "-\u2010\u00ad":
        return True
    nearly = right - before.right < 0.25 * (right - before.left)
    return small and nearly and len(before.words) > 3 and not _ENDED.search(last)


def _runs_on(before: Piece, line: Piece, right: float) -> bool:
    """Whether a sentence of which some words are bold goes over a line's end: the lines are of one paragraph."""
    return _full(before, line, right) and not _ENDED.search(before.words[-1].text) and line.words[0].text[:1].islower()
