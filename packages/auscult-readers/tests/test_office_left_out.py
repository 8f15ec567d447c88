"""Slides and OpenDocument files: what is left out is counted in the report, and is not read."""

from __future__ import annotations

import io
from typing import Any

import pytest

from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.registry import Registry
from good_files import zipped


def read(content: bytes) -> DraftDocument:
    file = SourceFile("file.bin", content)
    (draft,) = Registry().reader_of(file).read(file)
    return draft


_NAMES = " ".join(
    f"xmlns:{name}='{name}'" for name in ("office", "style", "text", "table", "draw", "presentation", "dc")
)
_TYPE = "application/vnd.oasis.opendocument."
STRUCK = "<style:text-properties style:text-line-through-style='solid'/>"
PLAIN = "<style:text-properties style:text-line-through-style='none'/>"


def style(name: str, held: str, above: str = "") -> str:
    inherited = f" style:parent-style-name='{above}'" if above else ""
    return f"<style:style style:family='text' style:name='{name}'{inherited}>{held}</style:style>"


def flat(body: str, styles: str = "", masters: str = "", kind: str = "text") -> DraftDocument:
    return read(
        f"<?xml version='1.0'?><office:document {_NAMES} office:mimetype='{_TYPE}{kind}'>"
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:master-styles>{masters}</office:master-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document>".encode()
    )


def packed(body: str, masters: str = "", more: dict[str, bytes] | None = None) -> DraftDocument:
    held = f"<office:body><office:text>{body}</office:text></office:body>"
    content = f"<office:document-content {_NAMES}>{held}</office:document-content>"
    held = f"<office:master-styles>{masters}</office:master-styles>"
    styles = f"<office:document-styles {_NAMES}>{held}</office:document-styles>"
    members = {
        "mimetype": f"{_TYPE}text".encode(),
        "content.xml": content.encode(),
        "styles.xml": styles.encode(),
        "META-INF/manifest.xml": b"<a/>",
        **(more or {}),
    }
    return read(zipped(members))


@pytest.mark.parametrize(
    "styles",
    [
        style("T1", STRUCK),
        style("T1", "<style:text-properties style:text-line-through-type='double'/>"),
        style("Gone", STRUCK) + style("T1", "", "Gone"),
    ],
    ids=["struck", "struck twice", "inherited"],
)
def test_struck_words_of_opendocument_texts_are_counted(styles: str) -> None:
    draft = flat("<text:p>Apixaban <text:span text:style-name='T1'>10 mg</text:span> 5 mg</text:p>", styles)
    assert (draft.text, draft.remarks) == ("Apixaban 5 mg", ("left out: 2 words (struck out)",))


def test_a_style_undoes_the_line_of_another() -> None:
    styles = style("Gone", STRUCK) + style("T1", PLAIN, "Gone")
    draft = flat("<text:p>Apixaban <text:span text:style-name='T1'>5 mg</text:span></text:p>", styles)
    assert (draft.text, draft.remarks) == ("Apixaban 5 mg", ())


def test_hidden_words_of_opendocument_are_counted() -> None:
    styles = style("T1", "<style:text-properties text:display='none'/>")
    draft = flat("<text:p>Apixaban <text:span text:style-name='T1'>draft</text:span></text:p>", styles)
    assert (draft.text, draft.remarks) == ("Apixaban", ("left out: 1 word (hidden)",))


_CHANGED = "<office:change-info><dc:creator>Ward 7</dc:creator><dc:date>2024-03-05</dc:date></office:change-info>"


def deleted(held: str) -> str:
    return (
        f"<text:tracked-changes><text:changed-region><text:deletion>{_CHANGED}{held}</text:deletion>"
        f"</text:changed-region><text:changed-region><text:insertion>{_CHANGED}</text:insertion>"
        "</text:changed-region></text:tracked-changes>"
    )


