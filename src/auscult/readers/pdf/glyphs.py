"""The characters of a PDF page: what each is, where it stands as the page is shown, and what it looks like."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

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
