"""Image files of pages (PNG, JPEG, TIFF), with the same methods as `pdfium.Pdf`.

Only this module imports Pillow, which is installed with the engine that recognises scans. `page_drawing` loads this
file without the rest of Auscult; other modules are therefore imported inside functions.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from auscult.readers.contract import UnreadableError
    from auscult_readers.pdf.glyphs import PageContent

_BEGINNINGS: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)
#: Limit of a picture: A3 at 600 dots per inch has 70 million. A decoded dot takes three bytes.
_MOST_DOTS: Final = 80_000_000
#: Dots of a picture's longer side. A smaller picture is an icon and no page.
_FEWEST_DOTS: Final = 300
#: Points. If the longer side is outside of these limits, the stated resolution is wrong; the page is taken as A4.
_SHORTEST, _LONGEST, _A4 = 216.0, 1728.0, 842.0
_ORIENTATION, _SUBFILE = 0x0112, 254
#: Exif orientations from this value on swap width and height.
_SWAPPED: Final = 5


def picture_type(content: bytes) -> str:
    """Return the media type of a supported image; "" for any other file."""
    return next((kind for beginning, kind in _BEGINNINGS if content.startswith(beginning)), "")


class _Page(NamedTuple):
    frame: int
    dots: tuple[int, int]
    width: float
    height: float


class Pictures:
    """An open image file. Use `opened_pictures` to create one."""

    def __init__(self, image: Any, pages: list[_Page]) -> None:
        self._image = image
        self._pages = pages

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self._pages)

    def metadata(self) -> dict[str, str]:
        """Return no metadata: that of a camera or scanner does not describe the text."""
        return {}

    def outline(self) -> list[Any]:
        """Return no bookmarks: image files have none."""
        return []

    def page(self, number: int) -> PageContent:
        """Return the content of page `number`, from 0: a scan, or nothing if the picture is too small for one."""
        from auscult_readers.pdf.glyphs import PageContent

        page = self._pages[number]
        return PageContent(page.width, page.height, (), max(page.dots) >= _FEWEST_DOTS, False, 0, (), "", {})

    def dots(self, number: int) -> tuple[int, int]:
        """Return the width and height of page `number`, from 0, in dots."""
        return self._pages[number].dots

    def draw(self, number: int, scale: float, most_pixels: int) -> tuple[int, int, list[bytes]]:
        """Draw a page. Return its width, height and rows of pixels: red, green and blue, one byte each.

        Args:
            number: Index of the page, from 0.
            scale: Pixels per point. It is reduced if the picture would exceed `most_pixels`.
            most_pixels: Limit of width times height.

        Raises:
            UnreadableError: The picture is damaged.
        """
        from PIL import ImageOps

        page = self._pages[number]
        fitting = min(scale, math.sqrt(most_pixels / (page.width * page.height)))
        width, height = (max(1, round(side * fitting)) for side in (page.width, page.height))
        with _checked():
            self._image.seek(page.frame)
            upright = ImageOps.exif_transpose(self._image)
            drawn = _on_white(upright).resize((width, height), reducing_gap=3.0).tobytes()
        return width, height, [drawn[at : at + 3 * width] for at in range(0, len(drawn), 3 * width)]


@contextmanager
def opened_pictures(content: bytes) -> Iterator[Pictures]:
    """Open the image file of some bytes.

    Raises:
        UnreadableError: The file is damaged, a picture in it is too large, or Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise _unreadable("Pillow, which opens pictures", "none", "install auscult[scans]") from error

    with _checked():
        image = Image.open(io.BytesIO(content), formats=("PNG", "JPEG", "TIFF"))
        # Further frames of a JPEG or PNG file are previews or an animation.
        frames = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
        pages = [page for frame in range(frames) if (page := _page(image, frame)) is not None]
    with image:
        yield Pictures(image, pages)


def _page(image: Any, frame: int) -> _Page | None:
    """Return the page of a frame; None for a preview of another page."""
    image.seek(frame)
    if image.format == "TIFF" and frame and image.tag_v2.get(_SUBFILE, 0) & 1:
        return None
    wide, high = image.size
    if wide * high > _MOST_DOTS:
        raise _unreadable(f"a picture of at most {_MOST_DOTS:,} dots", f"one of {wide * high:,}", "save it smaller")
    across, down = (float(each) for each in image.info.get("dpi", (0, 0)))
    # Pillow turns a TIFF file when it opens it.
    if image.format != "TIFF" and image.getexif().get(_ORIENTATION, 1) >= _SWAPPED:
        wide, high, across, down = high, wide, down, across
    width, height = (72 * side / per if per > 0 else 0.0 for side, per in ((wide, across), (high, down)))
    if not _SHORTEST <= max(width, height) <= _LONGEST or min(width, height) < 1:
        width, height = (side * _A4 / max(wide, high) for side in (wide, high))
    return _Page(frame, (wide, high), width, height)


def _on_white(image: Any) -> Any:
    """Convert a picture to RGB. Transparent dots become white."""
    from PIL import Image

    if image.mode.startswith("I;16"):
        # Pillow clips 16-bit values at 255 instead of scaling them.
        image = image.convert("I").point(lambda value: value / 256).convert("L")
    if not image.has_transparency_data:
        return image.convert("RGB")
    clear = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", clear.size, "white"), clear).convert("RGB")


@contextmanager
def _checked() -> Iterator[None]:
    """Turn errors of Pillow into UnreadableError: a damaged picture raises errors of many types."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if hasattr(error, "remedy"):
            raise
        got = f"a damaged one ({type(error).__name__})"
        raise _unreadable("a whole picture", got, "fetch it again, or save it as PNG from a viewer") from error


def _unreadable(expected: str, got: str, remedy: str) -> UnreadableError:
    from auscult.readers.contract import UnreadableError

    return UnreadableError("image", expected, got, remedy)