@pytest.mark.parametrize(
    ("held", "number"),
    [
        ("<text:p>10 mg</text:p>", 2),
        ("<text:p>10 mg</text:p><text:p>twice daily</text:p>", 4),
        ("<text:h text:outline-level='1'>Warfarin</text:h>", 1),
        ("<table:table><table:table-row><table:table-cell><text:p>Warfarin</text:p></table:table-cell>"
         "<table:table-cell><text:p>3 mg</text:p></table:table-cell></table:table-row></table:table>", 3),
        ("<text:p>Warfarin<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Stop it."
         "</text:p></text:note-body></text:note></text:p>", 3),
    ],
    ids=["words", "paragraphs", "heading", "table", "note"],
)  # fmt: skip
def test_deleted_words_of_opendocument_texts_are_counted(held: str, number: int) -> None:
    words = "word" if number == 1 else "words"
    draft = flat(deleted(held) + "<text:p>Apixaban 5 mg</text:p>")
    assert (draft.text, draft.remarks) == ("Apixaban 5 mg", (f"left out: {number} {words} (tracked deletions)",))


def test_a_deleted_heading_gives_no_title() -> None:
    body = (
        "<text:h text:outline-level='1'>Gout</text:h><text:p>Rest.</text:p><text:h text:outline-level='2'>Diet</text:h>"
    )
    draft = flat(deleted("<text:h text:outline-level='1'>Sprains</text:h>") + body + "<text:p>Eat.</text:p>")
    assert draft.title == "Gout"


@pytest.mark.parametrize("part", ["header", "footer", "header-first", "footer-left"])
def test_headers_and_footers_of_opendocument_texts_are_counted(part: str) -> None:
    held = "<text:p>Ward 7</text:p><text:p>Berlin</text:p>"
    master = f"<style:master-page><style:{part}>{held}</style:{part}></style:master-page>"
    told = ("left out: 3 words (headers and footers)",)
    for draft in (flat("<text:p>Rest it.</text:p>", masters=master), packed("<text:p>Rest it.</text:p>", master)):
        assert (draft.text, draft.remarks) == ("Rest it.", told)


def test_header_that_is_not_shown_counts_nothing() -> None:
    header = "<style:header-left style:display='false'><text:p>Ward</text:p></style:header-left>"
    master = f"<style:master-page>{header}</style:master-page>"
    assert flat("<text:p>Rest it.</text:p>", masters=master).remarks == ()


def test_comments_and_contents_of_opendocument_texts_are_counted() -> None:
    about = "<dc:creator>Ward 7</dc:creator><dc:date>2024</dc:date>"
    comment = f"<office:annotation>{about}<text:p>Ask again</text:p></office:annotation>"
    contents = (
        "<text:table-of-content><text:table-of-content-source><text:p>Template</text:p></text:table-of-content-source>"
        "<text:index-body><text:p>Gout 1</text:p></text:index-body></text:table-of-content>"
    )
    draft = flat(f"{contents}<text:p>Rest it.{comment}</text:p>")
    told = ("left out: 2 words (table of contents), 2 words (comments)",)
    assert (draft.text, draft.remarks) == ("Rest it.", told)


def test_struck_words_and_footers_of_slides_are_counted() -> None:
    body = (
        "<presentation:footer-decl presentation:name='f'>Ward 7</presentation:footer-decl>"
        "<draw:page draw:master-page-name='m'><draw:frame presentation:class='title'><draw:text-box><text:p>Gout "
        "<text:span text:style-name='T1'>sprains</text:span></text:p></draw:text-box></draw:frame>"
        "<draw:frame><draw:text-box><text:p>Rest it.</text:p></draw:text-box></draw:frame></draw:page>"
    )
    draft = flat(body, style("T1", STRUCK), kind="presentation")
    assert (draft.title, draft.text) == ("Gout", "Slide 1\n\nGout\n\nRest it.")
    assert draft.remarks == ("left out: 2 words (headers and footers), 1 word (struck out)",)


_CHART = (
    "<chart:chart xmlns:chart='chart'><chart:title><text:p>Urate</text:p></chart:title><table:table>"
    "<table:table-header-rows><table:table-row><table:table-cell><text:p/></table:table-cell>"
    "<table:table-cell><text:p>Dose</text:p></table:table-cell></table:table-row></table:table-header-rows>"
    "<table:table-rows><table:table-row><table:table-cell><text:p>March</text:p></table:table-cell>"
    "<table:table-cell><text:p>5</text:p><draw:g>Sheet1.$B$1</draw:g></table:table-cell></table:table-row>"
    "</table:table-rows></table:table></chart:chart>"
)
_OBJECT = "<text:p>Rest it.</text:p><text:p><draw:object href='./Object 1'/></text:p>"


