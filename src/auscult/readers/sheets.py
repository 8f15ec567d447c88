"""Reader of spreadsheets (.xlsx, .xlsm, .xlsb, .xls, .ods): a section per sheet, and a line per row.

Each line has the words of the table's header before its cells. The value of a formula is its last result. A cell that
spans several rows is repeated in each of them.
"""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator, Sequence
from typing import Any, Final

from auscult.files.limits import limits
from auscult.readers.archives import Package, media_type_in, names_in, streams_in
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.flow import Facts, Flow, draft_of
from auscult.readers.tables import readable_lines
from auscult.readers.tree import written

MEDIA_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_ODS: Final = "application/vnd.oasis.opendocument.spreadsheet"
_XLS: Final = "application/vnd.ms-excel"
_REMEDY: Final = "open it in Excel or LibreOffice and save it as .xlsx"
_SPAN: Final = 1000
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
        if file.content.startswith(b"PK"):
            package = Package(file.content, "a spreadsheet")
            package.check()
            if b"encryption-data" in package.read("META-INF/manifest.xml"):
                raise UnreadableError("encrypted", "a spreadsheet without a password", "one with", _REMEDY)
        flow = Flow()
        for name, rows in _sheets(file.content):
            lines = _lines(rows)
            if lines:
                flow.begin_heading(2)
                flow.add(written(name))
                flow.end_heading()
            for line in lines:
                flow.line()
                flow.add(written(line))
        yield draft_of(flow, Facts(), media_type=_media_type(file.content), encoding="")


def _media_type(content: bytes) -> str:
    """Return the media type of a spreadsheet; "" for other files."""
    if content.startswith(b"PK"):
        if {"xl/workbook.xml", "xl/workbook.bin"} & names_in(content):
            return MEDIA_TYPE
        return _ODS if media_type_in(content).startswith(_ODS) else ""
    return _XLS if {"Workbook", "Book"} & streams_in(content) else ""


def _sheets(content: bytes) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield names and rows of the sheets, without sheets of charts."""
    import python_calamine

    try:
        book = python_calamine.load_workbook(io.BytesIO(content))
        for described in book.sheets_metadata:
            if described.typ is not python_calamine.SheetTypeEnum.WorkSheet:
                continue
            sheet = book.get_sheet_by_name(described.name)
            if sheet.total_height * sheet.total_width > limits().document:
                got = f"a sheet of {sheet.total_height:,} rows and {sheet.total_width:,} columns"
                raise UnreadableError("too large", "a sheet of the size of a document", got, "delete its empty cells")
            rows = [[_text(value) for value in row] for row in sheet.to_python(skip_empty_area=False)]
            for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
                for row in rows[top + 1 : min(bottom, top + _SPAN) + 1] if left == right else ():
                    if left < len(row):
                        row[left] = row[left] or rows[top][left]
            yield described.name, rows
    except UnreadableError:
        raise
    except python_calamine.PasswordError as error:
        raise UnreadableError("encrypted", "a spreadsheet without a password", "one with", _REMEDY) from error
    except BaseException as error:
        # The library is written in Rust. Its panics are not of the class Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        got = f"what cannot be read ({type(error).__name__})"
        raise UnreadableError("broken spreadsheet", "a whole spreadsheet", got, _REMEDY) from error


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(str(value).split())


def _lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a sheet: per table, the rows above it, then its own. An empty row ends a table."""
    lines, table = list[str](), list[Sequence[str]]()
    header: Sequence[str] = ()
    for row in [*rows, ()]:
        if any(row):
            table.append(row)
            continue
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
        lines += [*readable_lines(None, table[:above]), *readable_lines(header, rest)]
        table = []
    return lines


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
