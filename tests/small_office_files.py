"""Files of office programs, books and mail for the tests, written by the libraries that people write them with."""

from __future__ import annotations

import datetime
import io
import itertools
import re
import struct
import zipfile
from collections.abc import Sequence
from email.message import EmailMessage
from typing import Any

# Some libraries write when they wrote.
_MODIFIED = re.compile(rb'(<dcterms:(?:created|modified)[^>]*>|property="dcterms:modified">)[^<]*')
_WRITTEN = datetime.datetime(2024, 3, 5, tzinfo=datetime.UTC).replace(tzinfo=None)
GOUT = "Gout is a form of arthritis caused by crystals of uric acid in a joint."
ROWS = [("Medicine", "Dose"), ("Allopurinol", "100 mg"), ("Colchicine", "500 µg")]

RTF = rb"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss\fcharset0 Arial;}{\f1\fnil\fcharset204 Times;}}
{\colortbl;\red0\green0\blue0;}{\stylesheet{\s0 Normal;}{\s1\b heading 1;}{\s2 heading 2;}}
{\info{\title Letter}{\author Ward 7}{\creatim\yr2024\mo3\dy5\hr2}}{\header Page 1}
\pard\plain\s1\b Gout\par
\pard\plain Gout is a form of arthritis caused by crystals of uric acid in a joint.\par
M\'e9ni\'e8re\u8217 ?s disease, 10{\super 9}/L. {\strike Warfarin 5 mg.} Now{\v  hidden} {\f1\'cf\'f0\'e8}.\par
{\listtext\'b7\tab}rest the joint\par
{\listtext\'b7\tab}cool it\par
\pard\plain\s2 Treatment\par\pard Allopurinol{\footnote Start low.} each day.\par
\trowd\cellx100\cellx200\intbl{\b Medicine}\cell{\b Dose}\cell\row
\trowd\cellx100\cellx200\pard\intbl Allopurinol\cell 100 mg\cell\row
\trowd\cellx100\cellx200\pard\intbl Colchicine\cell 500 \'b5g\cell\row
\pard After the table.\par{\pict\wmetafile8 0102ffabcd}}"""


def slides(text: str = GOUT) -> bytes:
    """A presentation of three slides: a title, a list with a table, a chart and notes, a box without a title."""
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    made = Presentation()
    made.core_properties.author = "Ward 7"
    first = made.slides.add_slide(made.slide_layouts[0])
    first.shapes.title.text = "Gout"
    first.placeholders[1].text = text
    second = made.slides.add_slide(made.slide_layouts[1])
    second.shapes.title.text = "Treatment"
    frame = second.placeholders[1].text_frame
    frame.text = "rest the joint"
    frame.add_paragraph().text = "cool it"
    inner = frame.add_paragraph()
    inner.text, inner.level = "with ice", 1
    table = second.shapes.add_table(3, 2, Inches(1), Inches(4), Inches(6), Inches(1)).table
    for row, cells in enumerate(ROWS):
        for column, value in enumerate(cells):
            table.cell(row, column).text = value
    second.notes_slide.notes_text_frame.text = "Tell them to drink water."
    values = CategoryChartData()
    values.categories = ["March", "April"]
    values.add_series("Urate", (540, 360))
    second.shapes.add_chart(XL_CHART_TYPE.LINE, Inches(1), Inches(5), Inches(4), Inches(2), values)
    third = made.slides.add_slide(made.slide_layouts[6])
    third.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1)).text_frame.text = "Ask your doctor."
    return _saved(made)


def workbook(rows: Sequence[Sequence[str]] = ROWS) -> bytes:
    """Two sheets: medicines below a title, and laboratory values with dates."""
    from openpyxl import Workbook

    made = Workbook()
    made.properties.created = _WRITTEN
    sheet = made.active
    sheet.title = "Medicines"
    for row in [("Medicines for gout",), (), *rows]:
        sheet.append(row)
    values = made.create_sheet("Values")
    values.append(("Date", "Analyte", "Value"))
    values.append((datetime.date(2024, 3, 5), "Potassium", 5.9))
    values.append((None, "Sodium", 140))
    values.merge_cells("A2:A3")
    return _saved(made)


def old_workbook(rows: Sequence[Sequence[str]] = ROWS) -> bytes:
    """A sheet as Excel wrote them before 2007."""
    import xlwt

    made = xlwt.Workbook()
    sheet = made.add_sheet("Medicines")
    for row, cells in enumerate(rows):
        for column, value in enumerate(cells):
            sheet.write(row, column, value)
    return _saved(made)


def open_text(text: str = GOUT) -> bytes:
    """An OpenDocument text with headings, a list, a table, a note, and raised and struck-out characters."""
    from odfdo import Document, Header, List, Paragraph, Style

    made = Document("text")
    body = made.body
    body.clear()
    struck, raised = Style("text", name="Struck"), Style("text", name="Raised")
    struck.set_properties({"style:text-line-through-style": "solid"}, area="text")
    raised.set_properties({"style:text-position": "super 58%"}, area="text")
    for style in (struck, raised):
        made.insert_style(style, automatic=True)
    body.append(Header(1, "Gout"))
    body.append(Paragraph(text))
    line = Paragraph("Platelets 109/L. Warfarin 5 mg.")
    line.set_span("Raised", regex="(?<=10)9")
    line.set_span("Struck", regex="Warfarin 5 mg.")
    line.insert_note(after="Platelets", note_id="note-1", citation="1", body="Count again.")
    body.append(line)
    body.append(Header(2, "Treatment"))
    body.append(List(["rest the joint", "cool it"]))
    body.append(_open_table(ROWS))
    return _saved(made)


def _open_table(rows: Sequence[Sequence[str]]) -> Any:
    from odfdo import Table

    table = Table("Medicines", width=2, height=len(rows))
    table.set_values([list(row) for row in rows])
    return table


def open_sheet(rows: Sequence[Sequence[str]] = ROWS) -> bytes:
    """An OpenDocument sheet."""
    from odfdo import Document

    made = Document("spreadsheet")
    made.body.clear()
    made.body.append(_open_table(rows))
    return _saved(made)


def open_slides(text: str = GOUT) -> bytes:
    """An OpenDocument presentation of one slide."""
    from odfdo import Document, DrawPage, Frame

    made = Document("presentation")
    made.body.clear()
    page = DrawPage("one", name="one", master_page="Default")
    for shown, kind in ((text, "outline"), ("Gout", "title")):
        page.append(Frame.text_frame(shown, presentation_class=kind, size=("10cm", "2cm"), position=("1cm", "1cm")))
    made.body.append(page)
    return _saved(made)


def book(text: str = GOUT) -> bytes:
    """A book of a cover and two chapters."""
    titles = {"Gout": text, "Sprains": "A sprain is a torn ligament."}
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><body>{}</body></html>'
    manifest, spine, parts = "", "", dict[str, str]()
    chapters = [f"<h1>{title}</h1><p>{said}</p><h2>Treatment</h2><p>Rest it.</p>" for title, said in titles.items()]
    for number, body in enumerate(["<img src='cover.png'/>", *chapters]):
        parts[f"OEBPS/text/part {number}.xhtml"] = page.format(body)
        manifest += f'<item id="p{number}" href="text/part%20{number}.xhtml" media-type="application/xhtml+xml"/>'
        spine += f'<itemref idref="p{number}"/>'
    parts["OEBPS/content.opf"] = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>A handbook of joints</dc:title><dc:creator>Ward 7</dc:creator><dc:language>en</dc:language>"
        "</metadata>"
        f"<manifest>{manifest}</manifest><spine>{spine}</spine></package>"
    )
    parts["META-INF/container.xml"] = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("mimetype"), "application/epub+zip")
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part)
    return buffer.getvalue()


def mail(*attached: tuple[str, bytes], page: bool = True, text: str = GOUT) -> bytes:
    """A message in base64, with plain text and a page, and files that are attached."""
    made = EmailMessage()
    made["From"] = "Dr. Jörg Weber <weber@example.org>"
    made["To"] = "ward7@example.org"
    made["Subject"] = "Discharge letter"
    made["Date"] = "Tue, 05 Mar 2024 10:00:00 +0100"
    made["Message-ID"] = "<1@example.org>"
    made.set_content(f"{text} (plain)\n", cte="base64")
    if page:
        made.add_alternative(f"<html><body><h1>Letter</h1><p>{text} Ménière.</p></body></html>", subtype="html")
    for name, content in attached:
        made.add_attachment(content, "application", "octet-stream", filename=name)
    return _bounded(made)


def web_archive(text: str = GOUT) -> bytes:
    """A page with a picture, as browsers save it in one file."""
    made = EmailMessage()
    made["From"] = "<Saved by Blink>"
    made["Snapshot-Content-Location"] = "https://health.test/gout"
    made["Subject"] = "Gout"
    made["MIME-Version"] = "1.0"
    made.set_content(f"<html><body><h1>Gout</h1><p>{text}</p><img src='cid:1'></body></html>", subtype="html")
    made.add_related(b"\x89PNG\r\n\x1a\n", "image", "png", cid="<1>")
    return _bounded(made)


def _bounded(message: EmailMessage) -> bytes:
    """A message whose boundaries are the same each time."""
    for number, part in enumerate(message.walk()):
        if part.is_multipart() and part.get_content_maintype() == "multipart":
            part.set_boundary(f"boundary-{number}")
    return message.as_bytes()


def outlook(attached: bytes = b"", text: str = GOUT) -> bytes:
    """A message as Outlook saves it, written by the rules of MS-CFB and MS-OXMSG: no library writes one."""
    texts = {0x001A: "IPM.Note", 0x0037: "Discharge letter", 0x0C1A: "Dr. Weber", 0x0C1F: "weber@example.org",
             0x1000: f"{text}\r\nRest the joint."}  # fmt: skip
    tree: dict[str, bytes | dict[str, bytes]] = dict(_properties(texts, 32))
    if attached:
        tree["__attach_version1.0_#00000000"] = _properties({0x3707: "plan.txt"}, 8, {0x3701: attached})
    return compound(tree)


def _properties(texts: dict[int, str], header: int, binary: dict[int, bytes] | None = None) -> dict[str, bytes]:
    values = {(name, 0x001F): text.encode("utf-16-le") for name, text in texts.items()}
    values |= {(name, 0x0102): content for name, content in (binary or {}).items()}
    listed = b"".join(
        struct.pack("<HHIII", kind, name, 6, len(value) + 2 * (kind == 0x1F), 0)
        for (name, kind), value in values.items()
    )
    method = struct.pack("<HHIII", 3, 0x3705, 6, 1, 0) if binary else b""
    streams = {f"__substg1.0_{name:04X}{kind:04X}": value for (name, kind), value in values.items()}
    return {"__properties_version1.0": bytes(header) + listed + method, **streams}


def compound(tree: dict[str, bytes | dict[str, bytes]]) -> bytes:
    """Streams and storages of streams as one file of MS-CFB."""
    size, end, free, none = 512, 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFF
    entries: list[list[object]] = [["Root Entry", 5, none, none, none, end, 0]]
    sectors: list[bytes] = []
    chains: list[int] = []
    small = bytearray()
    small_chains: list[int] = []

    def put(content: bytes) -> int:
        start = len(sectors)
        parts = [content[at : at + size].ljust(size, b"\0") for at in range(0, len(content), size)]
        sectors.extend(parts)
        chains.extend([*range(start + 1, start + len(parts)), end])
        return start

    def put_small(content: bytes) -> int:
        start = len(small) // 64
        number = -(-len(content) // 64)
        small.extend(content.ljust(number * 64, b"\0"))
        small_chains.extend([*range(start + 1, start + number), end])
        return start

    def add(storage: dict[str, bytes | dict[str, bytes]]) -> int:
        numbers = []
        for name, content in storage.items():
            numbers.append(len(entries))
            entries.append([name, 1, none, none, none, end, 0])
            if isinstance(content, dict):
                entries[numbers[-1]][1:] = [1, none, none, add(dict(content)), 0, 0]
            elif content:
                place = put(content) if len(content) >= 4096 else put_small(content)
                entries[numbers[-1]][1:] = [2, none, none, none, place, len(content)]
            else:
                entries[numbers[-1]][1] = 2
        numbers.sort(key=lambda number: (len(str(entries[number][0])), str(entries[number][0]).upper()))
        for number, following in itertools.pairwise(numbers):
            entries[number][3] = following
        return numbers[0]

    entries[0][4] = add(tree)
    entries[0][5], entries[0][6] = put(bytes(small)), len(small)
    packed = b"".join(struct.pack("<I", link) for link in small_chains)
    small_table = put(packed.ljust(-(-len(packed) // size) * size, b"\xff"))
    listed = b""
    for name, kind, left, right, child, place, length in entries:
        encoded = str(name).encode("utf-16-le") + b"\0\0"
        listed += encoded.ljust(64, b"\0") + struct.pack("<HBBIII", len(encoded), kind, 1, left, right, child)
        listed += bytes(36) + struct.pack("<IQ", place, length)
    directory = put(listed.ljust(-(-len(listed) // size) * size, b"\0"))
    table = len(sectors)
    number = 1
    while (table + number) * 4 > number * size:
        number += 1
    chains += [0xFFFFFFFD] * number
    fat = b"".join(struct.pack("<I", link) for link in chains).ljust(number * size, b"\xff")
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<9I", 0, number, directory, 0, 4096, small_table, -(-len(small_chains) * 4 // size), end, 0)
    head += b"".join(struct.pack("<I", table + position if position < number else free) for position in range(109))
    return head + b"".join(sectors) + fat


def _saved(made: object) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)  # type: ignore[attr-defined]
    return steady(buffer.getvalue())


def steady(content: bytes) -> bytes:
    """A zip archive with the same dates each time; anything else as it is."""
    if not content.startswith(b"PK"):
        return content
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(buffer, "w") as written:
        for member in archive.infolist():
            held = _MODIFIED.sub(rb"\g<1>2024-03-05T00:00:00Z", steady(archive.read(member)))
            written.writestr(zipfile.ZipInfo(member.filename), held, member.compress_type)
    return buffer.getvalue()
