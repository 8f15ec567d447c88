"""Reading PDFs: order, boxes, paragraphs, headings, tables, and what is refused."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import matplotlib
import numpy as np
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table
from reportlab.platypus.flowables import Flowable

from auscult.documents import build_document, check_document
from auscult.documents.original import WORD, Original
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult_readers.pdf.reader import PdfReader
from auscult_readers.pdf.text_layer import UNKNOWN, LostWord, TextLayerReader, lost_words
from good_files import good_files
from small_pdfs import (
    BODY,
    CAUSES,
    GOUT,
    HEADING,
    LINE,
    TITLE,
    TREATMENT,
    Drawn,
    leaflet,
    pages_without_a_size,
    wrapped,
)

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
    assert [each for each in lost(content, draft) if each.reason == UNKNOWN] == []
    return draft


def lost(content: bytes, draft: DraftDocument) -> list[LostWord]:
    """Words of the text layer that are in no section."""
    pages = list(TextLayerReader().read(SourceFile("a.pdf", content)))
    spans = [(each.start or 0, (each.start or 0) + len(each.text)) for each in draft.sections]
    headings = [draft.title, *(each.heading for each in draft.sections), *chain(*draft.heading_paths)]
    return lost_words(draft.text, spans, headings, draft.words, pages)[1]


@pytest.mark.parametrize("content", [content for name, content in good_files().items() if name.endswith(".pdf")])
def test_pdfs_of_other_tests_lose_no_word(content: bytes) -> None:
    assert read(content).text


def test_lost_words_are_reported_with_their_page() -> None:
    content = leaflet(3).content()
    draft = read(content)
    told = {(each.word, each.page, each.reason) for each in lost(content, draft)}
    assert ("guideline", 2, "header, footer or number") in told
    letters = [*draft.text]
    for start, end in draft.words[draft.words["page"] == 1][["start", "end"]].tolist():
        letters[start:end] = " " * (end - start)
    poorer = replace(draft, text="".join(letters), words=draft.words[draft.words["page"] != 1])
    assert LostWord("uric", 2, UNKNOWN) in lost(content, poorer)
    shorter = replace(draft, sections=draft.sections[:-1])
    assert LostWord("colchicine", 3, UNKNOWN) in lost(content, shorter), "in the text, and in no section"


def test_omitted_words_split_differently_keep_their_reason() -> None:
    page = DraftDocument(
        text="once pop ular scripts for all", sections=(), media_type="text/plain",
        metadata={"struck out": "popular scripts", "drawn twice": ""},
    )  # fmt: skip
    told = {each.word: each.reason for each in lost_words("", [], [], np.array([], WORD), [page])[1]}
    assert told["pop"] == told["ular"] == told["scripts"] == "struck out"
    assert told["once"] == told["for"] == told["all"] == UNKNOWN


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


def test_headings_but_not_the_title_make_nested_sections() -> None:
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


def test_repeated_headers_and_footers_are_omitted() -> None:
    text = read(leaflet(3).content()).text
    assert "guideline 2024" not in text
    assert "Page" not in text
    # A heading that differs by its number alone is none of that.
    assert "2. More on treatment" in text
    assert "3. More on treatment" in text


def test_omitted_header_and_footer_lines_are_counted() -> None:
    (remark,) = read(leaflet(3).content()).remarks
    assert remark == "left out: 6 header or footer lines, such as 'Gout guideline 2024'"


@pytest.mark.parametrize("left", [30, 480])
def test_repeated_row_names_beside_values_are_kept(left: float) -> None:
    drawn = Drawn()
    for day, values in enumerate(((2.1, 140), (3.3, 151), (2.8, 149))):
        drawn.line(60, 120, f"Blood of day {day + 1}", HEADING)
        for row, (name, value) in enumerate(zip(("Lactate", "Glucose"), values, strict=True)):
            drawn.line(left, 160 + 20 * row, name)
            drawn.line(300, 160 + 20 * row, str(value))
        drawn.next_page()
    text = read(drawn.content()).text
    assert text.count("Lactate") == text.count("Glucose") == 3


def test_small_names_at_an_edge_beside_values_stay() -> None:
    drawn = Drawn()
    for value in ("2.1", "3.3", "2.8"):
        drawn.line(60, 50, "Lactate", ("Helvetica", 7))
        drawn.line(300, 50, value, ("Helvetica", 7))
        drawn.paragraph(60, 90, 470, GOUT)
        drawn.next_page()
    assert read(drawn.content()).text.count("Lactate") == 3


@pytest.mark.parametrize(
    ("line", "font"),
    [
        ("not even with food.", BODY),
        ("Never give it by mouth.", BOLD),
        ("When not to give it", BOLD),
        ("Children get half the dose", BODY),
        ("* for people below 50 kg", ("Helvetica", 8)),
    ],
)
def test_repeated_body_lines_that_begin_pages_are_kept(line: str, font: tuple[str, float]) -> None:
    drawn = Drawn()
    for name in ("Amoxicillin", "Vancomycin", "Gentamicin", "Cefazolin"):
        drawn.line(60, 50, line, font)
        drawn.paragraph(60, 75, 470, f"{name}. {GOUT}")
        drawn.line(60, 200, "How it is given", BOLD)
        drawn.paragraph(60, 220, 470, CAUSES)
        drawn.next_page()
    assert read(drawn.content()).text.count(line) == 4


def test_distant_headers_of_body_size_are_omitted() -> None:
    """They have to stand on many pages."""
    drawn = Drawn()
    for page in range(6):
        drawn.line(60, 40, f"Ward handbook - part {page // 3 + 1}")
        drawn.line(60, 90, f"Rule {page + 1}", HEADING)
        drawn.paragraph(60, 120, 470, GOUT)
        drawn.line(500, 810, f"{page + 7}")
        drawn.line(60, 810, "Emergency department")
        drawn.next_page()
    text = read(drawn.content()).text
    assert "handbook" not in text
    assert "Emergency" not in text
    assert text.count("Gout is") == 6


def test_the_first_of_repeated_long_footers_is_kept() -> None:
    drawn = Drawn()
    for _ in range(3):
        drawn.paragraph(60, 90, 470, GOUT)
        drawn.line(60, 820, "Report side effects of medicines to the agency by telephone", ("Helvetica", 7))
        drawn.next_page()
    assert read(drawn.content()).text.count("agency") == 1


def test_a_page_with_only_dots_is_empty() -> None:
    drawn = Drawn()
    drawn.paragraph(60, 90, 470, GOUT)
    drawn.next_page()
    drawn.lines(60, 60, ["." * 120] * 30)
    assert read(drawn.content()).text == GOUT


def test_a_header_repeating_the_title_is_omitted() -> None:
    drawn = Drawn()
    drawn.line(60, 40, "Gout in adults", ("Helvetica", 8))
    drawn.line(60, 90, "Gout in adults", TITLE)
    drawn.paragraph(60, 130, 470, GOUT)
    draft = read(drawn.content())
    assert draft.text == f"Gout in adults\n\n{GOUT}"
    assert outline(draft) == [""]


def test_page_numbers_in_a_margin_are_omitted() -> None:
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


def test_columns_drawn_line_by_line_are_read_separately() -> None:
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


def test_tables_of_numbers_are_read_by_row() -> None:
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


def test_paragraphs_end_at_a_short_line_or_gap() -> None:
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
        (["The infection is called endocar-", "ditis of a valve."], "called endocarditis of"),
        (["Sie bekommt gegen die Schmer-", "zen ein Mittel."], "die Schmerzen ein"),
        (["Es hilft bei Haut-", "und Augenleiden."], "bei Haut- und Augenleiden"),
        (["Take tablets that are sugar-", "coated, please."], "are sugar-coated, please"),
        (["It begins with a low-", "grade fever."], "a low-grade fever"),
        (["It was treated pre-", "and postnatally."], "pre- and postnatally"),
        (["An infection by the virus of COVID-", "19 was seen."], "of COVID-19 was"),
        (["There are few of the T-", "cells that help."], "the T-cells that"),
        (["An over-", "dose needs care."], "An overdose needs"),
    ],
)
def test_hyphenated_words_are_joined_where_certain(lines: list[str], joined: str) -> None:
    drawn = Drawn()
    drawn.lines(60, 100, lines)
    draft = read(drawn.content())
    assert joined in draft.text


def test_both_halves_of_a_hyphenated_word_have_boxes() -> None:
    drawn = Drawn()
    drawn.lines(60, 100, ["It is often the first choice of a treat-", "ment that helps."])
    draft = read(drawn.content())
    start = draft.text.index("treatment")
    original = Original(name="a.pdf", media_type=draft.media_type, content=b"", words=draft.words, pages=draft.pages)
    first, second = original.boxes(start, start + len("treatment"))
    assert first.left > 150
    assert second.left == pytest.approx(60, abs=1)
    assert second.top > first.top


def test_boxes_fit_the_shown_rotated_or_cropped_page() -> None:
    drawn = Drawn(size=(400, 300))
    drawn.canvas.setPageRotation(90)
    drawn.line(50, 100, "Turned by a quarter")
    drawn.next_page()
    drawn.canvas.setPageRotation(0)
    drawn.canvas.setCropBox((30, 20, 380, 280))
    drawn.line(50, 100, "Cropped")
    drawn.line(2, 297, "Unseen")
    content = drawn.content()
    draft = read(content)
    assert [(round(width), round(height)) for width, height in draft.pages] == [(400, 300), (350, 260)]
    assert "Unseen" not in draft.text
    assert draft.remarks == ["page 2: 1 word stands outside of what is shown, and left out"]
    reasons = {(each.word, each.page): each.reason for each in lost(content, draft)}
    assert reasons["unseen", 2] == "outside of what is shown"
    boxes = {draft.text[row["start"] : row["end"]]: row for row in draft.words}
    # A quarter turn clockwise: what was 50 from the left is 50 from the top, 200 from below is 200 from the left.
    assert boxes["Turned"]["top"] == pytest.approx(50, abs=2)
    assert boxes["Turned"]["left"] < 200 < boxes["Turned"]["right"]
    assert boxes["Cropped"]["left"] == pytest.approx(20, abs=2)
    assert boxes["Cropped"]["top"] < 80 < boxes["Cropped"]["bottom"] + 2


@pytest.mark.parametrize("content", pages_without_a_size())
def test_a_page_with_unusable_boxes_is_read_whole(content: bytes) -> None:
    draft = read(content)
    assert draft.text == "Above all"
    assert draft.remarks == []
    assert all(80 < row["left"] < row["right"] < draft.pages[0][0] for row in draft.words)


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


def test_lines_between_two_rules_are_a_row() -> None:
    cells = (
        ("Tablet", "When", "What for"),
        ("Amlodipine|besilate", "every morning|before food", "high blood|pressure"),
        ("Simvastatin", "at night", "fats in|the blood"),
        ("Vitamin D", "once a week|on Sundays|with milk", "bones"),
    )
    drawn = Drawn()
    y = 100.0
    for number, row in enumerate(cells):
        height = max(cell.count("|") for cell in row) + 1
        for line in range(height):
            for x, cell in zip((60, 200, 340), row, strict=True):
                if line <= cell.count("|"):
                    drawn.line(x, y + LINE * line, cell.split("|")[line], BOLD if not number else BODY)
        y += LINE * (height - 1) + 6
        drawn.canvas.rect(55, drawn.size[1] - y, 400, 0.5, stroke=0, fill=1)
        y += 14
    assert read(drawn.content()).text.split("\n") == [
        "Tablet: Amlodipine besilate | When: every morning before food | What for: high blood pressure",
        "Tablet: Simvastatin | When: at night | What for: fats in the blood",
        "Tablet: Vitamin D | When: once a week on Sundays with milk | What for: bones",
    ]


WRAPPED = (
    ("Medicine", "Dose", "Why"),
    ("Metoprolol|succinate", "50 mg once|a day", "heart rate and|blood pressure"),
    ("Apixaban", "5 mg twice|a day", "prevents a|stroke"),
    ("Levothyroxine|sodium", "75 micrograms|before breakfast", "thyroid"),
)
WRAPPED_ROWS = [
    "Medicine: Metoprolol succinate | Dose: 50 mg once a day | Why: heart rate and blood pressure",
    "Medicine: Apixaban | Dose: 5 mg twice a day | Why: prevents a stroke",
    "Medicine: Levothyroxine sodium | Dose: 75 micrograms before breakfast | Why: thyroid",
]


def without_rules(cells: Sequence[Sequence[str]], between: float) -> bytes:
    """Draw a table line by line, with steps of points `between` its rows."""
    drawn = Drawn()
    placed: list[tuple[int, float, str, tuple[str, float]]] = []
    y = 100.0
    for number, row in enumerate(cells):
        height = max(cell.count("|") for cell in row)
        for column, cell in enumerate(row):
            for line, text in enumerate(cell.split("|")):
                placed.append((column, y + LINE * line, text, BODY if number else BOLD))
        y += height * LINE + between
    for column, at, text, font in sorted(placed, key=lambda each: each[1::-1]):
        drawn.line((60, 220, 380)[column], at, text, font)
    return drawn.content()


def test_lines_closer_than_rows_make_one_row() -> None:
    assert read(without_rules(WRAPPED, LINE + 8)).text.split("\n") == WRAPPED_ROWS


def test_evenly_spaced_lines_join_where_a_sentence_continues() -> None:
    assert read(without_rules(WRAPPED, LINE)).text.split("\n") == WRAPPED_ROWS


def test_a_header_of_several_lines_is_one_row() -> None:
    cells = (
        ("Group", "Number of|patients", "Mean age|in years"),
        ("Children", "120", "8.5"),
        ("Adults", "340", "47.1"),
    )
    text = read(without_rules(cells, LINE + 8)).text
    assert text.split("\n") == [
        "Group: Children | Number of patients: 120 | Mean age in years: 8.5",
        "Group: Adults | Number of patients: 340 | Mean age in years: 47.1",
    ]


@pytest.mark.parametrize(
    "cells",
    [
        (("Group", "Dose", "Mean"), ("Adults", "5 mg", "4.5"), ("", "10 mg", "4.9"), ("Children", "1 mg", "3.8")),
        (("Test", "Result", "Unit"), ("Sodium", "128", "mmol/L"), ("Potassium", "5.9", "mmol/L"), ("Iron", "9", "g/L")),
        (("Drug", "For", "Form"), ("Ibuprofen", "Pain", "Tablet"), ("", "Fever", "Syrup"), ("Aspirin", "Gout", "Pill")),
        (("unit", "name", "note"), ("a few", "days", "once"), ("or", "weeks", "twice"), ("months", "later", "never")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("groups", [False, True])
def test_lines_of_values_are_rows_at_any_spacing(cells: Sequence[Sequence[str]], *, groups: bool) -> None:
    drawn = Drawn()
    for number, row in enumerate(cells):
        # Groups of rows are parted by a wider step.
        y = 100 + LINE * number + (10 if groups and number == len(cells) - 1 else 0)
        for x, cell in zip((60, 220, 380), row, strict=True):
            if cell:
                drawn.line(x, y, cell)
    rows = read(drawn.content()).text.split("\n")
    assert [re.sub(r"\w+: ", "", row) for row in rows][-3:] == [" | ".join(filter(None, row)) for row in cells[1:]]


def test_rules_between_groups_of_rows_part_no_rows() -> None:
    drawn = Drawn()
    y = 100.0
    drawn.line(60, y, "Name", BOLD)
    drawn.line(250, y, "Value", BOLD)
    for name, value in (("", ""), ("Urea", "5"), ("Sodium", "140"), ("", ""), ("Iron", "12"), ("Zinc", "9"), ("", "")):
        if not name:
            drawn.canvas.line(55, drawn.size[1] - y - 5, 400, drawn.size[1] - y - 5)
            continue
        y += 16
        drawn.line(60, y, name)
        drawn.line(250, y, value)
    assert read(drawn.content()).text.split("\n") == [
        f"Name: {name} | Value: {value}" for name, value in (("Urea", 5), ("Sodium", 140), ("Iron", 12), ("Zinc", 9))
    ]


LEAFLET = ("What it is for", "Before you take it", "How to take it", "Possible side effects", "Storage")


@pytest.mark.parametrize("font", [BODY, BOLD])
@pytest.mark.parametrize(
    "numbers",
    [
        ("1.", "2.", "3.", "4.", "5."),
        ("1", "2", "3", "4", "5"),
        ("1)", "2)", "3)", "4)", "5)"),
        ("I.", "II.", "III.", "IV.", "V."),
        ("A.", "B.", "C.", "D.", "E."),
        ("1", "1.1", "1.2", "2", "3"),
    ],
)
@pytest.mark.parametrize("apart", [5, 30])
def test_numbered_lines_above_texts_are_headings(
    numbers: tuple[str, ...], font: tuple[str, float], apart: float
) -> None:
    drawn = Drawn()
    y = 80.0
    for number, name in zip(numbers, LEAFLET, strict=True):
        drawn.line(60, y, number, font)
        drawn.line(60 + stringWidth(number, *font) + apart, y, name, font)
        y = drawn.paragraph(60, y + 20, 470, CAUSES) + 10
        if name == "How to take it":
            y = drawn.lines(60, y, ["1. Open the pack.", "2. Take out one tablet.", "3. Swallow it."]) + 10
    draft = read(drawn.content())
    found = [section.heading for section in draft.sections]
    assert found == [f"{number} {name}" for number, name in zip(numbers, LEAFLET, strict=True)]


def test_numbered_headings_nest_by_their_number() -> None:
    drawn = Drawn()
    y = 80.0
    for name in ("4. CLINICAL PARTICULARS", "4.1 Dose", "4.2 Undesirable effects", "Common ones", "5. PHARMACOLOGY"):
        drawn.line(60, y, name, BOLD)
        y = drawn.paragraph(60, y + 20, 470, CAUSES) + 10
    assert outline(read(drawn.content())) == [
        "4. CLINICAL PARTICULARS",
        "4. CLINICAL PARTICULARS > 4.1 Dose",
        "4. CLINICAL PARTICULARS > 4.2 Undesirable effects",
        "4. CLINICAL PARTICULARS > 4.2 Undesirable effects > Common ones",
        "5. PHARMACOLOGY",
    ]


@pytest.mark.parametrize("font", [BODY, BOLD])
def test_numbered_lines_below_each_other_are_a_list(font: tuple[str, float]) -> None:
    drawn = Drawn()
    y = drawn.paragraph(60, 80, 470, CAUSES) + 10
    y = drawn.lines(60, y, [f"{number}. {name}" for number, name in enumerate(LEAFLET, 1)], font) + 10
    drawn.paragraph(60, y, 470, GOUT)
    assert outline(read(drawn.content())) == [""]


def test_lines_in_capitals_are_headings_abbreviations_are_not() -> None:
    drawn = Drawn()
    y = 80.0
    for name in ("KEY FACTS", "WHEN TO SEE A DOCTOR", "ECG"):
        drawn.line(60, y, name)
        y = drawn.paragraph(60, y + 20, 470, CAUSES) + 10
    assert outline(read(drawn.content())) == ["KEY FACTS", "WHEN TO SEE A DOCTOR"]


def test_the_outline_marks_headings_in_body_type() -> None:
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
def test_title_is_the_metadatas_if_meaningful(told: str, title: str) -> None:
    drawn = Drawn()
    drawn.canvas.setTitle(told)
    drawn.line(60, 80, "Gout", TITLE)
    drawn.paragraph(60, 130, 470, GOUT)
    drawn.line(60, 200, "Causes", HEADING)
    drawn.paragraph(60, 230, 470, CAUSES)
    draft = read(drawn.content())
    assert draft.title == title
    assert outline(draft)[-1] == "Causes"


def test_titles_missing_from_the_metadata_stay_headings() -> None:
    drawn = Drawn()
    drawn.canvas.setTitle("leaflet-final.graffle")
    drawn.line(60, 60, "Gout in old age", TITLE)
    drawn.paragraph(60, 120, 470, GOUT)
    assert outline(read(drawn.content())) == ["Gout in old age"]


def test_no_title_is_invented() -> None:
    drawn = Drawn()
    drawn.paragraph(60, 130, 470, GOUT)
    assert read(drawn.content()).title == ""


def test_scanned_pages_are_reported_and_scanned_documents_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # A machine that has much else to do takes longer than a page, or a document, is given.
    monkeypatch.setenv("AUSCULT_LIMITS", "seconds=900, scan=250")
    # To look for words on a whole page takes seconds.
    drawn = Drawn((300, 300))
    drawn.paragraph(20, 40, 260, GOUT)
    for _ in range(3):
        drawn.next_page()
        drawn.scan()
    assert read(drawn.content()).remarks == ["pages 2-4 have no text layer: a scan"]
    drawn = Drawn((300, 300))
    drawn.scan()
    with pytest.raises(UnreadableError, match=r"1 page without one.*ocrmypdf") as refused:
        read(drawn.content())
    assert refused.value.kind == "scanned PDF"


def test_empty_encrypted_and_broken_files_are_refused() -> None:
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


def test_pdfs_with_only_an_owner_password_are_read() -> None:
    drawn = Drawn(encrypt=StandardEncryption("", ownerPassword="owner"))
    drawn.paragraph(60, 100, 470, GOUT)
    assert read(drawn.content()).text == GOUT


def test_form_values_are_read_at_their_place() -> None:
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


def test_exponents_and_note_numbers_stay_apart_from_numbers() -> None:
    drawn = Drawn()
    y = 100.0
    for before, raised, after in (
        ("Below 1.5 x 10", "9", "/L stop it"),
        ("A dose of 10", "-3", " mol"),
        ("Give 75 mg/m", "2", " a day"),
        ("See the guideline", "4", " first"),
    ):
        drawn.line(60, y, before)
        x = 60 + stringWidth(before, *BODY)
        drawn.line(x, y - 4, raised, ("Helvetica", 6))
        drawn.line(x + stringWidth(raised, "Helvetica", 6), y, after)
        y += 20
    assert read(drawn.content()).text == (
        "Below 1.5 x 10^9/L stop it A dose of 10^-3 mol Give 75 mg/m2 a day See the guideline^4 first"
    )


def test_text_with_its_own_rise_is_superscript() -> None:
    drawn = Drawn()
    text = drawn.canvas.beginText(60, 700)
    text.setFont(*BODY)
    text.textOut("About 3 x 10")
    text.setRise(4)
    text.setFont("Helvetica", 6)
    text.textOut("12")
    text.setRise(0)
    text.setFont(*BODY)
    text.textOut(" of them")
    drawn.canvas.drawText(text)
    assert read(drawn.content()).text == "About 3 x 10^12 of them"


@pytest.mark.parametrize("first", [True, False])
def test_separately_drawn_accents_join_their_letters(first: bool) -> None:
    drawn = Drawn()
    x = 60.0
    for part in ("Fran", "c¸", "ois has Raynaud's and M", "u¨", "nchausen's"):
        width = stringWidth(part[0] if len(part) == 2 else part, *BODY)
        if len(part) == 2:
            middle = x + (width - stringWidth(part[1], *BODY)) / 2
            for at, letter in sorted([(x, part[0]), (middle, part[1])], key=lambda each: (each[0] == x) == first):
                drawn.line(at, 100, letter)
        else:
            drawn.line(x, 100, part)
        x += width
    assert read(drawn.content()).text == "François has Raynaud's and Münchausen's"


def test_spaced_letters_are_words_but_columns_are_not() -> None:
    drawn = Drawn()
    for y, text, spacing in ((100, "WARNINGS AND PRECAUTIONS", 7), (130, "wichtige Hinweise", 5), (160, "NYNNYN", 8)):
        drawn.canvas.setFont(*BODY)
        drawn.canvas.drawString(60, drawn.size[1] - y, text, charSpace=spacing)
    drawn.line(60, 200, "D O S E S")
    text = " ".join(read(drawn.content()).text.split())
    assert text == "WARNINGS AND PRECAUTIONS wichtige Hinweise N Y N N Y N DOSES"


@pytest.mark.parametrize("shift", [0, 5])
def test_fonts_without_letter_names_need_plausible_words(shift: int) -> None:
    text = "Insulin is given before breakfast and before the evening meal."
    shifted = "".join(chr(ord(letter) + shift) if letter.isalpha() else letter for letter in text)
    content = without_names(shifted)
    if not shift:
        assert read(content).text == text
    else:
        with pytest.raises(UnreadableError, match="do not say which letters"):
            read(content)


def without_names(text: str) -> bytes:
    """A PDF with a text in a drawn font whose glyphs have names of no letters."""
    codes = sorted({*text.encode("latin-1")})
    shape = b"500 0 0 0 500 700 d1 0 0 400 650 re f"
    stream = b"BT /F1 11 Tf 60 700 Td (" + text.encode("latin-1") + b") Tj ET"
    differences = " ".join(f"{code} /g{code}" for code in codes)
    shapes = " ".join(f"/g{code} 4 0 R" for code in codes)
    widths = " ".join("500" for _ in range(256))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R "
        b"/Resources << /Font << /F1 6 0 R >> >> >>",
        b"<< /Length %d >> stream\n%s\nendstream" % (len(shape), shape),
        b"<< /Length %d >> stream\n%s\nendstream" % (len(stream), stream),
        (
            "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 500 700] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 0 "
            f"/LastChar 255 /Widths [{widths}] /Encoding << /Type /Encoding /Differences [{differences}] >> "
            f"/CharProcs << {shapes} >> /Resources << >> >>"
        ).encode(),
    ]
    whole, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(whole))
        whole += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size 7 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(whole)
    return whole + b"xref\n0 7\n0000000000 65535 f \n" + table + end


def test_checkboxes_are_read_as_ticked_choices_by_label() -> None:
    drawn = Drawn()
    form, high = drawn.canvas.acroForm, drawn.size[1]
    for y, name, ticked in ((100, "Fever", True), (120, "Cough", False)):
        form.checkbox(name=name, x=60, y=high - y - 2, size=12, checked=ticked)
        drawn.line(80, y, name)
    for x, value, text in ((60, "y", "yes"), (110, "n", "no")):
        form.radio(name="smoker", value=value, selected=value == "n", x=x, y=high - 142, size=12)
        drawn.line(x + 18, 140, text)
    drawn.line(60, 160, "Pain:")
    form.choice(
        name="pain", value="s", options=[("mild", "m"), ("severe", "s")], x=100, y=high - 164, width=90, height=16
    )
    text = " ".join(read(drawn.content()).text.replace("|", " ").split())
    assert text == "☒ Fever ☐ Cough ☐ yes ☒ no Pain: severe"


@pytest.mark.parametrize("by", ["line", "box", "annotation"])
def test_struck_out_words_are_omitted_and_reported(by: str) -> None:
    drawn = Drawn()
    drawn.line(60, 100, "Take warfarin 5 mg and ramipril daily.")
    left = 60 + stringWidth("Take ", *BODY)
    right = left + stringWidth("warfarin 5 mg", *BODY)
    y = drawn.size[1] - 97
    if by == "line":
        drawn.canvas.line(left, y, right, y)
    elif by == "box":
        drawn.canvas.rect(left, y - 0.3, right - left, 0.6, stroke=0, fill=1)
    else:
        drawn.canvas.highlightAnnotation(
            "", (left, y - 5, right, y + 6), QuadPoints=[left, y + 6, right, y + 6, left, y - 5, right, y - 5]
        )
    # Underlined, and crossed by a line of a grid.
    drawn.line(60, 130, "Call the ward")
    drawn.canvas.line(60, drawn.size[1] - 132, 60 + stringWidth("Call the ward", *BODY), drawn.size[1] - 132)
    drawn.line(60, 160, "on Monday")
    drawn.canvas.line(20, drawn.size[1] - 157, 400, drawn.size[1] - 157)
    content = drawn.content().replace(b"/Subtype /Highlight", b"/Subtype /StrikeOut")
    draft = read(content)
    assert " ".join(draft.text.split()) == "Take and ramipril daily. Call the ward on Monday"
    assert draft.remarks == ["page 1: 3 struck-out words are left out"]


def test_lines_of_unspaced_scripts_join_without_spaces() -> None:
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont

    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    drawn = Drawn()
    drawn.lines(
        60, 100, ["痛风是一种由尿酸结晶引起的关节炎，最常见于大脚趾", "的关节，夜间发作。"], ("STSong-Light", 10)
    )
    assert read(drawn.content()).text == "痛风是一种由尿酸结晶引起的关节炎，最常见于大脚趾的关节，夜间发作。"


def test_right_to_left_scripts_are_read_in_order() -> None:
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


def test_vertical_lines_are_read_after_their_page() -> None:
    drawn = Drawn()
    for turn, x in ((90, 30), (-90, 560)):
        drawn.turned(x, 440, turn, f"Line at {turn} degrees")
    drawn.paragraph(60, 100, 400, GOUT)
    draft = read(drawn.content())
    assert draft.text == f"{GOUT}\n\nLine at -90 degrees\n\nLine at 90 degrees"
    original = Original(name="a", media_type="a", content=b"", words=draft.words, pages=draft.pages)
    for box in original.boxes(draft.text.index("degrees"), draft.text.index("degrees") + 7):
        assert box.bottom - box.top > box.right - box.left


@pytest.mark.parametrize("degrees", [9, 20, 45, 60, 80, 120, 135, -10, -45, -100, -135])
def test_slanted_lines_are_read_apart_after_the_page(degrees: int) -> None:
    drawn = Drawn()
    drawn.turned(280, 400, degrees, "Draft of ward 7", ("Helvetica-Bold", 36))
    first = drawn.paragraph(60, 100, 470, GOUT)
    drawn.paragraph(60, first + 20, 470, CAUSES)
    drawn.turned(300, 480, degrees, "not for use", ("Helvetica-Bold", 36))
    draft = read(drawn.content())
    assert draft.text == f"{GOUT}\n\n{CAUSES}\n\nDraft of ward 7\n\nnot for use"
    assert draft.title == ""
    assert [section.heading for section in draft.sections] == [""]
    assert draft.remarks == []
    boxes = {draft.text[row["start"] : row["end"]]: row for row in draft.words}
    assert (boxes["ward"]["top"] < boxes["Draft"]["top"]) == (degrees > 0)
    assert (boxes["ward"]["left"] > boxes["Draft"]["left"]) == (abs(degrees) < 90)


def test_a_watermark_does_not_split_a_running_paragraph() -> None:
    drawn = Drawn()
    lines = wrapped(CAUSES, 470)
    for page in (lines[:1], lines[1:]):
        drawn.lines(60, 100, page)
        drawn.turned(200, 500, 45, "Draft", ("Helvetica-Bold", 80))
        drawn.next_page()
    assert read(drawn.content()).text == f"{CAUSES}\n\nDraft\n\nDraft"


def test_slanted_table_headers_and_their_rows_are_read() -> None:
    drawn = Drawn()
    names = ("Monday morning", "Tuesday evening", "Wednesday")
    for number, name in enumerate(names):
        drawn.turned(200 + 80 * number, 190, 45, name)
    for row, (medicine, *doses) in enumerate((("Allopurinol", "1", "2", "3"), ("Colchicine", "4", "5", "6"))):
        drawn.line(60, 210 + LINE * row, medicine)
        for number, dose in enumerate(doses):
            drawn.line(200 + 80 * number, 210 + LINE * row, dose)
    draft = read(drawn.content())
    assert draft.text.split("\n\n")[1:] == [*names]
    assert draft.text.splitlines()[0] == "Allopurinol | 1 | 2 | 3"


def test_letters_on_a_circle_make_words() -> None:
    drawn = Drawn()
    angle = math.radians(10)
    for letter in "CONFIRMED":
        across, up = 100 * math.cos(angle), 100 * math.sin(angle)
        drawn.turned(300 - across, 300 - up, 90 - math.degrees(angle), letter, ("Helvetica", 16))
        angle += stringWidth(letter, "Helvetica", 16) / 100
    drawn.paragraph(60, 500, 470, GOUT)
    assert read(drawn.content()).text == f"{GOUT}\n\nCONFIRMED"


def test_text_drawn_twice_as_shadow_is_read_once() -> None:
    drawn = Drawn()
    drawn.line(60, 100, "A heavy word")
    drawn.line(60.4, 100.3, "A heavy word")
    assert read(drawn.content()).text == "A heavy word"


def test_leader_dots_are_omitted() -> None:
    drawn = Drawn()
    drawn.line(60, 100, "Causes . . . . . . . . . . . . . . . . . 7")
    assert read(drawn.content()).text in ("Causes 7", "Causes | 7")


def test_pdf_is_recognised_by_its_beginning() -> None:
    assert PdfReader().recognises(SourceFile("a.txt", leaflet(1).content()))
    assert PdfReader().recognises(SourceFile("a.pdf", b"\r\n\0" + leaflet(1).content()))
    assert not PdfReader().recognises(SourceFile("a.pdf", b"plain words"))


def test_a_document_from_a_pdf_is_valid() -> None:
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


def test_separately_drawn_japanese_marks_lose_no_word() -> None:
    text = "がん パン"
    words = np.array([(0, 2, 0, 0, 0, 1, 1), (3, 5, 0, 1, 0, 2, 1)], WORD)
    layer = DraftDocument(text="か゛ん ハ゜ン", sections=(), media_type="text/plain")
    assert lost_words(text, [(0, 5)], [], words, [layer]) == (2, [])


def test_negative_font_sizes_keep_the_reading_order() -> None:
    drawn = Drawn()
    text = drawn.canvas.beginText()
    text.setTextTransform(-1, 0, 0, -1, 60, drawn.size[1] - 100)
    text.setFont("Helvetica", -10, 12)
    text.textOut("Gout hurts at night.")
    drawn.canvas.drawText(text)
    assert read(drawn.content()).text == "Gout hurts at night."
