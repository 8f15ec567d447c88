"""Pictures of the pages of a PDF or image file, so that people can see an answer in its place.

A file may be malicious, and PDFium is a large C++ program. A server therefore uses `PageRenderer`, which draws each
page in a new process with limits on time and memory. That process opens no file and ends after one page. Nothing is
written to disk; recent pictures are cached in memory.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from auscult.errors import DataError
from auscult.readers.contract import UnreadableError
from auscult_readers.pdf.page_drawing import ERROR_WRITTEN, MOST_PIXELS, png
from auscult_readers.pdf.pdfium import opened
from auscult_readers.pdf.pictures import opened_pictures, picture_type

_LARGEST_SCALE: Final = 8.0
_PROGRAM: Final = str(Path(__file__).with_name("page_drawing.py"))


def page_png(content: bytes, page: int, scale: float) -> bytes:
    """Draw a page as PNG in this process. Other threads that draw or read a PDF wait.

    Args:
        content: A PDF or an image file (PNG, JPEG, TIFF).
        page: Index of the page, from 0.
        scale: Pixels per point, above 0 and at most 8. It is reduced for pictures of more than 8 million pixels.

    Raises:
        DataError: The page does not exist, or the scale is out of range.
        UnreadableError: The file is broken or encrypted.
    """
    _check_scale(scale)
    with (opened_pictures if picture_type(content) else opened)(content) as pdf:
        if not 0 <= page < len(pdf):
            raise DataError(f"a page from 0 to {len(pdf) - 1}", f"page {page}", "choose another")
        return png(*pdf.draw(page, scale, MOST_PIXELS))


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderLimits:
    """Limits of a `PageRenderer`.

    Attributes:
        seconds: Elapsed time per page; also processor time per page, rounded up.
        memory: Bytes of address space that a drawing process may add.
        at_once: Drawing processes at the same time. Further requests wait for at most `seconds`.
        kept: Size of the cache of pictures, in bytes.
    """

    seconds: float = 10.0
    memory: int = 1 << 30
    at_once: int = 2
    kept: int = 64 << 20


class PageRenderer:
    """Draws each page in a new process and caches the pictures. Threads may share one."""

    def __init__(self, limits: RenderLimits | None = None) -> None:
        """Create a renderer with an empty cache; no process is started yet."""
        self._limits = limits or RenderLimits()
        self._slots = threading.BoundedSemaphore(self._limits.at_once)
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[bytes, int, float], bytes] = OrderedDict()
        self._size = 0

    def render(self, content: bytes, page: int, scale: float) -> bytes:
        """Return a page as PNG, from the cache or drawn. The arguments are those of `page_png`.

        Raises:
            DataError: The page does not exist, the scale is out of range, or too many pages are being drawn.
            UnreadableError: The file is broken or encrypted, or drawing exceeded the time or memory limit.
        """
        _check_scale(scale)
        key = hashlib.sha256(content).digest(), page, scale
        with self._lock:
            if (picture := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return picture
        if not self._slots.acquire(timeout=self._limits.seconds):
            raise DataError("fewer pages drawn at once", "too many", "try again in a moment")
        try:
            picture = _drawn_apart(content, page, scale, self._limits)
        finally:
            self._slots.release()
        self._keep(key, picture)
        return picture

    def _keep(self, key: tuple[bytes, int, float], picture: bytes) -> None:
        with self._lock:
            self._size += len(picture) - len(self._kept.pop(key, b""))
            self._kept[key] = picture
            while self._size > self._limits.kept:
                _, dropped = self._kept.popitem(last=False)
                self._size -= len(dropped)


def _check_scale(scale: float) -> None:
    if not (math.isfinite(scale) and 0 < scale <= _LARGEST_SCALE):
        raise DataError("a scale above 0 and at most 8", f"{scale}", "choose another")


def _drawn_apart(content: bytes, page: int, scale: float, limits: RenderLimits) -> bytes:
    arguments = [str(page), str(float(scale)), str(math.ceil(limits.seconds)), str(limits.memory)]
    # The new process imports from the same folders. It does not inherit environment variables, which may be secret.
    command = [sys.executable, "-B", "-P", _PROGRAM, *arguments]
    places = os.pathsep.join(os.path.abspath(place) for place in sys.path if place)  # noqa: PTH100
    clean = {"PATH": os.defpath, "PYTHONPATH": places, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        process = subprocess.run(  # noqa: S603 - this interpreter, and numbers
            command, input=content, capture_output=True, timeout=limits.seconds, check=False, env=clean, cwd=os.sep
        )
    except subprocess.TimeoutExpired:
        raise _too_much("more time than one may") from None
    if process.returncode == 0 and process.stdout.startswith(b"\x89PNG"):
        return process.stdout
    if process.returncode == ERROR_WRITTEN:
        kind, *details = map(str, json.loads(process.stdout))
        raise UnreadableError(kind, *details) if kind else DataError(*details)
    raise _too_much("more memory than one may, or damaged what draws it")


def _too_much(got: str) -> UnreadableError:
    remedy = "read the text instead, or save a copy of the PDF from a viewer"
    return UnreadableError("PDF that cannot be drawn", "a page that can be drawn", f"one that took {got}", remedy)


__all__ = ["MOST_PIXELS", "PageRenderer", "RenderLimits", "page_png"]
