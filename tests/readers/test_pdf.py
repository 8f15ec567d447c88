"""Reading PDFs: order, boxes, paragraphs, headings, tables, and what is refused."""

from __future__ import annotations

import io
import re

import matplotlib
import numpy as np
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table
from reportlab.platypus.flowables import Flowable

from auscult.documents import build_document, check_document
from auscult.documents.original import Original
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.pdf.reader import PdfReader
from small_pdfs import CAUSES, GOUT, HEADING, TITLE, TREATMENT, Drawn, leaflet, wrapped

BOLD = ("Helvetica-Bold", 10)


def read(content: bytes) -> DraftDocument:
    (draft,) = PdfReader().read(SourceFile("a.pdf", content))
    at = 0
    for section in draft.sections:
        assert section.start is not None
        assert at <= section.start
        assert draft.text[section.start : section.start + len(section.text)] == section.text
        at = section.start + len(section.text)
    assert (draft.words["start"] < draft.words["end"]).all()
    assert (draft.words["end"][:-1] <= draft.words["start"][1:]).all()
    return draft


def outline(draft: DraftDocument) -> list[str]:
    return [
        " > ".join((*path, section.heading)) for section, path in zip(draft.sections, draft.heading_paths, strict=True)
    ]


def test_a_leaflet_reads_as_people_read_it() -> None:
    draft = read(leaflet(1).content())
    assert draft.text == (
        # On one page nothing is repeated; a page's number is known by itself.
        f"Gout guideline 2024\n\nGout: what you should know\n\n{GOUT}\n\n1. Causes\n\n{CAUSES}\n\n"
        "When to call a doctor\n\n• The joint is hot and you have a fever.\n"
        f"• The pain does not get better within two days.\n\n{TREATMENT}"
    )
    assert draft.title == "Gout: what you should know"
    assert draft.media_type == "application/pdf"
    assert draft.metadata == {"pages": "1", "date": "2000-01-01", "author": "Ward 7"}


def test_headings_make_sections_with_paths_and_the_title_is_none_of_them() -> None:
    draft = read(leaflet(2).content())
    assert outline(draft) == [
        "",
        "1. Causes",
        "1. Causes > When to call a doctor",
        "2. More on treatment",
        "2. More on treatment > When to call a doctor",
    ]
    assert draft.sections[0].text == GOUT
    assert draft.sections[1].text == CAUSES


def test_what_pages_repeat_at_their_edges_is_left_out() -> None:
    text = read(leaflet(3).content()).text
    assert "guideline 2024" not in text
    assert "Page" not in text
    # A heading that differs by its number alone is none of that.
    assert "2. More on treatment" in text
    assert "3. More on treatment" in text


def test_a_header_that_says_the_title_is_left_out_of_one_page_too() -> None:
    drawn = Drawn()
    drawn.line(60, 40, "Gout in adults", ("Helvetica", 8))
    drawn.line(60, 90, "Gout in adults", TITLE)
    drawn.paragraph(60, 130, 470, GOUT)
    draft = read(drawn.content())
    assert draft.text == f"Gout in adults\n\n{GOUT}"
    assert outline(draft) == [""]


def test_page_numbers_in_a_margin_count_with_the_pages() -> None:
    drawn = Drawn()
    for page in range(4):
        drawn.line(560, 400 + 10 * page, str(41 + page))
        drawn.line(60, 400, f"Dose {['one', 'two', 'three', 'four'][page]} is 7")
        if page < 3:
            drawn.next_page()
    text = read(drawn.content()).text
    assert re.findall(r"4\d", text) == []
    assert text.count("is 7") == 4


@pytest.mark.parametrize("pages", [1, 3])
def test_boxes_lie_on_the_words(pages: int) -> None:
    drawn = leaflet(pages)
    draft = read(drawn.content())
    assert_boxes(draft, drawn)
    assert [(round(width), round(height)) for width, height in draft.pages] == [(595, 842)] * pages


