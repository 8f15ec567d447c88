"""PDFium: open a PDF, read the content of its pages, draw them.

Only this module imports pypdfium2. PDFium has global state and is not thread-safe, so one lock is held from opening a
PDF until it is closed, and threads take turns. `page_drawing` loads this file without the rest of Auscult; other
modules are therefore imported inside functions.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from auscult.readers.contract import UnreadableError
    from auscult_readers.pdf.glyphs import PageContent
    from auscult_readers.pdf.marks import Marks
    from auscult_readers.pdf.shown import Shown

_LOCK: Final = threading.RLock()
_PASSWORD, _SECURITY = 4, 5
_MOST_BOOKMARKS: Final = 5_000
#: Points from the origin, further than any page extends.
_BEYOND_PAGES: Final = 1e6
_BROKEN: Final = "open it in a viewer: if that fails too, get the file again; if not, save a copy from there"


class Bookmark(NamedTuple):
    """An entry of the outline. `page` counts from 0; it is -1 if the entry names no page."""

    title: str
    level: int
    page: int


class Pdf:
    """An open PDF. Use `opened` to create one."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._has_form = document.get_formtype() != 0
        if self._has_form:
            # This build of PDFium does not run scripts in forms.
            document.init_forms()

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self._document)

    def metadata(self) -> dict[str, str]:
        """Return "Title", "Author", "CreationDate" and "ModDate" of the file's metadata, without empty ones."""
        values: dict[str, str] = {}
        for key in ("Title", "Author", "CreationDate", "ModDate"):
            try:
                value = self._document.get_metadata_value(key)
            except ValueError:
                continue
            cleaned = " ".join(_visible(value).split())
            if cleaned:
                values[key] = cleaned
        return values

    def outline(self) -> list[Bookmark]:
        """Return the bookmarks in order, at most 5,000."""
        bookmarks: list[Bookmark] = []
        for mark in self._document.get_toc():
            target = mark.get_dest()
            page = target.get_index() if target else None
            title = " ".join(_visible(_decoded_title(mark)).split())
            bookmarks.append(Bookmark(title, mark.level, -1 if page is None else page))
            if len(bookmarks) == _MOST_BOOKMARKS:
                break
        return bookmarks

    def page(self, number: int) -> PageContent:
        """Return the content of page `number`, from 0.

        Raises:
            UnreadableError: The page is damaged.
        """
        from pypdfium2 import raw

        from auscult_readers.pdf.marks import Marks
        from auscult_readers.pdf.words import page_content

        marks = Marks()
        with self._page(number, marks) as page:
            text = page.get_textpage()
            try:
                return page_content(raw, page, text, marks)
            finally:
                text.close()

    def layer(self, number: int) -> str:
        """Return the text of page `number`, from 0, as PDFium extracts it.

        Raises:
            UnreadableError: The page is damaged.
        """
        with self._page(number) as page:
            text = page.get_textpage()
            try:
                return str(text.get_text_range(errors="replace"))
            finally:
                text.close()

    def shown(self, number: int) -> Shown:
        """Return what page `number`, from 0, shows beside its text layer.

        Raises:
            UnreadableError: The page is damaged.
        """
        from pypdfium2 import raw

        from auscult_readers.pdf.shown import shown_on

        with self._page(number, flatten=False) as page:
            text = page.get_textpage()
            try:
                return shown_on(raw, page, text, self._document.formenv)
            finally:
                text.close()

    def draw(self, number: int, scale: float, most_pixels: int) -> tuple[int, int, list[bytes]]:
        """Draw a page. Return its width, height and rows of pixels: red, green and blue, one byte each.

        Args:
            number: Index of the page, from 0.
            scale: Pixels per point. It is reduced if the picture would exceed `most_pixels`.
            most_pixels: Limit of width times height.

        Raises:
            UnreadableError: The page is damaged.
        """
        with self._page(number) as page:
            wide, high = max(page.get_width(), 1.0), max(page.get_height(), 1.0)
            if not math.isfinite(wide * high):
                raise _broken(f"a page {number + 1} without a size")
            fitting = min(scale, math.sqrt(most_pixels / (wide * high)), 4 * math.sqrt(most_pixels) / max(wide, high))
            bitmap = page.render(scale=fitting, rev_byteorder=True, draw_annots=True)
            pixels, width = memoryview(bitmap.buffer), bitmap.width
            rows = [bytes(pixels[at * bitmap.stride : at * bitmap.stride + 3 * width]) for at in range(bitmap.height)]
            return width, bitmap.height, rows

    @contextmanager
    def _page(self, number: int, marks: Marks | None = None, *, flatten: bool = True) -> Iterator[Any]:
        from pypdfium2 import PdfiumError, raw

        try:
            page = self._document[number]
            _show_something(page)
            if marks is not None:
                marks.collect(raw, page, self._document.formenv)
            if flatten and (self._has_form or (marks is not None and marks.drawn)):
                # Make filled-in values and drawn annotations part of the page content; only in memory.
                raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
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
    """Open the PDF of some bytes. Other threads that open one wait until it is closed.

    Raises:
        UnreadableError: The file is broken or needs a password.
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


def _show_something(page: Any) -> None:
    """Show the whole media box of a page whose crop box lies outside of it, as viewers do.

    Otherwise the page has no area: it could not be drawn, and no word would be on it.
    """
    if not all(page.get_size()):
        # PDFium clips a crop box to the media box. The media box itself cannot be read if the page inherits it.
        page.set_cropbox(-_BEYOND_PAGES, -_BEYOND_PAGES, _BEYOND_PAGES, _BEYOND_PAGES)


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
