"""Reading Word files: structure, what counts as text, what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from docx import Document
from docx.document import Document as WordDocument
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_BREAK

from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult_readers.word.reader import DocxReader, word_source
from small_office_files import compound, old_workbook, workbook
from small_pdfs import grey_png
from small_word_files import GOUT, add_xml, part_of, saved, with_parts, word_leaflet

MAIN = "word/document.xml"


def read(content: bytes) -> DraftDocument:
    (draft,) = DocxReader().read(SourceFile("a.docx", content))
    for section in draft.sections:
        assert section.start is not None
        assert draft.text[section.start : section.start + len(section.text)] == section.text
    source = word_source(content)
    for start, end, begin, stop in draft.runs.tolist():
        shown, told = draft.text[start:end], source[begin:stop]
        assert shown == told or (shown == " " and not told.strip()) or shown == told.translate({9: " ", 160: " "})
    return draft


def outline(draft: DraftDocument) -> list[str]:
    paths = draft.heading_paths or [()] * len(draft.sections)
    return [" > ".join((*path, section.heading)) for section, path in zip(draft.sections, paths, strict=True)]


def test_headings_lists_and_tables() -> None:
    draft = read(saved(word_leaflet()))
    assert draft.text == (
        f"Gout\n\n{GOUT}\n\nTreatment\n\nAn attack is treated at once.\n\nMedicines\n\n• colchicine\n"
        "• anti-inflammatory tablets\n\nThen:\n\n1. wait\n2. ask\n\nMedicine: Allopurinol | Dose: 100 mg\n"
        "Medicine: Colchicine | Dose: 500 µg\n\nPrevention\n\nDrink water."
    )
    assert outline(draft) == ["", "Treatment", "Treatment > Medicines", "Prevention"]
    assert draft.title == "Gout"
    assert draft.metadata == {"author": "Ward 7", "created": "2023-05-04", "date": "2024-02-01"}
    assert draft.remarks == ()
    assert draft.content is None


def test_runs_map_words_to_the_plain_source_text() -> None:
    content = saved(word_leaflet())
    draft = read(content)
    source = word_source(content)
    for word in ("crystals", "colchicine", "Allopurinol", "Drink"):
        start = draft.text.index(word)
        held = draft.runs[(draft.runs["start"] <= start) & (draft.runs["end"] >= start + len(word))]
        (run,) = held.tolist()
        assert source[run[2] + start - run[0] :].startswith(word)
    assert "• " not in source


def test_title_is_the_metadatas_or_the_only_heading() -> None:
    document = Document()
    document.add_heading("Gout", 1)
    document.add_heading("Causes", 2)
    document.add_paragraph("Uric acid.")
    assert (read(saved(document)).title, outline(read(saved(document)))) == ("Gout", ["Causes"])
    document.add_heading("Asthma", 1)
    document.add_paragraph("Airways.")
    assert (read(saved(document)).title, outline(read(saved(document)))) == ("", ["Gout > Causes", "Asthma"])
    document.core_properties.title = "Two leaflets"
    assert (read(saved(document)).title, outline(read(saved(document)))) == (
        "Two leaflets",
        ["Gout > Causes", "Asthma"],
    )
    document.core_properties.title = "Document1"
    assert read(saved(document)).title == ""


def test_without_styles_short_bold_lines_are_headings() -> None:
    document = Document()
    for heading, text in (("Causes", "Uric acid."), ("Treatment", "Rest and tablets.")):
        document.add_paragraph().add_run(heading).bold = True
        document.add_paragraph(text)
    assert outline(read(saved(document))) == ["Causes", "Treatment"]


def test_paragraphs_with_an_outline_level_are_headings() -> None:
    document = Document()
    add_xml(document, '<w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>Causes</w:t></w:r>')
    document.add_paragraph("Uric acid.")
    document.add_paragraph().add_run("Bold words").bold = True
    assert outline(read(saved(document))) == ["Causes"]


def test_deletions_are_left_out_and_insertions_kept() -> None:
    document = Document()
    add_xml(
        document,
        "<w:r><w:t xml:space='preserve'>Take </w:t></w:r><w:del w:id='1'><w:r><w:delText>ten</w:delText></w:r></w:del>"
        "<w:ins w:id='2'><w:r><w:t>two</w:t></w:r></w:ins><w:r><w:t xml:space='preserve'> tablets</w:t></w:r>"
        "<w:moveFrom w:id='3'><w:r><w:t>gone</w:t></w:r></w:moveFrom>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
        "<w:r><w:instrText>HYPERLINK x</w:instrText></w:r>"
        "<w:hyperlink><w:r><w:t xml:space='preserve'> daily</w:t></w:r></w:hyperlink>",
    )
    draft = read(saved(document))
    assert draft.text == "Take two tablets daily"
    assert draft.remarks == ("left out: 2 words (tracked deletions), 1 word (hidden)",)


def test_breaks_tabs_hyphens_and_signs() -> None:
    document = Document()
    run = document.add_paragraph().add_run("One")
    run.add_break()
    run.add_text("two\tthree")
    run.add_break(WD_BREAK.PAGE)
    run.add_text("four")
    add_xml(
        document,
        "<w:r><w:t>beta</w:t><w:noBreakHyphen/><w:t>blocker</w:t></w:r>"
        "<w:r><w:t xml:space='preserve'> TNF-</w:t><w:sym w:font='Symbol' w:char='F061'/>"
        "<w:t xml:space='preserve'> in\u00adfection</w:t></w:r>",
    )
    assert read(saved(document)).text == "One\ntwo three four\n\nbeta-blocker TNF-α infection"


def test_headers_and_comments_are_omitted_footnotes_come_last() -> None:
    document = word_leaflet()
    document.sections[0].header.paragraphs[0].text = "Confidential header"
    document.sections[0].footer.paragraphs[0].text = "Page footer"
    document.add_comment(document.paragraphs[1].runs, "a comment", author="A", initials="A")
    content = saved(document)
    notes = (
        b'<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        b'<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:t>-----</w:t></w:r></w:p></w:footnote>'
        b'<w:footnote w:id="1"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>In 2023 by ACR.</w:t></w:r></w:p></w:footnote>'
        b"</w:footnotes>"
    )
    relations = part_of(content, "word/_rels/document.xml.rels").replace(
        b"</Relationships>",
        b'<Relationship Id="rIdF" Target="footnotes.xml" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
        b'relationships/footnotes"/></Relationships>',
    )
    draft = read(with_parts(content, {"word/footnotes.xml": notes, "word/_rels/document.xml.rels": relations}))
    assert draft.text.endswith("Drink water.\n\nFootnotes\n\nIn 2023 by ACR.")
    assert outline(draft)[-1] == "Footnotes"
    assert draft.remarks == ("left out: 4 words (headers and footers), 2 words (comments)",)
    for word in ("Confidential", "footer", "comment", "-----"):
        assert word not in draft.text


def test_a_broken_page_header_does_not_prevent_reading() -> None:
    document = word_leaflet()
    document.sections[0].header.paragraphs[0].text = "Header"
    content = saved(document)
    assert read(with_parts(content, {"word/header1.xml": b"<w:hdr"})).text == read(content).text


def test_contents_tables_are_omitted_content_controls_are_read() -> None:
    document = word_leaflet()
    content = saved(document)
    body = part_of(content, MAIN)
    control = (
        b"<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/></w:docPartObj></w:sdtPr>"
        b"<w:sdtContent><w:p><w:r><w:t>Treatment 2</w:t></w:r></w:p></w:sdtContent></w:sdt>"
        b"<w:sdt><w:sdtContent><w:p><w:r><w:t>A controlled line</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    changed = with_parts(content, {MAIN: body.replace(b"<w:body>", b"<w:body>" + control)})
    draft = read(changed)
    assert "Treatment 2" not in draft.text
    assert draft.remarks == ("left out: 2 words (table of contents)",)
    assert draft.text.startswith("A controlled line\n\nGout")


def test_text_boxes_are_read_once() -> None:
    document = Document()
    box = "<w:txbxContent><w:p><w:r><w:t>In a box</w:t></w:r></w:p></w:txbxContent>"
    add_xml(
        document,
        "<w:r><w:t>Beside it</w:t></w:r><w:r><mc:AlternateContent "
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice><w:drawing>{box}</w:drawing></mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>",
    )
    document.add_paragraph("Below")
    assert read(saved(document)).text == "Beside it\n\nIn a box\n\nBelow"


def test_cells_that_span_and_tables_that_lay_out() -> None:
    document = Document()
    table = document.add_table(rows=3, cols=3)
    for row, texts in zip(table.rows, (("A", "B", "C"), ("x", "1", "2"), ("", "3", "4")), strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    layout = document.add_table(rows=1, cols=1)
    layout.cell(0, 0).paragraphs[0].text = "In a frame"
    layout.cell(0, 0).add_paragraph("of its own")
    assert read(saved(document)).text == "A: x | B: 1 | C: 2\nA: x | B: 3 | C: 4\n\nIn a frame\n\nof its own"


def test_no_header_is_invented_for_a_headerless_table() -> None:
    document = Document()
    table = document.add_table(rows=2, cols=2)
    for row, texts in zip(table.rows, (("Name", "Ann"), ("Ward", "Seven")), strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    assert read(saved(document)).text == "Name | Ann\nWard | Seven"


def test_lists_of_several_levels_count_as_word_does() -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for level, (form, text) in enumerate([("decimal", "%1."), ("lowerLetter", "%2)"), ("lowerRoman", "%1.%3")])
    )
    numbering = (
        '<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f'<w:abstractNum w:abstractNumId="7">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/>'
        "</w:lvlOverride></w:num></w:numbering>"
    )
    document = Document()
    for number, level, word in (
        (1, 0, "a"),
        (1, 1, "b"),
        (1, 1, "c"),
        (1, 2, "d"),
        (1, 0, "e"),
        (1, 1, "f"),
        (2, 0, "g"),
    ):
        add_xml(
            document,
            f'<w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr></w:pPr>'
            f"<w:r><w:t>{word}</w:t></w:r>",
        )
    content = with_parts(saved(document), {"word/numbering.xml": numbering.encode()})
    assert read(content).text == "1. a\na) b\nb) c\n1.i d\n2. e\na) f\n5. g"


def test_strict_files_are_read() -> None:
    content = saved(word_leaflet())
    strict = {
        name: part_of(content, name)
        .replace(
            b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
            b"http://purl.oclc.org/ooxml/wordprocessingml/main",
        )
        .replace(
            b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
            b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        )
        for name in (MAIN, "word/styles.xml", "word/numbering.xml", "_rels/.rels", "word/_rels/document.xml.rels")
    }
    assert read(with_parts(content, strict)).text == read(content).text


def refused(content: bytes) -> UnreadableError:
    with pytest.raises(UnreadableError) as error:
        read(content)
    return error.value


def test_broken_files_are_refused() -> None:
    content = saved(word_leaflet())
    for bad in (
        content[: len(content) // 2],
        b"PK\x03\x04 and nothing",
        with_parts(content, {MAIN: b"<w:document"}),
        with_parts(content, {MAIN: b"<html/>"}),
    ):
        assert refused(bad).kind == "broken Word file"


def test_a_doctype_declaration_is_refused_before_parsing() -> None:
    content = saved(word_leaflet())
    body = part_of(content, MAIN).replace(b"<w:document", b'<!DOCTYPE w [<!ENTITY a "b">]><w:document', 1)
    assert refused(with_parts(content, {MAIN: body})).kind == "declared entities"
    wide = body.decode().replace("encoding='UTF-8'", "encoding='UTF-16'").encode("utf-16")
    assert refused(with_parts(content, {MAIN: wide})).kind == "declared entities"
    properties = b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>'
    assert refused(with_parts(content, {"docProps/core.xml": properties})).kind == "declared entities"


def test_a_zip_bomb_is_refused_before_unpacking() -> None:
    content = saved(word_leaflet())
    bomb = part_of(content, MAIN).replace(b"</w:body>", b" " * 30_000_000 + b"</w:body>")
    assert refused(with_parts(content, {MAIN: bomb})).kind == "zip bomb"


def test_external_relationships_are_never_opened() -> None:
    content = saved(word_leaflet())
    relations = part_of(content, "word/_rels/document.xml.rels").replace(
        b"</Relationships>",
        b'<Relationship Id="r1" TargetMode="External" Target="http://127.0.0.1:9/x" Type="a/image"/>'
        b'<Relationship Id="r2" Target="../../../etc/passwd" Type="a/footnotes"/>'
        b'<Relationship Id="r3" Target="NULL" Type="a/image"/></Relationships>',
    )
    assert read(with_parts(content, {"word/_rels/document.xml.rels": relations})).text == read(content).text


def test_wordless_files_are_refused_as_empty_or_scanned() -> None:
    document = Document()
    assert refused(saved(document)).kind == "empty Word file"
    import io

    document.add_picture(io.BytesIO(grey_png()))
    error = refused(saved(document))
    assert error.kind == "scanned Word file"
    assert "ocrmypdf" in error.remedy


def test_word_files_are_recognised_by_content() -> None:
    content = saved(word_leaflet())
    assert DocxReader().recognises(SourceFile("a.bin", content))
    assert DocxReader().recognises(SourceFile("a.docx", content[:500]))
    assert not DocxReader().recognises(SourceFile("a.docx", b"plain words"))
    assert not DocxReader().recognises(SourceFile("a.zip", with_parts(content, {})[:100]))


def with_chunk(document: WordDocument, name: str, chunk: bytes) -> bytes:
    """A file whose last part is a file of another kind."""
    content = saved(document)
    relation = (
        f'<Relationship Id="rC" Target="{name}" Type="http://schemas.openxmlformats.org/x/aFChunk"/></Relationships>'
    )
    relations = part_of(content, "word/_rels/document.xml.rels").replace(b"</Relationships>", relation.encode())
    body = part_of(content, MAIN).replace(b"<w:sectPr", b'<w:altChunk r:id="rC"/><w:sectPr', 1)
    return with_parts(content, {MAIN: body, "word/_rels/document.xml.rels": relations, f"word/{name}": chunk})


@pytest.mark.parametrize(
    ("name", "chunk", "text"),
    [
        ("c.html", b"<h2>Care</h2><p>Rest.<ul><li>ice<li>water</ul>", "Care\n\nRest.\n\n- ice\n- water"),
        ("c.txt", b"CARE: Rest.\nAnd water.", "CARE: Rest.\nAnd water."),
        (
            "c.rtf",
            rb"{\rtf1\ansi\pard\b Care\b0\par Ice \'e0 {\strike no}part.\par}",
            "Care\n\nIce à part.",
        ),
        ("c.dat", rb"{\rtf1\ansi\pard\b Care\b0\par\trowd\cellx1\cellx2\intbl Ice\cell 5\cell\row}", "Care\n\nIce | 5"),
    ],
)
def test_embedded_files_are_read_at_their_place(name: str, chunk: bytes, text: str) -> None:
    document = Document()
    document.add_paragraph("Before.")
    draft = read(with_chunk(document, name, chunk))
    assert draft.text == f"Before.\n\n{text}"
    assert [each.casefold() for each in outline(draft)] == ["", "care"]
    assert read(with_chunk(Document(), name, chunk)).text == text


def test_nested_word_files_are_read_to_a_limit() -> None:
    content = saved(word_leaflet())
    for number in range(5):
        document = Document()
        document.add_paragraph(f"Cover {number}.")
        content = with_chunk(document, "c.docx", content)
    draft = read(content)
    assert "Cover 4." in draft.text
    assert "Cover 1." in draft.text
    assert "crystals" not in draft.text
    assert draft.remarks == ("a file inside is not read: a kind that is not read there",)


def test_unread_embedded_files_are_reported() -> None:
    document = Document()
    document.add_paragraph("Before.")
    assert read(with_chunk(document, "c.mht", b"MIME-Version: 1.0\n\nSGUgd2Fz")).text == "Before."
    assert "not read" in read(with_chunk(document, "c.mht", b"MIME-Version: 1.0\n\nSGUgd2Fz")).remarks[0]
    assert "not read" in refused(with_chunk(Document(), "c.mht", b"x")).got


def test_a_large_first_letter_belongs_to_its_paragraph() -> None:
    document = Document()
    frame = '<w:pPr><w:framePr w:dropCap="drop" w:lines="3"/></w:pPr>'
    add_xml(document, f"{frame}<w:r><w:t>D</w:t></w:r>")
    add_xml(document, "<w:r><w:t>iabetes is treated.</w:t><w:br/><w:t>At once.</w:t></w:r>")
    add_xml(document, f"{frame}<w:r><w:t>End</w:t></w:r>")
    assert read(saved(document)).text == "Diabetes is treated.\nAt once.\n\nEnd"


def test_text_of_a_legacy_text_box_is_read() -> None:
    document = Document()
    box = "<w:pict><w:txbxContent><w:p><w:r><w:t>In a box</w:t></w:r></w:p></w:txbxContent></w:pict>"
    add_xml(
        document,
        "<w:r><mc:AlternateContent xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'>"
        f"<mc:Choice><w:drawing/></mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>",
    )
    assert read(saved(document)).text == "In a box"


def test_styles_say_what_is_struck_hidden_and_bold() -> None:
    document = Document()
    for name, flag in (("Gone", "strike"), ("Unseen", "hidden"), ("Heavy", "bold")):
        setattr(document.styles.add_style(name, WD_STYLE_TYPE.CHARACTER).font, flag, True)
    document.add_paragraph().add_run("Care", style="Heavy")
    paragraph = document.add_paragraph("Takes ")
    paragraph.add_run("warfarin 5 mg ", style="Gone")
    paragraph.add_run("unseen", style="Unseen")
    paragraph.add_run("apixaban", style="Gone").font.strike = False
    draft = read(saved(document))
    assert (outline(draft), draft.sections[0].text) == (["Care"], "Takes apixaban")
    assert draft.remarks == ("left out: 3 words (struck out), 1 word (hidden)",)


def test_bold_lines_below_the_only_heading_are_headings() -> None:
    document = Document()
    document.add_heading("Naproxen", 1)
    document.add_paragraph().add_run("Storage").bold = True
    document.add_paragraph("Below 25 °C.")
    assert (read(saved(document)).title, outline(read(saved(document)))) == ("Naproxen", ["Storage"])


def test_only_picture_descriptions_written_by_authors_are_read() -> None:
    import io

    for described, text in (
        ("Shake it five times.", "Shake it five times."),
        ("A blue tube Description automatically generated", "A blue tube"),
        ("IMG_12.png", ""),
    ):
        document = Document()
        document.add_paragraph("See:")
        document.add_picture(io.BytesIO(grey_png()))
        document.inline_shapes[0]._inline.docPr.set("descr", described)
        assert read(saved(document)).text == f"See:\n\n{text}".strip()


def test_checkbox_bullets_are_read_as_ticked_or_empty() -> None:
    font = '<w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr>'
    level = f'<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="{{}}"/>{font}</w:lvl>'
    lists = ((1, "\uf0fe"), (2, "\uf0a8"), (3, "\uf0a7"))
    numbering = (
        '<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        + "".join(f'<w:abstractNum w:abstractNumId="{key}">{level.format(sign)}</w:abstractNum>' for key, sign in lists)
        + "".join(f'<w:num w:numId="{key}"><w:abstractNumId w:val="{key}"/></w:num>' for key, _ in lists)
        + "</w:numbering>"
    )
    document = Document()
    for key, word in ((1, "asthma"), (2, "gout"), (3, "none")):
        add_xml(document, f'<w:pPr><w:numPr><w:numId w:val="{key}"/></w:numPr></w:pPr><w:r><w:t>{word}</w:t></w:r>')
    content = with_parts(saved(document), {"word/numbering.xml": numbering.encode()})
    assert read(content).text == "☑ asthma\n☐ gout\n• none"


def test_line_breaks_in_headings_separate_words() -> None:
    document = Document()
    document.add_heading("Chapter 2", 1).add_run().add_break()
    document.paragraphs[0].add_run("Dosage")
    document.add_paragraph("One tablet.")
    draft = read(saved(document))
    assert "Chapter 2 Dosage" in (draft.title, *(section.heading for section in draft.sections))


def complex_field(instruction: str, result: str = "") -> str:
    parts = ("<w:fldChar w:fldCharType='begin'/>", f"<w:instrText>{instruction[:6]}</w:instrText>",
             f"<w:instrText>{instruction[6:]}</w:instrText>", "<w:fldChar w:fldCharType='separate'/>",
             f"<w:t>{result}</w:t>", "<w:fldChar w:fldCharType='end'/>")  # fmt: skip
    return "".join(f"<w:r>{part}</w:r>" for part in parts)


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (
            "<w:r><w:t>Take </w:t></w:r>" + complex_field(r" EQ \f(1;2) ") + "<w:r><w:t> tablet</w:t></w:r>",
            "Take 1/2 tablet",
        ),
        ("<w:r><w:t>Give 2</w:t></w:r>" + complex_field(r"eq \f(3,4)") + "<w:r><w:t> ml</w:t></w:r>", "Give 2 3/4 ml"),
        (r"<w:fldSimple w:instr='EQ \r(x+1)'/><w:r><w:t> mg</w:t></w:r>", "√(x+1) mg"),
        (complex_field(r"SYMBOL 179 \f &quot;Symbol&quot; \s 12") + "<w:r><w:t> 60</w:t></w:r>", "≥ 60"),
        ("<w:r><w:t>Page </w:t></w:r>" + complex_field(" PAGE ", "3"), "Page 3"),
        (r"<w:fldSimple w:instr='EQ \f(1;2)'><w:r><w:t>½</w:t></w:r></w:fldSimple>", "½"),
    ],
)
def test_fields_without_result_are_read_from_their_instruction(inner: str, text: str) -> None:
    document = Document()
    add_xml(document, inner)
    assert read(saved(document)).text == text


def test_mixed_fractions_of_equations_stay_apart() -> None:
    math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    half = "<m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    document = Document()
    add_xml(document, f"<w:r><w:t>Take 2</w:t></w:r><m:oMath {math}>{half}</m:oMath><w:r><w:t> tablets</w:t></w:r>")
    add_xml(document, f"<m:oMath {math}><m:r><m:t>3</m:t></m:r>{half}</m:oMath><w:r><w:t> ml</w:t></w:r>")
    assert read(saved(document)).text == "Take 2 1/2 tablets\n\n3 1/2 ml"


DRAWINGS = (
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)


def with_drawing(inner: str, kind: str, name: str, part: bytes, document: WordDocument | None = None) -> bytes:
    """A file with a drawing that refers to another part."""
    document = document or Document()
    document.add_paragraph("Before.")
    add_xml(document, f"<w:r><w:drawing {DRAWINGS}>{inner}</w:drawing></w:r>")
    document.add_paragraph("After.")
    content = saved(document)
    relation = f'<Relationship Id="rD" Target="{name}" Type="http://x.org/{kind}"/></Relationships>'
    relations = part_of(content, "word/_rels/document.xml.rels").replace(b"</Relationships>", relation.encode())
    return with_parts(content, {"word/_rels/document.xml.rels": relations, f"word/{name}": part})


def diagram(points: str, connections: str = "") -> bytes:
    inner = f"<dgm:dataModel {DRAWINGS}><dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>{connections}</dgm:cxnLst>"
    return f"{inner}</dgm:dataModel>".encode()


def point(name: str, text: str) -> str:
    return f"<dgm:pt modelId='{name}'><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>"


STEPS = "".join(point(name, text) for name, text in (("3", "Call help"), ("1", "Adrenaline 0.5 mg"), ("2", "Lie flat")))
ORDERED = "<dgm:pt modelId='0' type='doc'/>" + STEPS
ORDER = "".join(
    f"<dgm:cxn srcId='{source}' destId='{target}' srcOrd='{order}'/>"
    for source, target, order in (("0", "2", "1"), ("0", "1", "0"), ("1", "3", "0"))
)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (diagram(point("1", "Give adrenaline 0.5 mg IM")), "- Give adrenaline 0.5 mg IM"),
        (diagram(ORDERED, ORDER), "- Adrenaline 0.5 mg\n  - Call help\n- Lie flat"),
        (diagram(point("", "Stop") + point("", "Wait")), "- Stop\n- Wait"),
    ],
)
def test_diagrams_are_read_in_their_order(part: bytes, text: str) -> None:
    draft = read(with_drawing('<dgm:relIds r:dm="rD"/>', "diagramData", "diagrams/data1.xml", part))
    assert (draft.text, draft.remarks) == (f"Before.\n\n{text}\n\nAfter.", ())


CHART = (
    f"<c:chartSpace {DRAWINGS}><c:chart><c:title><a:p><a:r><a:t>Creatinine</a:t></a:r></a:p></c:title><c:ser>"
    "<c:cat><c:pt idx='0'><c:v>Monday</c:v></c:pt></c:cat><c:val><c:pt idx='0'><c:v>310</c:v></c:pt></c:val></c:ser>"
    "</c:chart></c:chartSpace>"
)


def test_charts_are_read_or_told() -> None:
    draft = read(with_drawing('<c:chart r:id="rD"/>', "chart", "charts/chart1.xml", CHART.encode()))
    assert draft.text == "Before.\n\nCreatinine\n\nMonday | 310\n\nAfter."
    shares = CHART.replace("<c:val>", "<c:val><c:formatCode>0%</c:formatCode>").replace("310", "0.05")
    assert "Monday | 5%" in read(with_drawing('<c:chart r:id="rD"/>', "chart", "charts/c.xml", shares.encode())).text
    told = read(with_drawing('<c:chart r:id="rD"/>', "chart", "charts/chart1.xml", b"<c:chartSpace"))
    assert told.remarks == ("a chart is not read: broken XML",)
    other = read(with_drawing('<c:chart r:id="rD"/>', "chartEx", "charts/chartEx1.xml", b"<x/>"))
    assert other.remarks == ("a chart is not read: unknown kind",)


@pytest.mark.parametrize(("name", "make"), [("a.xlsx", workbook), ("b.xls", old_workbook)])
def test_embedded_sheets_are_read(name: str, make: Callable[[], bytes]) -> None:
    draft = read(with_drawing('<o:OLEObject r:id="rD"/>', "package", f"embeddings/{name}", make()))
    assert "Medicine: Allopurinol | Dose: 100 mg" in draft.text


def test_embedded_files_that_are_not_read_are_told() -> None:
    icon = with_drawing('<o:OLEObject DrawAspect="Icon" r:id="rD"/>', "package", "embeddings/a.xlsx", workbook())
    assert read(icon).remarks == ("a file inside is not read: only its icon is shown",)
    equation = with_drawing(
        '<o:OLEObject r:id="rD"/>', "oleObject", "embeddings/o.bin", compound({"Equation": b"x" * 5000})
    )
    assert "a file inside is not read" in read(equation).remarks[0]
    missing = with_drawing('<o:OLEObject r:id="rX"/>', "oleObject", "embeddings/o.bin", b"x")
    assert read(missing).remarks == ("a file inside is not read: missing file",)
