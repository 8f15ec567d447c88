"""Random Word, Excel and PowerPoint files, by the libraries that people write them with."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable, Mapping
from typing import Any, Final

from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from random_words import Block, Words

_W14: Final = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
_M: Final = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
_SHAPES: Final = (
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)


def _paragraph(document: Any, inner: str) -> Any:
    made = parse_xml(f"<w:p {nsdecls('w', 'r', 'wp', 'a')} {_W14} {_M} {_SHAPES}>{inner}</w:p>")
    document.element.body.insert(len(document.element.body) - 1, made)
    return made


def _run(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text} </w:t></w:r>'


def _look(name: str, look: str) -> Callable[[Any, Words, int], None]:
    def write(document: Any, words: Words, variant: int) -> None:
        _paragraph(document, _run(words("text")) + _run(words(name), look) + _run(words("text")))

    return write


def _heading(document: Any, words: Words, variant: int) -> None:
    document.add_heading(words("heading"), variant % 3 + 1)
    document.add_paragraph(words("text", 6))


def _list(document: Any, words: Words, variant: int) -> None:
    style = ("List Bullet", "List Number", "List Bullet 2")[variant % 3]
    for _ in range(2 + variant % 2):
        document.add_paragraph(words("list", 3), style=style)


def _table(document: Any, words: Words, variant: int) -> None:
    table = document.add_table(rows=2 + variant % 2, cols=2)
    for row in table.rows:
        for cell in row.cells:
            cell.text = words("table")
    if variant % 3 == 1:
        table.cell(0, 0).merge(table.cell(0, 1))
    if variant % 3 == 2:
        inner = table.cell(1, 1).add_table(rows=1, cols=2)
        for cell in inner.rows[0].cells:
            cell.text = words("table in a table")


def _dose(document: Any, words: Words, variant: int) -> None:
    unit = ("µg", "mg", "%", "mmol/L", "ml", "°C")[variant]
    sign = "≥≤<>±½"[variant].replace("<", "&lt;").replace(">", "&gt;")
    _paragraph(document, _run(f"{words('dose')} {words.number('dose')} {unit} {sign} {words.number('dose')}"))


def _symbol(document: Any, words: Words, variant: int) -> None:
    fonts = '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>'
    mu = ('<w:r><w:sym w:font="Symbol" w:char="F06D"/></w:r>', f"<w:r><w:rPr>{fonts}</w:rPr><w:t>\uf06d</w:t></w:r>")
    unit = '<w:r><w:t xml:space="preserve">g daily </w:t></w:r>'
    _paragraph(document, _run(words.number("sign of a font")) + mu[variant % 2] + unit + _run(words("text")))


def _exponent(document: Any, words: Words, variant: int) -> None:
    raised = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t xml:space="preserve">9 </w:t></w:r>'
    _paragraph(document, _run(words("text")) + f"<w:r><w:t>10</w:t></w:r>{raised}" + _run(words("text")))


def _fraction(document: Any, words: Words, variant: int) -> None:
    parts = [f"<m:r><m:t>{words.number('fraction')}</m:t></m:r>" for _ in range(2)]
    math = f"<m:oMath><m:f><m:num>{parts[0]}</m:num><m:den>{parts[1]}</m:den></m:f></m:oMath>"
    _paragraph(document, _run(words("text")) + math + _run(words("text")))


def _field(document: Any, words: Words, variant: int) -> None:
    code = (" SET a x ", " AUTHOR ", ' HYPERLINK "https://health.test" ', " QUOTE x ", " DOCPROPERTY x ", " FILLIN x ")[
        variant
    ]
    inner = "".join((
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>', f"<w:r><w:instrText>{code}</w:instrText></w:r>",
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>', _run(words("result of a field")),
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>',
    ))  # fmt: skip
    _paragraph(document, _run(words("text")) + inner)


def _form(document: Any, words: Words, variant: int) -> None:
    sign = "\u2612" if variant % 2 else "\u2610"
    box = f'<w14:checkbox><w14:checked w14:val="{variant % 2}"/></w14:checkbox>'
    font = '<w:rFonts w:ascii="MS Gothic" w:eastAsia="MS Gothic" w:hAnsi="MS Gothic"/>'
    held = f"<w:sdtContent><w:r><w:rPr>{font}</w:rPr><w:t>{sign}</w:t></w:r></w:sdtContent>"
    value = f"<w:sdt><w:sdtPr><w:text/></w:sdtPr><w:sdtContent>{_run(words('field of a form'))}</w:sdtContent></w:sdt>"
    _paragraph(document, f"<w:sdt><w:sdtPr>{box}</w:sdtPr>{held}</w:sdt>{_run(' ' + words('label of a box'))}{value}")


def _text_box(document: Any, words: Words, variant: int) -> None:
    size = '<wp:extent cx="1800000" cy="700000"/><wp:docPr id="7" name="box"/>'
    form = '<a:xfrm><a:off x="0" y="0"/><a:ext cx="1800000" cy="700000"/></a:xfrm><a:prstGeom prst="rect"/>'
    held = f"<wps:txbx><w:txbxContent><w:p>{_run(words('text box'))}</w:p></w:txbxContent></wps:txbx><wps:bodyPr/>"
    kind = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
    shape = f"<wps:wsp><wps:cNvSpPr/><wps:spPr>{form}</wps:spPr>{held}</wps:wsp>"
    graphic = f'<a:graphic><a:graphicData uri="{kind}">{shape}</a:graphicData></a:graphic>'
    drawing = f"<w:drawing><wp:inline>{size}{graphic}</wp:inline></w:drawing>"
    choice = f'<mc:AlternateContent><mc:Choice Requires="wps">{drawing}</mc:Choice></mc:AlternateContent>'
    _paragraph(document, _run(words("text")) + f"<w:r>{choice}</w:r>")


def _comment(document: Any, words: Words, variant: int) -> None:
    paragraph = document.add_paragraph(words("text"))
    document.add_comment(paragraph.runs, text=words("comment"), author="A")


def _around(document: Any, words: Words, variant: int) -> None:
    section = document.sections[0]
    part = section.header if variant % 2 else section.footer
    part.paragraphs[0].text += f" {words('header or footer')}"


def _tracked(document: Any, words: Words, variant: int) -> None:
    how = 'w:id="9" w:author="A" w:date="2024-01-01T00:00:00Z"'
    deleted = f'<w:del {how}><w:r><w:delText xml:space="preserve">{words("deleted")} </w:delText></w:r></w:del>'
    _paragraph(document, f"{_run(words('text'))}<w:ins {how}>{_run(words('inserted'))}</w:ins>{deleted}")


def _footnote(document: Any, words: Words, variant: int) -> None:
    notes = getattr(document, "notes", None)
    if notes is None:
        notes = document.notes = []
    notes.append(words("footnote"))
    mark = f'<w:r><w:footnoteReference w:id="{len(notes) + 1}"/></w:r>'
    _paragraph(document, _run(words("text")) + mark + _run(words("text")))


_WORD: Final[Mapping[str, Callable[[Any, Words, int], None]]] = {
    "heading": _heading,
    "list": _list,
    "table": _table,
    "dose": _dose,
    "sign of a font": _symbol,
    "exponent": _exponent,
    "fraction": _fraction,
    "field": _field,
    "form": _form,
    "text box": _text_box,
    "comment": _comment,
    "header or footer": _around,
    "tracked change": _tracked,
    "footnote": _footnote,
    "struck out": _look("struck out", "<w:strike/>"),
    "struck out twice": _look("struck out", "<w:dstrike/>"),
    "hidden": _look("hidden", "<w:vanish/>"),
    "capitals": _look("capitals", "<w:caps/>"),
    "bold": _look("bold", "<w:b/>"),
}


def write_word(blocks: list[Block], words: Words) -> bytes:
    """Return a Word file."""
    document = Document()
    document.add_paragraph(words("text", 8))
    made: Any = document
    holder = _Holder(made)
    for name, variant in blocks:
        _WORD[name](holder, words, variant)
    if holder.notes:
        _add_notes(made, holder.notes)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


class _Holder:
    """A document that also has notes."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self.notes: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._document, name)


