"""Lines of a corpus' text files, and rows of its tables of separated values with named columns.

Tables are such as hospitals export: texts stand in quotes, over many lines.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from auscult.errors import CorpusMissingError, DataError
from auscult.files.limits import TooLargeError, limits
from auscult.files.lines import NotUtf8Error, decoded, read_lines
from auscult.files.packed import Unpacked, open_unpacked
from auscult.files.records import REMEDY, BadRecords, Record, RecordError, settle, too_large
from auscult.files.rows import read_cells, separator_of


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Stream the lines of a UTF-8 file of a corpus, but empty ones; see `read_lines`.

    Args:
        path: The file.

    Yields:
        (number, line): counted from 1, without its end.

    Raises:
        CorpusMissingError: There is no such file.
        DataError: It cannot be read.
        RecordError: A line is not UTF-8; names file and line.
    """
    if not path.is_file():
        raise CorpusMissingError(f"a text file at {path}", "no such file", "correct the path")
    try:
        yield from ((number, line) for number, line in read_lines(path) if line.strip())
    except NotUtf8Error as error:
        raise _not_utf8(error, path) from error


def read_rows(
    path: Path,
    columns: Sequence[str],
    *,
    skip_bad: bool,
    report: BadRecords,
    fold: Callable[[str], str],
    separators: str = ",",
    remedy: str,
) -> Iterator[Record]:
    """Stream the rows of a table, one in memory at a time.

    Args:
        path: The table; gzip is told by content.
        columns: That it must have.
        skip_bad: Leave bad rows out instead of raising. Behind damage to the file itself nothing more is read.
        report: Where skipped rows are counted.
        fold: Applied to the names of columns.
        separators: Of these the one that the first line has most of separates values.
        remedy: What to do where a column is missing.

    Yields:
        Records of strings; their line is the row's last one.

    Raises:
        DataError: A column is missing, or the file cannot be read.
        RecordError: A row has too few or too many, or the file is damaged or not UTF-8.
    """
    number = 0
    try:
        with _open(path) as stream:
            lines = _lines(stream, path)
            first = next(lines, "")
            rows = read_cells(chain([first], lines), separator_of(first, separators), longest=limits().line)
            number, header = next(rows, (0, []))
            names = _header(header, columns, fold, path, remedy)
            for number, row in rows:
                if len(row) == len(names):
                    yield Record(path, number, dict(zip(names, row, strict=True)))
                elif row:
                    settle(_wrong_width(row, names, path, number), skip_bad, report)
    except NotUtf8Error as error:
        settle(_not_utf8(error, path), skip_bad, report)
    except TooLargeError as error:
        settle(too_large(error), skip_bad, report)
    except (EOFError, gzip.BadGzipFile, zlib.error, csv.Error) as damage:
        found = f"a damaged file: {damage} ({path}, behind line {number})"
        advice = "fetch the file again, or correct that line"
        settle(RecordError("damaged file", "values between separators", found, advice), skip_bad, report)


def _lines(stream: Unpacked, path: Path) -> Iterator[str]:
    """Its lines, with their ends: a table may be of a system that ends them in carriage returns."""
    for _, line in decoded(stream, path):
        yield from io.StringIO(line, newline="")


def _not_utf8(error: NotUtf8Error, path: Path) -> RecordError:
    found = f"byte 0x{error.byte:02x} at position {error.position} ({path}, line {error.line})"
    return RecordError("invalid UTF-8", "text in UTF-8", found, "save the file as UTF-8")


def _wrong_width(row: list[str], names: list[str], path: Path, number: int) -> RecordError:
    found = f"{len(row)} ({path}, line {number})"
    return RecordError("malformed row", f"{len(names)} columns", found, REMEDY)


def _header(row: list[str], columns: Sequence[str], fold: Callable[[str], str], path: Path, remedy: str) -> list[str]:
    names = [fold(name.strip()) for name in row]
    missing = [column for column in columns if column not in names]
    if missing:
        found = "an empty file" if not row else f"no {', '.join(missing)}"
        raise DataError(f"columns {', '.join(columns)} in {path}", found, remedy)
    return names


def _open(path: Path) -> Unpacked:
    try:
        return open_unpacked(path)
    except OSError as error:
        raise DataError(f"a readable file at {path}", str(error.strerror), "correct its permissions") from error
