"""Style sheets, prefixed elements and readings above words (ruby) in books and pages."""

from __future__ import annotations

import io
import zipfile

import pytest

from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.html.cleaning import Care
from auscult.readers.html.reader import read_page
from auscult_readers.book import BookReader

_CONTAINER = '<container><rootfiles><rootfile full-path="book/a.opf"/></rootfiles></container>'
_PACKAGE = (
    '<package><manifest><item id="c" href="text/c.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="c"/></spine></package>'
)
_XHTML = "http://www.w3.org/1999/xhtml"
_LINK = '<link rel="stylesheet" href="../styles/main%20one.css"/>'
_GONE = ".gone{text-decoration:line-through}"


def read_book(chapter: str, **sheets: str) -> DraftDocument:
    """Read a book of one chapter, and style sheets by the names of their files without ending."""
    files = {
        "META-INF/container.xml": _CONTAINER,
        "book/a.opf": _PACKAGE,
        "book/text/c.xhtml": chapter,
        **{f"book/styles/{name.replace('_', ' ')}.css": sheet for name, sheet in sheets.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    (draft,) = BookReader().read(SourceFile("book.epub", buffer.getvalue()))
    return draft


def chapter(head: str, body: str) -> str:
    return f'<html xmlns="{_XHTML}"><head><title>Gout</title>{head}</head><body>{body}</body></html>'


_STRUCK = '<p>Take <span class="gone">500 mg</span> 100 mg daily.</p>'


@pytest.mark.parametrize(
    ("head", "body", "sheets"),
    [
        (_LINK, _STRUCK, {"main_one": _GONE}),
        (_LINK, _STRUCK, {"main_one": f'@charset "utf-8";\n@namespace h "{_XHTML}";\n{_GONE}'}),
        (_LINK, _STRUCK, {"main_one": '@import url("more.css");', "more": _GONE}),
        ("<style>@import '../styles/more.css' screen;</style>", _STRUCK, {"more": _GONE}),
        (f"<style>{_GONE}</style>", _STRUCK, {}),
        (f"<style><![CDATA[{_GONE}]]></style>", _STRUCK, {}),
        (_LINK, _STRUCK, {"main_one": f"@import 'main one.css';{_GONE}"}),
        ("", "<p>Take <s>500 mg</s> 100 mg daily.</p>", {}),
        ("", "<p>Take <del>500 mg</del> 100 mg daily.</p>", {}),
        ("", '<p>Take <span style="text-decoration: line-through">500 mg</span> 100 mg daily.</p>', {}),
    ],
    ids=["file", "statements", "import", "import in page", "page", "cdata", "itself", "s", "del", "style"],
)
def test_struck_words_of_books_are_counted(head: str, body: str, sheets: dict[str, str]) -> None:
    draft = read_book(chapter(head, body), **sheets)
    assert draft.text == "Take 100 mg daily."
    assert draft.remarks == ("left out: 2 words (struck out)",)


def test_words_hidden_by_style_sheets_are_counted() -> None:
    body = '<p>Take 100 mg.</p><p class="draft">Take 900 mg.</p>'
    draft = read_book(chapter(_LINK, body), main_one=".draft{display:none}")
    assert draft.text == "Take 100 mg."
    assert draft.remarks == ("left out: 3 words (hidden)",)


@pytest.mark.parametrize("link", ['rel="alternate stylesheet"', 'rel="stylesheet" media="print"', 'rel="next"'])
def test_style_sheets_that_do_not_apply_are_ignored(link: str) -> None:
    draft = read_book(chapter(f'<link {link} href="../styles/a.css"/>', _STRUCK), a=_GONE)
    assert draft.text == "Take 500 mg 100 mg daily."


@pytest.mark.parametrize("prefix", ["html", "h", "x-1"])
def test_chapters_may_give_elements_a_prefix(prefix: str) -> None:
    math = (
        '<m:math xmlns:m="http://www.w3.org/1998/Math/MathML"><m:mfrac><m:mn>1</m:mn><m:mn>2</m:mn></m:mfrac></m:math>'
    )
    held = (
        "<{0}:html xmlns:{0}='{1}'><{0}:head><{0}:title>Gout</{0}:title><{0}:style>{2}</{0}:style></{0}:head>"
        "<{0}:body><{0}:h1>Doses</{0}:h1><{0}:p>Take <{0}:s>500 mg</{0}:s> {3} tablet.</{0}:p>"
        "<{0}:p>Not <{0}:span class='gone'>two</{0}:span> more.</{0}:p></{0}:body></{0}:html>"
    )
    draft = read_book(held.format(prefix, _XHTML, _GONE, math))
    assert draft.title == "Doses"
    assert draft.text == "Doses\n\nTake 1/2 tablet.\n\nNot more."
    assert draft.remarks == ("left out: 3 words (struck out)",)


def test_a_long_chain_of_style_sheets_is_told() -> None:
    sheets = {f"s{number}": f"@import 's{number + 1}.css';" for number in range(2000)}
    head = '<link rel="stylesheet" href="../styles/s0.css"/>'
    draft = read_book(chapter(head, "<p>Take 100 mg.</p>"), **sheets)
    assert draft.remarks[0].startswith("a part of the style sheet was not applied")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<ruby>x<rt>read so</rt></ruby> y", "x (read so) y"),
        ("<ruby>x<rp>(</rp><rt>read so</rt><rp>)</rp></ruby> y", "x (read so) y"),
        ("<ruby>糖<rt>とう<rb>尿<rt>にょう</ruby>", "糖尿 (とう にょう)"),
        ("<ruby>糖<rt>とう</rt></ruby><ruby>尿<rt>にょう</rt></ruby>です", "糖尿 (とう にょう)です"),
        ("<ruby>糖<rt style='display:none'>とう</rt></ruby>です", "糖です"),
        ("<table><tr><td>a<td><ruby>x<rt>y</rt></ruby></table>", "x (y)"),
    ],
)
def test_readings_above_words_follow_them(body: str, text: str) -> None:
    draft = read_page(f"<p>Take it daily.</p><div>{body}</div>".encode(), Care.INVISIBLE)
    assert text in draft.text
