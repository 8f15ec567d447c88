"""Paragraphs, list items and tables of a PDF, rebuilt from the positions of lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Final

from auscult.readers.signs import BOXES
from auscult_readers.pdf.glyphs import Rule
from auscult_readers.pdf.table_lines import has_no_place
from auscult_readers.pdf.tables import cells_of, stretches
from auscult_readers.pdf.words import Piece, Word, piece_of, rows_of, usual_size

_MARKER: Final = re.compile(r"(?:[-*•‣◦▪●○·–—□■☐☑☒➢✓→]|\(?\d{1,2}[.)]|\(?[a-z][.)]|\([ivx]{1,4}\))$")
_NUMBERED: Final = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}\.?|(?:[A-Z]|[IVX]{1,4})[.)]?|\[[^\[\]]+\]")
# Distances are in sizes of the font.
# A larger gap between two lines begins a paragraph where no usual gap between lines is known.
_GAP: Final = 0.5
# Gaps between words of a stretched line differ less, and so do the heights of pieces of one line.
_ALIKE: Final = 0.2
# Stretched lines have no wider gaps; cells of a table do.
_WIDEST_STRETCHED: Final = 3
# Lines are at least so far apart. Raised and lowered words are nearer.
_LINE: Final = 0.8


def without_markers_apart(row: list[Piece]) -> list[Piece]:
    """Join a list marker or section number with the text after it, so that it is no cell of a table."""
    while len(row) > 1 and len(row[0].words) == 1 and _heads(row[0].words[0]) and not _are_boxes(row[0], row[1]):
        row = [piece_of((*row[0].words, *row[1].words)), *row[2:]]
    return [piece_of(word for piece in row for word in piece.words)] if _stretched(row) else row


def is_box(word: Word) -> bool:
    """Return whether a word is a box to tick."""
    return word.text[0] in BOXES


def _are_boxes(one: Piece, other: Piece) -> bool:
    return is_box(one.words[0]) and is_box(other.words[0])


def without_lines_between(row: list[Piece]) -> list[list[Piece]]:
    """Divide a row into rows if pieces of it are above each other, beside one at a height between them."""
    if not any(_above_each_other(one, other) for one, other in pairwise(row)):
        return [row]
    rows: list[list[Piece]] = []
    for piece in sorted(row, key=lambda piece: piece.top + piece.bottom):
        before = rows[-1][-1] if rows else None
        if before is not None and abs(piece.top + piece.bottom - before.top - before.bottom) <= 2 * _ALIKE * piece.size:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(part, key=lambda piece: piece.left) for part in rows]


def _above_each_other(one: Piece, other: Piece) -> bool:
    """Whether one of two pieces is a line above the other."""
    across = min(one.right, other.right) - max(one.left, other.left)
    apart = abs(one.top + one.bottom - other.top - other.bottom) / 2
    return 2 * across > min(one.right - one.left, other.right - other.left) and apart >= _LINE * one.size


def _stretched(row: Sequence[Piece]) -> bool:
    """Whether a line was stretched to its column's width: all gaps between words are wide and nearly equal."""
    if len(row) < 3 or any(len(piece.words) > 1 for piece in row[1:]):
        return False
    gaps = [after.left - before.right for before, after in pairwise(row)]
    return max(gaps) - min(gaps) <= _ALIKE * row[0].size and max(gaps) <= _WIDEST_STRETCHED * row[0].size


def marks(word: Word) -> bool:
    """Whether a word is the marker of a list item: "•", "2.", "b)"."""
    return _MARKER.match(word.text) is not None


def _heads(word: Word) -> bool:
    """Whether a word marks or numbers the text after it: "•", "2.1.", "A."; without punctuation only if it is bold."""
    sign = len(word.text) == 1 and not word.text.isalnum() and word.text not in "-–—"
    numbered = _NUMBERED.fullmatch(word.text) is not None
    return sign or marks(word) or (numbered and (word.bold or word.text[-1] in ".)]"))


_ENDED: Final = re.compile(r"[.:;!?]['\"”’)\]]*$")
# Letters of a line that are larger by this factor begin another block. Fonts of one size differ by less.
_LARGER: Final = 1.08
# Distances are in sizes of the font.
# A gap between lines that is wider than the usual one by more than this begins a paragraph.
_LOOSE: Final = 0.25
# Smallest and largest indent of a first line. What is further in is a quotation or centred.
_INDENT: Final = 0.9
_WIDEST_INDENT: Final = 4
# A line that begins so far left of a list item's mark is none of its lines.
_LEFT_OF_MARK: Final = 0.3
# A line of boxes to tick belongs to the line above it if the gap between them is not larger.
_FAR: Final = 1.5
# Largest share of a line's width that is left at its end, if its sentence goes on in the next line.
_LEFT_AT_END: Final = 0.25


