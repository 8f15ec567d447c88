"""One source as a web page and as a Word file gives one text; one note in every format gives the same sections."""

from __future__ import annotations

import pytest
from docx import Document

from auscult.readers.contract import DraftDocument, Reader, SourceFile
from auscult.readers.html.reader import HtmlReader
from auscult.readers.markdown import MarkdownReader
from auscult.readers.notes import NoteReader
from auscult_readers.pdf.reader import PdfReader
from auscult_readers.records.xml import XmlReader
from auscult_readers.word.reader import DocxReader
from readings import read
from small_pdfs import Drawn
from small_word_files import add_xml, saved

_MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_W14 = "http://schemas.microsoft.com/office/word/2010/wordml"


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def raised(text: str) -> str:
    return run(text, '<w:vertAlign w:val="superscript"/>')


def field(data: str) -> str:
    return (
        f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
        '<w:r><w:instrText> FORM </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def box(state: str) -> str:
    return field(f"<w:checkBox><w:default w:val='0'/>{state}</w:checkBox>")


def control(ticked: int, content: str) -> str:
    checked = f'<w14:checkbox xmlns:w14="{_W14}"><w14:checked w14:val="{ticked}"/></w14:checkbox>'
    return f"<w:sdt><w:sdtPr>{checked}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def math(inner: str) -> str:
    return f'<m:oMath xmlns:m="{_MATH}">{inner}</m:oMath>'


def m_run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


TICKS = "<label><input type=checkbox checked> yes</label> <label><input type=checkbox> no</label>"


@pytest.mark.parametrize(
    ("html", "word", "text"),
    [
        ("150 x 10<sup>9</sup>/L", run("150 x 10") + raised("9") + run("/L"), "150 x 10^9/L"),
        ("10<sup>-3</sup>", run("10") + raised("-") + raised("3"), "10^-3"),
        ("1.7 m<sup>2</sup>, CO<sub>2</sub>", run("1.7 m") + raised("2") + run(", CO") +
         run("2", '<w:vertAlign w:val="subscript"/>'), "1.7 m2, CO2"),
        ("seen again<sup>12</sup> on the 1<sup>st</sup>", run("seen again") + raised("12") + run(" on the 1") +
         raised("st"), "seen again^12 on the 1st"),
        ("Fever: " + TICKS, run("Fever: ") + box("<w:checked/>") + run(" yes ") + box("<w:checked w:val='0'/>") +
         run(" no"), "Fever: ☒ yes ☐ no"),
        ("Fever: " + TICKS, run("Fever: ") + control(1, run("☒")) + run(" yes ") +
         control(0, '<w:r><w:sym w:font="MS Gothic" w:char="2610"/></w:r>') + run(" no"), "Fever: ☒ yes ☐ no"),
        ("Fever: " + TICKS, run("Fever: ") + control(1, "") + run("yes") + control(0, "") + run("no"),
         "Fever: ☒ yes ☐ no"),
        ("<font face=Wingdings>&#254;</font> yes <font face=Wingdings>o</font> no",
         '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>' + run(" yes ") +
         run("o", '<w:rFonts w:ascii="Wingdings"/>') + run(" no"), "☑ yes ☐ no"),
        ("Pain: <select><option>mild<option selected>severe</select>", run("Pain: ") + field(
            "<w:ddList><w:result w:val='1'/><w:listEntry w:val='mild'/><w:listEntry w:val='severe'/></w:ddList>"),
         "Pain: severe"),
        ("Name: <input value='Ann Lee'>", run("Name: ") + field(
            "<w:textInput><w:default w:val='Ann Lee'/></w:textInput>"), "Name: Ann Lee"),
        ("Takes <s>warfarin</s>apixaban", run("Takes ") + run("warfarin", "<w:strike/>") +
         run("apixaban"), "Takes apixaban"),
        ("Takes <span style='text-decoration: line-through'>warfarin</span> none", run("Takes ") +
         run("warfarin", "<w:dstrike/>") + run(" none"), "Takes none"),
        ("dose=<math><mfrac><mrow><mi>w</mi><mo>×</mo><mn>24</mn></mrow><mn>10</mn></mfrac></math>",
         run("dose=") + math(
            f"<m:f><m:num>{m_run('w×24')}</m:num><m:den>{m_run('10')}</m:den></m:f>"), "dose=w×24/10"),
        ("<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow>"
         "<mrow><mn>2</mn><mo>×</mo><mi>c</mi></mrow></mfrac></math>",
         math(f"<m:f><m:num>{m_run('a+b')}</m:num><m:den>{m_run('2×c')}</m:den></m:f>"), "(a+b)/(2×c)"),
        ("<math><msup><mn>10</mn><mn>9</mn></msup><msqrt><mi>x</mi></msqrt></math>", math(
            f"<m:sSup><m:e>{m_run('10')}</m:e><m:sup>{m_run('9')}</m:sup></m:sSup>"
            f"<m:rad><m:deg/><m:e>{m_run('x')}</m:e></m:rad>"), "10^9√x"),
    ],
)  # fmt: skip
def test_a_line_reads_equally_from_html_and_word(html: str, word: str, text: str) -> None:
    document = Document()
    add_xml(document, word)
    assert of(HtmlReader(), f"<p>{html}</p>".encode()).text == text
    assert of(DocxReader(), saved(document)).text == text


def test_complex_tables_read_equally_from_html_and_word() -> None:
    page = (
        "<table><tr><th rowspan=2>Age</th><th colspan=2>Dose</th></tr><tr><th>old</th><th>new</th></tr>"
        "<tr><td rowspan=2>Child</td><td><p>5 mg</p><p>at night</p></td><td>6 mg</td></tr>"
        "<tr><td colspan=2><ul><li>none</li><li>ask first</li></ul></td></tr><tr><td colspan=3>Adults</td></tr>"
        "<tr><td>All</td><td>Aspirin 81 mg<br>Metoprolol 25 mg</td><td>every<br>day</td></tr></table>"
    )
    document = Document()
    table = document.add_table(rows=6, cols=3)
    rows = [["Age", "Dose", ""], ["", "old", "new"], ["Child", "5 mg", "6 mg"], ["", "none", ""], ["Adults", "", ""],
            ["All", "Aspirin 81 mg\nMetoprolol 25 mg", "every\nday"]]  # fmt: skip
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
            for run in cell.paragraphs[0].runs if row in (table.rows[0], table.rows[1]) else ():
                run.bold = True
    for cell in [*table.rows[0].cells, *table.rows[1].cells]:
        for run in cell.paragraphs[0].runs:
            run.bold = True
    table.cell(2, 1).add_paragraph("at night")
    table.cell(3, 1).add_paragraph("ask first")
    for (top, left), (bottom, right) in (
        ((0, 0), (1, 0)),
        ((0, 1), (0, 2)),
        ((2, 0), (3, 0)),
        ((3, 1), (3, 2)),
        ((4, 0), (4, 2)),
    ):
        table.cell(top, left).merge(table.cell(bottom, right))
    lines = [
        "Age: Child | Dose old: 5 mg; at night | Dose new: 6 mg",
        "Age: Child | Dose: none; ask first",
        "Adults",
        "Age: All | Dose old: Aspirin 81 mg; Metoprolol 25 mg | Dose new: every day",
    ]
    assert of(HtmlReader(), page.encode()).text.split("\n") == lines
    assert of(DocxReader(), saved(document)).text.split("\n") == lines


NOTE = """OPERATIVE NOTE

CHIEF COMPLAINT: Pain in the belly.

HISTORY OF PRESENT ILLNESS:
A woman of 40 came with pain below the ribs on the right.
She has no fever.

ALLERGIES: Latex (hives).

PLAN:
1. Fluids
2. Surgery in the morning"""
SECTIONS = ["OPERATIVE NOTE", "CHIEF COMPLAINT", "HISTORY OF PRESENT ILLNESS", "ALLERGIES", "PLAN"]


def in_word() -> bytes:
    document = Document()
    for line in NOTE.split("\n"):
        document.add_paragraph(line)
    return saved(document)


def in_word_with_bold_headings() -> bytes:
    document = Document()
    for line in NOTE.split("\n"):
        document.add_paragraph().add_run(line).bold = line.endswith(":") or line == "OPERATIVE NOTE"
    return saved(document)


def in_pdf() -> bytes:
    drawn = Drawn()
    for number, line in enumerate(NOTE.split("\n")):
        if line:
            drawn.line(60, 80 + 16 * number, line)
    return drawn.content()


def marked(opening: str, closing: str) -> str:
    return "".join(f"{opening}{line}{closing}" for line in NOTE.split("\n") if line)


@pytest.mark.parametrize(
    ("reader", "content"),
    [
        (NoteReader(), NOTE.encode()),
        (MarkdownReader(), NOTE.encode()),
        (DocxReader(), in_word()),
        (DocxReader(), in_word_with_bold_headings()),
        (PdfReader(), in_pdf()),
        (HtmlReader(), f"<p>{marked('<p>', '</p>')}".encode()),
        (HtmlReader(), f"<pre>{NOTE}</pre>".encode()),
        (HtmlReader(), f"<div>{NOTE}</div>".replace("\n", "<br>\n").encode()),
        (XmlReader(), f"<note>{marked('<line>', '</line>')}</note>".encode()),
    ],
)
def test_a_note_has_equal_sections_in_every_format(reader: Reader, content: bytes) -> None:
    draft = of(reader, content)
    assert [section.heading for section in draft.sections] == SECTIONS
    assert draft.sections[1].text.startswith("Pain in")
    assert draft.sections[4].text.endswith("Surgery in the morning")


def test_note_headings_split_sections_of_a_letter() -> None:
    letter = f"<h1>Letter</h1><h2>Ward 7</h2>{marked('<p>', '</p>')}<h2>Address</h2><p>12 Mill Lane</p>"
    draft = of(HtmlReader(), letter.encode())
    assert [section.heading for section in draft.sections] == [*SECTIONS, "Address"]
    assert draft.heading_paths[1] == ("Ward 7",)


def test_note_like_lines_do_not_split_headed_pages() -> None:
    page = "<h2>Gout</h2><p>Treatment: rest and tablets.</p><h2>Asthma</h2><p>Plan: a spray.</p>"
    assert [section.heading for section in of(HtmlReader(), page.encode()).sections] == ["Gout", "Asthma"]


def test_a_column_label_is_no_note_heading() -> None:
    table = "<table><tr><th>Test<th>Result"
    table += "<tr><td>Potassium<td>6.9<tr><td>Sodium<td>139<tr><td>Calcium<td><tr><td><td>none</table>"
    draft = of(HtmlReader(), f"<p>From the ward.</p>{table}<p>PLAN: Send another.</p>".encode())
    rows = "Test: Potassium | Result: 6.9\nTest: Sodium | Result: 139\nTest: Calcium\nResult: none"
    assert [(each.heading, each.text) for each in draft.sections] == [
        ("", f"From the ward.\n\n{rows}"),
        ("PLAN", "Send another."),
    ]


def of(reader: Reader, content: bytes) -> DraftDocument:
    if isinstance(reader, DocxReader | PdfReader):
        (draft,) = reader.read(SourceFile("a", content))
        return draft
    (draft,) = read(reader, content)
    return draft
