"""Characters and words of a PDF page: where they stand, what they look like, and the pieces of lines they make."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple
from unicodedata import bidirectional

_FORCED_BOLD: Final = 1 << 18
_BOLD_WEIGHT: Final = 650
_BOLD_NAMES: Final = ("bold", "black", "heavy", "demi")
_DIAGONAL: Final = 4


class Glyph(NamedTuple):
    """A character that a page shows, its box in points from the upper left of what the page shows.

    Attributes:
        size: Of the font, as drawn, in points.
        turn: Quarter turns clockwise that its line runs by: 0 as people read, 1 downwards; 4 for diagonal.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool
    turn: int


@dataclass(frozen=True, slots=True)
class PageContent:
    """What a page holds.

    Attributes:
        glyphs: In the order in which they are drawn; white space is " " with no box of its own.
        images: Whether pictures are on it.
        drawings: Whether anything else is on it.
        unmapped: Characters whose font does not say what they are.
    """

    width: float
    height: float
    glyphs: tuple[Glyph, ...]
    images: bool
    drawings: bool
    unmapped: int


def page_content(raw: Any, page: Any, text: Any) -> PageContent:
    """What a page holds.

    Args:
        raw: The library's functions.
        page: An open page of it.
        text: That page's text.
    """
    width, height = page.get_size()
    images = drawings = False
    for place in range(min(raw.FPDFPage_CountObjects(page), 10_000)):
        kind = raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page, place))
        images |= kind == raw.FPDF_PAGEOBJ_IMAGE
        drawings |= kind in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING, raw.FPDF_PAGEOBJ_FORM)
    glyphs, unmapped = _glyphs(raw, page, text)
    return PageContent(width, height, tuple(glyphs), images, drawings, unmapped)


def _glyphs(raw: Any, page: Any, text: Any) -> tuple[list[Glyph], int]:
    """The characters of a page, and how many have no meaning."""
    handle = text.raw
    turned, place_on_page = page.get_rotation() // 90, _placing(page)
    fonts: dict[int, tuple[float, bool, int]] = {}
    box, found, unmapped, high = raw.FS_RECTF(), [], 0, 0
    known: dict[int, str] = {}
    for index in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(handle, index)
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code, high = (0x10000 + ((high - 0xD800) << 10) + code - 0xDC00 if high else 0), 0
        letter = known.get(code)
        if letter is None:
            letter = known[code] = _letter(code)
        if letter == " ":
            found.append(_SPACE)
            continue
        if not letter or raw.FPDFText_HasUnicodeMapError(handle, index) == 1:
            unmapped += 1
            continue
        drawn = raw.FPDFText_GetTextObject(handle, index)
        key = ctypes.addressof(drawn.contents) if drawn else 0
        font = fonts.get(key)
        if font is None:
            font = fonts[key] = _font(raw, handle, index, turned)
        if not raw.FPDFText_GetLooseCharBox(handle, index, box):
            continue
        corners = (box.left, box.bottom, box.right, box.top)
        if not all(map(math.isfinite, corners)):
            continue
        left, top, right, bottom = place_on_page(*corners)
        found.append(Glyph(letter, left, top, right, bottom, *font))
    return found, unmapped


_SPACE: Final = Glyph(" ", 0, 0, 0, 0, 0, False, 0)


def _letter(code: int) -> str:
    """What a code of PDFium's stands for: " " for white space, nothing for what cannot be shown."""
    if code == 2:  # A hyphen at the end of a line.
        return "-"
    if code < 32 or code in (0x7F, 0xFFFE, 0xFFFF) or code > 0x10FFFF:
        return " " if code in (9, 10, 13) else ""
    letter = chr(code)
    if letter.isspace():
        return " "
    if 0xF000 <= code <= 0xF0FF:  # Fonts of symbols: their signs are bullets, nearly always.
        return "•"
    return letter if letter.isprintable() or code == 0xAD else ""


def _font(raw: Any, handle: Any, index: int, turned: int) -> tuple[float, bool, int]:
    """Size as drawn, whether bold, and quarter turns, of the piece of text that a character belongs to."""
    matrix, flags, name = raw.FS_MATRIX(), ctypes.c_int(), ctypes.create_string_buffer(256)
    size = raw.FPDFText_GetFontSize(handle, index)
    turn = turned
    if raw.FPDFText_GetMatrix(handle, index, matrix):
        size *= math.hypot(matrix.c, matrix.d)
        # Angles count against the clock in a PDF, whose pages turn with it.
        turn = _quarter(math.degrees(math.atan2(-matrix.b, matrix.a)) + 90 * turned)
    raw.FPDFText_GetFontInfo(handle, index, name, 256, flags)
    heavy = raw.FPDFText_GetFontWeight(handle, index) >= _BOLD_WEIGHT or bool(flags.value & _FORCED_BOLD)
    named = name.value.decode("latin-1").lower()
    return (size if math.isfinite(size) else 0.0), heavy or any(each in named for each in _BOLD_NAMES), turn


def _quarter(angle: float) -> int:
    nearest = round(angle / 90)
    return nearest % 4 if abs(angle - 90 * nearest) <= 15 else _DIAGONAL


def _placing(page: Any) -> Any:
    """What takes a box of the PDF's own space (left, bottom, right, top) to the page as shown."""
    left, bottom, right, top = page.get_bbox()
    turned = page.get_rotation()
    if turned == 90:
        return lambda x0, y0, x1, y1: (y0 - bottom, x0 - left, y1 - bottom, x1 - left)
    if turned == 180:
        return lambda x0, y0, x1, y1: (right - x1, y0 - bottom, right - x0, y1 - bottom)
    if turned == 270:
        return lambda x0, y0, x1, y1: (top - y1, right - x1, top - y0, right - x0)
    return lambda x0, y0, x1, y1: (x0 - left, top - y1, x1 - left, top - y0)


_LIGATURES: Final = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
# In widths of the font's size: a gap inside a word, and one that parts two pieces of a line (columns, cells).
_LETTER_GAP: Final = 0.4
_PIECE_GAP: Final = 1.0
_SHARED_HEIGHT: Final = 0.5
_LEADER: Final = 5
_SAME_PLACE: Final = 1.5


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
