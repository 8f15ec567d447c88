"""PDFs for the tests, drawn at known places."""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Callable, Sequence

from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

LINE = 14
BODY = ("Helvetica", 10)
HEADING = ("Helvetica-Bold", 14)
TITLE = ("Helvetica-Bold", 22)


class Drawn:
    """A PDF that is drawn, and where each of its words was put: (word, page, left, right, baseline from the top)."""

    def __init__(self, size: tuple[float, float] = A4, **options: object) -> None:
        self.size = size
        self.buffer = io.BytesIO()
        self.canvas = Canvas(self.buffer, pagesize=size, invariant=True, **options)
        self.places: list[tuple[str, int, float, float, float]] = []
        self.page = 0

    def line(self, x: float, y: float, text: str, font: tuple[str, float] = BODY) -> None:
        """Draw a line with its baseline at y points from the top."""
        self.canvas.setFont(*font)
        self.canvas.drawString(x, self.size[1] - y, text)
        at = x
        for word in text.split(" "):
            width = stringWidth(word, *font)
            self.places.append((word, self.page, at, at + width, y))
            at += width + stringWidth(" ", *font)

    def lines(self, x: float, y: float, texts: Sequence[str], font: tuple[str, float] = BODY) -> float:
        """Draw lines below each other; where the next would be."""
        for number, text in enumerate(texts):
            self.line(x, y + number * LINE, text, font)
        return y + len(texts) * LINE

    def paragraph(self, x: float, y: float, width: float, text: str, font: tuple[str, float] = BODY) -> float:
        """Draw a text in lines as long as have place; where the next would be."""
        return self.lines(x, y, wrapped(text, width, font), font)

    def turned(self, x: float, y: float, degrees: float, text: str, font: tuple[str, float] = BODY) -> None:
        """Draw a line from a point, y from the top, turned against the clock."""
        self.canvas.saveState()
        self.canvas.translate(x, self.size[1] - y)
        self.canvas.rotate(degrees)
        self.canvas.setFont(*font)
        self.canvas.drawString(0, 0, text)
        self.canvas.restoreState()

    def next_page(self) -> None:
        """Begin another page."""
        self.canvas.showPage()
        self.page += 1

    def scan(self, picture: bytes = b"") -> None:
        """A picture over the whole page, by default of nothing."""
        from reportlab.lib.utils import ImageReader

        self.canvas.drawImage(ImageReader(io.BytesIO(picture or grey_png())), 0, 0, *self.size)

    def content(self) -> bytes:
        """The PDF."""
        self.canvas.save()
        return self.buffer.getvalue()


def wrapped(text: str, width: float, font: tuple[str, float] = BODY) -> list[str]:
    """A text in lines of at most a width."""
    lines: list[str] = []
    for word in text.split():
        if lines and stringWidth(f"{lines[-1]} {word}", *font) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def grey_png() -> bytes:
    """A picture of 2 x 2 grey dots."""
    rows = b"".join(b"\0" + bytes([200, 220]) for _ in range(2))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


GOUT = (
    "Gout is a form of arthritis caused by crystals of uric acid in a joint. It most often begins in the big toe and "
    "comes at night, with a pain that wakes people up."
)
CAUSES = (
    "Too much uric acid in the blood lets crystals form. Kidney disease, some water tablets, beer and a lot of red "
    "meat make it likelier."
)
TREATMENT = "An attack is treated with anti-inflammatory tablets or colchicine and rest."


def leaflet(pages: int = 3, decorate: Callable[[Drawn], None] | None = None, *, compressed: bool = True) -> Drawn:
    """A leaflet with a title, headings, a list, running headers and footers with page numbers."""
    drawn = Drawn(pageCompression=int(compressed))
    drawn.canvas.setTitle("Gout: what you should know")
    drawn.canvas.setAuthor("Ward 7")
    for page in range(pages):
        drawn.line(60, 40, "Gout guideline 2024", ("Helvetica", 8))
        y = 90.0
        if page == 0:
            drawn.line(60, y, "Gout: what you should know", TITLE)
            y = drawn.paragraph(60, y + 40, 470, GOUT) + 12
        drawn.line(60, y, f"{page + 1}. Causes" if page == 0 else f"{page + 1}. More on treatment", HEADING)
        y = drawn.paragraph(60, y + 26, 470, CAUSES) + 12
        drawn.line(60, y, "When to call a doctor", ("Helvetica-Bold", 10))
        y += 20
        for item in ("• The joint is hot and you have a fever.", "• The pain does not get better within two days."):
            drawn.line(70, y, item)
            y += LINE
        drawn.paragraph(60, y + 10, 470, TREATMENT)
        drawn.line(280, 810, f"Page {page + 1} of {pages}", ("Helvetica", 8))
        if decorate:
            decorate(drawn)
        if page + 1 < pages:
            drawn.next_page()
    return drawn


def pages_without_a_size() -> list[bytes]:
    """PDFs of one page with the words "Above all", whose boxes are empty, damaged, or have nothing in common."""

    def drawn(crop_box: tuple[float, float, float, float] | None = None) -> bytes:
        page = Drawn()
        if crop_box:
            page.canvas.setCropBox(crop_box)
        page.line(90, 100, "Above all")
        return page.content()

    media_box = re.compile(rb"/MediaBox \[[^]]*\]")
    empty = (b"[ 0 0 0 0 ]", b"[ 0 0 595 0 ]", b"[ 595 842 595 842 ]", b"[ 0 0 ]", b"[ 0 0 1e38 1e38 ]")
    beside = drawn((700, 900, 800, 950))
    # A media box that pages inherit is not named by all of a library's functions.
    inherited = media_box.sub(b"", beside).replace(b"/Type /Pages", b"/MediaBox [ 0 0 595 842 ] /Type /Pages")
    return [
        beside,
        inherited,
        drawn((0, 0, 0, 0)),
        drawn((596, 10, 700, 20)),
        *(media_box.sub(b"/MediaBox " + box, drawn()) for box in empty),
    ]
