"""Scanned pages: their words, as RapidOCR recognises them in a picture of the page, where it is installed.

Its models come inside its package, so that nothing is fetched. A word has a box as one of a text layer has; how sure
the engine is of its line is told by page. Lines of nearly the usual height count as of one size of letters, so that
headings and paragraphs are found as in other pages; but a heading that is bold and no larger is not.
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
from auscult.readers.pdf.pdfium import Pdf
from auscult.readers.pdf.pictures import Pictures
from auscult.readers.pdf.words import Word

#: Pixels a point: 200 an inch. Of 150, a line alone on a page was not found.
_SCALE: Final = 200 / 72
_MOST_PIXELS: Final = 8_000_000
#: What is recognised with less confidence is a stain or a drawing rather than letters.
_LEAST: Final = 0.6
#: How large letters are, times the height of an "x".
_OF_HEIGHT: Final = 1.9
#: Rows of a line that have as much ink as this, of the row with most, are as high as an "x".
_FULL: Final = 0.4
_STRETCH: Final = 4
_ALIKE: Final = 0.12
#: Of the time that a file may take, what recognising may: the rest is for what comes after.
_SHARE: Final = 0.7


class _Line(NamedTuple):
    height: float
    confidence: float
    words: Sequence[tuple[str, Sequence[Sequence[float]]]]


class Scans:
    """Recognises the scanned pages of one file, one after the other, as long as there is time.

    Attributes:
        confidence: By number of page, from 0: the mean of its lines, in (0, 1].
        late: Pages that there was no time for.
    """

    def __init__(self, pdf: Pdf | Pictures) -> None:
        """Begin with none."""
        self._pdf = pdf
        self._begun = time.monotonic()
        self._longest = 0.0
        self.confidence: dict[int, float] = {}
        self.late: list[int] = []

    def words(self, number: int, width: float) -> list[Word]:
        """The words of a page, from above to below; none where no engine is installed, or none are found.

        Args:
            number: Of the page, from 0.
            width: Of the page, in points.

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
        found: list[Word] = []
        for line in lines:
            height = usual if abs(line.height - usual) <= _ALIKE * usual else line.height
            size = round(2 * _OF_HEIGHT * height / scale) / 2
            for text, corners in line.words:
                across, down = ([corner[axis] / scale for corner in corners] for axis in (0, 1))
                box = min(across), min(down), max(across), max(down)
                found.append(Word(text, number, box, *box, size, bold=False, order=len(found), leftwards=False))
        return found

    def _lines(self, number: int, width: float) -> tuple[list[_Line], float]:
        """Return the lines of a page, and how many pixels a point has: fewer on a large page."""
        wide, high, rows = self._pdf.draw(number, _SCALE, _MOST_PIXELS)
        picture = np.frombuffer(b"".join(rows), np.uint8).reshape(high, wide, 3)
        scale = wide / max(width, 1.0)
        # The engine takes blue first. What looks for lines that are upside down takes long ones for such.
        read = _engine()(picture[:, :, ::-1], return_word_box=True, use_cls=False)
        if read.txts is None:
            return [], scale
        found = []
        for corners, confidence, words in zip(read.boxes, read.scores, read.word_results, strict=True):
            written = [(text, box) for text, _, box in words if text.strip()]
            if confidence >= _LEAST and written:
                found.append(_Line(_height(picture, np.asarray(corners)), float(confidence), written))
        return found, scale


def _height(picture: npt.NDArray[np.uint8], corners: npt.NDArray[Any]) -> float:
    """The height of the small letters of a line, in pixels: its box is as high as the letters that it happens to have.

    It is the median over short stretches, as a long line may lie askew.

    Args:
        picture: Of the page, (height, width, 3).
        corners: Of the line's box, (4, 2).
    """
    (left, top), (right, bottom) = (
        np.maximum(corners.min(axis=0), 0).astype(int),
        np.ceil(corners.max(axis=0)).astype(int),
    )
    light = picture[top:bottom, left:right].mean(axis=2)
    dark = np.where(light < light.mean(), light.max(initial=0) - light, 0.0)
    found = []
    for first in range(0, right - left, _STRETCH * (bottom - top) or 1):
        ink = dark[:, first : first + _STRETCH * (bottom - top)].sum(axis=1)
        full = np.flatnonzero(ink >= _FULL * ink.max(initial=0))
        found.append(float(full[-1] - full[0] + 1) if ink.any() else 0.0)
    return median(found) if found else 0.0


@cache
def _engine() -> Any:
    """The engine, loaded once; None where it is not installed."""
    # It runs on ONNX Runtime, whose telemetry is on by default.
    telemetry.switch_off()
    try:
        from rapidocr import RapidOCR
    except ImportError:
        return None
    return RapidOCR(params={"EngineConfig.onnxruntime.intra_op_num_threads": 1, "Global.log_level": "error"})


def longer_scans() -> str:
    """Return the remedy that gives recognising scanned pages more time."""
    most = limits()
    return f"give it longer ({VARIABLE}='seconds={10 * most.seconds}, scan={10 * most.scan}')"


def is_installed() -> bool:
    """Whether scanned pages can be recognised."""
    return _engine() is not None