def assert_boxes(draft: DraftDocument, drawn: Drawn, within: float = 2.0) -> None:
    """Each word of the text is one that was drawn there."""
    left: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    for word, page, begin, end, baseline in drawn.places:
        left.setdefault((word, page), []).append((begin, end, baseline))
    assert len(draft.words) > 20
    for row in draft.words:
        shown = draft.text[row["start"] : row["end"]]
        near = [
            place
            for place in left[shown, int(row["page"])]
            if abs(place[0] - row["left"]) <= within
            and abs(place[1] - row["right"]) <= within
            and row["top"] < place[2] <= row["bottom"] + within
        ]
        assert near, (shown, row)


def test_every_word_of_the_text_has_a_box() -> None:
    draft = read(leaflet(2).content())
    covered = np.zeros(len(draft.text), bool)
    for row in draft.words:
        covered[row["start"] : row["end"]] = True
    assert [letter for letter, held in zip(draft.text, covered, strict=True) if not held and letter.strip()] == []


def test_columns_are_read_one_after_the_other() -> None:
    drawn = Drawn()
    drawn.line(60, 60, "A title that goes over both of the columns below it", ("Helvetica-Bold", 16))
    left = f"{GOUT} {CAUSES} {GOUT} and this sentence goes on at the"
    right = f"top of the next column. {TREATMENT} {CAUSES}"
    drawn.paragraph(60, 100, 220, left)
    drawn.paragraph(310, 100, 220, right)
    draft = read(drawn.content())
    assert draft.sections[0].text == f"{left} {right}"
    assert_boxes(draft, drawn)


def test_columns_drawn_line_by_line_are_columns_still() -> None:
    drawn = Drawn()
    left, right = wrapped(f"{GOUT} {CAUSES} {GOUT}", 220), wrapped(f"{CAUSES} {TREATMENT} {CAUSES} {GOUT}", 220)
    for number, (one, other) in enumerate(zip(left, right, strict=False)):
        drawn.line(60, 100 + 14 * number, one)
        drawn.line(310, 100 + 14 * number, other)
    text = read(drawn.content()).text
    number = min(len(left), len(right))
    assert text.split() == " ".join([*left[:number], *right[:number]]).split()


def test_three_columns_drawn_line_by_line() -> None:
    drawn = Drawn()
    texts = [f"{GOUT} {CAUSES} {CAUSES}", f"{CAUSES} {TREATMENT} {GOUT}", f"{TREATMENT} {GOUT} {CAUSES}"]
    columns = [wrapped(text, 150)[:10] for text in texts]
    for number, lines in enumerate(zip(*columns, strict=True)):
        for x, line in zip((50, 220, 390), lines, strict=True):
            drawn.line(x, 100 + 14 * number, line)
    expected = " ".join(line for column in columns for line in column)
    assert read(drawn.content()).text.split() == expected.split()


def test_a_table_of_numbers_is_read_row_by_row() -> None:
    drawn = Drawn()
    for number in range(12):
        for x, text in (
            (60, f"{number + 10},{number}25"),
            (200, f"{number + 30},{number}50"),
            (340, f"{number + 50}.{number}"),
        ):
            drawn.line(x, 100 + 14 * number, text)
    first, second, *_ = read(drawn.content()).text.split("\n")
    assert (first, second) == ("10,025 | 30,050 | 50.0", "11,125 | 31,150 | 51.1")


def test_paragraphs_end_where_a_line_leaves_room_or_a_gap_follows() -> None:
    drawn = Drawn()
    y = drawn.paragraph(60, 100, 300, GOUT)
    y = drawn.paragraph(60, y, 300, CAUSES)  # No gap: the last line before it is short.
    drawn.paragraph(60, y + 14, 300, TREATMENT)
    assert read(drawn.content()).text == f"{GOUT}\n\n{CAUSES}\n\n{TREATMENT}"


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["It is often the first choice of a treat-", "ment that helps."], "a treatment that helps."),
        (["It is often the first choice and a long-", "term answer."], "a long-term answer."),
        (["Crystals of urate give an inflam-", "mation. An inflammation hurts."], "an inflammation. An"),
        (["See the well-known page and the well-", "known book."], "the well-known book."),
        (["Ask a doctor about the drug of Merck-", "Sharp and others."], "of Merck-Sharp and"),
    ],
)
def test_words_parted_at_a_lines_end_are_joined_where_that_is_sure(lines: list[str], joined: str) -> None:
    drawn = Drawn()
    drawn.lines(60, 100, lines)
    draft = read(drawn.content())
    assert joined in draft.text


