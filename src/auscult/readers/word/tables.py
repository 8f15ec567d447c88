"""Tables of Word files: their cells, whether they hold data, and whether their first row is a header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from auscult.readers.word.package import child, local, value
from auscult.readers.word.styles import is_on
from auscult.readers.word.text import ParagraphText, paragraph_text

_LONGEST_CELL: Final = 1000
_WIDEST: Final = 60
_LONGEST_LABEL: Final = 60


@dataclass(slots=True)
class Cell:
    """A cell.

    Attributes:
        element: With its paragraphs.
        goes_on: Whether it goes on with the cell above it, or is what one to its left spans: it has no words.
        plain: Whether words of it are not bold, as far as they were read.
        words: Whether it has any.
    """

    element: Any
    goes_on: bool = False
    plain: bool = False
    words: bool = False

    def note(self, found: ParagraphText) -> None:
        """Take notice of a paragraph of it."""
        if found.text.strip():
            self.words = True
            self.plain |= not found.bold


def cells_of(row: Any) -> Iterator[Cell]:
    """The cells of a row, one a column: what spans several is followed by empty ones."""
    for element in row:
        if local(element) == "tc":
            properties = child(element, "tcPr")
            merged = child(properties, "vMerge")
            yield Cell(element, goes_on=merged is not None and value(merged) != "restart")
            told = value(child(properties, "gridSpan"))
            for _ in range(min(int(told), _WIDEST) - 1 if told.isascii() and told.isdigit() and len(told) < 4 else 0):
                yield Cell(element, goes_on=True)
        elif local(element) in ("sdt", "sdtContent", "customXml"):
            yield from cells_of(element)


def is_data(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether a table holds data; else it lays out a page: it has one column, or pages of text in a cell."""
    if max(map(len, rows), default=0) < 2:
        return False
    for row in rows:
        for cell in row:
            if not cell.goes_on and _length(cell.element) > _LONGEST_CELL:
                return False
    return True


def header_of(table: Any, rows: Sequence[Sequence[Cell]], texts: Sequence[Sequence[str]]) -> bool:
    """Whether a table's first row is its header.

    It is where Word repeats it on each page, where it alone is bold, where it alone has no numbers; and in tables of
    three and more columns where Word sets the first row off.

    Args:
        table: Its element.
        rows: Its cells, whose words have been read.
        texts: Theirs.
    """
    if len(rows) < 2 or not texts[0] or not any(text.strip() for text in texts[0]):
        return False
    first = next(iter(element for element in table if local(element) == "tr"), None)
    if is_on(child(first, "trPr", "tblHeader")):
        return True
    whole = all(text.strip() for text in texts[0]) and len(texts[0]) > 1
    if not whole or any(len(text) > _LONGEST_LABEL for text in texts[0]):
        return False
    if _bold(rows[0]) and not all(_bold(row) for row in rows[1:]):
        return True
    if any(letter.isdigit() for text in texts[0] for letter in text):
        return False
    columns = zip(*texts[1:], strict=False)
    if any(all(text[:1].isdigit() for text in column) for column in columns):
        return True
    return len(texts[0]) > 2 and _first_row_set_off(table)


def _first_row_set_off(table: Any) -> bool:
    look = child(table, "tblPr", "tblLook")
    if value(look, "firstRow"):
        return value(look, "firstRow") in ("1", "true", "on")
    told = value(look)
    try:
        return bool(int(told, 16) & 0x20) if told else False
    except ValueError:
        return False


def _bold(row: Sequence[Cell]) -> bool:
    return any(cell.words for cell in row) and not any(cell.plain for cell in row)


def _length(element: Any) -> int:
    total = 0
    for paragraph in element:
        if local(paragraph) == "p":
            total += len(paragraph_text(paragraph).text)
        elif local(paragraph) == "tbl":
            return 0
    return total
