"""Rows of separated values, as spreadsheets and databases write them: texts in quotes, perhaps of many lines."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator


def separator_of(line: str, among: str) -> str:
    """Return the separator that a table's first line has most of; the first where it has none."""
    return max(among, key=line.count)


def read_cells(lines: Iterable[str], separator: str, *, longest: int) -> Iterator[tuple[int, list[str]]]:
    r"""Stream the rows of a table, empty ones too; quotes must be closed.

    Args:
        lines: Of the table, with their ends ("\n" or "\r\n").
        separator: Between cells; one character.
        longest: Characters of a cell. A quote that is never closed would else read a file to its end as one cell.

    Yields:
        (last line of the row, counted from 1; cells).

    Raises:
        csv.Error: A quote is not closed or stands where none may, or a cell is too long.
    """
    rows = csv.reader(lines, strict=True, delimiter=separator)
    # The limit is one for the whole process: it holds while a row of this table is read, and no longer.
    while (cells := _within(longest, rows)) is not None:
        yield rows.line_num, cells


def _within(longest: int, rows: Iterator[list[str]]) -> list[str] | None:
    """Return the next row; None behind the last."""
    others = csv.field_size_limit(longest)
    try:
        return next(rows, None)
    finally:
        csv.field_size_limit(others)
