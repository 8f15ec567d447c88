"""Words of scanned pages, recognised by RapidOCR in a picture of the page, if it is installed.

The models are part of its package, so nothing is downloaded. Words have boxes, as those of a text layer do. The
confidence of the engine is kept per page. Lines of nearly the usual height get the same size of letters, so that
headings and paragraphs are recognised as on other pages. A heading that is bold but not larger is not recognised.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from statistics import fmean, median
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from auscult import telemetry
from auscult.files.limits import VARIABLE, limits
from auscult_readers.pdf.pdfium import Pdf
from auscult_readers.pdf.pictures import Pictures
from auscult_readers.pdf.words import Word

#: Pixels per point: 200 per inch. At 150, the engine missed a single line on a page.
_SCALE: Final = 200 / 72
_MOST_PIXELS: Final = 8_000_000
#: Lines of lower confidence are usually stains or drawings.
_LEAST: Final = 0.6
#: Size of the font divided by the height of an "x".
_OF_HEIGHT: Final = 1.9
#: The height of an "x" is that of the rows of pixels with at least this share of the ink of the fullest row.
_FULL: Final = 0.4
_STRETCH: Final = 4
_ALIKE: Final = 0.12
#: Share of a file's time limit for recognition; the rest is for what follows.
_SHARE: Final = 0.7


class _Line(NamedTuple):
    height: float
    confidence: float
    words: Sequence[tuple[str, Sequence[Sequence[float]]]]


class Scans:
    """Recognises the scanned pages of one file, one after the other, within the time limit.

    Attributes:
        confidence: Mean confidence of a page's lines, in (0, 1], by index of the page.
        late: Indexes of pages for which no time was left.
    """

    def __init__(self, pdf: Pdf | Pictures) -> None:
        """Start the clock for the pages of a file."""
        self._pdf = pdf
        self._begun = time.monotonic()
        self._longest = 0.0
        self.confidence: dict[int, float] = {}
        self.late: list[int] = []

    def words(self, number: int, width: float) -> list[Word]:
        """Return the words of a page, from top to bottom; none if no engine is installed or no time is left.

        Args:
            number: Index of the page, from 0.
            width: Width of the page, in points.

        Raises:
            UnreadableError: The page is damaged.
        """
        most = limits()
        if not most.scan or _engine() is None:
            return []
        now = time.monotonic()
        if self._longest > most.scan or now - self._begun + self._longest > _SHARE * most.seconds:
            self.late.append(number)
            return []
        lines, scale = self._lines(number, width)
        self._longest = max(self._longest, time.monotonic() - now)
        if not lines:
            return []
        self.confidence[number] = fmean(line.confidence for line in lines)
        usual = median(line.height for line in lines for text, _ in line.words for _ in text)
        words: list[Word] = []
        for line in lines:
            height = usual if abs(line.height - usual) <= _ALIKE * usual else line.height
            size = round(2 * _OF_HEIGHT * height / scale) / 2
            for text, corners in line.words:
                across, down = ([corner[axis] / scale for corner in corners] for axis in (0, 1))
                box = min(across), min(down), max(across), max(down)
                words.append(Word(text, number, box, *box, size, bold=False, order=len(words), leftwards=False))
        return words

    def _lines(self, number: int, width: float) -> tuple[list[_Line], float]:
        """Return the lines of a page, and the scale of its picture in pixels per point."""
        wide, high, rows = self._pdf.draw(number, _SCALE, _MOST_PIXELS)
        picture = np.frombuffer(b"".join(rows), np.uint8).reshape(high, wide, 3)
        scale = wide / max(width, 1.0)
        # The engine expects blue first. Its detection of upside-down lines (use_cls) mistakes long lines for such.
        read = _engine()(picture[:, :, ::-1], return_word_box=True, use_cls=False)
        if read.txts is None:
            return [], scale
        lines = []
        for corners, confidence, words in zip(read.boxes, read.scores, read.word_results, strict=True):
            written = [(text, box) for text, _, box in words if text.strip()]
            if confidence >= _LEAST and written:
                lines.append(_Line(_height(picture, np.asarray(corners)), float(confidence), written))
        return lines, scale


def _height(picture: npt.NDArray[np.uint8], corners: npt.NDArray[Any]) -> float:
    """Return the height of a line's small letters, in pixels.

    The height of its box is of no use: it depends on which letters the line has. The result is the median over short
    parts of the line, since a long line may be skewed.

    Args:
        picture: Picture of the page, (height, width, 3).
        corners: Corners of the line's box in pixels, (4, 2).
    """
    (left, top), (right, bottom) = (
        np.maximum(corners.min(axis=0), 0).astype(int),
        np.ceil(corners.max(axis=0)).astype(int),
    )
    light = picture[top:bottom, left:right].mean(axis=2)
    dark = np.where(light < light.mean(), light.max(initial=0) - light, 0.0)
    heights = []
    for first in range(0, right - left, _STRETCH * (bottom - top) or 1):
        ink = dark[:, first : first + _STRETCH * (bottom - top)].sum(axis=1)
        full = np.flatnonzero(ink >= _FULL * ink.max(initial=0))
        heights.append(float(full[-1] - full[0] + 1) if ink.any() else 0.0)
    return median(heights) if heights else 0.0


@cache
def _engine() -> Any:
    """Return the engine, loaded once; None if it is not installed."""
    # The engine uses ONNX Runtime, whose telemetry is on by default.
    telemetry.switch_off()
    try:
        from rapidocr import RapidOCR
    except ImportError:
        return None
    return RapidOCR(params={"EngineConfig.onnxruntime.intra_op_num_threads": 1, "Global.log_level": "error"})


def longer_scans() -> str:
    """Return the remedy for a message: how to allow more time for scanned pages."""
    most = limits()
    return f"give it longer ({VARIABLE}='seconds={10 * most.seconds}, scan={10 * most.scan}')"


def is_installed() -> bool:
    """Whether scanned pages can be recognised."""
    return _engine() is not None
