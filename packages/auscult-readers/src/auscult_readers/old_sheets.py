"""Sheets of Excel files of before 2007 (.xls), and of binary ones (.xlsb).

Number formats, fonts and comments of .xls files are read by xlrd. It is slower than calamine and stops at some broken
files. Calamine reads these, and .xlsb files, without formats. The report says so.
"""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator
from typing import Any, Final

from auscult.files.limits import limits
from auscult.readers.contract import UnreadableError
from auscult_readers.number_formats import general, shown_number, shown_text
from auscult_readers.sheet_cells import Font, Notes, Sheet, text_of_runs

_REMEDY: Final = "open it in Excel or LibreOffice and save it as .xlsx"
_WITHOUT_FORMATS: Final = "number formats, fonts and comments are not read; units may be missing (save it as .xlsx)"
_TEXT, _NUMBER, _DATE, _BOOLEAN, _ERROR = 1, 2, 3, 4, 5
_SUPERSCRIPT: Final = 1
_ERRORS: Final = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}


def read_old_workbook(content: bytes, notes: Notes) -> Iterator[Sheet]:
    """Yield the sheets of a workbook of before 2007, in order.

    Raises:
        UnreadableError: It is broken or encrypted.
    """
    told = Notes()
    try:
        sheets = [*_formatted(content, told)]
    except Exception:  # The library raises errors of any type for files that it does not know.
        yield from read_binary_workbook(content, notes)
        return
    notes.left_out.update(told.left_out)
    yield from sheets


def _formatted(content: bytes, notes: Notes) -> Iterator[Sheet]:
    import xlrd

    book = xlrd.open_workbook(file_contents=content, formatting_info=True, ragged_rows=True, logfile=io.StringIO())
    for sheet in book.sheets():
        read = Sheet(sheet.name)
        for row in range(sheet.nrows):
            for column in range(sheet.row_len(row)):
                cell = sheet.cell(row, column)
                if cell.ctype in (_TEXT, _NUMBER, _DATE, _BOOLEAN, _ERROR) and str(cell.value).strip():
                    read.put(row, column, _text_of(book, sheet, row, column, notes))
        for top, bottom, left, right in sheet.merged_cells:
            read.merged.append((top, left, bottom - 1, right - 1))
        for note in sheet.cell_note_map.values():
            notes.leave_out(note.text, "comments")
        yield read


def _text_of(book: Any, sheet: Any, row: int, column: int, notes: Notes) -> str:
    """Return the text of a cell as the sheet shows it."""
    cell = sheet.cell(row, column)
    style = book.xf_list[cell.xf_index]
    known = book.format_map.get(style.format_key)
    code, font = known.format_str if known else "", _font(book, style.font_index)
    value = cell.value
    if cell.ctype == _BOOLEAN:
        value = "yes" if value else "no"
    elif cell.ctype == _ERROR:
        value = _ERRORS.get(value, "")
    elif cell.ctype != _TEXT:
        number = float(value)
        value = shown_number(number, code, since_1904=bool(book.datemode))
        if not value:
            notes.leave_out(general(number), "hidden")
    runs, place = list[tuple[str, Font]](), 0
    for start, number in sheet.rich_text_runlist_map.get((row, column), ()) if cell.ctype == _TEXT else ():
        runs.append((value[place:start], font))
        place, font = start, _font(book, number)
    text = text_of_runs([*runs, (value[place:], font)], notes)
    return shown_text(text, code) if text and cell.ctype == _TEXT and code else text


def _font(book: Any, number: int) -> Font:
    if number >= len(book.font_list):
        return Font()
    font = book.font_list[number]
    return Font(font.name, bool(font.struck_out), font.escapement == _SUPERSCRIPT)


def read_binary_workbook(content: bytes, notes: Notes) -> Iterator[Sheet]:
    """Yield the sheets of a workbook without their formats, in order.

    Raises:
        UnreadableError: It is broken, encrypted or too large.
    """
    import python_calamine

    try:
        book = python_calamine.load_workbook(io.BytesIO(content))
        for described in book.sheets_metadata:
            if described.typ != python_calamine.SheetTypeEnum.WorkSheet:
                continue
            sheet, read = book.get_sheet_by_name(described.name), Sheet(described.name)
            if sheet.total_height * sheet.total_width > limits().document:
                got = f"a sheet of {sheet.total_height:,} rows and {sheet.total_width:,} columns"
                raise UnreadableError("too large", "a sheet of the size of a document", got, "delete its empty cells")
            for row, values in enumerate(sheet.to_python(skip_empty_area=False)):
                for column, value in enumerate(values):
                    if text := _text(value).strip():
                        read.put(row, column, text)
            read.merged += [(*first, *last) for first, last in sheet.merged_cell_ranges or ()]
            yield read
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
    notes.remarks.append(_WITHOUT_FORMATS)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return general(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value)