def test_charts_of_opendocument_files_are_read() -> None:
    content = f"<office:document-content {_NAMES}>{_CHART}</office:document-content>".encode()
    draft = packed(_OBJECT, more={"Object 1/content.xml": content})
    assert draft.text == "Rest it.\n\nUrate\n\nMarch | Dose: 5"
    assert flat(f"<text:p>Rest it.</text:p><draw:object>{_CHART}</draw:object>").text == draft.text


def test_equations_of_opendocument_files_are_read() -> None:
    parts = "<mfrac><mn>1</mn><mn>2</mn></mfrac><annotation>{1 over 2}</annotation>"
    equation = f"<math><semantics>{parts}</semantics></math>"
    draft = packed(_OBJECT, more={"Object 1/content.xml": equation.encode()})
    assert (draft.text, draft.remarks) == ("Rest it.\n\n1/2", ())
    assert flat(f"<text:p>Dose <draw:object>{equation}</draw:object></text:p>").text == "Dose 1/2"


@pytest.mark.parametrize("content", [b"<math", b"<a/>", b""], ids=["broken", "other", "missing"])
def test_objects_that_are_not_read_are_told(content: bytes) -> None:
    draft = packed(_OBJECT, more={"Object 1/content.xml": content})
    assert draft.text == "Rest it."
    assert draft.remarks[0].startswith("a chart or another object is not read")


def presented(fill: Any) -> DraftDocument:
    from pptx import Presentation
    from pptx.util import Inches

    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Gout"
    box = slide.shapes.add_textbox(Inches(1), Inches(3), Inches(4), Inches(1))
    box.text_frame.text = "Apixaban 5 mg"
    fill(slide, box)
    buffer = io.BytesIO()
    made.save(buffer)
    return read(buffer.getvalue())


def strike(run: Any, kind: str = "sngStrike") -> None:
    run._r.get_or_add_rPr().set("strike", kind)


@pytest.mark.parametrize("kind", ["sngStrike", "dblStrike"])
def test_struck_words_of_slides_are_counted(kind: str) -> None:
    def fill(slide: Any, box: Any) -> None:
        run = box.text_frame.paragraphs[0].add_run()
        run.text = " 10 mg"
        strike(run, kind)

    draft = presented(fill)
    assert (draft.sections[-1].text, draft.remarks) == ("Apixaban 5 mg", ("left out: 2 words (struck out)",))


def test_struck_words_of_cells_and_notes_are_counted() -> None:
    def fill(slide: Any, box: Any) -> None:
        from pptx.util import Inches

        table = slide.shapes.add_table(2, 2, Inches(1), Inches(4), Inches(4), Inches(1)).table
        for place, text in enumerate(("Medicine", "Dose", "Warfarin", "3 mg")):
            table.cell(place // 2, place % 2).text = text
        strike(table.cell(1, 1).text_frame.paragraphs[0].runs[0])
        slide.notes_slide.notes_text_frame.text = "Stopped"
        strike(slide.notes_slide.notes_text_frame.paragraphs[0].runs[0])

    draft = presented(fill)
    assert draft.remarks == ("left out: 3 words (struck out)",)
    assert "3 mg" not in draft.text
    assert "Notes" not in draft.text


def test_a_struck_word_is_not_in_the_title() -> None:
    def fill(slide: Any, box: Any) -> None:
        run = slide.shapes.title.text_frame.paragraphs[0].add_run()
        run.text = " sprains"
        strike(run)

    draft = presented(fill)
    assert (draft.title, draft.remarks) == ("Gout", ("left out: 1 word (struck out)",))
    assert "sprains" not in draft.text


def test_the_footer_of_a_slide_is_counted() -> None:
    def fill(slide: Any, box: Any) -> None:
        box._element.nvSpPr.nvPr.get_or_add_ph().set("type", "ftr")

    draft = presented(fill)
    assert (draft.title, draft.remarks) == ("Gout", ("left out: 3 words (headers and footers)",))
