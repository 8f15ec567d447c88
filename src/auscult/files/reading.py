"""Read files, plain or compressed: their bytes, digests, lines, and rows of separated values.

If a file cannot be read, the error says so in one sentence. Gzip files written here have equal bytes for equal content.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import AnyStr

from auscult.errors import DataError
from auscult.files.limits import TooLargeError, limits

Unpacked = gzip.GzipFile | bz2.BZ2File | io.BufferedReader
"""A stream of a file's unpacked bytes."""

GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""
_BZIP2 = b"BZh"


def open_unpacked(path: Path, *, bzip2: bool = False) -> Unpacked:
    """Open a file and unpack it if its content is gzip-compressed; the caller has to close it.

    Args:
        path: The file, with any name.
        bzip2: Whether to unpack bzip2 too. Not for plain text, which may begin like such a file.

    Raises:
        OSError: It cannot be opened.
    """
    with path.open("rb") as probe:
        head = probe.read(max(len(GZIP), len(_BZIP2)))
    if head.startswith(GZIP):
        return gzip.open(path, "rb")
    return bz2.open(path, "rb") if bzip2 and head == _BZIP2 else path.open("rb")


def open_as_named(path: Path) -> Unpacked:
    """Open a file and unpack it if its name ends in `.gz` or `.bz2`; the caller has to close it.

    Raises:
        OSError: It cannot be opened. A file whose content does not match its name raises an error when it is read.
    """
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    return bz2.open(path, "rb") if path.suffix == ".bz2" else path.open("rb")


@contextmanager
def packing(path: Path, level: int = 9) -> Iterator[gzip.GzipFile]:
    """Write a gzip file without name and time in its header, so that equal content gives equal files.

    Args:
        path: The file; see `writing` for atomic writing.
        level: Compression level from 1 (fast) to 9 (small).

    Raises:
        OSError: It cannot be written.
    """
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=level, mtime=0) as packed,
    ):
        yield packed


def digest_of_file(path: Path) -> str:
    """Return the digest of a file's bytes, in hexadecimal.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def digest_of_unpacked(path: Path) -> str:
    """Return the digest of a gzip file's unpacked content, in hexadecimal.

    Raises:
        OSError, EOFError, zlib.error: It cannot be read, is no gzip file, or is cut short.
    """
    with gzip.open(path) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def digest_of_files(files: Iterable[Path], folder: Path) -> str:
    """Return the digest of the names and bytes of files, in hexadecimal.

    Args:
        files: The files, whose order matters.
        folder: Folder that the names are relative to.

    Raises:
        OSError: One cannot be read.
    """
    total = hashlib.sha256()
    for path in files:
        total.update(path.relative_to(folder).as_posix().encode())
        total.update(bytes.fromhex(digest_of_file(path)))
    return total.hexdigest()


_REMEDIES: dict[type[OSError], str] = {
    PermissionError: "correct its permissions",
    FileNotFoundError: "check the path",
    IsADirectoryError: "name a file in it",
}


class NotUtf8Error(DataError):
    """A line of a file is not UTF-8.

    Attributes:
        line: Line number, from 1.
        byte: The first invalid byte.
        position: Its position in the line, from 0.
    """

    def __init__(self, path: Path, line: int, error: UnicodeDecodeError) -> None:
        self.line, self.byte, self.position = line, error.object[error.start], error.start
        super().__init__(f"UTF-8 text at {path}:{line}", f"the byte 0x{self.byte:02x}", "save the file as UTF-8")


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Yield the lines of a UTF-8 file, with one in memory at a time.

    Args:
        path: The file, which is unpacked if its name ends in `.gz` or `.bz2`. A byte order mark is ignored. Only "\n"
            and "\r\n" end a line, as texts may contain other characters that are line breaks elsewhere.

    Yields:
        (number, line), numbered from 1, without the line break.

    Raises:
        NotUtf8Error: A line is not UTF-8.
        TooLargeError: A line or the file is too large.
        DataError: The file cannot be read or is damaged.
    """
    number = 0
    try:
        with open_as_named(path) as stream:
            for number, line in decode_lines(stream, path):
                yield number, line.rstrip("\r\n")
    except (EOFError, zlib.error) as error:
        raise _damaged(path, number, error) from error
    except OSError as error:
        # The system's errors have a number; those about the content of a file do not.
        raise (_damaged(path, number, error) if error.errno is None else unreadable(path, error)) from error


def lines_within(stream: Unpacked, path: Path) -> Iterator[bytes]:
    """Yield the lines of an open file, with their ends.

    Raises:
        TooLargeError: A line or the file is too large.
    """
    yield from limited_lines(stream.readline, path, "bytes")


def limited_lines(readline: Callable[[int], AnyStr], path: Path, unit: str) -> Iterator[AnyStr]:
    """Yield the lines that a function returns, within the limits; see `lines_within`.

    Args:
        readline: Function that returns the next line, up to a maximum length.
        path: Path of the file, for messages.
        unit: Unit of the lines' lengths: "bytes" or "characters".
    """
    most = limits()
    number = size = 0
    while line := readline(most.line + 1):
        number += 1
        size += len(line)
        where = f"{path}, line {number}"
        if len(line) > most.line:
            raise TooLargeError("line", "a line of", unit, where)
        if size > most.file:
            raise TooLargeError("file", "a file of", f"{unit}, unpacked", where)
        yield line


def decode_lines(stream: Unpacked, path: Path) -> Iterator[tuple[int, str]]:
    r"""Yield the lines of an open UTF-8 file, with their ends; see `read_lines`.

    Raises:
        NotUtf8Error: A line is not UTF-8.
        TooLargeError: A line or the file is too large.
    """
    # Decode line by line: a text reader decodes whole blocks and cannot tell the line of an invalid byte.
    for number, line in enumerate(lines_within(stream, path), 1):
        try:
            yield number, (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotUtf8Error(path, number, error) from error


def unreadable(path: Path, error: OSError) -> DataError:
    """Return an error for a file or folder that the system cannot read; the message names it.

    Args:
        path: The file or folder.
        error: The system's error, perhaps about a file in the folder.
    """
    remedy = next((said for kind, said in _REMEDIES.items() if isinstance(error, kind)), "check the path and the disk")
    place = error.filename or path
    return DataError(f"a file that can be read at {place}", error.strerror or str(error), remedy)


def _damaged(path: Path, number: int, error: Exception) -> DataError:
    return DataError(f"a whole compressed file at {path}", f"damage behind line {number}: {error}", "copy it again")


def separator_of(line: str, among: str) -> str:
    """Return the most frequent separator in a table's first line; the first separator if it has none."""
    return max(among, key=line.count)


def read_cells(lines: Iterable[str], separator: str, *, longest: int) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the rows of a table, including empty ones; quotes must be closed.

    Args:
        lines: The lines of the table, with their line breaks ("\n" or "\r\n").
        separator: Character between cells.
        longest: Maximum characters of a cell. Otherwise an unclosed quote would make the rest of a file one cell.

    Yields:
        (number of the row's last line, from 1; cells).

    Raises:
        csv.Error: A quote is not closed or is misplaced, or a cell is too long.
    """
    rows = csv.reader(lines, strict=True, delimiter=separator)
    # The limit applies to the whole process, so it is set only while a row of this table is read.
    while (cells := _read_next(longest, rows)) is not None:
        yield rows.line_num, cells


def _read_next(longest: int, rows: Iterator[list[str]]) -> list[str] | None:
    """Return the next row; None after the last."""
    others = csv.field_size_limit(longest)
    try:
        return next(rows, None)
    finally:
        csv.field_size_limit(others)
