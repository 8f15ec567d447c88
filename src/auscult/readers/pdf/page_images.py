"""Pages of a PDF, or of a file of scanned pages, as pictures, for people who look at where an answer stands.

A file may be made to harm, and PDFium is a large program in C++: a server has pages drawn by `PageRenderer`, in a
process of their own that has limits of time and memory, opens no file and dies after one page. Nothing is written to
disk; a few pictures are kept in memory.
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
from auscult.readers.pdf.page_drawing import MOST_PIXELS, TOLD, png
from auscult.readers.pdf.pdfium import opened
from auscult.readers.pdf.pictures import opened_pictures, picture_type

_LARGEST_SCALE: Final = 8.0
_PROGRAM: Final = str(Path(__file__).with_name("page_drawing.py"))


def page_png(content: bytes, page: int, scale: float) -> bytes:
    """A page as PNG, drawn in this process; other threads that draw or read a PDF wait.

    Args:
        content: A PDF, or a file of pictures (PNG, JPEG, TIFF).
        page: From 0.
        scale: Pixels a point, above 0 and at most 8. A picture of more than 8 million pixels is drawn smaller.

    Raises:
        DataError: There is no such page, or the scale is out of range.
        UnreadableError: The file is broken or encrypted.
    """
    _check_scale(scale)
    with (opened_pictures if picture_type(content) else opened)(content) as pdf:
        if not 0 <= page < len(pdf):
            raise DataError(f"a page from 0 to {len(pdf) - 1}", f"page {page}", "choose another")
        return png(*pdf.draw(page, scale, MOST_PIXELS))


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderLimits:
    """What drawing one page may take.

    Attributes:
        seconds: Of time, and as many of a processor's.
        memory: Bytes of address space, beyond what the process has when it begins.
        at_once: Processes at the same time; others wait for as long as a page may take.
        kept: Bytes of pictures that are kept.
    """

    seconds: float = 10.0
    memory: int = 1 << 30
    at_once: int = 2
    kept: int = 64 << 20


class PageRenderer:
    """Draws pages in processes of their own; safe to use from several threads."""

    def __init__(self, limits: RenderLimits | None = None) -> None:
        """Start nothing yet."""
        self._limits = limits or RenderLimits()
        self._slots = threading.BoundedSemaphore(self._limits.at_once)
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[bytes, int, float], bytes] = OrderedDict()
        self._size = 0

    def render(self, content: bytes, page: int, scale: float) -> bytes:
        """As `page_png`; the same page at the same scale is drawn once as long as it is kept.

        Raises:
            DataError: There is no such page, the scale is out of range, or too many pages are being drawn.
            UnreadableError: The file is broken or encrypted, or takes more time or memory than a page may.
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
    asked = [str(page), str(float(scale)), str(math.ceil(limits.seconds)), str(limits.memory)]
    # It imports what this process does, and gets none of its secrets.
    command = [sys.executable, "-B", "-P", _PROGRAM, *asked]
    places = os.pathsep.join(os.path.abspath(place) for place in sys.path if place)  # noqa: PTH100
    clean = {"PATH": os.defpath, "PYTHONPATH": places, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, and numbers
            command, input=content, capture_output=True, timeout=limits.seconds, check=False, env=clean, cwd=os.sep
        )
    except subprocess.TimeoutExpired:
        raise _too_much("more time than one may") from None
    if done.returncode == 0 and done.stdout.startswith(b"\x89PNG"):
        return done.stdout
    if done.returncode == TOLD:
        kind, *told = map(str, json.loads(done.stdout))
        raise UnreadableError(kind, *told) if kind else DataError(*told)
    raise _too_much("more memory than one may, or damaged what draws it")


def _too_much(got: str) -> UnreadableError:
    remedy = "read the text instead, or save a copy of the PDF from a viewer"
    return UnreadableError("PDF that cannot be drawn", "a page that can be drawn", f"one that took {got}", remedy)


__all__ = ["MOST_PIXELS", "PageRenderer", "RenderLimits", "page_png"]
