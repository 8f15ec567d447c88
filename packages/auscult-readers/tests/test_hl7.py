"""Reports in messages of HL7 v2: texts, results, comments, enclosed files, and files of messages."""

from __future__ import annotations

import base64

import pytest

from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.registry import Registry
from auscult_readers.records.hl7 import Hl7Reader
from readings import read, sources_of

READER = Hl7Reader()
HEAD = r"MSH|^~\&|LAB|Clinic|EHR|H|20240302||ORU^R01|{}|P|2.5"
PERSON = "PID|1||77^^^H||DOE&van&DOE^JANE^M"


def message(*segments: str, number: int = 1, end: str = "\r") -> str:
    return "".join(f"{each}{end}" for each in (HEAD.format(number), PERSON, *segments))


def texts(draft: DraftDocument) -> list[tuple[str, str]]:
    return [(each.heading, each.text) for each in draft.sections]


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_report_lines_are_text_and_their_headings_sections(end: str) -> None:
    lines = ["HISTORY: Cough.", "Fever for a week.", "", "IMPRESSION: Pneumonia."]
    report = [f"OBX|{n}|TX|1^Chest X-ray||{line}||||||F" for n, line in enumerate(lines)]
    content = message("OBR|1|||1^Chest X-ray|||20240301103000||||||||||||||||||F", *report, end=end)
    (draft,) = read(READER, content)
    assert draft.text == "HISTORY: Cough.\nFever for a week.\n\nIMPRESSION: Pneumonia."
    assert texts(draft) == [("HISTORY", "Cough.\nFever for a week."), ("IMPRESSION", "Pneumonia.")]
    assert (draft.key, draft.title, draft.source) == ("", "Chest X-ray", "Clinic")
    assert draft.metadata == {
        "patient": "77", "date": "2024-03-01", "type": "Chest X-ray", "status": "F", "names": "JANE M DOE",
    }  # fmt: skip


def test_results_are_listed_under_their_order_with_units() -> None:
    (draft,) = read(READER, message(
        "OBR|1|||1^Chest X-ray", "OBX|1|TX|2^Findings||Clear.", "OBX|2|TX|3^Impression||Normal.",
        "OBR|2|||9^Electrolytes", "OBX|1|NM|2823-3^Potassium^LN||6.9|mmol/L^^UCUM|3.5-5.1|HH|||F", "NTE|1||Haemolysed.",
        "OBX|2|SN|CREATININE||>^200|mg/L", "OBX|3|CE|5^Culture||1^E. coli^SCT", "OBX|4|ST|6^Colour||Yellow||||||F",
        "OBX|5|NM|7^Sodium||99||||||W", "OBX|6|HD|8^Instance||1.2.3",
    ))  # fmt: skip
    assert texts(draft) == [
        ("Findings", "Clear."),
        ("Impression", "Normal."),
        (
            "Electrolytes",
            "Potassium: 6.9 mmol/L; reference range: 3.5-5.1; HH\nHaemolysed.\nCREATININE: >200 mg/L\n"
            "Culture: E. coli\nColour: Yellow",
        ),
    ]
    assert draft.remarks == ("message 1: a result that was taken back was left out",)


def test_escape_sequences_are_decoded() -> None:
    escaped = r"A \T\ b\.br\10\S\9 \F\ \R\ \E\ \H\bold\N\ caf\XC3A9\~last"
    content = message(f"OBX|1|FT|1^Note||{escaped}")
    (draft,) = read(READER, content)
    assert draft.sections[0].text == "A & b\n10^9 | ~ \\ bold caf\u00e9\nlast"
    assert sources_of(draft, "10^9", content.encode()) == [r"10\S\9"]
    own = r"MSH$*!\@$LAB$$$$2024$$ORU*R01$1$P$2.5" + "\rOBX$1$TX$1*Note$$A @ b \\T\\ c!d | ^\r"
    assert read(READER, own)[0].sections[0].text == "A @ b @ c\nd | ^"