def _add_notes(document: Any, notes: list[str]) -> None:
    inner = "".join(
        f'<w:footnote w:id="{number}"><w:p><w:r><w:footnoteRef/></w:r>{_run(text)}</w:p></w:footnote>'
        for number, text in enumerate(notes, 2)
    )
    between = "".join(
        f'<w:footnote w:type="{kind}" w:id="{number}"><w:p><w:r><w:{kind}/></w:r></w:p></w:footnote>'
        for number, kind in enumerate(("separator", "continuationSeparator"))
    )
    content = f"<w:footnotes {nsdecls('w')}>{between}{inner}</w:footnotes>".encode()
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    part = Part(PackURI("/word/footnotes.xml"), kind, content, document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)


def _cell(name: str, value: Callable[[Words], Any], form: str = "") -> Callable[[Any, Words, int], None]:
    def write(sheet: Any, words: Words, variant: int) -> None:
        sheet.append([words("cell"), value(words)])
        if form:
            sheet.cell(sheet.max_row, 2).number_format = form

    return write


def _struck_cell(sheet: Any, words: Words, variant: int) -> None:
    from openpyxl.styles import Font

    sheet.append([words("struck out"), words("struck out")])
    for cell in sheet[sheet.max_row]:
        cell.font = Font(strike=True)


