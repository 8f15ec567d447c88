"""Random web pages, books, PDF files and texts."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from typing import Any, Final

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from random_words import Block, Words

Html = Callable[[Words, int], str]


def _inline(construct: str, form: str) -> Html:
    return lambda words, variant: f"<p>{words('text')} {form.format(words(construct))} {words('text')}</p>"


def _block(construct: str, form: str) -> Html:
    return lambda words, variant: form.format(*(words(construct) for _ in range(form.count("{}"))))


def _list(words: Words, variant: int) -> str:
    kind = ("ul", "ol", "ol type=a", "ol start=4", "ol type=I", "ol reversed")[variant]
    items = "".join(f"<li>{words('list')}</li>" for _ in range(2 + variant % 2))
    inner = f"<ul><li>{words('list in a list')}</li></ul>" if variant % 2 else ""
    return f"<{kind}>{items}<li>{words('list')}{inner}</li></{kind.split()[0]}>"


def _dose(words: Words, variant: int) -> str:
    unit = ("µg", "mg", "%", "mmol/L", "ml", "°C")[variant]
    sign = ("≥", "&le;", "&lt;", "&gt;", "±", "½")[variant]
    return f"<p>{words('dose')} {words.number('dose')}&nbsp;{unit} {sign} {words.number('dose')}</p>"


def _fraction(words: Words, variant: int) -> str:
    over, under = words.number("fraction"), words.number("fraction")
    forms = (
        f"<sup>{over}</sup>&frasl;<sub>{under}</sub>",
        f"<math><mfrac><mn>{over}</mn><mn>{under}</mn></mfrac></math>",
        f"<span><sup>{over}</sup>/<sub>{under}</sub></span>",
    )
    return f"<p>{words('text')} {forms[variant % 3]} {words('text')}</p>"


def _boxes(words: Words, variant: int) -> str:
    kind = ("checkbox", "radio")[variant % 2]
    boxes = (
        f"<label><input type={kind}{' checked' if number == variant % 3 else ''}> {words('label of a box')}</label>"
        for number in range(3)
    )
    return f"<fieldset><legend>{words('legend')}</legend>{'<br>'.join(boxes)}</fieldset>"


_HTML: Final[Mapping[str, Html]] = {
    "heading": lambda words, variant: (
        f"<h{variant % 3 + 2}>{words('heading')}</h{variant % 3 + 2}><p>{words('text')}</p>"
    ),
    "list": _list,
    "dose": _dose,
    "fraction": _fraction,
    "boxes": _boxes,
    "table": _block("table", "<table><caption>{}</caption><tr><th>{}<th>{}<tr><td>{}<td>{}</table>"),
    "table in a table": _block("table in a table", "<table><tr><td>{}<td><table><tr><td>{}<td>{}</table></table>"),
    "definition list": _block("definition list", "<dl><dt>{}<dd>{}<dt>{}<dd>{}</dl>"),
    "details": _block("details", "<details open><summary>{}</summary><p>{}</p></details>"),
    "quotation": _block("quotation", "<blockquote><p>{}</p></blockquote>"),
    "preformatted": _block("preformatted", "<pre>{}\n  {}</pre>"),
    "figure": _block("figure", "<figure><figcaption>{}</figcaption></figure>"),
    "address": _block("address", "<address>{}</address>"),
    "article": _block("article", "<article><h3>{}</h3><p>{}</p></article>"),
    "dialog": _block("dialog", "<dialog open style='position:static'><p>{}</p></dialog>"),
    "svg": _block("svg", "<svg width=600 height=40><text x=5 y=20>{}</text></svg>"),
    "frame": _block("frame", "<iframe width=600 height=60 srcdoc='<p>{}</p>'></iframe>"),
    "object": _block("object", "<object data=x.bin><p>{}</p></object>"),
    "text field": _block("text field", "<p><label>{} <input size=40 value='{}'></label></p>"),
    "text area": _block("text area", "<textarea cols=60>{}</textarea>"),
    "choice": _block("choice", "<select><option>{}<option selected>{}</select>"),
    "output": _block("output", "<p><output>{}</output></p>"),
    "ruby": _inline("ruby", "<ruby>x<rt>{}</rt></ruby>"),
    "struck out": _inline("struck out", "<s>{}</s>"),
    "deleted": _inline("struck out", "<del>{}</del>"),
    "struck out by style": _inline("struck out", "<span style='text-decoration:line-through'>{}</span>"),
    "struck out by sheet": _inline("struck out", "<span class=gone>{}</span>"),
    "hidden": _inline("hidden", "<span hidden>{}</span>"),
    "hidden by style": _inline("hidden", "<span style='display:none'>{}</span>"),
    "hidden by sheet": _inline("hidden", "<span class=unseen>{}</span>"),
    "shown by sheet": _inline("content of a style sheet", "<span class=more data-x='{}'></span>"),
    "emphasis": _inline("emphasis", "<b>{}</b>"),
    "capitals": _inline("capitals", "<span style='text-transform:uppercase'>{}</span>"),
    "link": _inline("link", "<a href='https://health.test'>{}</a>"),
    "inserted": _inline("inserted", "<ins>{}</ins>"),
    "code": _inline("code", "<code>{}</code>"),
    "exponent": lambda words, variant: f"<p>{words('text')} 10<sup>9</sup>/l {words('text')}</p>",
}
_STYLE: Final = ".gone{text-decoration:line-through}.unseen{display:none}.more::after{content:attr(data-x)}"


def write_page(blocks: list[Block], words: Words) -> bytes:
    """Return a web page."""
    return _page(blocks, words, "<!doctype html><html>").encode()


def _page(blocks: list[Block], words: Words, begin: str) -> str:
    head = f"<head><meta charset=utf-8><title>{words('title')}</title><style>{_STYLE}</style></head>"
    inner = "\n".join(_HTML[name](words, variant) for name, variant in blocks)
    lead = f"<h1>{words('title')}</h1><p>{words('text', 25)}.</p>"
    return f"{begin}{head}<body><main>{lead}{inner}</main></body></html>"


_BOOK_LEFT_OUT: Final = ("frame", "object", "text field", "text area", "choice", "boxes", "dialog")


def write_book(blocks: list[Block], words: Words) -> bytes:
    """Return an EPUB of one chapter. Its elements may have a prefix, and its styles may be in a file of their own."""
    from lxml import etree, html

    page = html.document_fromstring(_page([each for each in blocks if each[0] not in _BOOK_LEFT_OUT], words, "<html>"))
    style = page.find(".//style")
    if len(blocks) % 2:
        style.tag, style.text = "link", None
        style.attrib.update({"rel": "stylesheet", "href": "a.css"})
    html.html_to_xhtml(page)
    chapter = etree.tostring(page, encoding="utf-8", xml_declaration=True)
    if len(blocks) % 3:
        chapter = chapter.replace(b"html:", b"").replace(b"xmlns:html", b"xmlns")
    buffer = io.BytesIO()
    root = "urn:oasis:names:tc:opendocument:xmlns:container"
    kind = "application/oebps-package+xml"
    files = {
        "META-INF/container.xml": f'<container xmlns="{root}"><rootfiles><rootfile full-path="a.opf" '
        f'media-type="{kind}"/></rootfiles></container>',
        "a.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/><manifest><item id="c" '
        'href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>',
        "a.css": f'@charset "utf-8";\n@namespace "http://www.w3.org/1999/xhtml";\n{_STYLE}',
        "c.xhtml": chapter,
    }
    with zipfile.ZipFile(buffer, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        for name, content in files.items():
            book.writestr(name, content)
    return buffer.getvalue()


def chapter_of(book: bytes) -> bytes:
    """Return the chapter of a book that `write_book` wrote, as a page for a browser."""
    from lxml import etree, html

    with zipfile.ZipFile(io.BytesIO(book)) as opened:
        page = etree.fromstring(opened.read("c.xhtml"))
    for link in page.iter("{*}link"):
        link.tag, link.text = f"{{{html.XHTML_NAMESPACE}}}style", _STYLE
    html.xhtml_to_html(page)
    return etree.tostring(page, encoding="utf-8", method="html")


class _Sheet:
    """A page that is written from top to bottom."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas, self.y = canvas, A4[1] - 80.0
        self.page = 1

    def line(self, text: str, left: float = 70, size: float = 11, font: str = "Helvetica") -> float:
        """Write a line, and return its right end."""
        self.down(size * 1.9)
        self.canvas.setFont(font, size)
        self.canvas.drawString(left, self.y, text)
        return left + float(self.canvas.stringWidth(text, font, size))

    def down(self, points: float) -> None:
        self.y -= points
        if self.y < 90:
            self.canvas.showPage()
            self.y = A4[1] - 80.0
            self.page += 1


