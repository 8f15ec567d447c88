"""Words of a PDF page, and the pieces of lines that they stand in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from unicodedata import bidirectional

from auscult.readers.pdf.glyphs import Glyph, PageContent

_LIGATURES: Final = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
# In widths of the font's size: a gap inside a word, and one that parts two pieces of a line (columns, cells).
_LETTER_GAP: Final = 0.4
_PIECE_GAP: Final = 1.0
_SHARED_HEIGHT: Final = 0.5
_LEADER: Final = 5
_SAME_PLACE: Final = 1.5
_DIAGONAL: Final = 4


@dataclass(frozen=True, slots=True)
class Word:
    """A word on a page.

    Attributes:
        box: Left, top, right and bottom on the page as shown, in points.
        left: With top, right and bottom: where it is to somebody who turns the page so that its line runs level.
        size: Of its largest letter, in half points.
        order: Its number among the words as they are drawn; of a line that runs to the left, as they are read.
        leftwards: Whether its letters are read from right to left.
    """

    text: str
    page: int
    box: tuple[float, float, float, float]
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool
    order: int
    leftwards: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """Words side by side on one line, with no wide gap between them.

    Attributes:
        size: Of most of its letters.
        bold: Whether all of its words are.
        leftwards: Whether most of its words are read from right to left.
    """

    words: tuple[Word, ...]
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool
    leftwards: bool

    @property
    def text(self) -> str:
        """Its words, with blanks."""
        return " ".join(word.text for word in self.words)


def piece_of(words: Iterable[Word]) -> Piece:
    """The piece that words make, in the order in which they are read."""
    held = [*words]
    leftwards = 2 * sum(word.leftwards for word in held) > len(held)
    ordered = tuple(sorted(held, key=lambda word: word.order if leftwards else word.left))
    return Piece(
        ordered,
        min(word.left for word in ordered),
        min(word.top for word in ordered),
        max(word.right for word in ordered),
        max(word.bottom for word in ordered),
        usual_size(ordered),
        all(word.bold for word in ordered),
        leftwards,
    )


def usual_size(words: Iterable[Word]) -> float:
    """Of most letters, in half points."""
    counted: dict[float, int] = {}
    for word in words:
        counted[word.size] = counted.get(word.size, 0) + len(word.text)
    return max(counted, key=lambda size: (counted[size], size))


def words_of(content: PageContent, page: int) -> dict[int, list[Word]]:
    """A page's words in the order in which they are drawn, by the quarter turns of their lines, level ones first.

    What stands outside of what the page shows is left out, and what is drawn a second time, as for a shadow.
    """
    ways: dict[int, list[Word]] = {}
    order = 0
    drawn: set[tuple[str, int, int]] = set()
    for glyphs in _runs(content.glyphs):
        word = _word(glyphs, content, page, order)
        if word is not None and not _drawn_twice(word, drawn):
            ways.setdefault(glyphs[0].turn, []).append(word)
            order += 1
    return {turn: ways[turn] for turn in sorted(ways)}


def pieces_of(words: Sequence[Word]) -> list[Piece]:
    """The pieces of lines that a page's words make; without the dots that lead to a page's number."""
    found: list[list[Word]] = []
    for word in _without_leaders(words):
        if found and _goes_on(found[-1][-1], word):
            found[-1].append(word)
        else:
            found.append([word])
    return _joined([piece_of(each) for each in found])


def rows_of(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Pieces at one height, from left to right; rows from top to bottom."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda each: (each.top + each.bottom, each.left)):
        if rows and any(_level(piece, other) for other in reversed(rows[-1])):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda each: each.left) for row in rows]


def _runs(glyphs: Sequence[Glyph]) -> Iterator[list[Glyph]]:
    """Characters that follow each other with no blank, gap or jump."""
    run: list[Glyph] = []
    for glyph in glyphs:
        if run and (glyph.text == " " or not _next(run[-1], glyph)):
            yield run
            run = []
        if glyph.text != " ":
            run.append(glyph)
    if run:
        yield run


def _next(one: Glyph, other: Glyph) -> bool:
    if one.turn != other.turn:
        return False
    along, across = _moved(one, other)
    size = max(one.size, other.size, 1.0)
    if one.turn == 0 and along < 0 and _leftwards(one.text) and _leftwards(other.text):
        along = one.left - other.right
    # The letters of a ligature share its box, and so go back by all of its width.
    wide = max(one.right - one.left, one.bottom - one.top) if along < 0 else 0.0
    return -max(0.5 * size, min(wide, 2 * size)) <= along <= _LETTER_GAP * size and abs(across) <= 0.7 * size


def _moved(one: Glyph, other: Glyph) -> tuple[float, float]:
    """The gap between two characters along their line, and how far it jumps across."""
    if one.turn in (1, 3):
        along = other.top - one.bottom if one.turn == 1 else one.top - other.bottom
        return along, (other.left + other.right - one.left - one.right) / 2
    along = one.left - other.right if one.turn == 2 else other.left - one.right
    return along, (other.top + other.bottom - one.top - one.bottom) / 2 if one.turn != _DIAGONAL else 0.0


def _word(glyphs: list[Glyph], content: PageContent, page: int, order: int) -> Word | None:
    text = "".join(glyph.text for glyph in glyphs).translate(_LIGATURES)
    left, top = min(glyph.left for glyph in glyphs), min(glyph.top for glyph in glyphs)
    right, bottom = max(glyph.right for glyph in glyphs), max(glyph.bottom for glyph in glyphs)
    if not (0 <= left + right <= 2 * content.width and 0 <= top + bottom <= 2 * content.height):
        return None
    turn = glyphs[0].turn
    level = {
        1: (top, content.width - right, bottom, content.width - left),
        2: (content.width - right, content.height - bottom, content.width - left, content.height - top),
        3: (content.height - bottom, left, content.height - top, right),
    }.get(turn, (left, top, right, bottom))
    size = round(max(glyph.size for glyph in glyphs) * 2) / 2
    bold = sum(glyph.bold for glyph in glyphs) * 2 > len(glyphs)
    return Word(text, page, (left, top, right, bottom), *level, size, bold, order, any(map(_leftwards, text)))


def _leftwards(letter: str) -> bool:
    """Whether a letter is of a script that is read from right to left."""
    return letter > "\u0590" and bidirectional(letter[0]) in ("R", "AL")


def _without_leaders(words: Sequence[Word]) -> Iterator[Word]:
    for dots, run in groupby(words, key=lambda word: not word.text.strip(".·…")):
        held = [*run]
        if not dots or sum(len(word.text) for word in held) < _LEADER:
            yield from held


def _drawn_twice(word: Word, drawn: set[tuple[str, int, int]]) -> bool:
    """Whether a word was drawn before at nearly the same place; it is drawn then."""
    left, top = (int(place / _SAME_PLACE) for place in word.box[:2])
    near = any((word.text, left + x, top + y) in drawn for x in (-1, 0, 1) for y in (-1, 0, 1))
    drawn.add((word.text, left, top))
    return near


def _goes_on(word: Word, other: Word) -> bool:
    size = max(word.size, other.size, 1.0)
    gaps = [other.left - word.right]
    if word.leftwards or other.leftwards:
        gaps.append(word.left - other.right)
    return _level(word, other) and any(-0.5 * size <= gap <= _PIECE_GAP * size for gap in gaps)


def _level(one: Word | Piece, other: Word | Piece) -> bool:
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    return shared >= _SHARED_HEIGHT * min(one.bottom - one.top, other.bottom - other.top)


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Pieces that are drawn apart, and stand side by side, as one."""
    found: list[list[Piece]] = []
    for row in rows_of(pieces):
        for piece in row:
            before = found[-1][-1] if found else None
            if before is not None and _level(before, piece) and _beside(before, piece):
                found[-1].append(piece)
            else:
                found.append([piece])
    return [
        together[0] if len(together) == 1 else piece_of(word for piece in together for word in piece.words)
        for together in found
    ]


def _beside(before: Piece, piece: Piece) -> bool:
    size = max(before.words[-1].size, piece.words[0].size, 1.0)
    return -0.5 * size <= piece.left - before.right <= 0.6 * size