def _noted_cell(sheet: Any, words: Words, variant: int) -> None:
    from openpyxl.comments import Comment

    sheet.append([words("cell")])
    sheet.cell(sheet.max_row, 1).comment = Comment(words("comment"), "A")


def _merged_cells(sheet: Any, words: Words, variant: int) -> None:
    sheet.append([words("merged cell", 4)])
    sheet.merge_cells(start_row=sheet.max_row, end_row=sheet.max_row, start_column=1, end_column=2)


def _hidden_row(sheet: Any, words: Words, variant: int) -> None:
    sheet.append([words("hidden row")])
    sheet.row_dimensions[sheet.max_row].hidden = True


def _rich_cell(sheet: Any, words: Words, variant: int) -> None:
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    struck = TextBlock(InlineFont(strike=True), words("struck out in a cell"))
    sheet.append([CellRichText(f"{words('cell')} ", struck, f" {words('cell')}")])


def _number(words: Words) -> float:
    return float(words.number("number")) + 0.5


def _whole(words: Words) -> int:
    return int(words.number("number"))


_SHEET: Final[Mapping[str, Callable[[Any, Words, int], None]]] = {
    "text": _cell("cell", lambda words: words("cell", 3)),
    "number": _cell("number", _number),
    "unit": _cell("number", _number, '0.0" microgram"'),
    "unit after a blank": _cell("number", _whole, "0\\ \\m\\g"),
    "per cent": _cell("number", lambda words: int(words.number("number")) / 100, "0%"),
    "thousands": _cell("number", lambda words: 1000 * int(words.number("other")), "#,##0"),
    "decimals": _cell("number", _whole, "0.00"),
    "condition": _cell("number", _whole, '[>100]"above "0;"below "0'),
    "negative": _cell("number", lambda words: -int(words.number("number")), '0;"minus "0'),
    "currency": _cell("number", _whole, '"EUR" 0'),
    "fraction": _cell("other", lambda words: 2.5, "# ?/?"),
    "date": _cell("date", lambda words: datetime.date(2024, 3, 5), "yyyy-mm-dd"),
    "formula": _cell("formula", lambda words: f"={words.number('formula')}*1"),
    "joined by a formula": _cell("formula", lambda words: f'="{words("formula")}"&" mg"'),
    "true or false": _cell("other", lambda words: True),
    "struck out": _struck_cell,
    "struck out in a cell": _rich_cell,
    "comment": _noted_cell,
    "merged cell": _merged_cells,
    "hidden row": _hidden_row,
}