def test_both_halves_of_a_joined_word_have_their_box() -> None:
    drawn = Drawn()
    drawn.lines(60, 100, ["It is often the first choice of a treat-", "ment that helps."])
    draft = read(drawn.content())
    start = draft.text.index("treatment")
    original = Original(name="a.pdf", media_type=draft.media_type, content=b"", words=draft.words, pages=draft.pages)
    first, second = original.boxes(start, start + len("treatment"))
    assert first.left > 150
    assert second.left == pytest.approx(60, abs=1)
    assert second.top > first.top


def test_a_rotated_page_and_one_that_is_cropped_have_boxes_on_what_is_seen() -> None:
    drawn = Drawn(size=(400, 300))
    drawn.canvas.setPageRotation(90)
    drawn.line(50, 100, "Turned by a quarter")
    drawn.next_page()
    drawn.canvas.setPageRotation(0)
    drawn.canvas.setCropBox((30, 20, 380, 280))
    drawn.line(50, 100, "Cropped")
    drawn.line(2, 297, "Unseen")
    draft = read(drawn.content())
    assert [(round(width), round(height)) for width, height in draft.pages] == [(400, 300), (350, 260)]
    assert "Unseen" not in draft.text
    boxes = {draft.text[row["start"] : row["end"]]: row for row in draft.words}
    # A quarter turn clockwise: what was 50 from the left is 50 from the top, 200 from below is 200 from the left.
    assert boxes["Turned"]["top"] == pytest.approx(50, abs=2)
    assert boxes["Turned"]["left"] < 200 < boxes["Turned"]["right"]
    assert boxes["Cropped"]["left"] == pytest.approx(20, abs=2)
    assert boxes["Cropped"]["top"] < 80 < boxes["Cropped"]["bottom"] + 2


def flowing(*story: Flowable) -> bytes:
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, invariant=True).build([*story])
    return buffer.getvalue()


STYLES = getSampleStyleSheet()


def test_tables_are_lines_that_repeat_their_header() -> None:
    bold = [("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")]
    rows = [
        ["Medicine", "Dose", "How often"],
        ["Allopurinol", "100 mg", "once a day"],
        ["Colchicine", "500 µg", "twice"],
    ]
    draft = read(flowing(Paragraph(GOUT, STYLES["BodyText"]), Spacer(1, 20), Table(rows, style=bold)))
    assert draft.text == (
        f"{GOUT}\n\nMedicine: Allopurinol | Dose: 100 mg | How often: once a day\n"
        "Medicine: Colchicine | Dose: 500 µg | How often: twice"
    )
    shown = [draft.text[row["start"] : row["end"]] for row in draft.words]
    assert "Medicine:" not in shown
    assert "Colchicine" in shown


def test_cells_of_several_lines_stay_together() -> None:
    def cell(text: str) -> Paragraph:
        return Paragraph(text, STYLES["BodyText"])

    rows = [
        [cell("<b>Medicine</b>"), cell("<b>Why</b>")],
        [cell("Allopurinol"), cell(GOUT)],
        [cell("A medicine with a long name that goes over several lines"), cell(CAUSES)],
        [cell("Steroids"), cell(TREATMENT)],
    ]
    text = read(flowing(Table(rows, colWidths=[110, 220]))).text
    assert text.split("\n") == [
        f"Medicine: Allopurinol | Why: {GOUT}",
        f"Medicine: A medicine with a long name that goes over several lines | Why: {CAUSES}",
        f"Medicine: Steroids | Why: {TREATMENT}",
    ]


