"""Articles in the formats that health documents come in, for `make_mixed_folder.py`; the same bytes each time."""

from __future__ import annotations

import base64
import datetime
import html
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docx import Document
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, ListFlowable, PageTemplate, Paragraph, Spacer, Table
from reportlab.platypus.flowables import Flowable

from auscult_readers.pdf.page_images import page_png

_STYLES = getSampleStyleSheet()
_DAY = datetime.datetime(2024, 3, 5, tzinfo=datetime.UTC)


@dataclass(frozen=True)
class Article:
    """A text with headings.

    Attributes:
        sections: (heading, text) pairs; the lines of a text are paragraphs, those that begin with "- " items.
        credit: Whose text it is, and its licence.
    """

    title: str
    sections: Sequence[tuple[str, str]]
    credit: str
    url: str = ""


def pdf(articles: Sequence[Article], title: str, *, columns: int = 1, table: Sequence[Sequence[str]] = ()) -> bytes:
    """A document of several pages with a running header and page numbers, its title in the metadata."""
    buffer = io.BytesIO()

    def furniture(canvas: Canvas, document: BaseDocTemplate) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(50, A4[1] - 32, title)
        canvas.drawRightString(A4[0] - 50, 28, f"Page {document.page}")

    width = (A4[0] - 100 - 20 * (columns - 1)) / columns
    frames = [Frame(50 + n * (width + 20), 50, width, A4[1] - 105, id=str(n)) for n in range(columns)]
    document = BaseDocTemplate(buffer, pagesize=A4, title=title, author="Health library", invariant=1)
    document.addPageTemplates([PageTemplate(frames=frames, onPage=furniture)])
    story: list[Flowable] = [Paragraph(html.escape(title), _STYLES["Title"])]
    for article in articles:
        if len(articles) > 1:
            story.append(Paragraph(html.escape(article.title), _STYLES["Heading1"]))
        for heading, text in article.sections:
            story.append(Paragraph(html.escape(heading), _STYLES["Heading2"]))
            story += _flowing(text)
        story.append(Paragraph(html.escape(article.credit), _STYLES["Italic"]))
    if table:
        story += [Spacer(1, 12), Table([*map(list, table)], style=[("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")])]
    document.build(story)
    # The library's date where files shall be the same each time; another of its length.
    return buffer.getvalue().replace(b"D:20000101", b"D:20240305")


def _flowing(text: str) -> list[Flowable]:
    found: list[Flowable] = []
    items: list[Paragraph] = []
    for line in [*filter(str.strip, text.split("\n")), ""]:
        if line.startswith("- "):
            items.append(Paragraph(html.escape(line[2:]), _STYLES["BodyText"]))
            continue
        if items:
            found.append(ListFlowable(items, bulletType="bullet"))
            items = []
        if line:
            found.append(Paragraph(html.escape(line), _STYLES["BodyText"]))
    return found


def scan(content: bytes) -> bytes:
    """A PDF as a scanner makes one of the first page of another: a picture, and no text."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.drawImage(ImageReader(io.BytesIO(page_png(content, 0, 1.5))), 0, 0, *A4)
    canvas.save()
    return buffer.getvalue()


def docx(article: Article) -> bytes:
    """A Word file."""
    document = Document()
    told = document.core_properties
    told.title, told.author, told.created, told.modified = article.title, "Health library", _DAY, _DAY
    document.add_heading(article.title, 0)
    for heading, text in article.sections:
        document.add_heading(heading, 1)
        for line in filter(str.strip, text.split("\n")):
            document.add_paragraph(line.removeprefix("- "), style="List Bullet" if line.startswith("- ") else None)
    document.add_paragraph(article.credit)
    buffer = io.BytesIO()
    document.save(buffer)
    with zipfile.ZipFile(buffer) as packed:
        # Packed again, because the library packs with the time of day.
        return zipped({name: packed.read(name) for name in packed.namelist()})


def page(article: Article, others: Sequence[str]) -> bytes:
    """A web page with what nobody reads around its text."""
    links = "".join(f'<li><a href="/{name.lower().replace(" ", "-")}">{html.escape(name)}</a></li>' for name in others)
    body = "".join(f"<h2>{html.escape(heading)}</h2>\n{_marked_up(text)}" for heading, text in article.sections)
    address = html.escape(article.url or "https://health.example/page")
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{html.escape(article.title)} - Health library</title>
<link rel="canonical" href="{address}"><script>window.analytics = [];</script></head>
<body><header><nav aria-label="Menu"><ul>{links}</ul></nav></header>
<div class="cookie-banner">We use cookies. <button>Accept</button></div>
<main><h1>{html.escape(article.title)}</h1>
{body}</main>
<aside><h2>Related</h2><ul>{links}</ul></aside>
<footer><p>{html.escape(article.credit)}</p><p>Contact us</p></footer></body></html>
""".encode()