def _pdf_text(sheet: _Sheet, words: Words, variant: int) -> None:
    for _ in range(1 + variant % 3):
        sheet.line(words("text", 7))


def _pdf_heading(sheet: _Sheet, words: Words, variant: int) -> None:
    sheet.line(words("heading"), size=(18, 15, 13)[variant % 3], font="Helvetica-Bold")
    sheet.line(words("text", 7))


def _pdf_struck(sheet: _Sheet, words: Words, variant: int) -> None:
    right = sheet.line(words("struck out"))
    sheet.canvas.setLineWidth(0.7)
    sheet.canvas.line(70, sheet.y + 3.2, right, sheet.y + 3.2)


def _pdf_box(sheet: _Sheet, words: Words, variant: int) -> None:
    if variant % 2:
        right = sheet.line(words("label of a box"))
        left = right + 8 if variant % 3 else 300
    else:
        sheet.line(words("label of a box"), left=100)
        left = 70
    name = words("name of a field", 1)
    sheet.canvas.acroForm.checkbox(name=name, x=left, y=sheet.y - 2, size=12, checked=variant % 3 == 0)


def _pdf_field(sheet: _Sheet, words: Words, variant: int) -> None:
    sheet.line(words("label of a field"))
    name = words("name of a field", 1)
    value = words("value of a field")
    sheet.canvas.acroForm.textfield(name=name, value=value, x=300, y=sheet.y - 4, width=200, height=18, fontSize=10)