def test_allergies_and_medicines_are_sections_with_named_fields() -> None:
    content = message(
        "AL1|1|DA^Drug allergy^HL70127|7980^Penicillin^RXNORM|SV|Hives~Swelling|20190402", "AL1|2|FA|^Peanut|MO",
        'IAM|3|EA|99|""||A', "IAM|4|DA|1^Ibuprofen|||D",
        "RXE|^^^20240301|723^Amoxicillin 500 mg^RXNORM|500|1000|mg^milligram^UCUM|TAB^tablet|^Take with food",
        "RXR|PO^Oral^HL70162|", "NTE|1||Asked by the ward.",
        "RXA|0|1|202403011030||207^Influenza vaccine^CVX|0.5|mL|||||||||||||CP|A", "RXR|IM|LD^Left deltoid",
        "RXA|0|1|20240302||208^Tetanus vaccine^CVX|999||||||||||||^Fear of needles||RE", "OBX|1|NM|7^Weight||70|kg",
    ).replace("ORU^R01", "ADT^A01")  # fmt: skip
    (draft,) = read(READER, content)
    assert texts(draft) == [
        (
            "Allergies",
            "Allergen: Penicillin; type: Drug allergy; severity: severe; reaction: Hives, Swelling; "
            "identified: 2019-04-02\nAllergen: Peanut; type: food; severity: moderate\n"
            "Allergen: 99; type: environmental",
        ),
        (
            "Medicines ordered",
            "Medicine: Amoxicillin 500 mg; amount: 500 milligram; at most: 1000 milligram; form: tablet; "
            "timing: from 2024-03-01; instructions: Take with food\nRoute: Oral\nAsked by the ward.",
        ),
        (
            "Medicines given",
            "Medicine: Influenza vaccine; status: complete; amount: 0.5 mL; date: 2024-03-01\n"
            "Route: IM; site: Left deltoid\n"
            "Medicine: Tetanus vaccine; status: refused; date: 2024-03-02; refused because: Fear of needles\n"
            "Weight: 70 kg",
        ),
    ]
    assert draft.remarks == ("message 1: an entry that was taken back was left out",)
    assert sources_of(draft, "Penicillin", content.encode()) == ["Penicillin"]


def test_each_report_is_a_document_others_are_counted() -> None:
    admitted = HEAD.format(3).replace("ORU^R01", "ADT^A01") + "\r"
    parts = ["FHS|^~\\&|x\r", "BHS|^~\\&|x\r", "\x0b", message("OBX|1|TX|1||One."), "\x1c\r", "\x0b"]
    parts += [message("OBX|1|TX|1||Two.", number=2), "\x1c\r", admitted, message("OBX|1|TX|1||Three."), "BTS|2\r"]
    drafts = read(READER, "".join(parts))
    assert [(draft.key, draft.text) for draft in drafts] == [("1", "One."), ("2", "Two."), ("1~2", "Three.")]
    assert drafts[0].remarks == ("messages without a report: 1 of 4",)


def test_mdm_documents_are_titled_by_their_type() -> None:
    (draft,) = read(
        READER, message("TXA|1|DS^Discharge summary|TX|20240305|||||7^LEE^ANN", "OBX|1|TX|1^Body||Went home.")
    )
    assert (draft.title, draft.metadata["author"], draft.metadata["names"]) == (
        "Discharge summary", "ANN LEE", "JANE M DOE\nANN LEE",
    )  # fmt: skip


def test_enclosed_files_are_read_by_their_type() -> None:
    page = base64.b64encode(b"<p>Enclosed &amp; kept.").decode()
    first, second = read(READER, message("OBX|1|TX|1||See file.", f"OBX|2|ED|2^Letter||^TEXT^HTML^Base64^{page}"))
    assert (first.text, second.text, second.media_type) == ("See file.", "Enclosed & kept.", "text/html")
    with pytest.raises(UnreadableError) as raised:
        list(READER.read(SourceFile("x.hl7", message(r"OBX|1|RP|1||\\server\x.pdf").encode())))
    assert raised.value.kind == "attachment not here"


def test_a_line_break_in_a_field_loses_nothing() -> None:
    (draft,) = read(READER, message("OBX|1|TX|1||One\nof two lines||||||F", end="\r"))
    assert draft.text == "One\nof two lines"


def test_encoding_comes_from_the_header_or_the_bytes() -> None:
    segment = "OBX|1|TX|1||Fi\u00e8vre \u017eena\r"
    for charset, encoding in (("UNICODE UTF-8", "utf-8"), ("", "utf-8"), ("8859/2", "iso8859-2")):
        told = HEAD.format(1) + f"||||||{charset}\r"
        content = (told + segment.replace("\u00e8", "\u00e9")).encode(encoding)
        assert read(READER, content)[0].text == "Fi\u00e9vre \u017eena"


@pytest.mark.parametrize("content", [HEAD.format(1), message(), message("OBX|1|TX|1||", "OBX|1|NM|1^Urate||")])
def test_a_file_without_a_report_is_refused(content: str) -> None:
    with pytest.raises(UnreadableError) as raised:
        list(READER.read(SourceFile("x.hl7", content.encode())))
    assert raised.value.kind == "no text"


@pytest.mark.parametrize("content", ["MSH is a hospital.", "MSHA|x", "# MSH|^~\\&|", "MSH|a|b|c"])
def test_other_texts_are_not_recognised(content: str) -> None:
    assert not READER.recognises(SourceFile("x.txt", content.encode()))
    assert Registry().reader_of(SourceFile("x.txt", message().encode())).name == "HL7 v2"


