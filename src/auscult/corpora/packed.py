"""Files that may be gzip-compressed, whatever they are called."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

_GZIP = b"\x1f\x8b"


def open_unpacked(path: Path) -> gzip.GzipFile | io.BufferedReader:
    """A file's bytes, unpacked where it is gzip-compressed, which is told by content; for the caller to close.

    Raises:
        OSError: It cannot be opened.
    """
    with path.open("rb") as probe:
        packed = probe.read(len(_GZIP)) == _GZIP
    return gzip.open(path, "rb") if packed else path.open("rb")


__all__ = ["open_unpacked"]
