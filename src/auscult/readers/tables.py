"""Tables as lines that can be read alone: one line per row, with the heading of its column before each cell.

    Drug        | Dose        →   Drug: Allopurinol | Dose: 100 mg
    Allopurinol | 100 mg

A search returns a row without the rest of its table, and a row is of little use without its header. The parts of cells
may be of any type: strings, or pieces with offsets in a file.

For tables of marked-up text, this module also recognises tables of data, headers, and cells that span rows or columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final, TypeVar

from auscult.readers.tree import Element, Piece, Role, descend, written

Part = TypeVar("Part")

BETWEEN: Final = " | "
_BEHIND_LABEL: Final = ": "
# A header is repeated with each row, so a long one would make the text many times longer than the table.
LONGEST_LABEL: Final = 80
"""Characters of the heading of a column, at most."""


def readable_rows(
    header: Sequence[str] | None,
    rows: Sequence[Sequence[Sequence[Part] | None]],
    written: Callable[[str], Part],
) -> list[list[Part]]:
    """Return one line of pieces per row, without line breaks.

    Args:
        header: Headings of the columns, from the left; None or "" if there are none. If one is longer than 80
            characters, the header becomes a line of its own and is not repeated.
        rows: Cells of each row, as pieces in order. A row may be longer or shorter than the header. A cell without
            pieces is left out with its label. None marks a column into which the cell to its left extends. Such a cell
            gets the first words that the headings of its columns share as label; a cell of a whole row gets none.
        written: Returns a piece for text that is in no cell: labels, ": " and " | ".

    Returns:
        The lines; none for a row without pieces. If a column with a heading has no pieces, the header is the first
        line, so that its heading is not lost.
    """
    labels = [" ".join(label.split()) for label in header or ()]
    usable = all(len(label) <= LONGEST_LABEL for label in labels)
    lines = [line for row in rows if (line := _write_row(labels if usable else (), row, written))]
    if any(labels):
        # Columns that have a cell with words, or one that extends into them from the left.
        filled = {column for row in rows for column, cell in enumerate(row) if cell or cell is None}
        if not usable or any(label and column not in filled for column, label in enumerate(labels)):
            lines.insert(0, [written(BETWEEN.join(filter(None, labels)))])
    return lines


def readable_lines(header: Sequence[str] | None, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of `readable_rows` for strings, with white space in cells collapsed."""
    cells = [[[text] if (text := " ".join(cell.split())) else [] for cell in row] for row in rows]
    return ["".join(line) for line in readable_rows(header, cells, str)]


def parting(before: str, after: str, gap: str) -> str:
    """Return the separator of two lines of a cell that become one.

    Args:
        before: Words before the separator, or the last of them.
        after: Words after it.
        gap: `flow.BLOCK` for paragraphs and items, `flow.LINE` for a line break. Any other gap is returned unchanged.
    """
    before, after = before.rstrip(), after.lstrip()
    if gap not in ("\n", "\n\n"):
        return gap
    if before[-1:] in ".,;:!?/(|-\u2013\u2014" or after[:1] in "(":
        return " "
    # Authors also break lines for looks. Only words that look like the beginning of a line are separated.
    begins = after[:1].isupper() and len(before.split()) > 1
    return "; " if gap == "\n\n" or begins else " "


def merged_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return one heading per column of a header of several rows: "Dose" above "adults" becomes "Dose adults"."""
    width = max(map(len, rows), default=0)
    columns = [[row[column] for row in rows if column < len(row)] for column in range(width)]
    return [" ".join(dict.fromkeys(filter(None, map(str.strip, column)))) for column in columns]


def _write_row(
    labels: Sequence[str], row: Sequence[Sequence[Part] | None], written: Callable[[str], Part]
) -> list[Part]:
    line: list[Part] = []
    for column, cell in enumerate(row):
        if not cell:
            continue
        end = column + 1
        while end < len(row) and row[end] is None:
            end += 1
        whole = end - column == len(row) > 1
        label = "" if whole else _label_of(labels, column, end)
        before = (BETWEEN if line else "") + (label.rstrip(":") + _BEHIND_LABEL if label else "")
        if before:
            line.append(written(before))
        line.extend(cell)
    return line


def _label_of(labels: Sequence[str], column: int, end: int) -> str:
    """Return the label of a column; of a cell in several columns, the first words that their labels share."""
    if end == column + 1:
        return labels[column] if column < len(labels) else ""
    words = zip(*(label.split() for label in labels[column:end]), strict=False)
    return " ".join(each[0] for each in takewhile(lambda each: len(set(each)) == 1, words))


def repeated(text: str) -> list[Piece]:
    """Return the text of a cell that spans rows for the rows below its first: a short one is repeated."""
    return [written(text)] if 0 < len(text) <= _LONGEST_REPEATED else []


ROWS: Final = ("tr", "row")
CELLS: Final = ("td", "th", "entry")
_CAPTIONS: Final = ("caption", "title")
# What a cell that spans rows says is repeated in each of them: short cells, and few of them.
_LONGEST_REPEATED: Final = 80
_WIDEST: Final = 40
_TALLEST: Final = 1000
_LONGEST_CELL: Final = 1000


Pieces = Callable[[Element, bool], list[Piece]]
Cells = list[list[Piece] | None]


@dataclass(slots=True)
class _Row:
    """One row: the pieces of each column, whether they are a header, and whether the first is the row's heading."""

    header: bool
    cells: Cells = field(default_factory=list)
    labelled: bool = False


