"""Sheets: cells as they are shown, and what is left out and counted."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.styles import Font

from auscult.readers.contract import DraftDocument, SourceFile
from auscult_readers.sheets import SheetReader
from good_files import zipped

Make = Callable[[Any], None]


def read(content: bytes) -> DraftDocument:
    (draft,) = SheetReader().read(SourceFile("a.bin", content))
    return draft


def modern(fill: Make) -> DraftDocument:
    """A workbook of today, filled by a function of its sheet."""
    made = Workbook()
    fill(made.active)
    buffer = io.BytesIO()
    made.save(buffer)
    return read(buffer.getvalue())


def old(fill: Make) -> DraftDocument:
    """A workbook of before 2007."""
    import xlwt

    made = xlwt.Workbook()
    fill(made.add_sheet("Sheet"))
    buffer = io.BytesIO()
    made.save(buffer)
    return read(buffer.getvalue())


NAMESPACES = " ".join(
    f'xmlns:{name}="urn:{name}"' for name in ("office", "table", "text", "style", "fo", "draw", "dc", "xlink")
)


def opened(rows: str, styles: str = "") -> DraftDocument:
    """An OpenDocument sheet with rows."""
    content = (
        f"<office:document-content {NAMESPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:spreadsheet><table:table table:name='Sheet'>{rows}</table:table></office:spreadsheet>"
        "</office:body></office:document-content>"
    )
    media = b"application/vnd.oasis.opendocument.spreadsheet"
    return read(zipped({"mimetype": media, "content.xml": content.encode()}))


def row(*cells: str) -> str:
    inner = "".join(
        each if each.startswith("<") else f"<table:table-cell><text:p>{each}</text:p></table:table-cell>"
        for each in cells
    )
    return f"<table:table-row>{inner}</table:table-row>"


def number(value: float, shown: str, kind: str = "float", more: str = "") -> str:
    told = f"office:value-type='{kind}' office:value='{value}'"
    return f"<table:table-cell {told} {more}><text:p>{shown}</text:p></table:table-cell>"


HEADER = ("Drug", "Dose", "Share")


def fill_with_formats(sheet: Any) -> None:
    sheet.append(HEADER)
    sheet.append(("Digoxin", 62.5, 0.05))
    sheet.append(("Morphine", 2.5, 0.125))
    for place, code in (("B2", '0.0" microgram"'), ("C2", "0%"), ("B3", '# ?/?" tablets"'), ("C3", "0.0%")):
        sheet[place].number_format = code


def fill_old_with_formats(sheet: Any) -> None:
    import xlwt

    for at, cells in enumerate((HEADER, ("Digoxin", 62.5, 0.05), ("Morphine", 2.5, 0.125))):
        for column, value in enumerate(cells):
            code = {(1, 1): '0.0" microgram"', (1, 2): "0%", (2, 1): '# ?/?" tablets"', (2, 2): "0.0%"}.get(
                (at, column)
            )
            style = xlwt.easyxf(num_format_str=code) if code else xlwt.easyxf()
            sheet.write(at, column, value, style)


@pytest.mark.parametrize(
    "make",
    [
        lambda: modern(fill_with_formats),
        lambda: old(fill_old_with_formats),
        lambda: opened(
            row(*HEADER)
            + row("Digoxin", number(62.5, "62.5 microgram"), number(0.05, "5%", "percentage"))
            + row("Morphine", number(2.5, "2 1/2 tablets"), number(0.125, "12.5%", "percentage"))
        ),
    ],
    ids=["xlsx", "xls", "ods"],
)
def test_units_of_number_formats_are_read(make: Callable[[], DraftDocument]) -> None:
    assert make().sections[0].text == (
        "Drug: Digoxin | Dose: 62.5 microgram | Share: 5%\nDrug: Morphine | Dose: 2 1/2 tablets | Share: 12.5%"
    )


def fill_with_dates(sheet: Any) -> None:
    sheet.append(("on", datetime.date(2024, 3, 5), datetime.datetime(2024, 3, 5, 8, 30), datetime.time(8, 30)))
    sheet["B1"].number_format, sheet["C1"].number_format = "dd/mm/yy", "dd/mm/yy hh:mm"


def test_dates_stay_iso_8601() -> None:
    assert modern(fill_with_dates).sections[0].text == "on | 2024-03-05 | 2024-03-05 08:30:00 | 08:30:00"
    date = (
        "<table:table-cell office:value-type='date' office:date-value='{}'><text:p>5/3/24</text:p></table:table-cell>"
    )
    draft = opened(row("on", date.format("2024-03-05"), date.format("2024-03-05T08:30:00")))
    assert draft.sections[0].text == "on | 2024-03-05 | 2024-03-05 08:30:00"


STRUCK = Font(strike=True)
TABLE = (("Drug", "Dose"), ("Warfarin", "5 mg"), ("Apixaban", "5 mg"), ("Digoxin", "62.5 mg"))


def fill_with_struck_row(sheet: Any) -> None:
    for cells in TABLE:
        sheet.append(cells)
    sheet["A2"].font = sheet["B2"].font = STRUCK


def fill_old_with_struck_row(sheet: Any) -> None:
    import xlwt

    for at, cells in enumerate(TABLE):
        for column, value in enumerate(cells):
            sheet.write(at, column, value, xlwt.easyxf("font: struck_out on" if at == 1 else ""))


STRUCK_STYLE = "<style:style style:name='s'><style:text-properties style:text-line-through-{}/></style:style>"


def opened_with_struck_row(line: str) -> DraftDocument:
    rows = [row(*cells) for cells in TABLE]
    rows[1] = rows[1].replace("<table:table-cell", "<table:table-cell table:style-name='s'")
    return opened("".join(rows), STRUCK_STYLE.format(line))


@pytest.mark.parametrize(
    "make",
    [
        lambda: modern(fill_with_struck_row),
        lambda: old(fill_old_with_struck_row),
        lambda: opened_with_struck_row("style='solid'"),
        lambda: opened_with_struck_row("type='single'"),
    ],
    ids=["xlsx", "xls", "ods", "ods-type"],
)
def test_struck_rows_are_omitted_and_counted(make: Callable[[], DraftDocument]) -> None:
    draft = make()
    assert draft.sections[0].text == "Drug: Apixaban | Dose: 5 mg\nDrug: Digoxin | Dose: 62.5 mg"
    assert draft.remarks == ("left out: 3 words (struck out)",)


def test_struck_parts_of_cells_are_omitted() -> None:
    rich = CellRichText("Apixaban ", TextBlock(InlineFont(strike=True), "10"), " 5 mg")
    draft = modern(lambda sheet: sheet.append((rich, "daily")))
    assert (draft.sections[0].text, draft.remarks) == ("Apixaban 5 mg | daily", ("left out: 1 word (struck out)",))
    span = "<text:p>Apixaban <text:span text:style-name='s'>10</text:span> 5 mg</text:p>"
    cell = f"<table:table-cell>{span}</table:table-cell>"
    assert opened(row(cell, "daily"), STRUCK_STYLE.format("style='solid'")).sections[0].text == "Apixaban 5 mg | daily"


def fill_with_signs(sheet: Any) -> None:
    symbol, raised = InlineFont(rFont="Symbol"), InlineFont(vertAlign="superscript")
    sheet.append(
        (CellRichText("125 ", TextBlock(symbol, "m"), "g"), CellRichText("10", TextBlock(raised, "9"), "/L"), "\xfe")
    )
    sheet["C1"].font = Font(name="Wingdings")


def test_fonts_of_signs_and_raised_digits_are_kept() -> None:
    assert modern(fill_with_signs).sections[0].text == "125 μg | 10^9/L | ☑"


def fill_with_comment(sheet: Any) -> None:
    sheet.append(("Apixaban", "5 mg"))
    sheet["A1"].comment = Comment("Never with clarithromycin", "Dr X")
    sheet.oddHeader.center.text = "Ward &P"


def test_comments_and_page_headers_are_counted() -> None:
    told = modern(fill_with_comment).remarks
    assert told == ("left out: 1 word (headers and footers), 3 words (comments)",)
    noted = (
        "<table:table-cell><office:annotation><dc:date>2024</dc:date><text:p>Never again</text:p></office:annotation>"
    )
    draft = opened(row(f"{noted}<text:p>Apixaban</text:p></table:table-cell>", "5 mg"))
    assert (draft.sections[0].text, draft.remarks) == ("Apixaban | 5 mg", ("left out: 2 words (comments)",))


def fill_with_formula(sheet: Any) -> None:
    sheet.append(("Drug", "Dose"))
    sheet.append(("Digoxin", "=62.5*2"))
    sheet.append(("Morphine", "=A1"))


def test_formulas_without_a_result_are_told() -> None:
    draft = modern(fill_with_formula)
    assert draft.sections[0].text == "Drug | Dose\nDrug: Digoxin\nDrug: Morphine"
    assert "2 formulas without a saved result, first: Sheet!B2 " in draft.remarks[0]
    told = opened(row("Digoxin", "<table:table-cell table:formula='of:=1'/>")).remarks
    assert "1 formula without a saved result, first: Sheet!B1 " in told[0]


def test_hidden_numbers_are_counted() -> None:
    def fill(sheet: Any) -> None:
        sheet.append(("Digoxin", 5))
        sheet["B1"].number_format = ";;;"

    assert modern(fill).remarks == ("left out: 1 word (hidden)",)


def fill_far(sheet: Any) -> None:
    sheet["A1"], sheet["XFD1048576"] = "first", "last"


def test_the_first_and_last_cells_are_read() -> None:
    assert modern(fill_far).sections[0].text == "first\nlast"
    gap = "<table:table-row table:number-rows-repeated='1048574'><table:table-cell/></table:table-row>"
    wide = "<table:table-cell table:number-columns-repeated='16383'/>"
    assert opened(row("first") + gap + row(wide, "last")).sections[0].text == "first\nlast"


def test_repeated_cells_are_read_to_a_limit() -> None:
    repeated = "<table:table-cell table:number-columns-repeated='2'><text:p>x</text:p></table:table-cell>"
    assert opened(row(repeated)).sections[0].text == "x | x"
    many = row("x").replace("<table:table-row", "<table:table-row table:number-rows-repeated='1000000'")
    draft = opened(many)
    assert draft.sections[0].text.count("x") == 1000
    assert "1,000,000 equal rows are read 1,000 times, first: Sheet!A1" in draft.remarks[0]


def fill_with_chart(sheet: Any) -> None:
    sheet.append(("Day", "Krea"))
    sheet.append(("Monday", 310))
    chart = BarChart()
    chart.title = "Creatinine over time"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=2), titles_from_data=True)
    sheet.add_chart(chart, "D1")


def test_charts_of_sheets_are_read_or_told() -> None:
    assert "Creatinine over time" in modern(fill_with_chart).text
    drawn = "<table:table-cell><draw:frame><draw:object xlink:href='./Object 1'/></draw:frame></table:table-cell>"
    draft = opened(row("Monday", "310", drawn))
    assert draft.remarks == ("a chart or another object of a sheet is not read",)


def test_text_boxes_of_sheets_are_read() -> None:
    # python-pptx needs this library, and openpyxl writes no text boxes.
    # python-pptx needs this library. openpyxl writes no text boxes.
    import xlsxwriter

    buffer = io.BytesIO()
    made = xlsxwriter.Workbook(buffer, {"in_memory": True})
    sheet = made.add_worksheet()
    sheet.write(0, 0, "Apixaban")
    sheet.insert_textbox(3, 0, "Stop if bleeding")
    made.close()
    assert read(buffer.getvalue()).text.endswith("Stop if bleeding")
    frame = (
        "<table:shapes><draw:frame><draw:text-box><text:p>Stop it</text:p></draw:text-box></draw:frame></table:shapes>"
    )
    assert opened(frame + row("Apixaban")).text.endswith("Stop it")


def test_styles_of_columns_apply_to_their_cells() -> None:
    columns = "<table:table-column/><table:table-column table:default-cell-style-name='s'/>"
    draft = opened(columns + row("Apixaban", "old"), STRUCK_STYLE.format("style='solid'"))
    assert draft.sections[0].text == "Apixaban"