@pytest.mark.parametrize(
    ("repeated", "text"),
    [
        ("OBX|1|CWE|1^Allergies||A1^Penicillin^L~A2^Latex^L~A3^Peanut^L", "Allergies: Penicillin; Latex; Peanut"),
        ("OBX|1|ST|1^Organisms||E. coli~Candida|||A~R", "Organisms: E. coli; Candida; A, R"),
        ("OBX|1|SN|1^Titres||^1^:^128~<^4|IU", "Titres: 1:128; <4 IU"),
        ("OBX|1|NR|1^Target INR||2^3", "Target INR: 2 to 3"),
        ("OBX|1|CE|1^Species||^^^^Candida~^^^^Aspergillus", "Species: Candida; Aspergillus"),
        ("OBX|1|TX|1^Plan||Stop heparin~Check platelets", "Stop heparin\nCheck platelets"),
        ("DG1|1||I26^Embolism~I80^Thrombosis", "Diagnosis: Embolism, Thrombosis"),
        ("NTE|1||One~Two", "One\nTwo"),
    ],
)
def test_each_value_of_a_repeated_field_is_read(repeated: str, text: str) -> None:
    (draft,) = read(READER, message(repeated))
    assert draft.sections[0].text == text


def test_highlights_of_repeated_values_map_to_each() -> None:
    content = message("OBX|1|CWE|1^Allergies||A1^Penicillin^L~A2^Latex^L")
    (draft,) = read(READER, content)
    assert sources_of(draft, "Penicillin; Latex", content.encode()) == ["Penicillin", "Latex"]


def test_diagnoses_procedures_and_problems_are_sections() -> None:
    (draft,) = read(READER, message(
        "AL1|1||^Penicillin", "DG1|1||I26^Pulmonary embolism^I10||20260105|A",
        "DG1|2||J18^Pneumonia^I10|Pneumonia, ruled out|20260105|W", "DG1|3||X^Wrong" + "|" * 18 + "D",
        "PR1|1||0DT^Appendectomy^L||20251201", "NTE|1||Family says: never give morphine",
        "PRB|AD|20240101|1^Gout|||||||||||^resolved", "OBX|1|NM|7^Weight||70|kg",
    ))  # fmt: skip
    assert texts(draft) == [
        ("Allergies", "Allergen: Penicillin"),
        (
            "Diagnoses",
            "Diagnosis: Pulmonary embolism; type: admitting; date: 2026-01-05\n"
            "Diagnosis: Pneumonia; description: Pneumonia, ruled out; type: working; date: 2026-01-05",
        ),
        ("Procedures", "Procedure: Appendectomy; date: 2025-12-01\nFamily says: never give morphine"),
        ("Problems", "Problem: Gout; status: resolved"),
        ("Results", "Weight: 70 kg"),
    ]
    assert draft.remarks == ("message 1: an entry that was taken back was left out",)


def segment(name: str, fields: dict[int, str]) -> str:
    return "|".join([name, *(fields.get(number, "") for number in range(1, max(fields) + 1))])


def test_timing_components_and_strength_stand_with_their_medicine() -> None:
    timing = {2: "1^tablet", 3: "BID&twice a day&L^^^^^^^PCM", 6: "5^d", 7: "20240301", 8: "20240305", 9: "S"}
    heparin = {1: "^Heparin", 2: "5000", 4: "[iU]", 18: "25000", 19: "U", 21: "50", 22: "mL"}
    infusion = {1: "1^Q6H^D5^20240301^^PRN", 2: "^Infusion", 3: "1", 5: "L", 23: "80", 24: "mL/h", 25: "5", 26: "%"}
    (draft,) = read(READER, message(
        "ORC|NW|1", segment("TQ1", timing), segment("RXO", heparin), "RXR|IV",
        "ORC|NW|2", segment("RXE", infusion), "RXC|A|^Potassium|20|mmol", "TQ1|2||^^^^8^h|0600~1800||7^d",
    ))  # fmt: skip
    assert texts(draft) == [
        (
            "Medicines ordered",
            "Medicine: Heparin; amount: 5000 [iU]; strength: 25000 U; rate: 50 mL\n"
            "Timing: amount: 1 tablet; repeated: twice a day, after breakfast; duration: 5 days; from: 2024-03-01; "
            "until: 2024-03-05; priority: stat\nRoute: IV\n"
            "Medicine: Infusion; amount: 1 L; timing: 1, Q6H, for 5 days, from 2024-03-01, as needed; "
            "strength: 5 %; rate: 80 mL/h\nComponent: Potassium; amount: 20 mmol; type: additive\n"
            "Timing: repeated: every 8 hours; at: 0600, 1800; duration: 7 days",
        ),
    ]