def test_the_outline_names_headings_that_do_not_look_like_ones() -> None:
    drawn = Drawn()
    drawn.line(60, 100, "In short")
    drawn.paragraph(60, 130, 470, GOUT)
    drawn.line(60, 200, "Causes")
    drawn.paragraph(60, 230, 470, CAUSES)
    assert outline(read(drawn.content())) == [""]
    drawn = Drawn()
    for y, name, text, level in ((100, "In short", GOUT, 0), (200, "Causes", CAUSES, 1)):
        drawn.canvas.bookmarkPage(name)
        drawn.canvas.addOutlineEntry(name, name, level)
        drawn.line(60, y, name)
        drawn.paragraph(60, y + 30, 470, text)
    assert outline(read(drawn.content())) == ["In short", "In short > Causes"]


@pytest.mark.parametrize(
    ("told", "title"),
    [
        ("Gout in adults", "Gout in adults"),
        ("Microsoft Word - gout_v3.docx", "Gout"),
        ("untitled", "Gout"),
        ("leaflet-17.indd", "Gout"),
        ("", "Gout"),
    ],
)
def test_the_title_is_the_metadatas_where_that_is_one(told: str, title: str) -> None:
    drawn = Drawn()
    drawn.canvas.setTitle(told)
    drawn.line(60, 80, "Gout", TITLE)
    drawn.paragraph(60, 130, 470, GOUT)
    drawn.line(60, 200, "Causes", HEADING)
    drawn.paragraph(60, 230, 470, CAUSES)
    draft = read(drawn.content())
    assert draft.title == title
    assert outline(draft)[-1] == "Causes"


def test_without_a_title_there_is_none() -> None:
    drawn = Drawn()
    drawn.paragraph(60, 130, 470, GOUT)
    assert read(drawn.content()).title == ""


def test_a_scanned_page_is_named_and_a_scanned_document_refused() -> None:
    drawn = Drawn()
    drawn.paragraph(60, 100, 470, GOUT)
    for _ in range(3):
        drawn.next_page()
        drawn.scan()
    assert read(drawn.content()).remarks == ["pages 2-4 have no text layer: a scan"]
    drawn = Drawn()
    drawn.scan()
    with pytest.raises(UnreadableError, match=r"1 page without one.*ocrmypdf") as refused:
        read(drawn.content())
    assert refused.value.kind == "scanned PDF"


def test_an_empty_an_encrypted_and_broken_ones_are_refused() -> None:
    drawn = Drawn()
    drawn.next_page()
    with pytest.raises(UnreadableError) as refused:
        read(drawn.content())
    assert refused.value.kind == "empty PDF"
    drawn = Drawn(encrypt=StandardEncryption("secret", ownerPassword="owner"))
    drawn.paragraph(60, 100, 470, GOUT)
    with pytest.raises(UnreadableError, match="without a password") as refused:
        read(drawn.content())
    assert refused.value.kind == "encrypted PDF"
    for content in (leaflet().content()[:200], b"%PDF-1.7\n", b"%PDF-1.4 and then something else" * 20):
        with pytest.raises(UnreadableError) as refused:
            read(content)
        assert refused.value.kind == "broken PDF"


def test_a_pdf_that_opens_without_its_owners_password_is_read() -> None:
    drawn = Drawn(encrypt=StandardEncryption("", ownerPassword="owner"))
    drawn.paragraph(60, 100, 470, GOUT)
    assert read(drawn.content()).text == GOUT


def test_what_is_filled_into_a_form_is_read_where_it_is_shown() -> None:
    drawn = Drawn()
    drawn.line(60, 100, "Name of the patient:")
    drawn.canvas.acroForm.textfield(name="n", x=200, y=drawn.size[1] - 104, width=150, height=16, value="Ann Example")
    drawn.canvas.textAnnotation("A comment", (400, 700, 420, 720))
    draft = read(drawn.content())
    assert draft.text.replace(" | ", " ") == "Name of the patient: Ann Example"
    box = draft.words[-2]
    assert draft.text[box["start"] : box["end"]] == "Ann"
    assert 200 <= box["left"] < 210
    assert box["top"] < 100 <= box["bottom"] + 2


