"""Sheets of OpenDocument files (.ods): the words that the file has for each cell, which are those that it shows.

Only dates are written in another way, in ISO 8601. Specification: OpenDocument 1.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from auscult.readers.tree import Element, written
from auscult_readers.package import Package
from auscult_readers.records.xml_events import parse_events
from auscult_readers.sheet_cells import SPAN, Font, Notes, Sheet, name_of_cell, text_of_runs

_CELLS: Final = ("table-cell", "covered-table-cell")
_BLANKS: Final = {"s": " ", "tab": " ", "line-break": " "}
_TEXTS: Final = ("p", "h")
# Elements with words that are not in a cell.
_OUTSIDE: Final = frozenset({"tracked-changes", "forms", "event-listeners", "binary-data", "desc", "title"})


def read_open_sheets(package: Package, notes: Notes) -> Iterator[Sheet]:
    """Yield the sheets in order.

    Raises:
        UnreadableError: A part is broken or harmful.
    """
    book = _Book(notes)
    for name in ("styles.xml", "content.xml"):
        if name == "content.xml":
            book.reads = True
        if content := package.read(name):
            parse_events(content, book, prefixed=True)
    yield from book.sheets


class _Book:
    """Reads the styles and tables of a file from its events.

    Attributes:
        sheets: The sheets so far.
        reads: Whether tables are read. In the part of the styles, they are headers and footers.
    """

    def __init__(self, notes: Notes) -> None:
        self.sheets, self.reads = list[Sheet](), False
        self._notes = notes
        self._fonts = {"": Font()}
        self._style = ""
        self._outside = 0
        # Style of each column, and how many columns have it.
        self._columns = list[tuple[int, str]]()
        self._row = self._column = self._rows = 0
        self._cell: dict[str, str] | None = None
        self._spans = [Font()]
        self._runs = list[tuple[str, Font]]()
        self._filled = list[tuple[int, int, str]]()
        self._paragraphs = 0
        self._comment = self._drawn = 0
        self._aside, self._takes_aside = "", False

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        if name in _OUTSIDE or self._outside:
            self._outside += 1
        elif name == "style":
            self._style = attributes.get("name", "")
            self._fonts[self._style] = self._fonts.get(attributes.get("parent-style-name", ""), Font())
        elif name == "text-properties" and self._style:
            self._fonts[self._style] = _font(attributes, self._fonts[self._style])
        elif not self.reads:
            return
        elif name == "annotation":
            self._comment += 1
        elif name in ("frame", "custom-shape"):
            self._drawn += 1
        elif name == "object":
            self._notes.remarks.append("a chart or another object of a sheet is not read")
        elif name in _TEXTS:
            self._begin_paragraph()
        elif name == "span":
            self._spans.append(self._fonts.get(attributes.get("style-name", ""), self._spans[-1]))
        elif name in _BLANKS:
            self.text(_BLANKS[name])
        else:
            self._begin_part(name, attributes)

    def _begin_part(self, name: str, attributes: dict[str, str]) -> None:
        """Begin a part of a table."""
        if name == "table" and self._cell is None:
            self.sheets.append(Sheet(attributes.get("name", "")))
            self._row, self._columns = 0, []
        elif name == "table-column":
            count = _count(attributes, "number-columns-repeated")
            self._columns.append((count, attributes.get("default-cell-style-name", "")))
        elif name == "table-row":
            self._column, self._rows, self._filled = 0, _count(attributes, "number-rows-repeated"), []
        elif name in _CELLS and self.sheets and self._cell is None:
            self._cell, self._runs, self._paragraphs = attributes, [], 0
            self._spans = [self._fonts.get(attributes.get("style-name", "") or self._style_of_column(), Font())]

    def _begin_paragraph(self) -> None:
        if self._comment or self._drawn:
            self._aside += " "
            self._takes_aside = True
        elif self._cell is not None:
            if self._paragraphs:
                self._runs.append((" ", self._spans[0]))
            self._paragraphs += 1

    def text(self, text: str) -> None:
        """Take characters."""
        if self._outside or not self.reads:
            return
        if self._comment or self._drawn:
            # A comment also has its author and date, outside of its paragraphs.
            self._aside += text if self._takes_aside else ""
        elif self._cell is not None and self._paragraphs:
            self._runs.append((text, self._spans[-1]))

    def end(self, name: str) -> None:
        """End an element."""
        if self._outside:
            self._outside -= 1
        elif name == "style":
            self._style = ""
        elif not self.reads:
            return
        elif name == "annotation":
            self._comment -= 1
            self._notes.leave_out(self._aside, "comments")
            self._aside = ""
        elif name in ("frame", "custom-shape"):
            self._drawn -= 1
            if not self._drawn and self._aside.strip() and self.sheets:
                paragraph = Element("p")
                paragraph.children.append(written(" ".join(self._aside.split())))
                self.sheets[-1].drawn.append(paragraph)
                self._aside = ""
        elif name in _TEXTS:
            self._takes_aside = False
        elif name == "span" and len(self._spans) > 1:
            self._spans.pop()
        elif name in _CELLS and self._cell is not None and not (self._comment or self._drawn):
            self._end_cell(name, self._cell)
        elif name == "table-row":
            self._end_row()

    def _end_cell(self, name: str, attributes: dict[str, str]) -> None:
        self._cell = None
        times = _count(attributes, "number-columns-repeated")
        kind = attributes.get("value-type", "")
        value = attributes.get("date-value", "").replace("T", " ").removesuffix(" 00:00:00")
        if kind == "boolean":
            value = "yes" if attributes.get("boolean-value") == "true" else "no"
        elif kind not in ("", "string") and not value and not self._paragraphs:
            # Some programs write no text for numbers.
            value = attributes.get("value", "") or attributes.get("time-value", "")
        runs = [(value, self._spans[0])] if value else self._runs
        place = f"{self.sheets[-1].name}!{name_of_cell(self._row, self._column)}"
        if name == "table-cell" and any(text.strip() for text, _ in runs):
            text = text_of_runs(runs, self._notes)
            if times > SPAN:
                self._notes.remarks.append(f"{times:,} equal cells are read {SPAN:,} times, first: {place}")
            self._filled += [(self._column + at, _count(attributes, "number-rows-spanned"), text)
                             for at in range(min(times, SPAN))]  # fmt: skip
        elif attributes.get("value"):
            self._notes.leave_out(attributes["value"], "hidden")
            self._filled.append((self._column, 1, ""))
        elif attributes.get("formula") and not kind:
            self._notes.unsaved.append(place)
            self._filled.append((self._column, 1, ""))
        self._column += times

    def _end_row(self) -> None:
        if self._filled and self.sheets:
            sheet = self.sheets[-1]
            if self._rows > SPAN:
                place = f"{sheet.name}!{name_of_cell(self._row, 0)}"
                self._notes.remarks.append(f"{self._rows:,} equal rows are read {SPAN:,} times, first: {place}")
            for row in range(self._row, self._row + min(self._rows, SPAN)):
                for column, span, text in self._filled:
                    sheet.put(row, column, text)
                    if span > 1:
                        sheet.merged.append((row, column, row + span - 1, column))
        self._row += self._rows
        self._filled = []

    def _style_of_column(self) -> str:
        at = self._column
        for count, style in self._columns:
            if at < count:
                return style
            at -= count
        return ""


def _font(attributes: dict[str, str], parent: Font) -> Font:
    line = attributes.get("text-line-through-style") or attributes.get("text-line-through-type", "")
    position = attributes.get("text-position", "")
    return Font(
        attributes.get("font-name") or attributes.get("font-family") or parent.name,
        line != "none" if line else parent.struck,
        position.startswith(("super", "1", "2", "3", "4", "5")) if position else parent.raised,
    )


def _count(attributes: dict[str, str], name: str) -> int:
    told = attributes.get(name, "1")
    return int(told) if told.isdecimal() and 0 < len(told) < 8 else 1