def _pdf_typed(sheet: _Sheet, words: Words, variant: int) -> None:
    sheet.line(words("text"))
    place = (300, sheet.y - 4, 500, sheet.y + 14)
    sheet.canvas.freeTextAnnotation(words("typed onto the page"), "/Helv 10 Tf 0 g", Rect=place, relative=0)


def _pdf_comment(sheet: _Sheet, words: Words, variant: int) -> None:
    sheet.line(words("text"))
    sheet.canvas.textAnnotation(words("comment"), Rect=(500, sheet.y, 520, sheet.y + 20), relative=0)


def _pdf_symbol(sheet: _Sheet, words: Words, variant: int) -> None:
    right = sheet.line(f"{words('text')} {words.number('sign of a font')} ")
    sheet.canvas.setFont("Symbol", 11)
    sheet.canvas.drawString(right, sheet.y, ("μ", "≥", "≤", "α", "±", "°")[variant])
    sheet.canvas.setFont("Helvetica", 11)
    sheet.canvas.drawString(right + 8, sheet.y, "g")


def _pdf_table(sheet: _Sheet, words: Words, variant: int) -> None:
    for _ in range(2 + variant % 3):
        sheet.line(words("table", 1))
        for column in (1, 2):
            sheet.canvas.drawString(70 + 150 * column, sheet.y, words("table", 1))
        if variant % 2:
            sheet.canvas.rect(65, sheet.y - 5, 450, 20)


