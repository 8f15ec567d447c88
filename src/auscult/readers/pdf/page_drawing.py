"""Draws one page of a PDF or a file of pictures: read from standard input, written to standard output as PNG.

`page_images` runs it as a file of its own. It loads the file beside it that opens what was read without the rest of
Auscult, which would take most of the time that a page takes.
"""

from __future__ import annotations

import importlib.util
import json
import os
import struct
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

TOLD = 3
"""What it exits with where it wrote an error instead."""
MOST_PIXELS = 8_000_000
"""Of a picture: an A4 page at nearly four pixels a point. A larger page is drawn smaller."""


def png(width: int, height: int, rows: Sequence[bytes]) -> bytes:
    """Rows of pixels (red, green, blue) as a PNG."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    # A zero before each row: it is stored as it is.
    body = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
    chunks = ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def main(page: int, scale: float, seconds: int, memory: int) -> None:
    """Limit this process, read a PDF or pictures and write a page, or an error."""
    content = sys.stdin.buffer.read()
    opened = _opener(content)
    _limit(seconds, memory)
    try:
        with opened(content) as pdf:
            if not 0 <= page < len(pdf):
                _tell("", f"a page from 0 to {len(pdf) - 1}", f"page {page}", "choose another")
            picture = png(*pdf.draw(page, scale, MOST_PIXELS))
    except Exception as error:
        if not hasattr(error, "remedy"):
            raise
        _tell(getattr(error, "kind", ""), error.expected, error.got, error.remedy)  # type: ignore[attr-defined]
    else:
        sys.stdout.buffer.write(picture)


def _tell(*told: str) -> None:
    sys.stdout.buffer.write(json.dumps(told).encode())
    sys.stdout.flush()
    os._exit(TOLD)


def _opener(content: bytes) -> Callable[[bytes], Any]:
    """Return what opens a file for its pages to be drawn."""
    pictures = _beside("pictures")
    if pictures.picture_type(content):
        return cast(Callable[[bytes], Any], pictures.opened_pictures)
    # Loaded before there are limits.
    importlib.import_module("pypdfium2")
    return cast(Callable[[bytes], Any], _beside("pdfium").opened)


def _beside(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"{name}_alone", Path(__file__).with_name(f"{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no {name}.py beside this file")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _limit(seconds: int, memory: int) -> None:
    import resource

    if sys.platform.startswith("linux"):
        taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + memory,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