@pytest.mark.parametrize("status", ["D", "W", "X"])
@pytest.mark.parametrize("form", ["NM", "TX", "ED"])
def test_a_comment_goes_with_its_withdrawn_result(status: str, form: str) -> None:
    (draft,) = read(READER, message(
        "OBR|1|||1^Chemistry", "OBX|1|NM|2^Potassium||4.1", f"OBX|2|{form}|3^Sodium||99||||||{status}", "more of it",
        "NTE|1||Haemolysed, do not use", "NTE|2||Repeat", "OBX|3|NM|4^Urea||5",
    ))  # fmt: skip
    assert draft.sections[0].text == "Potassium: 4.1\nUrea: 5"
    assert draft.remarks[0] == "message 1: a result that was taken back was left out"
    assert draft.remarks[1:] == ("message 1: a comment on what was taken back was left out",) * 3


def test_a_comment_stays_with_what_it_is_about() -> None:
    (draft,) = read(READER, message(
        "OBX|1|NM|2^Potassium||4.1", "OBX|2|NM|3^Sodium||", "NTE|1||Sample was haemolysed", "AL1|1||^Latex",
        "PV1|1|I", "NTE|1||Never give morphine", "OBX|3|NM|4^Urea||5",
    ))  # fmt: skip
    assert texts(draft) == [
        ("", "Potassium: 4.1\nSodium: no result\nSample was haemolysed"),
        ("Allergies", "Allergen: Latex"), ("Comments", "Never give morphine"), ("Results", "Urea: 5"),
    ]  # fmt: skip
    assert draft.remarks == ("segments that are not read: 1 PV1",)


@pytest.mark.parametrize(
    ("order", "state"),
    [
        ("ORC|DC|1", "discontinued"), (segment("ORC", {1: "OD", 16: "^Rash"}), "discontinued, reason: Rash"),
        ("ORC|CA|1", "cancelled"), ("ORC|SC|1|||HD", "on hold"), ("ORC|XO|1|||CM", "completed"),
        ("ORC|RU|1", "replaced"),
    ],
)  # fmt: skip
def test_orders_no_longer_in_force_say_so(order: str, state: str) -> None:
    (draft,) = read(READER, message(
        "ORC|NW|0", "RXE||^Aspirin|75||mg", order, "RXO|^Warfarin|5||mg", "RXE||^Warfarin|5||mg",
        "ORC|NW|2", "RXE||^Apixaban|5||mg",
    ))  # fmt: skip
    assert draft.sections[0].text.split("\n") == [
        "Medicine: Aspirin; amount: 75 mg", f"Medicine: Warfarin; order: {state}; amount: 5 mg",
        f"Medicine: Warfarin; order: {state}; amount: 5 mg", "Medicine: Apixaban; amount: 5 mg",
    ]  # fmt: skip


def test_cancelled_tests_and_documents_say_so() -> None:
    (draft,) = read(READER, message("ORC|OC|1", "OBR|1|||1^CT head", "NTE|1||Pregnant.", "OBR|2|||2^MRI"))
    assert draft.sections[0].text == "Order: cancelled\nPregnant."
    (draft,) = read(READER, message("ORC|DC|1", "ORC|NW|2", "OBR|2|||2^MRI", "OBX|1|TX|1||Clear."))
    assert draft.remarks == ("message 1: an order that is no longer in force does not say what was ordered",)
    content = message("OBX|1|TX|1||One.") + message("OBX|1|TX|1||Two.", number=2).replace("ORU^R01", "MDM^T11")
    (kept,) = read(READER, content)
    assert (kept.text, kept.remarks) == ("One.", ("message 2: a document that was cancelled was left out",))


def test_segments_that_are_not_read_are_counted() -> None:
    drafts = read(READER, message("PV1|1", "OBX|1|TX|1||One.", "ZAL|secret") + message("PV1|1", "IN1|1", "stray"))
    assert drafts[0].remarks == (
        "messages without a report: 1 of 2",
        "segments that are not read: 2 PV1, 1 ZAL, 1 IN1, 1 lines that are no segments",
    )
    with pytest.raises(UnreadableError, match="only segments that are not read: 1 PV1"):
        read(READER, message("PV1|1"))


def test_a_file_enclosed_over_several_lines_is_whole() -> None:
    page = base64.b64encode(b"<p>" + b"Stop heparin. " * 20).decode()
    (draft,) = read(READER, message(f"OBX|1|ED|2^Letter||^TEXT^HTML^Base64^{page[:60]}", page[60:120], page[120:]))
    assert draft.text.count("Stop heparin.") == 20
