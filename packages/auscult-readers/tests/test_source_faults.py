"""`auscult verify --sources` tells what a file shows and its documents lack or say otherwise. The documents here are
what faulty readers made of the files."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from openpyxl import Workbook
from openpyxl.styles import Font
from reportlab.pdfgen.canvas import Canvas

from auscult.documents import Document, Section
from auscult.documents.building import build_document
from auscult.documents.original import Original
from auscult.readers.contract import SourceFile
from auscult.readers.registry import Registry
from auscult_readers.source_words.checking import CHECKERS, PDF, compare
from auscult_readers.source_words.comparison import KEPT_STRUCK, UNKNOWN, lost_words
from auscult_readers.source_words.misread import misread_in
from auscult_readers.source_words.reader import type_of
from small_word_files import add_xml, saved, word_leaflet


def read(text: str, heading: str = "", *more: Section, **metadata: str) -> Document:
    sections = [Section(heading, text), *more]
    return build_document(doc_id="d", title="Letter", sections=sections, metadata=metadata)


def told(
    name: str, content: bytes, document: Document, media_type: str = "text/plain", remarks: tuple[str, ...] = ()
) -> tuple[set[str], set[str]]:
    """Return the words that are faults, and the kinds of what is misread."""
    kind = type_of(name, content, media_type)
    file = SourceFile(kind, content)
    parts = list(Registry(readers=CHECKERS).reader_of(file).read(file))
    lost = compare(Original(name=name, media_type=kind, content=content), [document], parts, remarks)[1]
    return {each.word for each in lost if each.is_fault}, {each.what for each in misread_in([document], parts, remarks)}


def page(inner: str) -> bytes:
    return f"<!doctype html><title>Letter</title><meta charset=utf-8><main><h1>Letter</h1>{inner}</main>".encode()


def rich(inner: str) -> bytes:
    fonts = r"{\fonttbl{\f0 Arial;}{\f1\fcharset2 Symbol;}}"
    return f"{{\\rtf1\\ansi{fonts}{inner}\\par}}".encode()


def cda(sections: str) -> bytes:
    body = f"<component><structuredBody>{sections}</structuredBody></component>"
    return f'<ClinicalDocument xmlns="urn:hl7-org:v3"><title>Letter</title>{body}</ClinicalDocument>'.encode()


def jats(body: str, after: str = "") -> bytes:
    math = 'xmlns:mml="http://www.w3.org/1998/Math/MathML"'
    front = "<front><article-meta><article-title>Letter</article-title></article-meta></front>"
    return f"<article {math}>{front}<body><p>{body}</p></body>{after}</article>".encode()


def fhir(**fields: object) -> bytes:
    return json.dumps({"resourceType": "MedicationRequest", "id": "m", **fields}).encode()


def word(inner: str) -> bytes:
    document = word_leaflet()
    add_xml(document, inner)
    return saved(document)


_OBX = "OBR|1||9|C^Chemistry^L\rOBX|1|CWE|A^Allergies^L||"
_HEAD = "MSH|^~\\&|A|B|||2026||ORU^R01|1|P|2.5\rPID|1||7\r"
_FRACTION = "<mml:mfrac><mml:mn>24</mml:mn><mml:mn>10</mml:mn></mml:mfrac>"
_SUB = "<sub-article><body><p>It was 0.5 mg.</p></body></sub-article>"
_CODE = '<observation negationInd="true"><value displayName="Allergy to latex"/></observation>'
_FHIR_XML = (
    '<Observation xmlns="http://hl7.org/fhir"><valueQuantity><value value="0.000010"/></valueQuantity></Observation>'
)
_HTML, _RTF, _HL7 = "text/html", "application/rtf", "application/hl7-v2"
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
# Name, media type and content of a file, the text it was read as, and words that must be reported.
LOST: list[tuple[str, str, bytes, str, set[str]]] = [
    ("a.rtf", _RTF, rich(r"Digoxin 125 {\f1 m}g"), "Digoxin 125 mg", {"μg"}),
    ("a.rtf", _RTF, rich(r"pulse {\f1 \'b3} 60, {\f1 \'a3} 90"), "pulse ³ 60, £ 90", {"≥", "≤"}),
    ("a.rtf", _RTF, rich(r"Rest.{\header Allergy to latex}"), "Rest.", {"allergy", "latex", "to"}),
    ("a.rtf", _RTF, rich(r"Rest.{\*\annotation Not so}"), "Rest.", {"not", "so"}),
    ("a.hl7", _HL7, (_HEAD + _OBX + "1^Latex^L~2^Nuts^L").encode(), "Chemistry Allergies: Latex", {"nuts"}),
    ("a.hl7", _HL7, (_HEAD + "DG1|1||I26^Pulmonary embolism^I10").encode(), "None", {"pulmonary", "embolism"}),
    ("a.xml", "application/cda+xml", cda(f"<section><title>A</title><entry>{_CODE}</entry></section>"), "A", {"latex"}),
    ("a.xml", "application/jats+xml", jats("We gave 50 mg.", _SUB), "We gave 50 mg.", {"0.5"}),
    ("a.xml", "application/jats+xml", jats(_FRACTION), "2410", {"24"}),
    ("a.xml", "application/jats+xml", jats(r"at <tex-math>$\geq 5$</tex-math> mg"), "at mg", {"5"}),
    ("a.html", _HTML, page("<svg><text>Give 0.5 mg</text></svg><p>End."), "End.", {"0.5", "mg", "give"}),
    ("a.html", _HTML, page("<iframe srcdoc='<p>Never more'></iframe><p>End."), "End.", {"never", "more"}),
    ("a.html", _HTML, page("<object><p>15 mg</p></object><p>End."), "End.", {"15", "mg"}),
    ("a.html", _HTML, page("<p>Inject 2<sup>1</sup><sub>2</sub> ml"), "Inject 2^12 ml", {"1", "2"}),
    ("a.html", _HTML, page("<ol type=a start=3><li>Stop<li>Go</ol>"), "3. Stop\n4. Go", {"c", "d"}),
    ("a.docx", _DOCX, word('<w:r><w:instrText> EQ \\f(1;2) </w:instrText></w:r>'), "", {"1", "2"}),
    ("a.json", "", fhir(timing={"repeat": {"boundsDuration": {"value": 5, "unit": "days"}}}), "", {"5", "days"}),
    ("a.json", "", fhir(dosage={"timing": {"repeat": {"when": ["ACM"]}}}), "", {"breakfast"}),
    ("a.json", "", fhir(doNotPerform=True, medication={"text": "Codeine"}), "Codeine", {"\u00ac"}),
    ("a.json", "", fhir(dosage={"asNeededBoolean": True, "text": "Codeine"}), "Codeine", {"needed"}),
    ("a.xml", "", _FHIR_XML.encode(), "1e-05", {"0.000010"}),
    ("a.hl7", _HL7, (_HEAD + "ORC|DC|1\rRXO|N^Heparin^L|5").encode(), "Heparin 5", {"discontinued"}),
    ("a.json", "", b'{"resourceType": "Observation", "valueQuantity": {"value": 0.000010}}', "1e-05", {"0.000010"}),
    ("a.json", "", b'[{"id": "1", "sections": [{"heading": "A", "body": "Latex"}]}]', "A", {"latex"}),
    ("a.csv", "", b"id,text,unit,unit\n1,Dose,mg,ml\n", "Dose ml", {"mg"}),
    ("a.txt", "", "Digoxin 125 µg and Latex 3 µg.".encode() + b"\xff", "Digoxin 125 Âµg and Latex 3 Âµg.", {"μg"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "media_type", "content", "text", "faults"), LOST)
def test_shown_words_that_are_lost_are_faults(
    name: str, media_type: str, content: bytes, text: str, faults: set[str]
) -> None:
    found, _ = told(name, content, read(text or "Nothing"), media_type or "text/plain")
    assert faults <= found, found


_WRAPPED = "She came in by ambulance and has no\nallergy to penicillin."
_MAIL = "From a@x.org Sat Jan  3 10:00:00 2026\nFrom: a@x.org\nSubject: Letter\n"


def test_mail_is_compared_as_programs_show_it() -> None:
    soft = b"From: a@x.org\nSubject: x\nContent-Type: text/plain; format=flowed; delsp=yes\n\nGive metopro \nlol.\n"
    assert told("a.eml", soft, read("Give metopro lol. x"))[0] == {"metoprolol"}
    packed = f"{_MAIL}Content-Transfer-Encoding: base64\n\nSG9sZCB3YXJmYXJpbi4K\n".encode()
    assert told("a.eml", packed, read(packed.decode()))[0] == {"hold", "warfarin"}


_DETAILS = "<details><summary>Overdose</summary><p>Call.</p></details>"
_POTASSIUM = "OBX|1|NM|K^Potassium^L||4.1|||||||F\r"
_SODIUM = "OBX|2|NM|N^Sodium^L||1|||||||X\rNTE|1||Do not use"
# Name, media type and content of a file, the document it was read as, and the fault that must be reported.
MISREAD: list[tuple[str, str, bytes, Document, str]] = [
    ("a.txt", "", b"Allergien:\nPenicillin\n", read("Allergien:\nPenicillin\n", format="text"), "a heading is read"),
    ("a.txt", "", "Àëëåðãèè íåò, áîëü".encode(), read("Àëëåðãèè íåò, áîëü"), "letters of another encoding"),
    ("a.txt", "", b"5 \xc2\xb5g", read("5 Âµg – â‰¥ 60"), "letters of another encoding"),
    ("a.html", _HTML, page("<p>1<sup>1</sup>&frasl;<sub>2</sub> ml"), read("1^1⁄2 ml"), "a fraction is a power"),
    ("a.html", _HTML, page(f"<h2>Gout</h2>{_DETAILS}<p>Take colchicine now."),
     read("Call. Take colchicine now.", "Overdose"), "text is under a heading"),
    ("a.rtf", _RTF, rich(r"\b Drugs\b0\par Digoxin daily\par Next"), read("Next", "Digoxin daily"), "text is read as"),
    ("a.hl7", _HL7, (_HEAD + _POTASSIUM + _SODIUM).encode(),
     read("Potassium: 4.1\nDo not use"), "a comment is behind"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "media_type", "content", "document", "what"), MISREAD)
def test_what_is_read_otherwise_is_told(
    name: str, media_type: str, content: bytes, document: Document, what: str
) -> None:
    found = told(name, content, document, media_type or "text/plain")[1]
    assert [each for each in found if each.startswith(what)], found


def test_sentences_cut_at_a_negation_are_told() -> None:
    class Lines:
        name = "lines"

        def split(self, text: str) -> list[tuple[int, int]]:
            ends = [place + 1 for place, letter in enumerate(text) if letter in ".\n"]
            return [*zip([0, *ends], [*ends, len(text)], strict=True)]

    for text in (_WRAPPED, "CT neg. for PE.", "No abd. pain.", "am 3. Mai"):
        document = build_document(doc_id="d", title="", sections=[Section("", text)], splitter=Lines())
        assert {each.what for each in misread_in([document], [], ())} == {"a sentence is cut"}, text


def canvas(draw: Callable[[Canvas], None]) -> bytes:
    buffer = io.BytesIO()
    drawn = Canvas(buffer, pagesize=(300, 300), invariant=True)
    draw(drawn)
    drawn.save()
    return buffer.getvalue()


def test_struck_lines_and_strayed_boxes_are_told() -> None:
    def draw(drawn: Canvas) -> None:
        drawn.drawString(20, 200, "Warfarin 5 mg")
        drawn.line(20, 203, 20 + drawn.stringWidth("Warfarin 5 mg"), 203)
        drawn.drawString(20, 100, "Latex allergy")
        drawn.acroForm.checkbox(x=150, y=97, size=12, checked=True)

    content = canvas(draw)
    file = SourceFile(PDF, content)
    parts = list(Registry(readers=CHECKERS).reader_of(file).read(file))
    wrong, right = read("Warfarin 5 mg\nLatex allergy\nother\n☒"), read("Latex allergy: ☒")
    lost = lost_words([wrong], [part for part in parts if not part.key.isdecimal()])[1]
    assert {each.reason for each in lost} == {KEPT_STRUCK}
    assert {each.what for each in misread_in([wrong], parts, ())} == {"a box is not beside its label"}
    assert misread_in([right], parts, ()) == []
    assert lost_words([right], [part for part in parts if not part.key.isdecimal()])[1] == []


def test_struck_cells_and_units_of_formats_are_told() -> None:
    book = Workbook()
    book.active.append(["Warfarin", 62.5, "=1+1"])
    book.active["A1"].font = Font(strike=True)
    book.active["B1"].number_format = '0.0" microgram"'
    buffer = io.BytesIO()
    book.save(buffer)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    found, _ = told("a.xlsx", buffer.getvalue(), read("Warfarin 62.5"), kind)
    assert found == {"warfarin", "microgram", "formula"}
    remarks = ("left out: 1 word (struck out), 1 formula without a saved result",)
    assert told("a.xlsx", buffer.getvalue(), read("62.5 microgram"), kind, remarks)[0] == set()


def test_words_that_the_report_names_are_no_faults() -> None:
    content = page("<p>Rest <s>warfarin</s> helps.")
    assert told("a.html", content, read("Rest helps."), _HTML)[0] == {"warfarin"}
    assert told("a.html", content, read("Rest helps."), _HTML, ("left out: 1 word (struck out)",))[0] == set()


def test_the_worst_losses_are_told_first() -> None:
    file = SourceFile("text/plain", b"The patient has no allergy and takes 5 mg of warfarin.")
    parts = list(Registry(readers=CHECKERS).reader_of(file).read(file))
    lost = lost_words([read("The patient")], parts)[1]
    assert [each.word for each in lost][:3] == ["no", "5", "mg"]
    assert {each.reason for each in lost} == {UNKNOWN}