def _marked_up(text: str) -> str:
    lines = [line for line in text.split("\n") if line.strip()]
    parts = [
        f"<li>{html.escape(line[2:])}</li>" if line.startswith("- ") else f"<p>{html.escape(line)}</p>"
        for line in lines
    ]
    return "\n".join(parts).replace("</p>\n<li>", "</p>\n<ul><li>").replace("</li>\n<p>", "</li></ul>\n<p>") + (
        "</ul>\n" if lines and lines[-1].startswith("- ") else "\n"
    )


def markdown(article: Article) -> bytes:
    """Markdown with front matter."""
    told = f"---\ntitle: {json.dumps(article.title, ensure_ascii=False)}\ndate: {_DAY:%Y-%m-%d}\n---\n\n"
    body = "".join(f"## {heading}\n\n" + text.replace("\n", "\n\n") + "\n\n" for heading, text in article.sections)
    return f"{told}# {article.title}\n\n{body}*{article.credit}*\n".encode()


def fhir_bundle(articles: Sequence[Article]) -> bytes:
    """A bundle with a composition for each article, and a letter that is attached as text."""
    entries: list[dict[str, Any]] = [{"resourceType": "Patient", "id": "example"}]
    entries += [_composition(article, number) for number, article in enumerate(articles, 1)]
    letter = base64.b64encode(note(articles[0]).encode()).decode()
    entries.append(
        {
            "resourceType": "DocumentReference", "id": "letter", "status": "current", "description": "Clinic letter",
            "date": _DAY.isoformat(), "content": [{"attachment": {"contentType": "text/plain", "data": letter}}],
        }
    )  # fmt: skip
    bundle = {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": each} for each in entries]}
    return json.dumps(bundle, indent=1, ensure_ascii=False).encode()


def _composition(article: Article, number: int) -> dict[str, Any]:
    return {
        "resourceType": "Composition", "id": f"leaflet-{number}", "status": "final", "title": article.title,
        "date": f"{_DAY:%Y-%m-%d}", "type": {"text": "Patient information"}, "author": [{"display": article.credit}],
        "section": [
            {
                "title": heading,
                "text": {
                    "status": "generated",
                    "div": f'<div xmlns="http://www.w3.org/1999/xhtml">{_marked_up(text)}</div>',
                },
            }
            for heading, text in article.sections
        ],
    }  # fmt: skip


def fhir_lines(articles: Sequence[Article]) -> bytes:
    """NDJSON: a report for each article."""
    rows = [
        {
            "resourceType": "DiagnosticReport", "id": f"report-{number}", "status": "final",
            "code": {"text": article.title}, "effectiveDateTime": f"{_DAY:%Y-%m-%d}",
            "conclusion": "\n".join(text for _, text in article.sections),
        }
        for number, article in enumerate(articles, 1)
    ]  # fmt: skip
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def xml(article: Article) -> bytes:
    """An article as publishers exchange them (JATS)."""
    parts = "".join(
        f"<sec><title>{html.escape(heading)}</title>"
        + "".join(f"<p>{html.escape(line)}</p>" for line in text.split("\n") if line.strip())
        + "</sec>"
        for heading, text in article.sections
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<article><front><article-meta><title-group><article-title>'
        f"{html.escape(article.title)}</article-title></title-group><pub-date><year>2024</year></pub-date>"
        f"<permissions><license><license-p>{html.escape(article.credit)}</license-p></license></permissions>"
        f"</article-meta></front><body>{parts}</body></article>\n"
    ).encode()


def note(article: Article) -> str:
    """A plain note with headings in capitals."""
    parts = "".join(f"{heading.upper()}:\n{text}\n\n" for heading, text in article.sections)
    return f"{article.title}\n\n{parts}".rstrip() + "\n"


def zipped(members: Mapping[str, bytes]) -> bytes:
    """An archive; names are written as they are, be they good or bad."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name, content in members.items():
            packed.writestr(zipfile.ZipInfo(name, (2024, 3, 5, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
