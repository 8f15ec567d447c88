"""Tables as lines that can be read alone: a row a line, each of its cells behind the heading of its column.

    Drug        | Dose        →   Drug: Allopurinol | Dose: 100 mg
    Allopurinol | 100 mg

A row is found, shown and cited without the rest of its table, and is worth little without its header. What a cell is
made of is the caller's: strings, or pieces that know where in a file they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

Piece = TypeVar("Piece")

BETWEEN: Final = " | "
_BEHIND_LABEL: Final = ": "
# A header is repeated with each row, so that a long one would make a table many times as long as it is.
_LONGEST_LABEL: Final = 80


def readable_rows(
    header: Sequence[str] | None,
    rows: Sequence[Sequence[Sequence[Piece]]],
    written: Callable[[str], Piece],
) -> list[list[Piece]]:
    """One line of pieces a row, without line breaks between them.

    Args:
        header: The columns' headings, from the left; None, or empty ones, where there are none. One longer than 80
            characters is no label: the header is then a line of its own, and is not repeated.
        rows: Each row's cells, each cell's pieces in order. A row may be longer or shorter than the header; a cell
            without pieces is left out with its label.
        written: Makes a piece of what stands in no cell: labels, ": " and " | ".

    Returns:
        The lines; none for a row without pieces. Where there is a header and no row has pieces, the header.
    """
    labels = [" ".join(label.split()) for label in header or ()]
    usable = all(len(label) <= _LONGEST_LABEL for label in labels)
    lines = [line for row in rows if (line := _line(labels if usable else (), row, written))]
    if any(labels) and (not usable or not lines):
        lines.insert(0, [written(BETWEEN.join(filter(None, labels)))])
    return lines


def readable_lines(header: Sequence[str] | None, rows: Sequence[Sequence[str]]) -> list[str]:
    """`readable_rows` of strings: the lines' texts, white space in cells one blank."""
    cells = [[[text] if (text := " ".join(cell.split())) else [] for cell in row] for row in rows]
    return ["".join(line) for line in readable_rows(header, cells, str)]


def merged_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """One heading a column of a header of several rows: "Dose" above "adults" is "Dose adults"."""
    width = max(map(len, rows), default=0)
    columns = [[row[column] for row in rows if column < len(row)] for column in range(width)]
    return [" ".join(dict.fromkeys(filter(None, map(str.strip, column)))) for column in columns]


def _line(labels: Sequence[str], row: Sequence[Sequence[Piece]], written: Callable[[str], Piece]) -> list[Piece]:
    line: list[Piece] = []
    for column, cell in enumerate(row):
        if not cell:
            continue
        label = labels[column] if column < len(labels) else ""
        before = (BETWEEN if line else "") + (label.rstrip(":") + _BEHIND_LABEL if label else "")
        if before:
            line.append(written(before))
        line.extend(cell)
    return line


__all__ = ["BETWEEN", "merged_header", "readable_lines", "readable_rows"]
