"""The lines of a text file, plain or compressed; whatever keeps one from being read becomes one sentence."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from auscult.errors import DataError

_BOM = b"\xef\xbb\xbf"
_REMEDIES: dict[type[OSError], str] = {
    PermissionError: "correct its permissions",
    FileNotFoundError: "check the path",
    IsADirectoryError: "name a file in it",
}


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Stream the lines of a UTF-8 file, of which one is in memory at a time.

    Args:
        path: Unpacked where it ends in `.gz` or `.bz2`. A byte order mark is left out.

    Yields:
        (number, line), the first being 1, without the characters that end it.

    Raises:
        DataError: The file cannot be read or is damaged, or a line is not UTF-8; names file and line.
    """
    number = 0
    try:
        with _open(path) as lines:
            # Decoded line by line: a reader of text decodes by the block, and cannot tell where in it a bad byte is.
            for number, line in enumerate(lines, 1):
                yield number, (line.removeprefix(_BOM) if number == 1 else line).decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        got = f"the byte 0x{error.object[error.start]:02x}"
        raise DataError(f"UTF-8 text at {path}:{number}", got, "save the file as UTF-8") from error
    except (EOFError, zlib.error) as error:
        raise _damaged(path, number, error) from error
    except OSError as error:
        # Of what is wrong in a file, and not with it, the system knows no number.
        raise (_damaged(path, number, error) if error.errno is None else unreadable(path, error)) from error


def unreadable(path: Path, error: OSError) -> DataError:
    """The error for a file or folder that the system does not let us read, which it names.

    Args:
        path: What was to be read.
        error: What the system said, perhaps of a file in it.
    """
    remedy = next((said for kind, said in _REMEDIES.items() if isinstance(error, kind)), "check the path and the disk")
    place = error.filename or path
    return DataError(f"a file that can be read at {place}", error.strerror or str(error), remedy)


def _open(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path))
    return cast(BinaryIO, bz2.open(path)) if path.suffix == ".bz2" else path.open("rb")


def _damaged(path: Path, number: int, error: Exception) -> DataError:
    return DataError(f"a whole compressed file at {path}", f"damage behind line {number}: {error}", "copy it again")


__all__ = ["read_lines", "unreadable"]