def _pdf_exponent(sheet: _Sheet, words: Words, variant: int) -> None:
    right = sheet.line(f"{words('text')} 10")
    sheet.canvas.setFont("Helvetica", 7)
    sheet.canvas.drawString(right, sheet.y + 4, "9")
    sheet.canvas.setFont("Helvetica", 11)
    sheet.canvas.drawString(right + 8, sheet.y, words("text"))


def _pdf_fraction(sheet: _Sheet, words: Words, variant: int) -> None:
    right = sheet.line(words("text")) + 6
    sheet.canvas.setFont("Helvetica", 7)
    over, under = words.number("fraction"), words.number("fraction")
    sheet.canvas.drawString(right, sheet.y + 5, over)
    sheet.canvas.drawString(right, sheet.y - 4, under)
    sheet.canvas.line(right - 1, sheet.y + 3, right + 15, sheet.y + 3)
    sheet.canvas.setFont("Helvetica", 11)
    sheet.canvas.drawString(right + 20, sheet.y, words("text"))


def _pdf_dose(sheet: _Sheet, words: Words, variant: int) -> None:
    sheet.line(f"{words('dose')} {words.number('dose')} µg ± {words.number('dose')} %")


def _pdf_turned(sheet: _Sheet, words: Words, variant: int) -> None:
    sheet.down(90)
    sheet.canvas.saveState()
    sheet.canvas.translate(60, sheet.y)
    sheet.canvas.rotate(90)
    sheet.canvas.drawString(0, 0, words("turned text"))
    sheet.canvas.restoreState()


def _pdf_page(sheet: _Sheet, words: Words, variant: int) -> None:
    sheet.down(1000)
    sheet.line(words("text", 7))


_PDF: Final[Mapping[str, Callable[[_Sheet, Words, int], None]]] = {
    "text": _pdf_text,
    "heading": _pdf_heading,
    "struck out": _pdf_struck,
    "box": _pdf_box,
    "field": _pdf_field,
    "typed onto the page": _pdf_typed,
    "comment": _pdf_comment,
    "sign of a font": _pdf_symbol,
    "table": _pdf_table,
    "exponent": _pdf_exponent,
    "fraction": _pdf_fraction,
    "dose": _pdf_dose,
    "turned text": _pdf_turned,
    "page": _pdf_page,
}


def write_pdf(blocks: list[Block], words: Words) -> bytes:
    """Return a PDF."""
    buffer = io.BytesIO()
    sheet = _Sheet(Canvas(buffer, pagesize=A4, invariant=True))
    sheet.line(words("text", 7))
    sheet.line(words("text", 7))
    for name, variant in blocks:
        _PDF[name](sheet, words, variant)
    sheet.canvas.save()
    return buffer.getvalue()


_TEXT: Final[Mapping[str, Html]] = {
    "heading": lambda words, variant: f"{words('heading').upper()}:\n{words('text', 6)}.",
    "text": lambda words, variant: "\n".join(f"{words('text', 8).capitalize()}." for _ in range(1 + variant % 3)),
    "list": lambda words, variant: "\n".join(f"{mark} {words('list')}" for mark in ("-*1"[variant % 3],) * 3),
    "dose": lambda words, variant: (
        f"{words('dose')} {words.number('dose')} {('µg', '%', '°C')[variant % 3]} {'≥≤<>±½'[variant]} 5"
    ),
    "row": lambda words, variant: f"{words('row')}\t{words.number('row')}\t{words('row')}",
    "label": lambda words, variant: f"{words('label').capitalize()}: {words('text', 3)}",
    "narrow": lambda words, variant: f"{words('text', 3)} has no\n{words('text', 3)} and\n{words('text', 2)}.",
}


def write_note(blocks: list[Block], words: Words) -> bytes:
    """Return a text."""
    return "\n\n".join(_TEXT[name](words, variant) for name, variant in blocks).encode()


