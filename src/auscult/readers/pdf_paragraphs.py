"""Paragraphs, list items and tables of a PDF, rebuilt from lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Final

from auscult.readers.pdf_words import Piece, Word, piece_of, rows_of

_MARKER: Final = re.compile(r"(?:[-*•‣◦▪●○·–—□■➢✓→]|\(?\d{1,2}[.)]|\(?[a-z][.)]|\([ivx]{1,4}\))$")
_ENDED: Final = re.compile(r"[.:;!?]['\"”’)\]]*$")
_LARGER: Final = 1.08
# In sizes of the font.
_LOOSE: Final = 0.25
_GAP: Final = 0.5
_INDENT: Final = 0.9
_ALIGNED: Final = 1.0


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
        return piece_of(self.words).size

    @property
    def bold(self) -> bool:
        """Whether all of it is."""
        return all(word.bold for word in self.words)


def blocks_of(region: Sequence[Piece]) -> list[Block]:
    """What a stretch of a page holds, from top to bottom."""
    found: list[Block] = []
    lines: list[Piece] = []
    for is_table, rows in _stretches([_without_markers_apart(row) for row in rows_of(region)]):
        if is_table:
            found += _paragraphs(lines)
            lines = []
            found.append(Block(rows=_cells(rows)))
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


def _without_markers_apart(row: list[Piece]) -> list[Piece]:
    """A row whose list marker is no cell of its own, though a wide gap follows it."""
    if len(row) > 1 and len(row[0].words) == 1 and (_marks(row[0].words[0]) or _numbers(row[0].words[0])):
        return [piece_of((*row[0].words, *row[1].words)), *row[2:]]
    return row


def _marks(word: Word) -> bool:
    return _MARKER.match(word.text) is not None


def _numbers(word: Word) -> bool:
    """Whether a word is a section's number: "2", "2.1", "2.1.3."."""
    return re.fullmatch(r"\d{1,2}(?:\.\d{1,2}){0,4}\.?", word.text) is not None and word.bold


def _stretches(rows: Sequence[list[Piece]]) -> Iterator[tuple[bool, list[list[Piece]]]]:
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
    starts = [piece.left for piece in rows[at]]
    end, full = at + 1, 1
    while end < len(rows):
        row, before = rows[end], rows[end - 1]
        size = row[0].size
        gap = min(piece.top for piece in row) - max(piece.bottom for piece in before)
        if gap > 2.5 * size or not _in_columns(row, rows[at:end], size):
            break
        full += len(row) > 1
        starts += [piece.left for piece in row]
        end += 1
    while len(rows[end - 1]) < 2 and not _inner(rows[end - 1], rows[at : end - 1]):
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


def _cells(rows: Sequence[list[Piece]]) -> list[list[list[Piece]]]:
    """A table's rows as cells; a line that goes on with cells of the row above is part of it."""
    columns = _columns(rows)
    found: list[list[list[Piece]]] = []
    last: list[Piece] = []
    for row in rows:
        placed = [(min(range(len(columns)), key=lambda each: abs(columns[each] - _key(piece))), piece) for piece in row]
        # The first column's cell goes on where it was drawn right behind its line above, before the row's other cells.
        goes_on = bool(found) and (
            all(column for column, _ in placed)
            or (bool(last) and row[0].words[0].order == last[-1].words[-1].order + 1)
        )
        if not goes_on:
            found.append([[] for _ in columns])
        for column, piece in placed:
            found[-1][column].append(piece)
        last = [piece for column, piece in placed if column == 0]
    return found


def _key(piece: Piece) -> float:
    return piece.left


def _columns(rows: Sequence[list[Piece]]) -> list[float]:
    """Where columns begin: the lefts of the row with most pieces, each moved to the left as far as its column goes."""
    fullest = max(rows, key=len)
    return [piece.left for piece in fullest]


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
    return Block(lines=[line], marked=len(line.words) > 1 and _marks(line.words[0]))


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
    if size > _LARGER * min(before.size, line.size) or before.bold != line.bold:
        return not (
            before.bold != line.bold and size <= _LARGER * min(before.size, line.size) and _runs_on(before, line, right)
        )
    if len(line.words) > 1 and _marks(line.words[0]):
        return True
    gap = (line.top - before.bottom) / max(size, 1.0)
    if gap > (_GAP if within is None else within + _LOOSE) or gap < -size:
        return True
    begin = block.lines[0]
    if block.marked:
        return line.left < begin.left - 0.3 * size or not _full(before, line, right)
    if len(block.lines) > 1 and line.left > before.left + _INDENT * size and abs(before.left - line.left) < 4 * size:
        return True
    return not _full(before, line, right)


def _runs_on(before: Piece, line: Piece, right: float) -> bool:
    """Whether a sentence of which some words are bold goes over a line's end: the lines are of one paragraph."""
    return _full(before, line, right) and not _ENDED.search(before.words[-1].text) and line.words[0].text[:1].islower()
