"""Reports in messages of HL7 v2: texts, results, comments, enclosed files, and files of messages."""

from __future__ import annotations

import base64

import pytest

from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.records.hl7 import Hl7Reader
from auscult.readers.registry import Registry
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
            "Medicine: Amoxicillin 500 mg; amount: 500; at most: 1000; unit: milligram; form: tablet; "
            "instructions: Take with food\nRoute: Oral\nAsked by the ward.",
        ),
        (
            "Medicines given",
            "Medicine: Influenza vaccine; status: complete; amount: 0.5; unit: mL; date: 2024-03-01\n"
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
