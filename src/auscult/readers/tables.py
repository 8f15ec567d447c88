"""Tables as lines that can be read alone: a row a line, each of its cells behind the heading of its column.

    Drug        | Dose        →   Drug: Allopurinol | Dose: 100 mg
    Allopurinol | 100 mg

A row is found, shown and cited without the rest of its table, and is worth little without its header. What a cell is
made of is the caller's: strings, or pieces that know where in a file they stand.

Tables of marked-up text: which of them hold data, where their header is, and cells that span rows and columns.
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
# A header is repeated with each row, so that a long one would make a table many times as long as it is.
_LONGEST_LABEL: Final = 80


def readable_rows(
    header: Sequence[str] | None,
    rows: Sequence[Sequence[Sequence[Part] | None]],
    written: Callable[[str], Part],
) -> list[list[Part]]:
    """One line of pieces a row, without line breaks between them.

    Args:
        header: The columns' headings, from the left; None, or empty ones, where there are none. One longer than 80
            characters is no label: the header is then a line of its own, and is not repeated.
        rows: Each row's cells, each cell's pieces in order. A row may be longer or shorter than the header; a cell
            without pieces is left out with its label. None is a column that the cell to its left reaches into: such a
            cell is labelled with the words that the headings of its columns begin with, and with none where it is the
            whole row.
        written: Makes a piece of what stands in no cell: labels, ": " and " | ".

    Returns:
        The lines; none for a row without pieces. Where a column with a heading has no pieces, the header is the first
        line, so that its heading is not lost.
    """
    labels = [" ".join(label.split()) for label in header or ()]
    usable = all(len(label) <= _LONGEST_LABEL for label in labels)
    lines = [line for row in rows if (line := _line(labels if usable else (), row, written))]
    if any(labels) and (not usable or not _all_filled(labels, rows)):
        lines.insert(0, [written(BETWEEN.join(filter(None, labels)))])
    return lines


def readable_lines(header: Sequence[str] | None, rows: Sequence[Sequence[str]]) -> list[str]:
    """`readable_rows` of strings: the lines' texts, white space in cells one blank."""
    cells = [[[text] if (text := " ".join(cell.split())) else [] for cell in row] for row in rows]
    return ["".join(line) for line in readable_rows(header, cells, str)]


def parting(before: str, after: str, gap: str) -> str:
    """What stands between two lines of a cell that become one.

    Args:
        before: The words before, or the last of them.
        after: Those behind.
        gap: What parts them: `flow.BLOCK` for paragraphs and items, `flow.LINE` for a line break, else the answer.
    """
    before, after = before.rstrip(), after.lstrip()
    if gap not in ("\n", "\n\n"):
        return gap
    if before[-1:] in ".,;:!?/(|-\u2013\u2014" or after[:1] in "(":
        return " "
    # Authors break lines for looks, too: only what begins as a line of its own is one.
    begins = after[:1].isupper() and len(before.split()) > 1
    return "; " if gap == "\n\n" or begins else " "


def merged_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """One heading a column of a header of several rows: "Dose" above "adults" is "Dose adults"."""
    width = max(map(len, rows), default=0)
    columns = [[row[column] for row in rows if column < len(row)] for column in range(width)]
    return [" ".join(dict.fromkeys(filter(None, map(str.strip, column)))) for column in columns]


def _line(labels: Sequence[str], row: Sequence[Sequence[Part] | None], written: Callable[[str], Part]) -> list[Part]:
    line: list[Part] = []
    for column, cell in enumerate(row):
        if not cell:
            continue
        end = column + 1
        while end < len(row) and row[end] is None:
            end += 1
        whole = end - column == len(row) > 1
        label = "" if whole else _shared(labels[column:end])
        before = (BETWEEN if line else "") + (label.rstrip(":") + _BEHIND_LABEL if label else "")
        if before:
            line.append(written(before))
        line.extend(cell)
    return line


def _all_filled(labels: Sequence[str], rows: Sequence[Sequence[Sequence[Part] | None]]) -> bool:
    """Whether each column with a label has a cell with words, or one that reaches into it from the left."""
    filled = {column for row in rows for column, cell in enumerate(row) if cell or cell is None}
    return all(column in filled for column, label in enumerate(labels) if label)


def _shared(labels: Sequence[str]) -> str:
    """The words that all labels begin with."""
    words = zip(*(label.split() for label in labels), strict=False)
    return " ".join(each[0] for each in takewhile(lambda each: len(set(each)) == 1, words))