def test_lines_without_blanks_between_words_are_joined_without() -> None:
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont

    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    drawn = Drawn()
    drawn.lines(
        60, 100, ["痛风是一种由尿酸结晶引起的关节炎，最常见于大脚趾", "的关节，夜间发作。"], ("STSong-Light", 10)
    )
    assert read(drawn.content()).text == "痛风是一种由尿酸结晶引起的关节炎，最常见于大脚趾的关节，夜间发作。"


def test_scripts_that_are_read_from_right_to_left() -> None:
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    # Matplotlib brings a font that has the letters.
    pdfmetrics.registerFont(TTFont("DejaVu", matplotlib.get_data_path() + "/fonts/ttf/DejaVuSans.ttf"))
    drawn = Drawn()
    lines = ["כאב ראש חזק הוא תסמין נפוץ של מיגרנה", "עם בחילה במשך 24 שעות"]
    for number, line in enumerate(lines):
        # As PDFs hold it: by where letters are, from the left; numbers run to the right.
        shown = line[::-1].replace("42", "24")
        drawn.canvas.setFont("DejaVu", 12)
        drawn.canvas.drawRightString(500, drawn.size[1] - 100 - 14 * number, shown)
    draft = read(drawn.content())
    assert draft.text.split() == " ".join(lines).split()
    rows = {draft.text[row["start"] : row["end"]]: row for row in draft.words}
    assert rows["כאב"]["right"] == pytest.approx(500, abs=2)
    assert rows["מיגרנה"]["right"] < rows["כאב"]["left"]


def test_lines_that_run_up_or_down_a_page_are_read_after_it() -> None:
    drawn = Drawn()
    for turn, x in ((90, 30), (-90, 560)):
        drawn.canvas.saveState()
        drawn.canvas.translate(x, 400)
        drawn.canvas.rotate(turn)
        drawn.canvas.setFont("Helvetica", 10)
        drawn.canvas.drawString(0, 0, f"Line at {turn} degrees")
        drawn.canvas.restoreState()
    drawn.paragraph(60, 100, 400, GOUT)
    draft = read(drawn.content())
    assert draft.text == f"{GOUT}\n\nLine at -90 degrees\n\nLine at 90 degrees"
    original = Original(name="a", media_type="a", content=b"", words=draft.words, pages=draft.pages)
    for box in original.boxes(draft.text.index("degrees"), draft.text.index("degrees") + 7):
        assert box.bottom - box.top > box.right - box.left


def test_what_is_drawn_twice_for_a_shadow_is_read_once() -> None:
    drawn = Drawn()
    drawn.line(60, 100, "A heavy word")
    drawn.line(60.4, 100.3, "A heavy word")
    assert read(drawn.content()).text == "A heavy word"


def test_dots_that_lead_to_a_number_are_left_out() -> None:
    drawn = Drawn()
    drawn.line(60, 100, "Causes . . . . . . . . . . . . . . . . . 7")
    assert read(drawn.content()).text in ("Causes 7", "Causes | 7")


def test_recognises_by_what_a_file_begins_with() -> None:
    assert PdfReader().recognises(SourceFile("a.txt", leaflet(1).content()))
    assert PdfReader().recognises(SourceFile("a.pdf", b"\r\n\0" + leaflet(1).content()))
    assert not PdfReader().recognises(SourceFile("a.pdf", b"plain words"))


def test_a_document_of_it_keeps_what_documents_promise() -> None:
    draft = read(leaflet(3).content())
    document = build_document(doc_id="a", title=draft.title, sections=draft.sections, text=draft.text)
    check_document(document)
    assert document.sentences[0].start == draft.sections[0].start


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9, 0.99])
def test_a_truncated_file_is_read_or_refused(cut: float) -> None:
    whole = leaflet(3).content()
    kinds = []
    try:
        read(whole[: int(len(whole) * cut)])
    except UnreadableError as error:
        kinds.append(error.kind)
    assert set(kinds) <= {"broken PDF", "empty PDF"}