def is_data(table: Element, role: Callable[[Element], Role]) -> bool:
    """Whether a table contains data. A table for layout has one column, or tables, headings or very long text in cells.

    Args:
        table: Element of the table.
        role: Returns the role of an element.
    """
    if table.get("role") in ("presentation", "none"):
        return False
    widest = width = length = 0
    for node in descend(table, lambda each: role(each) not in (Role.DROPPED, Role.STRUCK, Role.TABLE)):
        if isinstance(node, Piece):
            length += len(node.text)
        elif node.tag in ROWS:
            width = length = 0
        elif node.tag in CELLS:
            width, length = width + 1, 0
            widest = max(widest, width)
        elif role(node) in (Role.TABLE, Role.HEADING) and node.tag not in _CAPTIONS:
            return False
        if length > _LONGEST_CELL:
            return False
    return widest > 1


def readable_table(table: Element, role: Callable[[Element], Role], pieces: Pieces) -> list[list[Piece]]:
    """Return the lines of a table of data: its caption, then one line per row, with the words of the header.

    Args:
        table: A table for which `is_data` is true.
        role: Returns the role of an element.
        pieces: Returns the words of an element on one line; its second argument is whether that is a label.
    """
    captions = [line for each in table.elements if each.tag in _CAPTIONS and (line := pieces(each, True))]
    rows = _read_rows(table, role, pieces)
    above = 0
    while above < len(rows) and rows[above].header:
        above += 1
    header = (
        merged_header([[_text_of(cell) for cell in row.cells[:_WIDEST]] for row in rows[:above]]) if above else None
    )
    if header is not None and above == len(rows):
        # Nothing but headers: the first column's headings, each with its cells, are all that there is.
        return captions + [line for row in rows for line in readable_rows(None, [row.cells], written)]
    filled = [row for row in rows[above:] if any(row.cells)]
    cells = [_with_row_heading(row.cells) if row.labelled and not header else row.cells for row in filled]
    return captions + readable_rows(header, cells, written)


def _read_rows(table: Element, role: Callable[[Element], Role], pieces: Pieces) -> list[_Row]:
    """Return all rows, with cells that extend into them from above."""
    out = (Role.DROPPED, Role.STRUCK)
    rows: list[_Row] = []
    below: dict[int, tuple[int, list[Piece] | None]] = {}
    in_head = {id(row) for head in table.all("thead") for row in head.all(*ROWS)}
    for element in table.all(*ROWS):
        if role(element) in out:
            continue
        cells = [each for each in element.elements if each.tag in CELLS]
        header = id(element) in in_head or (not in_head and all(each.tag == "th" for each in cells))
        row = _Row(header and bool(cells))
        row.labelled = len(cells) > 1 and cells[0].tag == "th" and all(each.tag != "th" for each in cells[1:])
        waiting = dict(below)
        below = {column: (left - 1, cell) for column, (left, cell) in waiting.items() if left > 1}
        for cell in cells:
            _add_from_above(row, waiting)
            # A left-out cell keeps its column, so that the cells beside it keep their labels.
            words = [] if role(cell) in out else pieces(cell, header or cell.tag == "th")
            column, rowspan = len(row.cells), _read_span(cell, "rowspan", _TALLEST)
            reached: list[Piece] | None = [written(_text_of(words))] if header else None
            row.cells += [words, *(reached for _ in range(_read_span(cell, "colspan", _WIDEST) - 1))]
            if rowspan > 1:
                for place in range(column, min(len(row.cells), _WIDEST)):
                    below[place] = rowspan - 1, repeated(_text_of(words)) if header or place == column else None
        _add_from_above(row, waiting)
        rows.append(row)
    return rows


def _add_from_above(row: _Row, waiting: dict[int, tuple[int, list[Piece] | None]]) -> None:
    while (column := len(row.cells)) in waiting:
        row.cells.append(waiting.pop(column)[1])


def _with_row_heading(cells: Cells) -> Cells:
    """Return cells with the first one as the label of the second."""
    if len(cells) < 2 or not cells[0] or not cells[1]:
        return cells
    colon = [] if _text_of(cells[0]).endswith((":", "?")) else [written(":")]
    return [[*cells[0], *colon, written(" "), *cells[1]], *cells[2:]]


def _read_span(cell: Element, name: str, most: int) -> int:
    number = cell.get(name).strip()
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        return 1
    # No rows are all that follow.
    return min(int(number), most) or (most if name == "rowspan" else 1)


def _text_of(pieces: list[Piece] | None) -> str:
    return " ".join("".join(piece.text for piece in pieces or ()).split())