@dataclass(slots=True)
class Block:
    """A paragraph, a list item, or a table.

    Attributes:
        lines: Lines of a paragraph or list item, from top to bottom; empty for a table.
        rows: Rows of a table: cells of pieces.
        marked: Whether it begins with a list marker.
        slanted: Whether it is a slanted line: a watermark or a stamp.
        repeated: Whether it has a line that repeats on several pages. It is no heading.
    """

    lines: list[Piece] = field(default_factory=list)
    rows: list[list[list[Piece]]] = field(default_factory=list)
    marked: bool = False
    slanted: bool = False
    repeated: bool = False

    @property
    def words(self) -> list[Word]:
        """All words, in order."""
        pieces = self.lines or [piece for row in self.rows for cell in row for piece in cell]
        return [word for piece in pieces for word in piece.words]

    @property
    def size(self) -> float:
        """Size of most letters, in half points."""
        return usual_size(self.words)

    @property
    def bold(self) -> bool:
        """Whether all words are bold."""
        return all(word.bold for word in self.words)


def blocks_of(region: Sequence[Piece], rules: Sequence[Rule] = ()) -> list[Block]:
    """Return the blocks of a region of a page, from top to bottom.

    Args:
        region: Pieces of its lines.
        rules: Horizontal lines drawn on the page.
    """
    blocks: list[Block] = []
    lines: list[Piece] = []
    level = [part for row in rows_of(region) for part in without_lines_between(row)]
    for is_table, rows in stretches([without_markers_apart(row) for row in level]):
        if is_table:
            blocks += _paragraphs(lines)
            lines = []
            blocks.append(Block(rows=cells_of(rows, rules)))
        else:
            lines += [piece_of(word for piece in row for word in piece.words) for row in rows]
    return blocks + _paragraphs(lines)


def continued(blocks: Sequence[Block]) -> list[Block]:
    """Join paragraphs of a document that the end of a column or page divided."""
    joined: list[Block] = []
    before: Block | None = None
    for block in blocks:
        if block.slanted:
            joined.append(block)
        elif before is not None and _continues(before, block):
            before.lines.extend(block.lines)
        else:
            before = block
            joined.append(block)
    return joined


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
    """Group lines, from top to bottom, into paragraphs and list items."""
    if not lines:
        return []
    right = _right_edges(lines)
    within = _inner_gap(lines, right)
    paragraphs = [_begun(lines[0])]
    for before, line in pairwise(lines):
        if _breaks(paragraphs[-1], before, line, right[round(before.size)], within):
            paragraphs.append(_begun(line))
        else:
            paragraphs[-1].lines.append(line)
    return paragraphs


def _begun(line: Piece) -> Block:
    return Block(lines=[line], marked=len(line.words) > 1 and marks(line.words[0]))


def _right_edges(lines: Sequence[Piece]) -> dict[int, float]:
    """Return the right edge of lines, by size of the font."""
    edges: dict[int, float] = {}
    for line in lines:
        edges[round(line.size)] = max(edges.get(round(line.size), 0.0), line.right)
    return edges


def _inner_gap(lines: Sequence[Piece], right: dict[int, float]) -> float | None:
    """Return the median gap between two lines of a paragraph, in sizes of the font; None if no two lines are one."""
    gaps = [
        (line.top - before.bottom) / max(before.size, 1.0)
        for before, line in pairwise(lines)
        if round(before.size) == round(line.size) and has_no_place(before, line, right[round(before.size)])
    ]
    return median(gaps) if gaps else None


def _breaks(block: Block, before: Piece, line: Piece, right: float, within: float | None) -> bool:
    """Whether a line begins a new paragraph."""
    size = max(before.size, line.size)
    # A box at the end of a line, or below a label, belongs to the label before it.
    if is_box(before.words[-1]):
        return True
    if all(map(is_box, line.words)):
        return line.top - before.bottom > _FAR * size
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
    if block.marked and line.left < block.lines[0].left - _LEFT_OF_MARK * size:
        return True
    indented = before.left + _INDENT * size < line.left < before.left + _WIDEST_INDENT * size
    return (indented and not block.marked and len(block.lines) > 1) or not has_no_place(before, line, right)


def _sentence_goes_on(before: Piece, line: Piece, right: float) -> bool:
    """Whether a sentence or a divided word goes on in the next line, though the line before has some space left."""
    last, small = before.words[-1].text, line.words[0].text[:1].islower()
    if small and len(last) > 2 and last[-1] in "-\u2010\u00ad":
        return True
    nearly = right - before.right < _LEFT_AT_END * (right - before.left)
    return small and nearly and len(before.words) > 3 and not _ENDED.search(last)


def _runs_on(before: Piece, line: Piece, right: float) -> bool:
    """Whether a sentence goes on in the next line, so that a change of weight begins no paragraph."""
    return (
        has_no_place(before, line, right)
        and not _ENDED.search(before.words[-1].text)
        and line.words[0].text[:1].islower()
    )
