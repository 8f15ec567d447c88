"""Word files for the tests."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Mapping

from docx import Document
from docx.document import Document as WordDocument
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

GOUT = "Gout is a form of arthritis caused by crystals of uric acid in a joint."


def word_leaflet() -> WordDocument:
    """A document with a title, headings of two levels, lists and a table."""
    document = Document()
    properties = document.core_properties
    properties.author, properties.title = "Ward 7", ""
    properties.created = datetime.datetime(2023, 5, 4, tzinfo=datetime.UTC)
    properties.modified = datetime.datetime(2024, 2, 1, tzinfo=datetime.UTC)
    document.add_heading("Gout", 0)
    document.add_paragraph(GOUT)
    document.add_heading("Treatment", 1)
    document.add_paragraph("An attack is treated at once.")
    document.add_heading("Medicines", 2)
    document.add_paragraph("colchicine", style="List Bullet")
    document.add_paragraph("anti-inflammatory tablets", style="List Bullet")
    document.add_paragraph("Then:")
    document.add_paragraph("wait", style="List Number")
    document.add_paragraph("ask", style="List Number")
    table = document.add_table(rows=0, cols=2)
    for cells in (("Medicine", "Dose"), ("Allopurinol", "100 mg"), ("Colchicine", "500 µg")):
        for cell, text in zip(table.add_row().cells, cells, strict=True):
            cell.text = text
    document.add_heading("Prevention", 1)
    document.add_paragraph("Drink water.")
    return document


def add_xml(document: WordDocument, inner: str) -> None:
    """Append a paragraph of WordprocessingML."""
    paragraph = parse_xml(f"<w:p {nsdecls('w')}>{inner}</w:p>")
    document.element.body.insert(len(document.element.body) - 1, paragraph)


def saved(document: WordDocument) -> bytes:
    """Its file; packed again, because the library packs with the time of day."""
    buffer = io.BytesIO()
    document.save(buffer)
    return with_parts(buffer.getvalue(), {})


def with_parts(content: bytes, parts: Mapping[str, bytes]) -> bytes:
    """A file with some parts replaced, or added."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in dict.fromkeys([*old.namelist(), *parts]):
            content = parts[name] if name in parts else old.read(name)
            new.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def part_of(content: bytes, name: str) -> bytes:
    """One part."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read(name)