def write_workbook(blocks: list[Block], words: Words) -> bytes:
    """Return an Excel file."""
    from openpyxl import Workbook

    book = Workbook()
    book.active.append([words("cell"), words("cell")])
    for name, variant in blocks:
        _SHEET[name](book.active, words, variant)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _box(slide: Any, words: Words, variant: int) -> None:
    frame = _new_box(slide, variant)
    frame.text = words("text box", 3)


def _new_box(slide: Any, variant: int) -> Any:
    from pptx.util import Inches

    return slide.shapes.add_textbox(Inches(1 + variant % 3), Inches(1 + variant), Inches(4), Inches(0.5)).text_frame


def _struck_run(slide: Any, words: Words, variant: int) -> None:
    paragraph = _new_box(slide, variant).paragraphs[0]
    paragraph.add_run().text = f"{words('text')} "
    run = paragraph.add_run()
    run.text = words("struck out")
    run._r.get_or_add_rPr().set("strike", "sngStrike")


def _slide_table(slide: Any, words: Words, variant: int) -> None:
    from pptx.util import Inches

    table = slide.shapes.add_table(2, 2, Inches(1), Inches(3), Inches(6), Inches(1)).table
    for row in range(2):
        for column in range(2):
            table.cell(row, column).text = words("table")
    if variant % 2:
        table.cell(0, 0).merge(table.cell(0, 1))


def _chart(slide: Any, words: Words, variant: int) -> None:
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    values = CategoryChartData()
    values.categories = [words("chart", 1), words("chart", 1)]
    values.add_series(words("chart", 1), (5, 6))
    frame = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(3), Inches(6), Inches(4), values)
    frame.chart.has_legend = True
    frame.chart.value_axis.visible = False


def _notes(slide: Any, words: Words, variant: int) -> None:
    slide.notes_slide.notes_text_frame.text = words("notes")


def _levels(slide: Any, words: Words, variant: int) -> None:
    frame = _new_box(slide, variant)
    frame.text = words("list")
    inner = frame.add_paragraph()
    inner.text, inner.level = words("list"), 1


def _group(slide: Any, words: Words, variant: int) -> None:
    from pptx.util import Inches

    group = slide.shapes.add_group_shape()
    box = group.shapes.add_textbox(Inches(2), Inches(2), Inches(4), Inches(0.5))
    box.text_frame.text = words("group")


def _slide_dose(slide: Any, words: Words, variant: int) -> None:
    _new_box(slide, variant).text = f"{words('dose')} {words.number('dose')} µg ≥ {words.number('dose')} %"


_SLIDE: Final[Mapping[str, Callable[[Any, Words, int], None]]] = {
    "text box": _box,
    "struck out": _struck_run,
    "table": _slide_table,
    "chart": _chart,
    "notes": _notes,
    "list": _levels,
    "group": _group,
    "dose": _slide_dose,
}


def write_slides(blocks: list[Block], words: Words) -> bytes:
    """Return a PowerPoint file: a slide for every two blocks."""
    from pptx import Presentation

    made = Presentation()
    for start in range(0, len(blocks), 2):
        slide = made.slides.add_slide(made.slide_layouts[5])
        slide.shapes.title.text = words("title")
        for name, variant in blocks[start : start + 2]:
            _SLIDE[name](slide, words, variant)
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


WORD_CONSTRUCTS: Final = tuple(_WORD)
SHEET_CONSTRUCTS: Final = tuple(_SHEET)
SLIDE_CONSTRUCTS: Final = tuple(_SLIDE)