def repeated(text: str) -> list[Piece]:
    """What a cell that spans rows says in those below its first: short cells are repeated, long ones are not."""
    return [written(text)] if 0 < len(text) <= _LONGEST_REPEATED else []


ROWS: Final = ("tr", "row")
CELLS: Final = ("td", "th", "entry")
_CAPTIONS: Final = ("caption", "title")
# What a cell that spans rows says is repeated in each of them: short cells, and few of them.
_LONGEST_REPEATED: Final = 80
_WIDEST: Final = 40
_TALLEST: Final = 1000
_LONGEST_CELL: Final = 1000


def has_header_row(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table's first row is a header, where nothing says so: it alone has no numbers.

    Args:
        rows: The texts of their cells.
    """
    first, *others = rows
    if len(first) < 2 or not all(0 < len(text) <= _LONGEST_LABEL for text in first):
        return False
    columns = zip(*others, strict=False)
    return not any(map(str.isdigit, "".join(first))) and any(
        all(text[:1].isdigit() for text in each) for each in columns
    )


Pieces = Callable[[Element, bool], list[Piece]]
Cells = list[list[Piece] | None]


@dataclass(slots=True)
class _Row:
    """One row: the pieces of each column, whether they are a header, and whether the first is the row's heading."""

    header: bool
    cells: Cells = field(default_factory=list)
    labelled: bool = False


def is_data(table: Element, role: Callable[[Element], Role]) -> bool:
    """Whether a table holds data; else it lays out a page: it has one column, or tables, headings or pages of text.

    Args:
        table: Its element.
        role: The part that an element plays.
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
    """Lines of a table of data: its caption, then a line a row, the header's words with each.

    Args:
        table: `is_data`.
        role: The part that an element plays.
        pieces: The words of an element on one line; whether it is a label.
    """
    captions = [line for each in table.elements if each.tag in _CAPTIONS and (line := pieces(each, True))]
    rows = _rows(table, role, pieces)
    above = 0
    while above < len(rows) and rows[above].header:
        above += 1
    header = merged_header([[_text(cell) for cell in row.cells[:_WIDEST]] for row in rows[:above]]) if above else None
    if header is not None and above == len(rows):
        # Nothing but headers: the first column's headings, each with its cells, are all that there is.
        return captions + [line for row in rows for line in readable_rows(None, [row.cells], written)]
    filled = [row for row in rows[above:] if any(row.cells)]
    cells = [_with_row_heading(row.cells) if row.labelled and not header else row.cells for row in filled]
    return captions + readable_rows(header, cells, written)


def _rows(table: Element, role: Callable[[Element], Role], pieces: Pieces) -> list[_Row]:
    """All rows, with what reaches into them from above."""
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
            _from_above(row, waiting)
            # A cell that is left out keeps its place, so that those beside it keep their labels.
            words = [] if role(cell) in out else pieces(cell, header or cell.tag == "th")
            column, rowspan = len(row.cells), _span(cell, "rowspan", _TALLEST)
            reached: list[Piece] | None = [written(_text(words))] if header else None
            row.cells += [words, *(reached for _ in range(_span(cell, "colspan", _WIDEST) - 1))]
            if rowspan > 1:
                for place in range(column, min(len(row.cells), _WIDEST)):
                    below[place] = rowspan - 1, repeated(_text(words)) if header or place == column else None
        _from_above(row, waiting)
        rows.append(row)
    return rows


def _from_above(row: _Row, waiting: dict[int, tuple[int, list[Piece] | None]]) -> None:
    while (column := len(row.cells)) in waiting:
        row.cells.append(waiting.pop(column)[1])


def _with_row_heading(cells: Cells) -> Cells:
    """The first cell as the label of the second."""
    if len(cells) < 2 or not cells[0] or not cells[1]:
        return cells
    colon = [] if _text(cells[0]).endswith((":", "?")) else [written(":")]
    return [[*cells[0], *colon, written(" "), *cells[1]], *cells[2:]]


def _span(cell: Element, name: str, most: int) -> int:
    number = cell.get(name).strip()
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        return 1
    # No rows are all that follow.
    return min(int(number), most) or (most if name == "rowspan" else 1)


def _text(pieces: list[Piece] | None) -> str:
    return " ".join("".join(piece.text for piece in pieces or ()).split())
