"""PDFium, the library behind PDF pages: opening, what stands where on a page, drawing a page.

Nothing else here imports it. PDFium keeps state of its own and is not thread-safe: whoever opens a PDF holds the one
lock until it is closed, so that threads of a process take turns. `page_drawing` loads this file without the rest of
Auscult: what it imports, it imports when it is needed.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from auscult.readers.contract import UnreadableError

_LOCK: Final = threading.RLock()
_PASSWORD, _SECURITY = 4, 5
_FORCED_BOLD: Final = 1 << 18
_BOLD_WEIGHT: Final = 650
_BOLD_NAMES: Final = ("bold", "black", "heavy", "demi")
_DIAGONAL: Final = 4
_MOST_BOOKMARKS: Final = 5_000
_BROKEN: Final = "open it in a viewer: if that fails too, get the file again; if not, save it anew from there"


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


class Bookmark(NamedTuple):
    """A line of the outline; `page` counts from 0 and is -1 where it names none."""

    title: str
    level: int
    page: int


class Pdf:
    """An open PDF; only `opened` makes one."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._has_form = document.get_formtype() != 0
        if self._has_form:
            # This build of PDFium runs no scripts of a form's.
            document.init_forms()

    def __len__(self) -> int:
        """How many pages it has."""
        return len(self._document)

    def metadata(self) -> dict[str, str]:
        """What it says of itself: "Title", "Author", "CreationDate", "ModDate", where given."""
        found: dict[str, str] = {}
        for key in ("Title", "Author", "CreationDate", "ModDate"):
            try:
                value = self._document.get_metadata_value(key)
            except ValueError:
                continue
            cleaned = " ".join(_visible(value).split())
            if cleaned:
                found[key] = cleaned
        return found

    def outline(self) -> list[Bookmark]:
        """Its bookmarks, in order, at most five thousand."""
        found: list[Bookmark] = []
        for mark in self._document.get_toc():
            target = mark.get_dest()
            page = target.get_index() if target else None
            title = " ".join(_visible(_decoded_title(mark)).split())
            found.append(Bookmark(title, mark.level, -1 if page is None else page))
            if len(found) == _MOST_BOOKMARKS:
                break
        return found

    def page(self, number: int) -> PageContent:
        """What page `number`, from 0, holds.

        Raises:
            UnreadableError: It is damaged.
        """
        with self._page(number) as page:
            text = page.get_textpage()
            try:
                return _content(page, text)
            finally:
                text.close()

    def draw(self, number: int, scale: float, most_pixels: int) -> tuple[int, int, list[bytes]]:
        """Page `number`, from 0, as width, height and rows of pixels: red, green and blue, a byte each.

        Args:
            number: Of the page.
            scale: Pixels a point; less, where the picture would have more than `most_pixels`.
            most_pixels: That the picture may have.
        """
        with self._page(number) as page:
            wide, high = max(page.get_width(), 1.0), max(page.get_height(), 1.0)
            if not math.isfinite(wide * high):
                raise _broken(f"a page {number + 1} without a size")
            fitting = min(scale, math.sqrt(most_pixels / (wide * high)), 4 * math.sqrt(most_pixels) / max(wide, high))
            bitmap = page.render(scale=fitting, rev_byteorder=True, draw_annots=True)
            held, width = memoryview(bitmap.buffer), bitmap.width
            rows = [bytes(held[at * bitmap.stride : at * bitmap.stride + 3 * width]) for at in range(bitmap.height)]
            return width, bitmap.height, rows

    @contextmanager
    def _page(self, number: int) -> Iterator[Any]:
        from pypdfium2 import PdfiumError

        try:
            page = self._document[number]
            if self._has_form:
                # What was filled in becomes part of the page, in memory.
                with suppress(PdfiumError):
                    page.flatten()
                page.close()
                page = self._document[number]
        except PdfiumError as error:
            raise _broken(f"a page {number + 1} that cannot be opened") from error
        try:
            yield page
        except PdfiumError as error:
            raise _broken(f"a page {number + 1} that cannot be read") from error
        finally:
            page.close()


@contextmanager
def opened(content: bytes) -> Iterator[Pdf]:
    """Open a PDF; other threads wait meanwhile.

    Args:
        content: Its bytes.

    Raises:
        UnreadableError: It is broken, or needs a password.
    """
    import pypdfium2

    with _LOCK:
        try:
            document = pypdfium2.PdfDocument(content)
        except pypdfium2.PdfiumError as error:
            if error.err_code in (_PASSWORD, _SECURITY):
                remedy = "save a copy without a password, and read that"
                raise _unreadable("encrypted PDF", "a PDF without a password", "one with", remedy) from None
            raise _broken("a file that cannot be opened as one") from None
        try:
            yield Pdf(document)
        finally:
            document.close()


def _broken(got: str) -> UnreadableError:
    return _unreadable("broken PDF", "a whole PDF", got, _BROKEN)


def _unreadable(kind: str, expected: str, got: str, remedy: str) -> UnreadableError:
    from auscult.readers.contract import UnreadableError

    return UnreadableError(kind, expected, got, remedy)


def _decoded_title(mark: Any) -> str:
    try:
        return str(mark.get_title())
    except ValueError:
        return ""


def _visible(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text if not "\ud800" <= each <= "\udfff")


def _content(page: Any, text: Any) -> PageContent:
    from pypdfium2 import raw

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
