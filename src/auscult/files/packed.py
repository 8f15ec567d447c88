"""Files that may be compressed; and gzip files that are the same, byte for byte, for the same content."""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

Unpacked = gzip.GzipFile | bz2.BZ2File | io.BufferedReader
"""Bytes to read, whatever they are packed in."""

GZIP = b"\x1f\x8b"
"""What a gzip file begins with."""
_BZIP2 = b"BZh"


def open_unpacked(path: Path, *, bzip2: bool = False) -> Unpacked:
    """Open a file, unpacked where its content is gzip-compressed; for the caller to close.

    Args:
        path: The file, whatever it is called.
        bzip2: Unpack that too. Not for plain text, which may begin like a file that is packed so.

    Raises:
        OSError: It cannot be opened.
    """
    with path.open("rb") as probe:
        head = probe.read(max(len(GZIP), len(_BZIP2)))
    if head.startswith(GZIP):
        return gzip.open(path, "rb")
    return bz2.open(path, "rb") if bzip2 and head == _BZIP2 else path.open("rb")


def open_as_named(path: Path) -> Unpacked:
    """Open a file, unpacked where its name ends in `.gz` or `.bz2`; for the caller to close.

    Raises:
        OSError: It cannot be opened. One that is not what its name says gives an error when it is read.
    """
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    return bz2.open(path, "rb") if path.suffix == ".bz2" else path.open("rb")


@contextmanager
def packing(path: Path, level: int = 9) -> Iterator[gzip.GzipFile]:
    """Write a gzip file; with neither name nor time in its head, so that equal content gives equal files.

    Args:
        path: The file; see `writing` for how to write it whole.
        level: 1 is fast, 9 small.

    Raises:
        OSError: It cannot be written.
    """
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=level, mtime=0) as packed,
    ):
        yield packed
