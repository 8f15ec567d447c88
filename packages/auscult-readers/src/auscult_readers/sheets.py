"""Reader of spreadsheets (.xlsx, .xlsm, .xlsb, .xls, .ods): a section per sheet, and a line per row.

Each line has the words of the table's header before its cells. Numbers are read as the sheet shows them, with the units
of their formats, and dates in ISO 8601. The value of a formula is its last result. A cell that spans several rows is
repeated in each of them. Struck-out words and comments are left out and counted. Text boxes and charts follow the
cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from auscult.readers.archives import names_in, streams_in
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.flow import Flow
from auscult.readers.html.reader import role_of
from auscult.readers.tables import readable_lines
from auscult.readers.tree import Element, written
from auscult.readers.typesetting import Typesetter
from auscult_readers.old_sheets import read_binary_workbook, read_old_workbook
from auscult_readers.open_sheets import read_open_sheets
from auscult_readers.package import Package, media_type_in
from auscult_readers.sheet_cells import Notes, Sheet
from auscult_readers.workbooks import read_workbook

MEDIA_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_ODS: Final = "application/vnd.oasis.opendocument.spreadsheet"
_XLS: Final = "application/vnd.ms-excel"
_TITLE: Final = 2


class SheetReader:
    """Reads spreadsheets."""

    name = "spreadsheet"
    suffixes: tuple[str, ...] = (".xlsx", ".xlsm", ".xltx", ".xlsb", ".xls", ".ods", ".ots")

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file is an archive with a workbook, or a workbook in the format before 2007."""
        return bool(_media_type(file.content))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the one document of the file.

        Raises:
            UnreadableError: The file is broken, encrypted or harmful, or has no words.
        """
        notes, flow = Notes(), Flow()
        for sheet in _sheets(file.content, notes):
            lines = [*_lines(sheet)]
            if lines or sheet.drawn:
                flow.begin_heading(2)
                flow.add(written(sheet.name))
                flow.end_heading()
            for line in lines:
                flow.line()
                flow.add(written(line))
            if sheet.drawn:
                flow.block()
                drawn = Element("")
                drawn.children += sheet.drawn
                Typesetter(flow, role_of, lambda element: 1).set(drawn)
        flow.left_out.update(notes.left_out)
        draft = draft_of(flow, Facts(), media_type=_media_type(file.content), encoding="")
        yield replace(draft, remarks=(*draft.remarks, *notes.lines()))


def _media_type(content: bytes) -> str:
    """Return the media type of a spreadsheet; "" for other files."""
    if content.startswith(b"PK"):
        if {"xl/workbook.xml", "xl/workbook.bin"} & names_in(content):
            return MEDIA_TYPE
        return _ODS if media_type_in(content).startswith(_ODS) else ""
    return _XLS if {"Workbook", "Book"} & streams_in(content) else ""


def _sheets(content: bytes, notes: Notes) -> Iterator[Sheet]:
    if not content.startswith(b"PK"):
        return read_old_workbook(content, notes)
    package = Package(content, "a spreadsheet")
    package.check()
    if b"encryption-data" in package.read("META-INF/manifest.xml"):
        remedy = "open it in Excel or LibreOffice and save it as .xlsx"
        raise UnreadableError("encrypted", "a spreadsheet without a password", "one with", remedy)
    if "xl/workbook.xml" in package:
        return read_workbook(package, notes)
    return read_binary_workbook(content, notes) if "xl/workbook.bin" in package else read_open_sheets(package, notes)


def _lines(sheet: Sheet) -> Iterator[str]:
    """Yield the lines of a sheet: per table, the rows above it, then its own."""
    header: Sequence[str] = ()
    for table in sheet.tables():
        above = 0
        # A title is the only cell of its row.
        while above < len(table) and sum(map(bool, table[above])) < _TITLE and len(table) > 1:
            above += 1
        rest = table[above:]
        if len(rest) > 1 and _is_header(rest[0], rest[1:]):
            header, *rest = rest
        elif _filled(rest) != _filled([header]):
            # The table after an empty row has other columns, so that the header above does not apply.
            header = ()
        yield from readable_lines(None, table[:above])
        yield from readable_lines(header, rest)


def _filled(rows: Sequence[Sequence[str]]) -> set[int]:
    return {column for row in rows for column, text in enumerate(row) if text}


def _is_header(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Whether a row is the header of the rows below: it has different words, without numbers, above all columns."""
    filled = [column for column, text in enumerate(first) if text]
    wide = max(sum(map(bool, row)) for row in others)
    words = [first[column] for column in filled]
    return (
        len(filled) >= max(_TITLE, wide - 1)
        and len(set(words)) == len(words)
        and not any(text[:1].isdigit() for text in words)
    )