def _markdown_list(words: Words, variant: int) -> str:
    return "\n".join(f"{('-', '*', f'{number}.')[variant % 3]} {words('list')}" for number in range(1, 4))


def _markdown_table(words: Words, variant: int) -> str:
    cells = [words("table") for _ in range(4)]
    return "| {} | {} |\n|---|---|\n| {} | {} |".format(*cells)


_MARKDOWN: Final[Mapping[str, Html]] = {
    "heading": lambda words, variant: f"{'#' * (variant % 3 + 1)} {words('heading')}\n\n{words('text', 5)}",
    "list": _markdown_list,
    "table": _markdown_table,
    "emphasis": lambda words, variant: f"{words('text')} **{words('emphasis')}** _{words('emphasis')}_",
    "struck out": lambda words, variant: f"{words('text')} ~~{words('struck out')}~~ {words('text')}",
    "code": lambda words, variant: f"```\n{words('code')}\n```",
    "link": lambda words, variant: f"[{words('link')}](https://health.test)",
    "quotation": lambda words, variant: f"> {words('quotation')}",
    "task": lambda words, variant: f"- [{'x '[variant % 2]}] {words('task')}",
    "html": lambda words, variant: f"<p>{words('html')}</p>",
    "dose": _TEXT["dose"],
}


def write_markdown(blocks: list[Block], words: Words) -> bytes:
    """Return a text in Markdown."""
    return "\n\n".join([words("text", 6), *(_MARKDOWN[name](words, variant) for name, variant in blocks)]).encode()


_ROWS: Final = ("text", "dose", "label", "list")


def write_table(blocks: list[Block], words: Words) -> bytes:
    """Return a table with a column of ids, one of texts, and others; two may have one name."""
    names = ["id", "text", "unit" if len(blocks) % 2 else "ward", "unit"]
    buffer = io.StringIO()
    rows = csv.writer(buffer)
    rows.writerow(names)
    for number, (name, variant) in enumerate(blocks):
        rows.writerow([number, _TEXT[name](words, variant), words("column"), words("column")])
    return buffer.getvalue().encode()


def write_objects(blocks: list[Block], words: Words) -> bytes:
    """Return objects with a text, sections, or a body."""
    objects: list[dict[str, Any]] = []
    for number, (name, variant) in enumerate(blocks):
        text = _TEXT[name](words, variant)
        heading = words("heading")
        key = ("text", "body", "content")[variant % 3] if variant % 2 else "text"
        held: dict[str, Any] = {"sections": [{"heading": heading, key: text}]} if variant % 3 else {"text": text}
        objects.append({"id": str(number), "title": words("title"), **held, "tags": [words("list"), words("list")]})
    return json.dumps(objects).encode()


def write_mail(blocks: list[Block], words: Words) -> bytes:
    """Return a mail, sometimes of HTML, in several encodings."""
    message = EmailMessage()
    message["From"], message["Subject"] = "a@health.test", words("title")
    variant = sum(number for _, number in blocks)
    text = "\n\n".join(_TEXT[name](words, number) for name, number in blocks) + "\n"
    message.set_content(text, cte=("base64", "quoted-printable", "8bit")[variant % 3])
    if variant % 2:
        # The usual form: the same words as a page.
        paragraphs = "".join(f"<p>{each}</p>" for each in text.replace("<", "&lt;").split("\n\n"))
        message.add_alternative(f"<html><body>{paragraphs}</body></html>", subtype="html")
    envelope = b"From a@health.test Sat Jan  3 10:00:00 2026\n" if variant % 5 == 0 else b""
    return envelope + message.as_bytes()


PAGE_CONSTRUCTS: Final = tuple(_HTML)
PDF_CONSTRUCTS: Final = tuple(_PDF)
TEXT_CONSTRUCTS: Final = tuple(_TEXT)
MARKDOWN_CONSTRUCTS: Final = tuple(_MARKDOWN)
ROW_CONSTRUCTS: Final = _ROWS
