"""Draw one page of a PDF or an image file: read the file from standard input, write PNG to standard output.

`page_images` runs this file as a program. It loads only the module beside it that opens the file (`pdfium` or
`pictures`): importing the rest of Auscult would take longer than drawing the page.
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

ERROR_WRITTEN = 3
"""Exit status if standard output holds an error, as JSON, instead of a picture."""
MOST_PIXELS = 8_000_000
"""Limit of a picture: an A4 page at nearly four pixels per point. A larger page is drawn at a smaller scale."""


def png(width: int, height: int, rows: Sequence[bytes]) -> bytes:
    """Encode rows of pixels (red, green, blue; one byte each) as PNG."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    # A PNG row begins with its filter type; 0 means that the row is not filtered.
    body = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
    chunks = ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def main(page: int, scale: float, seconds: int, memory: int) -> None:
    """Limit this process, then write the page of the file on standard input, or an error.

    Args:
        page: Index of the page, from 0.
        scale: Pixels per point.
        seconds: Limit of processor time.
        memory: Bytes of address space that the process may add.
    """
    content = sys.stdin.buffer.read()
    opened = _opener(content)
    _limit(seconds, memory)
    try:
        with opened(content) as pdf:
            if not 0 <= page < len(pdf):
                _exit_with_error("", f"a page from 0 to {len(pdf) - 1}", f"page {page}", "choose another")
            picture = png(*pdf.draw(page, scale, MOST_PIXELS))
    except Exception as error:
        if not hasattr(error, "remedy"):
            raise
        _exit_with_error(getattr(error, "kind", ""), error.expected, error.got, error.remedy)  # type: ignore[attr-defined]
    else:
        sys.stdout.buffer.write(picture)


def _exit_with_error(*fields: str) -> None:
    sys.stdout.buffer.write(json.dumps(fields).encode())
    sys.stdout.flush()
    os._exit(ERROR_WRITTEN)


def _opener(content: bytes) -> Callable[[bytes], Any]:
    """Return the function that opens a file so that its pages can be drawn."""
    pictures = _beside("pictures")
    if pictures.picture_type(content):
        return cast(Callable[[bytes], Any], pictures.opened_pictures)
    # Imported before the limits apply: the import alone needs memory.
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
        in_use = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + memory,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
