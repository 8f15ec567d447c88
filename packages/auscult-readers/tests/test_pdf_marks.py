"""Additions to the pages of a PDF: form fields, typed text, comments, strike-outs, running heads."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pypdf
import pytest
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, StreamObject, TextStringObject
from reportlab.pdfbase.pdfmetrics import stringWidth

from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult_readers.pdf.reader import PdfReader
from small_pdfs import BODY, CAUSES, GOUT, HEADING, Drawn

ITEMS = (("Penicillin allergy", True), ("Latex allergy", False), ("Diabetes", True), ("Asthma", False))
TICKED = ["Penicillin allergy ☒", "Latex allergy ☐", "Diabetes ☒", "Asthma ☐"]


def read(content: bytes) -> DraftDocument:
    (draft,) = PdfReader().read(SourceFile("a.pdf", content))
    return draft


def lines(drawn: Drawn) -> list[str]:
    """The lines, without what is between cells."""
    text = read(drawn.content()).text.replace(" | ", " ").replace(":", "")
    return [" ".join(line.split()) for line in text.split("\n") if line]


def form(labels: Sequence[tuple[float, float]], boxes: Sequence[tuple[float, float]], end: str = "") -> Drawn:
    """A form of `ITEMS` with labels and boxes at these places."""
    drawn = Drawn()
    for (name, _), place in zip(ITEMS, labels, strict=True):
        drawn.line(*place, name + end)
    for number, ((_, ticked), (x, y)) in enumerate(zip(ITEMS, boxes, strict=True)):
        drawn.canvas.acroForm.checkbox(name=f"b{number}", x=x, y=drawn.size[1] - y - 2, size=12, checked=ticked)
    return drawn


@pytest.mark.parametrize("end", ["", ":"])
@pytest.mark.parametrize("x", [150.0, 220.0, 480.0])
def test_boxes_at_the_right_stay_with_labels(x: float, end: str) -> None:
    rows = [100.0 + 20 * number for number in range(4)]
    assert lines(form([(60, y) for y in rows], [(x, y) for y in rows], end)) == TICKED


def test_boxes_at_the_left_stay_with_labels() -> None:
    rows = [100.0 + 20 * number for number in range(4)]
    told = lines(form([(80, y) for y in rows], [(60, y) for y in rows]))
    assert told == ["☒ Penicillin allergy", "☐ Latex allergy", "☒ Diabetes", "☐ Asthma"]


@pytest.mark.parametrize("end", ["", ":"])
def test_each_box_of_a_row_follows_its_label(end: str) -> None:
    labels = [(60.0 + 120 * number, 100.0) for number in range(4)]
    boxes = [(x + stringWidth(f"{name}: ", *BODY), y) for (x, y), (name, _) in zip(labels, ITEMS, strict=True)]
    assert lines(form(labels, boxes, end)) == ["Penicillin allergy ☒; Latex allergy ☐; Diabetes ☒; Asthma ☐"]


def test_boxes_of_a_grid_stay_with_labels() -> None:
    places = [(60.0 + 240 * (number % 2), 100.0 + 20 * (number // 2)) for number in range(4)]
    told = lines(form(places, [(x + 120, y) for x, y in places]))
    assert told == ["Penicillin allergy ☒; Latex allergy ☐", "Diabetes ☒; Asthma ☐"]


def test_boxes_below_labels_stay_with_labels() -> None:
    side = [(60.0 + 120 * number, 100.0) for number in range(4)]
    assert lines(form(side, [(x, y + 18) for x, y in side])) == [" ".join(TICKED)]
    below = [(60.0, 100.0 + 40 * number) for number in range(4)]
    assert lines(form(below, [(x, y + 18) for x, y in below])) == TICKED


def test_boxes_under_yes_and_no_are_told_apart() -> None:
    rows = [100.0 + 20 * number for number in range(4)]
    drawn = form([(60, y) for y in rows], [(202, y) for y in rows])
    for x, word in ((200, "Yes"), (260, "No")):
        drawn.line(x, 80, word)
    for y, (name, ticked) in zip(rows, ITEMS, strict=True):
        drawn.canvas.acroForm.checkbox(name=name, x=262, y=drawn.size[1] - y - 2, size=12, checked=not ticked)
    told = read(drawn.content()).text.split("\n")
    assert told[:2] == ["Penicillin allergy | Yes: ☒ | No: ☐", "Latex allergy | Yes: ☐ | No: ☒"]


@pytest.mark.parametrize("columns", [1, 2])
def test_values_of_fields_stay_with_labels(columns: int) -> None:
    drawn = Drawn()
    places = [(60 + 260 * (number % columns), 100 + 24 * (number // columns)) for number in range(4)]
    for (x, y), label in zip(places, ("Name", "Weight in kg", "Height in cm", "Dose"), strict=True):
        drawn.line(x, y, label)
    for (x, y), value in zip(places, ("Ann Lee", "62.5", "170", "5 mg"), strict=True):
        drawn.canvas.acroForm.textfield(
            name=value, x=x + 90, y=drawn.size[1] - y - 4, width=100, height=16, value=value
        )
    told = " ".join(lines(drawn))
    assert told == "Name Ann Lee Weight in kg 62.5 Height in cm 170 Dose 5 mg"


def annotated(content: bytes, *marks: DictionaryObject) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(content))
    for each in marks:
        if "/AP" in each:
            each["/AP"][NameObject("/N")] = writer._add_object(each["/AP"]["/N"])
    writer.pages[0][NameObject("/Annots")] = ArrayObject([writer._add_object(mark) for mark in marks])
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def mark(kind: str, text: str, box: tuple[float, float, float, float], flags: int = 4) -> DictionaryObject:
    return DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Annot"),
            NameObject("/Subtype"): NameObject(f"/{kind}"),
            NameObject("/Rect"): ArrayObject(map(FloatObject, box)),
            NameObject("/Contents"): TextStringObject(text),
            NameObject("/F"): FloatObject(flags),
        }
    )


def drawing(text: str) -> StreamObject:
    """The drawing of an annotation of 200 by 20 points that shows a text."""
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    drawn = StreamObject()
    drawn.set_data(f"BT /F1 12 Tf 2 5 Td ({text}) Tj ET".encode())
    drawn.update({NameObject("/Type"): NameObject("/XObject"), NameObject("/Subtype"): NameObject("/Form")})
    drawn[NameObject("/BBox")] = ArrayObject(map(FloatObject, (0, 0, 200, 20)))
    named = DictionaryObject({NameObject(key): NameObject(value) for key, value in font.items()})
    fonts = DictionaryObject({NameObject("/F1"): named})
    drawn[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    return drawn


def with_drawing(of: DictionaryObject, text: str) -> DictionaryObject:
    of[NameObject("/AP")] = DictionaryObject({NameObject("/N"): drawing(text)})
    return of


def page() -> bytes:
    drawn = Drawn()
    drawn.paragraph(60, 100, 470, GOUT)
    return drawn.content()


@pytest.mark.parametrize("text", ["STOP heparin: platelets 40", "Sofort absetzen!\rDr. Weber", "5 mg µg ≥ 2"])
def test_text_typed_onto_a_page_is_read(text: str) -> None:
    content = annotated(page(), mark("FreeText", text, (60, 500, 300, 540)), mark("Text", "A note", (9, 9, 29, 29)))
    draft = read(content)
    assert " ".join(draft.text.split()) == f"{GOUT} {' '.join(text.split())}"
    assert draft.remarks == ["page 1: 1 comment is not read"]
    (stop,) = [word for word in draft.words if draft.text[word["start"] : word["end"]] == text.split()[0]]
    assert 60 <= stop["left"] < stop["right"] <= 300


def test_typed_text_with_a_drawing_is_read_once() -> None:
    typed = mark("FreeText", "STOP heparin", (60, 500, 260, 520))
    content = annotated(page(), with_drawing(typed, "STOP heparin"))
    assert read(content).text.count("STOP heparin") == 1


def test_typed_text_over_a_page_moves_no_word() -> None:
    content = annotated(page(), mark("FreeText", "Not for her", (50, 700, 560, 800)))
    text = " ".join(read(content).text.split())
    assert text.replace("Not for her", "").split() == GOUT.split()
    assert "Not for her" in text


def test_stamps_are_read_or_counted() -> None:
    drawn = with_drawing(mark("Stamp", "", (60, 500, 260, 520)), "NOT FOR RESUSCITATION")
    draft = read(annotated(page(), drawn, mark("Stamp", "", (60, 400, 260, 420))))
    assert draft.text.endswith("NOT FOR RESUSCITATION")
    assert draft.remarks == ["page 1: 1 stamp is not read"]


def test_hidden_typed_text_is_not_read() -> None:
    assert read(annotated(page(), mark("FreeText", "Hidden", (60, 500, 300, 540), flags=2))).text == GOUT


def struck(*texts: tuple[str, bool]) -> bytes:
    drawn = Drawn()
    for number, (text, out) in enumerate(texts):
        y = 100 + 20 * number
        drawn.line(60, y, text)
        if out:
            drawn.canvas.line(60, drawn.size[1] - y + 3, 60 + stringWidth(text, *BODY), drawn.size[1] - y + 3)
    return drawn.content()


def test_words_are_omitted_if_most_are_struck() -> None:
    told = read(struck(("Warfarin 5 mg daily", True), ("Digoxin 125 microgram", True), ("Apixaban 5 mg", False)))
    assert told.text == "Apixaban 5 mg"
    assert told.remarks == ["page 1: 7 struck-out words are left out"]


def test_file_of_struck_words_is_refused() -> None:
    with pytest.raises(UnreadableError, match="nothing but struck-out words"):
        read(struck(("Warfarin 5 mg daily", True), ("Digoxin 125 microgram", True)))


HEADS = [
    ("ALLERGIES: penicillin (anaphylaxis)   Resuscitation: NOT for CPR", ("Helvetica", 8)),
    ("Allergies: latex and all of the penicillins, see the chart", ("Helvetica-Bold", 8)),
    ("ALLERGIES: penicillin and latex", BODY),
    ("ALLERGIES: penicillin and latex", ("Helvetica-Bold", 10)),
]


@pytest.mark.parametrize(("head", "font"), HEADS)
def test_a_running_head_makes_no_section(head: str, font: tuple[str, float]) -> None:
    drawn = Drawn()
    for day in range(1, 5):
        drawn.line(60, 30, head, font)
        drawn.line(60, 90, f"Day {day}")
        drawn.paragraph(60, 110, 470, f"{GOUT} Seen on day {day}.")
        drawn.line(280, 820, f"Page {day} of 4", ("Helvetica", 8))
        drawn.next_page()
    draft = read(drawn.content())
    assert not any("llergies" in section.heading or "ALLERGIES" in section.heading for section in draft.sections)
    told = "".join(section.text for section in draft.sections)
    assert told.count(" ".join(head.split())) == (1 if font[1] == 8 else 4)


def test_headings_of_notes_below_a_running_head_count() -> None:
    drawn = Drawn()
    for day in range(1, 4):
        drawn.line(60, 30, "ALLERGIES: penicillin, latex and nuts", ("Helvetica", 8))
        drawn.line(60, 90, "PLAN: Rest the joint.")
        drawn.line(60, 130, f"Colour of day {day}", HEADING)
        drawn.paragraph(60, 160, 470, CAUSES)
        drawn.next_page()
    headings = [section.heading for section in read(drawn.content()).sections]
    assert "ALLERGIES" not in headings
    assert "Colour of day 2" in headings
