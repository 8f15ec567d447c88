"""Cells of spreadsheets of all formats: their words as the sheet shows them, and what is left out.

A sheet may have a cell in its first row and one in its last. So its rows and columns are those with words, and no
others take memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from auscult.files.limits import limits
from auscult.readers.contract import UnreadableError
from auscult.readers.signs import is_sign_font, shown
from auscult.readers.tree import Element
from auscult.readers.typesetting import raises

# A cell that spans rows is repeated in so many of them.
SPAN: Final = 1000


@dataclass(frozen=True, slots=True)
class Font:
    """The look of letters in a cell."""

    name: str = ""
    struck: bool = False
    raised: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it shows all characters as they are."""
        return not (self.struck or self.raised or is_sign_font(self.name))


@dataclass(slots=True)
class Notes:
    """Parts of a file that are not read, for the report.

    Attributes:
        left_out: Number of words that were left out, by reason.
        unsaved: Places of formulas without a saved result ("Doses!B4").
        remarks: Further remarks.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    unsaved: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def leave_out(self, text: str, reason: str) -> None:
        """Count the words of a text that is left out."""
        self.left_out[reason] += len(text.split())

    def lines(self) -> list[str]:
        """Return all remarks but the one on words that were left out."""
        if not self.unsaved:
            return self.remarks
        number = len(self.unsaved)
        told = f"{number:,} {'formula' if number == 1 else 'formulas'} without a saved result, first: {self.unsaved[0]}"
        return [*self.remarks, f"not read: {told} (open the file in Excel or LibreOffice and save it)"]


@dataclass(slots=True)
class Sheet:
    """A sheet.

    Attributes:
        name: Its name.
        cells: Texts by row and column, from 0. Cells without words are missing, but a row of which all words are left
            out is there: it ends no table.
        merged: Ranges of merged cells: top, left, bottom, right.
        drawn: Text boxes and charts, as elements of HTML.
    """

    name: str
    cells: dict[int, dict[int, str]] = field(default_factory=dict)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    drawn: list[Element] = field(default_factory=list)

    def put(self, row: int, column: int, text: str) -> None:
        """Set the text of a cell that is not empty, with white space collapsed; "" if all of it is left out."""
        cells = self.cells.get(row)
        if cells is None:
            cells = self.cells[row] = {}
        if text := " ".join(text.split()):
            cells[column] = text

    def tables(self) -> Iterator[list[list[str]]]:
        """Yield the rows of each table. An empty row ends a table.

        Raises:
            UnreadableError: The sheet has too many rows and columns with words.
        """
        self._repeat_merged()
        columns = sorted({column for cells in self.cells.values() for column in cells})
        if len(self.cells) * len(columns) > limits().document:
            got = f"a sheet of {len(self.cells):,} rows and {len(columns):,} columns"
            raise UnreadableError("too large", "a sheet of the size of a document", got, "delete its empty cells")
        places = {column: place for place, column in enumerate(columns)}
        # Rows that follow each other have the same difference between their numbers and places.
        for _, numbered in groupby(enumerate(sorted(self.cells)), lambda each: each[1] - each[0]):
            yield [_row(self.cells[row], places) for _, row in numbered]

    def _repeat_merged(self) -> None:
        last = max(self.cells, default=-1)
        for top, left, bottom, right in self.merged:
            text = self.cells.get(top, {}).get(left, "")
            for row in range(top + 1, min(bottom, top + SPAN, last) + 1) if left == right and text else ():
                self.cells.setdefault(row, {}).setdefault(left, text)


def _row(cells: dict[int, str], places: dict[int, int]) -> list[str]:
    row = [""] * (places[max(cells)] + 1 if cells else 0)
    for column, text in cells.items():
        row[places[column]] = text
    return row


def text_of_runs(runs: Sequence[tuple[str, Font]], notes: Notes) -> str:
    """Return the text of a cell as its fonts show it, without struck-out words, which are counted."""
    text = ""
    for (part, font), before in zip(runs, [Font(), *(font for _, font in runs)], strict=False):
        if font.struck:
            notes.leave_out(part, "struck out")
            continue
        visible = shown(font.name, part)
        text += f"^{visible}" if font.raised and not before.raised and raises(text[-8:], visible) else visible
    return text


def name_of_cell(row: int, column: int) -> str:
    """Return the name of a cell: "B4" for row 3 and column 1, counted from 0."""
    letters = ""
    column += 1
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"{letters}{row + 1}"
