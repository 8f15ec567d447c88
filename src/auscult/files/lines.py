"""The lines of a text file, plain or compressed; whatever keeps one from being read becomes one sentence."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from pathlib import Path

from auscult.errors import DataError
from auscult.files.limits import lines_within
from auscult.files.packed import Unpacked, open_as_named

_REMEDIES: dict[type[OSError], str] = {
    PermissionError: "correct its permissions",
    FileNotFoundError: "check the path",
    IsADirectoryError: "name a file in it",
}


class NotUtf8Error(DataError):
    """A line of a file is not UTF-8.

    Attributes:
        line: Counted from 1.
        byte: The first that is wrong.
        position: Its place in the line, counted from 0.
    """

    def __init__(self, path: Path, line: int, error: UnicodeDecodeError) -> None:
        self.line, self.byte, self.position = line, error.object[error.start], error.start
        super().__init__(f"UTF-8 text at {path}:{line}", f"the byte 0x{self.byte:02x}", "save the file as UTF-8")


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Stream the lines of a UTF-8 file, of which one is in memory at a time.

    Args:
        path: Unpacked where its name ends in `.gz` or `.bz2`. A byte order mark is left out. Only "\n" and "\r\n" end a
            line: texts may hold other characters that count as line breaks elsewhere.

    Yields:
        (number, line), the first being 1, without the characters that end it.

    Raises:
        NotUtf8Error: A line is not UTF-8.
        TooLargeError: A line or the file is too large.
        DataError: The file cannot be read or is damaged.
    """
    number = 0
    try:
        with open_as_named(path) as stream:
            for number, line in decoded(stream, path):
                yield number, line.rstrip("\r\n")
    except (EOFError, zlib.error) as error:
        raise _damaged(path, number, error) from error
    except OSError as error:
        # Of what is wrong in a file, and not with it, the system knows no number.
        raise (_damaged(path, number, error) if error.errno is None else unreadable(path, error)) from error


def decoded(stream: Unpacked, path: Path) -> Iterator[tuple[int, str]]:
    r"""Yield the lines of an open UTF-8 file, with their ends; see `read_lines`.

    Raises:
        NotUtf8Error: A line is not UTF-8.
        TooLargeError: A line or the file is too large.
    """
    # Line by line: a reader of text decodes by the block, and cannot tell where in it a bad byte is.
    for number, line in enumerate(lines_within(stream, path), 1):
        try:
            yield number, (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotUtf8Error(path, number, error) from error


def unreadable(path: Path, error: OSError) -> DataError:
    """Return the error for a file or folder that the system does not let us read, which it names.

    Args:
        path: What was to be read.
        error: What the system said, perhaps of a file in it.
    """
    remedy = next((said for kind, said in _REMEDIES.items() if isinstance(error, kind)), "check the path and the disk")
    place = error.filename or path
    return DataError(f"a file that can be read at {place}", error.strerror or str(error), remedy)


def _damaged(path: Path, number: int, error: Exception) -> DataError:
    return DataError(f"a whole compressed file at {path}", f"damage behind line {number}: {error}", "copy it again")
