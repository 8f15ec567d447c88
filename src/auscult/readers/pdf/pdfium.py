"""PDFium, the library behind PDF pages: opening, what stands where on a page, drawing a page.

Nothing else here imports it. PDFium keeps state of its own and is not thread-safe: whoever opens a PDF holds the one
lock until it is closed, so that threads of a process take turns. `page_drawing` loads this file without the rest of
Auscult: what it imports, it imports when it is needed.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from auscult.readers.contract import UnreadableError
    from auscult.readers.pdf.marks import Marks
    from auscult.readers.pdf.words import PageContent

_LOCK: Final = threading.RLock()
_PASSWORD, _SECURITY = 4, 5
_MOST_BOOKMARKS: Final = 5_000
#: Points from the origin that no page reaches.
_BEYOND_PAGES: Final = 1e6
_BROKEN: Final = "open it in a viewer: if that fails too, get the file again; if not, save a copy from there"


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
        from pypdfium2 import raw

        from auscult.readers.pdf.marks import Marks
        from auscult.readers.pdf.words import page_content

        marks = Marks()
        with self._page(number, marks) as page:
            text = page.get_textpage()
            try:
                return page_content(raw, page, text, marks)
            finally:
                text.close()

    def layer(self, number: int) -> str:
        """Return the text layer of page `number`, from 0, as PDFium writes it.

        Raises:
            UnreadableError: It is damaged.
        """
        with self._page(number) as page:
            text = page.get_textpage()
            try:
                return str(text.get_text_range(errors="replace"))
            finally:
                text.close()

    def draw(self, number: int, scale: float, most_pixels: int) -> tuple[int, int, list[bytes]]:
        """Page `number`, from 0, as width, height and rows of pixels: red, green and blue, a byte each.

        Args:
            number: Of the page.
            scale: Pixels a point; less, where the picture would have more than `most_pixels`.
            most_pixels: That the picture may have.

        Raises:
            UnreadableError: It is damaged.
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
    def _page(self, number: int, marks: Marks | None = None) -> Iterator[Any]:
        from pypdfium2 import PdfiumError, raw

        try:
            page = self._document[number]
            _show_something(page)
            if marks is not None:
                marks.collect(raw, page, self._document.formenv)
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


def _show_something(page: Any) -> None:
    """Let a page show all of its media box where its crop box lies beside that, as viewers do.

    Such a page has no size, and could neither be drawn nor have words on it.
    """
    if not all(page.get_size()):
        # PDFium cuts a crop box to the media box, which it names only where the page does not inherit it.
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
