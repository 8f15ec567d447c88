from __future__ import annotations

import base64
import io
import json
import socket
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from auscult.readers.contract import SourceFile, UnreadableError
from auscult_readers.records.fhir import FhirReader
from readings import read, read_sample, sources_of

READER = FhirReader()


def attached(data: bytes, media_type: str = "text/plain", **more: Any) -> dict[str, Any]:
    attachment = {"contentType": media_type, "data": base64.b64encode(data).decode(), **more}
    return {
        "resourceType": "DocumentReference",
        "id": "d",
        "status": "current",
        "content": [{"attachment": attachment}],
    }


def composition(*sections: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"resourceType": "Composition", "id": "c", "title": "Letter", "section": list(sections), **more}


def section(title: str, words: str, *inner: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "text": {"status": "generated", "div": f"<div>{words}</div>"}, "section": list(inner)}


def refused(content: Any, name: str = "x.json") -> UnreadableError:
    data = (
        content
        if isinstance(content, bytes)
        else (content if isinstance(content, str) else json.dumps(content)).encode()
    )
    with pytest.raises(UnreadableError) as raised:
        list(READER.read(SourceFile(name, data)))
    return raised.value


@pytest.mark.parametrize(
    ("given", "title", "below"), [("Letter", "Letter", "Your knee\n\nGout."), ("", "Your knee", "Gout.")]
)
def test_attached_text_is_titled_by_record_or_line(given: str, title: str, below: str) -> None:
    (draft,) = READER.read(SourceFile("x.json", json.dumps(attached(b"Your knee\n\nGout.", title=given)).encode()))
    assert (draft.title, draft.sections[0].text) == (title, below)


def test_each_text_of_a_bundle_is_a_document() -> None:
    drafts = read_sample(READER, "bundle.json")
    assert {draft.key: draft.title for draft in drafts} == {
        "Composition/c1": "Discharge summary",
        "DiagnosticReport/r1": "X-ray knee",
        "DiagnosticReport/r1/2": "X-ray knee",
        "DocumentReference/d1": "Progress note",
        "DocumentReference/d4": "",
    }
    letter, conclusion, report, note, of_a_binary = drafts
    assert [(section.heading, section.text) for section in letter.sections] == [
        ("Hospital course", "Acute gout of the left knee & fever; WBC 12 × 10^9/L."),
        ("Joints", "- Knee: “hot”"),
        ("Medication", "Drug: Colchicine | Dose: 500 mcg"),
    ]
    assert list(letter.heading_paths) == [(), ("Hospital course",), ()]
    assert letter.source == "Ward 7"
    assert letter.metadata == {
        "patient": "Patient/p1",
        "date": "2024-05-02",
        "type": "Discharge summary",
        "status": "final",
        "author": "Dr A. Lee",
        "names": "Doe\nDr A. Lee",
    }
    assert conclusion.sections[0].heading == "Conclusion"
    assert conclusion.text.endswith("No fracture.\n\nEffusion & swelling.")
    assert conclusion.entity_ids == ("ICD10:M10.0",)
    assert report.text == "Report\n\nSoft tissue swelling."
    assert [section.heading for section in note.sections] == ["Assessment", "Plan"]
    assert (note.media_type, note.content) == ("text/plain", b"Assessment:\nGout flare.\n\nPlan:\nColchicine.\n")
    assert of_a_binary.text == "Seen in clinic today."


def test_unread_resources_and_attachments_are_reported() -> None:
    first, *others = read_sample(READER, "bundle.json")
    remarks = "\n".join(first.remarks)
    assert "an attachment of DiagnosticReport/r1 was not read: expected " in remarks
    assert "DocumentReference/d2" in remarks
    assert "only an address, which is not fetched" in remarks
    assert "DocumentReference/d3 was not read: expected a resource that stands" in remarks
    assert "resources that are not read as texts: 1 Patient" in remarks
    assert not any(draft.remarks for draft in others)


def test_highlights_of_a_narrative_map_to_its_html() -> None:
    letter = read_sample(READER, "bundle.json")[0]
    assert letter.media_type == "text/html"
    assert letter.content is not None
    assert sources_of(letter, "left knee & fever", letter.content) == ["left knee &amp; fever"]


def test_only_invisible_words_of_a_narrative_are_omitted() -> None:
    words = "<nav>a</nav><form>b</form><ul class='menu'><li><a href='c'>c</a></li></ul><p style='display:none'>d</p>"
    (draft,) = read(READER, json.dumps(composition(section("Plan", words))))
    assert draft.sections[0].text.split() == ["a", "b", "-", "c"]


def test_markup_in_titles_is_kept_as_text() -> None:
    (draft,) = read(READER, json.dumps(composition(section("<b>A & B</b>", "x"), title="<script>t</script>")))
    assert draft.title == "<script>t</script>"
    assert draft.sections[0].heading == "<b>A & B</b>"


def test_ndjson_lines_are_resources_and_bad_ones_reported() -> None:
    lines = [attached(b"One."), {"a": 1}, composition(section("Plan", "Two."))]
    text = "\n".join([*map(json.dumps, lines), '{"a": NaN}', "[1]", '{"id": 1, "id": 2}', "", "no"])
    for name in ("x.ndjson", "x.json"):
        first, second = read(READER, text, name)
        assert (first.text, second.sections[0].text) == ("One.", "Two.")
        told = [remark.partition(" was")[0] for remark in first.remarks]
        assert told == ["line 2", "line 4", "line 5", "line 6", "line 8"]


def test_attachments_are_read_by_their_type() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.drawString(72, 700, "Gout in a page.")
    canvas.save()
    (draft,) = read(READER, json.dumps(attached(buffer.getvalue(), "application/pdf")))
    assert "Gout in a page." in draft.text
    assert (draft.media_type, draft.content) == ("application/pdf", buffer.getvalue())
    assert len(draft.words)
    for media_type, data, text in (
        ("text/html; charset=utf-8", b"<p>a<p>b", "a\n\nb"),
        ("TEXT/PLAIN", b"a", "a"),
        ("application/xml", b"<x>a</x>", "a"),
        ("text/markdown", b"*a*", "a"),
        ("text/csv", b"id,text\n1,a\n", "a"),
        ("text/x-unknown", b"a", "a"),
        ("application/octet-stream", b"<!doctype html><p>a", "a"),
        ("", b"a", "a"),
    ):
        (draft,) = read(READER, json.dumps(attached(data, media_type, title="T")))
        assert (draft.text, draft.title) == (text, "T")


def test_formats_share_one_document_addenda_get_their_own() -> None:
    reference = attached(b"{\\rtf1}", "text/rtf")
    for data, media_type in (
        (b"Plan: stop aspirin.", "text/plain"),
        (b"<h1>Plan</h1><p>Stop aspirin.", "text/html"),
        (b"Addendum: do not stop aspirin.", "text/plain"),
    ):
        reference["content"] += attached(data, media_type)["content"]
    first, second = read(READER, json.dumps(reference))
    assert (first.text, second.text) == ("Plan: stop aspirin.", "Addendum: do not stop aspirin.")
    assert (first.key, second.key) == ("DocumentReference/d", "DocumentReference/d/2")
    assert "an attachment of DocumentReference/d was left out: another one says the same" in first.remarks


def resource(kind: str, number: str, **more: Any) -> dict[str, Any]:
    return {"resourceType": kind, "id": number, "status": "final", "subject": {"reference": "Patient/1"}, **more}


def bundled(*resources: dict[str, Any]) -> str:
    return json.dumps({"resourceType": "Bundle", "entry": [{"resource": each} for each in resources]})


def narrated(words: str) -> dict[str, Any]:
    return {"status": "generated", "div": f"<div>{words}</div>"}


def coded(display: str) -> dict[str, Any]:
    return {"coding": [{"system": "http://x", "code": "1", "display": display}]}


def test_a_section_without_text_shows_its_entries() -> None:
    entries = [{"reference": "Condition/gout"}, {"reference": "https://server.test/fhir/Condition/ckd/_history/2"}]
    empty = {"title": "Implants", "emptyReason": coded("None known")}
    letter = composition(section("Plan", "Rest."), {"title": "Problems", "entry": entries}, empty)
    gout = resource("Condition", "gout", text=narrated("Gout of the toe."), note=[{"text": "Since <2019>."}])
    kidneys = resource("Condition", "ckd", code=coded("Kidney disease"), verificationStatus=coded("Refuted"))
    drafts = read(READER, bundled(letter, gout, kidneys))
    assert [(each.heading, each.text) for each in drafts[0].sections] == [
        ("Plan", "Rest."),
        (
            "Problems",
            "Gout of the toe.\n\nNote: Since <2019>.\n\n"
            "Refuted: Kidney disease; status: final; verification status: Refuted",
        ),
        ("Implants", "None known"),
    ]
    assert len(drafts) == 1, "what a section says is no document of its own"


def test_a_section_with_text_gains_only_new_entries() -> None:
    told = {**section("Problems", "<p>Gout</p><p>Asthma</p>"), "entry": [{"reference": f"Condition/{n}"} for n in "ab"]}
    gout = resource("Condition", "a", code=coded("Gout"), note=[{"text": "In the left toe."}])
    (draft,) = read(READER, bundled(composition(told), gout, resource("Condition", "b", code=coded("Eczema"))))
    assert draft.sections[0].text == "Gout\n\nAsthma\n\nNote: In the left toe.\n\nEczema; status: final"


@pytest.mark.parametrize("kind", ["AllergyIntolerance", "Condition", "Procedure", "CarePlan", "Immunization", "Goal"])
def test_narratives_and_notes_of_any_kind_are_read(kind: str) -> None:
    found = resource(
        kind, "x", code={"text": "Topic"}, text=narrated("Said here."), note=[{"text": "And noted there."}]
    )
    (draft,) = read(READER, json.dumps(found))
    assert (draft.key, draft.title, draft.text) == (
        f"{kind}/x", "Topic", "Topic\n\nSaid here.\n\nNote: And noted there.",
    )  # fmt: skip


def test_results_stand_in_their_report_with_their_values() -> None:
    panel = resource("Observation", "p", code=coded("Panel"), hasMember=[{"reference": "#na"}])
    panel["contained"] = [
        {
            "resourceType": "Observation",
            "id": "na",
            "code": coded("Sodium"),
            "valueQuantity": {"value": 128, "unit": "mmol/L"},
        }
    ]
    pressure = resource(
        "Observation", "bp", code=coded("Blood pressure"),
        component=[{"code": coded("Systolic"), "valueQuantity": {"comparator": ">", "value": 180.5, "unit": "mm[Hg]"}}],
        referenceRange=[{"high": {"value": 140, "unit": "mm[Hg]"}}],
    )  # fmt: skip
    results = [{"reference": "Observation/p"}, {"reference": "Observation/bp"}, {"reference": "Observation/none"}]
    (draft,) = read(READER, bundled(pressure, panel, resource("DiagnosticReport", "r", result=results)))
    assert draft.key == "DiagnosticReport/r"
    (found,) = draft.sections
    assert (found.heading, found.text.split("\n\n")) == (
        "Results",
        [
            "Panel; status: final",
            "Sodium: 128 mmol/L",
            "Blood pressure; status: final; component: Systolic: > 180.5 mm[Hg]; reference range: at most 140 mm[Hg]",
        ],
    )


def test_fields_alone_are_one_record_a_patient() -> None:
    twice = {"repeat": {"frequency": 2, "period": 1, "periodUnit": "d"}}
    rows = [
        resource("Condition", "a", code=coded("Asthma"), onsetDateTime="2011-12-12T19:41:48-05:00"),
        resource("MedicationRequest", "m", status="stopped", medicationReference={"reference": "#1"},
                 contained=[{"resourceType": "Medication", "id": "1", "code": coded("Amoxicillin 250 mg")}],
                 dosageInstruction=[{"text": "With food", "timing": twice}]),
        resource("Condition", "b", code={"coding": [{"system": "x", "code": "77"}]}),
        resource("Condition", "c", code=coded("Wrong"), verificationStatus={"coding": [{"code": "entered-in-error"}]}),
        {**resource("Condition", "d", code=coded("Gout")), "subject": {"reference": "Patient/2"}},
        resource("Communication", "k", payload=[{"contentString": "Called about a rash."}]),
    ]  # fmt: skip
    person = {"resourceType": "Patient", "id": "1", "name": [{"text": "Mo Lee"}]}
    record, other = read(READER, "\n".join(map(json.dumps, [person, *rows])), "x.ndjson")
    assert (record.key, record.title, other.key, other.text) == (
        "Patient/1/record", "Clinical record", "Condition/d", "Gout\n\nCondition\n\nGout; status: final",
    )  # fmt: skip
    assert [(each.heading, each.text) for each in record.sections] == [
        ("Condition", "Asthma; status: final; onset: 2011-12-12"),
        (
            "Medication request",
            "Stopped: Amoxicillin 250 mg; status: stopped; dosage instruction: With food; timing: 2 times in 1 day",
        ),
        ("Communication", "status: final; payload: Called about a rash."),
    ]
    assert record.metadata == {"patient": "Patient/1", "names": "Mo Lee"}
    assert any("Condition/c was not read" in remark for remark in record.remarks)
    assert record.remarks[-1] == "resources that are not read as texts: 1 Patient, 1 Condition"


def test_long_records_are_split_by_year() -> None:
    rows = [
        resource(
            "Observation",
            f"o{n}",
            code=coded(f"Test {n}"),
            valueString="low",
            effectiveDateTime=f"20{10 + n % 2}-05-01",
        )
        for n in range(30)
    ]
    given = resource("MedicationRequest", "m", medicationReference={"reference": "Medication/x"})
    medicine = {"resourceType": "Medication", "id": "x", "code": coded("Aspirin")}
    (record,) = read(READER, bundled(medicine, *rows, given))
    assert [each.heading for each in record.sections] == ["2010", "2011", "Medication request"]
    assert list(record.heading_paths) == [("Observation",), ("Observation",), ()]
    assert record.sections[0].text.startswith("Test 0: low; status: final; effective: 2010-05-01\n\nTest 2: low")
    assert record.sections[2].text == "Aspirin; status: final"


def test_short_narratives_are_record_lines_completed_with_fields() -> None:
    smoker = resource("Observation", "a", code=coded("Smoking"), text=narrated("Smoking: <b>never</b>"))
    gout = resource(
        "Condition", "b", code=coded("Gout"), text=narrated("Since 2010."), verificationStatus=coded("Refuted")
    )
    plan = resource("CarePlan", "c", title="Plan", text=narrated("word " * 50))
    long, record = read(READER, bundled(smoker, gout, plan))
    assert (long.key, record.key) == ("CarePlan/c", "Patient/1/record")
    assert [each.text for each in record.sections] == [
        "Smoking: never; status: final",
        "Refuted: Gout: Since 2010.; status: final; verification status: Refuted",
    ]


def test_fields_beside_an_attachment_are_read() -> None:
    image = {"contentType": "image/png", "data": "eA=="}
    media = resource("Media", "m", content=image, note=[{"text": "Rash on the arm."}])
    (draft,) = read(READER, bundled(media))
    assert draft.text.endswith("note: Rash on the arm.")


def test_a_form_is_its_questions_and_answers() -> None:
    inner = [{"linkId": "1.1", "text": "Since when", "answer": [{"valueDate": "2024-03"}]}]
    items = [
        {"linkId": "1", "text": "Headache?", "answer": [{"valueBoolean": True, "item": inner}]},
        {
            "linkId": "2",
            "text": "Habits",
            "item": [{"text": "Smoking", "answer": [{"valueCoding": {"display": "Never"}}]}],
        },
    ]
    (draft,) = read(READER, json.dumps(resource("QuestionnaireResponse", "q", item=items)))
    assert draft.sections[0].text.split("\n\n") == ["Headache? yes", "Since when: 2024-03", "Habits", "Smoking: Never"]


def test_attachments_of_any_kind_are_read() -> None:
    data = {"contentType": "text/plain", "data": base64.b64encode(b"Rash since Monday.").decode()}
    for more in (
        {"payload": [{"contentAttachment": data}]},
        {"content": data},
        {"item": [{"answer": [{"valueAttachment": data}]}]},
    ):
        (draft,) = read(READER, json.dumps(resource("Communication", "k", **more)))
        assert draft.text == "Rash since Monday."


def test_administrative_resources_are_counted_and_not_read() -> None:
    kinds = ("Patient", "Organization", "Claim", "ValueSet")
    others = [resource(kind, "x", code=coded("Word"), text=narrated("Born in 1970.")) for kind in kinds]
    (draft,) = read(READER, bundled(attached(b"Rest."), *others))
    assert draft.remarks == (
        "resources that are not read as texts: 1 Patient, 1 Organization, 1 Claim, 1 ValueSet",
    )  # fmt: skip


@pytest.mark.parametrize("shape", ["sorted", "list"])
def test_fhir_is_recognised_with_late_type_or_list(shape: str) -> None:
    condition = {"id": "c", "extension": [{"url": "x" * 5000}], "code": coded("Gout"), "resourceType": "Condition"}
    whole: Any = {"entry": [{"resource": condition}], "type": "collection", "resourceType": "Bundle"}
    content = json.dumps([condition] if shape == "list" else whole)
    assert READER.recognises(SourceFile("x.json", content.encode()))
    (draft,) = read(READER, content, "x.json")
    assert draft.key == "Condition/c"
    rows = json.dumps([{"id": "1", "text": "y" * 5000, "of": condition}]).encode()
    assert not READER.recognises(SourceFile("x.json", rows)), "a row that has a resource in it is a row"


def test_documents_keep_distinct_keys() -> None:
    bundle = {
        "resourceType": "Bundle",
        "entry": [
            {"resource": attached(b"One.")},
            {"resource": attached(b"Two.")},
            {"fullUrl": "urn:uuid:7", "resource": {**attached(b"Three."), "id": "../x"}},
            {"resource": {**attached(b"Four."), "id": 4}},
            {"resource": {"resourceType": "Bundle", "entry": [{"resource": {**attached(b"Five."), "id": "e"}}]}},
        ],
    }
    keys = [draft.key.removeprefix("DocumentReference/") for draft in read(READER, json.dumps(bundle))]
    assert keys == ["d", "d~2", "7", "4", "e"]


def test_attachment_urls_are_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("something was asked")

    monkeypatch.setattr(socket, "socket", refuse)
    reference = attached(b"")
    reference["content"][0]["attachment"] = {"contentType": "text/plain", "url": "http://127.0.0.1:9/x"}
    assert refused(reference).kind == "attachment not here"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("", "broken JSON"),
        ("{", "broken JSON"),
        ('{"resourceType": "A", "a": Infinity}', "broken JSON"),
        ('{"resourceType": "A", "a": ' + "9" * 5000 + "}", "broken JSON"),
        ('{"resourceType": "A", "resourceType": "B"}', "key twice"),
        ('{"resourceType": "A", "a": ' + "[" * 100_000 + "]" * 100_000 + "}", "deep nesting"),
        ('{"resourceType": "A", "a": ' + "[" * 300 + "]" * 300 + "}", "deep nesting"),
        ({"resourceType": "Patient"}, "no text"),
        ([], "no text"),
        ({"resourceType": "Bundle", "entry": {"resource": 7}}, "no text"),
        ({"resourceType": 7}, "no resource"),
        (composition(), "empty file"),
        (composition(section("Plan", "<br/>")), "empty file"),
        ({**composition(section("Plan", "x")), "status": "entered-in-error"}, "entered in error"),
        (attached(b""), "attachment not here"),
        (attached(b" "), "empty file"),
        (attached(b"x", "image/png"), "attachment of another type"),
        (attached(b"x", "application/zip"), "attachment of another type"),
        (attached(b"\x89PNG\r\n\x1a\n", "image/png"), "image"),
        (
            {**attached(b"x"), "content": [{"attachment": {"contentType": "text/plain", "data": "%"}}]},
            "broken attachment",
        ),
        ({"resourceType": "DocumentReference", "content": "x"}, "empty file"),
    ],
)
def test_unreadable_content_is_refused_with_its_kind(content: Any, kind: str) -> None:
    assert refused(content).kind == kind


def test_sections_are_not_nested_without_end() -> None:
    nested = section("Deepest", "x")
    for _ in range(40):
        nested = section("Deep", "y", nested)
    assert refused(composition(nested)).kind == "deep nesting"


def test_errors_reveal_nothing_about_a_patient() -> None:
    for content in ('{"resourceType": "Canary", "Canary": 1, "Canary": 2}', '{"resourceType": "A", "x": "Canary'):
        assert "Canary" not in str(refused(content))


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (b'{"resourceType": "Bundle"', True),
        (b'\xef\xbb\xbf\n{\n "id": "x",\n "resourceType" : "Composition"', True),
        (b'{"id": "x"}', False),
        (b'"resourceType": "Bundle"', False),
    ],
)
def test_fhir_is_recognised_by_its_resource_type(head: bytes, told: bool) -> None:
    assert READER.recognises(SourceFile("x.txt", head)) is told


def test_a_section_with_only_a_title_is_kept() -> None:
    inner = {"title": "No known drug allergies"}
    (draft,) = read(READER, json.dumps(composition(section("Plan", "Rest.", inner), {"title": "INR above 8"})))
    assert [(each.heading, each.text) for each in draft.sections] == [
        ("Plan", "Rest."),
        ("No known drug allergies", "No known drug allergies"),
        ("INR above 8", "INR above 8"),
    ]
    assert list(draft.heading_paths) == [(), ("Plan",), ()]


def test_untexted_sections_do_not_hide_the_documents_narrative() -> None:
    told = {**composition({"title": "Plan"}), "text": {"div": "<div>Rest.</div>"}}
    (draft,) = read(READER, json.dumps(told))
    assert "Rest." in draft.text


def test_each_patient_and_author_name_is_kept_once() -> None:
    people = [
        {
            "resourceType": "Patient",
            "id": "p",
            "name": [{"text": "Mimi"}, {"use": "official", "given": ["Maria", "E."]}],
        },
        {"resourceType": "Practitioner", "id": "d", "name": [{"prefix": ["Dr"], "family": "Lee"}]},
    ]
    letter = composition(
        section("Plan", "Rest."),
        subject={"reference": "Patient/p", "display": "M."},
        author=[{"reference": "Practitioner/d"}, {"display": "Dr Lee"}, {"reference": "Practitioner/unknown"}],
    )
    note = {**attached(b"Rest."), "subject": {"display": "Bo  Berg"}}
    for resources in ([*people, letter, note], [letter, note, *people]):
        bundle = {"resourceType": "Bundle", "entry": [{"resource": each} for each in resources]}
        drafts = read(READER, json.dumps(bundle))
        assert [draft.metadata["names"] for draft in drafts] == ["Maria E.\nDr Lee", "Bo Berg"]


def numbered(value: str, *codes: str, use: str = "usual") -> dict[str, object]:
    return {"value": value, "use": use, "type": {"coding": [{"code": code} for code in codes]}}


@pytest.mark.parametrize(
    ("identifiers", "patient"),
    [
        ([numbered("999-12-3456", "SS"), numbered("0077", "MR")], "0077"),
        ([numbered("1", "MR", use="old"), numbered("2", "MR")], "2"),
        ([numbered("999-12-3456", "SS"), {"value": "x"}], "Patient/p"),
        ([], "Patient/p"),
    ],
)
def test_patients_are_identified_by_their_medical_record_number(
    identifiers: list[dict[str, object]], patient: str
) -> None:
    person = {"resourceType": "Patient", "id": "p", "name": [{"text": "Mo Lee"}], "identifier": identifiers}
    letter = composition(section("Plan", "Rest."), subject={"reference": "Patient/p"})
    (draft,) = read(READER, "\n".join(map(json.dumps, [letter, person])), "x.ndjson")
    assert (draft.metadata["patient"], draft.metadata["names"]) == (patient, "Mo Lee")


def test_texts_without_people_have_no_names() -> None:
    (draft,) = read(READER, json.dumps(attached(b"Rest.")))
    assert "names" not in draft.metadata


MEDICINE = {"medicationCodeableConcept": {"text": "Prednisolone"}, "status": "active"}


def dosed(**dosage: Any) -> str:
    """The line of a medicine with a dosage, without its name and state."""
    (draft,) = read(
        READER, json.dumps({"resourceType": "MedicationRequest", **MEDICINE, "dosageInstruction": [dosage]})
    )
    return draft.sections[0].text.removeprefix("Prednisolone; status: active; dosage instruction: ")


@pytest.mark.parametrize(
    ("repeat", "words"),
    [
        ({"frequency": 1, "period": 1, "periodUnit": "d", "boundsDuration": {"value": 5, "unit": "days"},
          "when": ["PCM"], "dayOfWeek": ["mon"]}, "1 time in 1 day, after breakfast, on Monday, for 5 days"),
        ({"frequency": 2, "frequencyMax": 4, "period": 8, "periodMax": 12, "periodUnit": "h", "count": 6},
         "2 to 4 times in 8 to 12 hours, 6 times in all"),
        ({"when": ["ACV", "HS"], "offset": 30}, "30 minutes before dinner, 30 minutes before sleep"),
        ({"timeOfDay": ["08:00:00", "20:30:00"], "dayOfWeek": ["tue", "fri"]}, "at 08:00, 20:30, on Tuesday, Friday"),
        ({"duration": 15, "durationMax": 30, "durationUnit": "min", "period": 1, "periodUnit": "wk"},
         "1 time in 1 week, each for 15 to 30 minutes"),
        ({"boundsRange": {"low": {"value": 3, "code": "d"}, "high": {"value": 5, "code": "d"}}},
         "for 3 days to 5 days"),
        ({"boundsRange": {"high": {"value": 2, "code": "wk"}}}, "for at most 2 weeks"),
        ({"boundsPeriod": {"end": "2026-03-01"}, "countMax": 3, "count": 1}, "until 2026-03-01, 1 to 3 times in all"),
        ({"boundsPeriod": {"start": "2026-03-01"}, "frequency": 3, "period": 1.5, "periodUnits": "d"},
         "3 times in 1.5 days, from 2026-03-01"),
        ({"period": 2, "periodUnit": "fortnight", "own": "x"}, "1 time in 2 fortnight, own: x"),
    ],
)  # fmt: skip
def test_all_of_a_timing_is_read(repeat: dict[str, Any], words: str) -> None:
    assert dosed(timing={"repeat": repeat}) == f"timing: {words}"


def test_codes_and_moments_of_a_timing_are_read() -> None:
    code = {"coding": [{"code": "BID"}]}
    assert dosed(timing={"code": code}) == "timing: BID"
    assert dosed(timing={"code": {"text": "Twice"}, "repeat": {"count": 3}}) == "timing: Twice, 3 times in all"
    assert dosed(timing={"event": ["2026-03-01T08:15:00Z", "2026-03-02"]}) == "timing: 2026-03-01 08:15, 2026-03-02"


@pytest.mark.parametrize(
    ("dosage", "words"),
    [
        ({"doseAndRate": [{"doseRange": {"low": {"value": 1, "unit": "mg"}, "high": {"value": 2, "unit": "mg"}}}]},
         "dose and rate: dose: 1 mg to 2 mg"),
        ({"doseAndRate": [{"rateRatio": {"numerator": {"value": 80, "unit": "ml"}, "denominator": {"value": 1,
          "unit": "h"}}}]}, "dose and rate: rate: 80 ml / 1 h"),
        ({"doseAndRate": [{"rateQuantity": {"value": 2.50, "unit": "ml/h"}}]}, "dose and rate: rate: 2.5 ml/h"),
        ({"asNeededBoolean": True, "maxDosePerPeriod": {"numerator": {"value": 4, "unit": "g"}, "denominator":
          {"value": 24, "unit": "h"}}}, "as needed: yes; max dose per period: 4 g / 24 h"),
        ({"asNeededCodeableConcept": {"text": "pain"}, "patientInstruction": "Chew."},
         "as needed: pain; patient instruction: Chew."),
    ],
)  # fmt: skip
def test_doses_rates_and_limits_are_read(dosage: dict[str, Any], words: str) -> None:
    assert dosed(**dosage) == words


@pytest.mark.parametrize("number", ["0.000010", "1.50", "1E-7", "12345678901234567890", "0.10", "-2.0"])
def test_numbers_are_read_as_written(number: str) -> None:
    quantity = f'{{"value": {number}, "unit": "mmol/L"}}'
    given = f'{{"resourceType": "Observation", "code": {{"text": "Aldosterone"}}, "valueQuantity": {quantity}}}'
    (draft,) = read(READER, given)
    assert draft.sections[0].text == f"Aldosterone: {number} mmol/L"


STRENGTH = {"numerator": {"value": 250, "unit": "microgram"}, "denominator": {"value": 1, "unit": "tablet"}}


@pytest.mark.parametrize("reference", [{"reference": "#m"}, {"reference": "#m", "display": "Lanoxin"}])
@pytest.mark.parametrize("newer", [False, True])
def test_strength_of_a_named_medicine_is_read(reference: dict[str, Any], newer: bool) -> None:
    item = {"item": {"concept": {"text": "Digoxin"}}, "strengthRatio": STRENGTH}
    ingredient = item if newer else {"itemCodeableConcept": {"text": "Digoxin"}, "strength": STRENGTH}
    medicine = {"resourceType": "Medication", "id": "m", "code": coded("Digoxin"), "status": "active",
                "form": coded("tablet"), "ingredient": [ingredient]}  # fmt: skip
    named = {"medication": {"reference": reference}} if newer else {"medicationReference": reference}
    (draft,) = read(READER, json.dumps(resource("MedicationRequest", "r", contained=[medicine], **named)))
    (line,) = (each.text for each in draft.sections)
    assert line.startswith(f"{reference['display']}: Digoxin" if "display" in reference else "Digoxin")
    assert "form: tablet; ingredient: item: Digoxin; strength" in line
    assert "250 microgram / 1 tablet" in line
    elsewhere = {**resource("MedicationRequest", "r", medicationReference={"reference": "Medication/m"})}
    (record,) = read(READER, bundled(medicine, elsewhere))
    assert "250 microgram / 1 tablet" in record.sections[0].text


def test_contained_resources_that_nothing_names_are_counted() -> None:
    inner = [{"resourceType": "Condition", "id": "c", "code": coded("Gout")}, {"resourceType": "Organization"}]
    (draft,) = read(READER, json.dumps(resource("Observation", "o", code=coded("Urate"), contained=inner)))
    assert draft.remarks == ("resources that are not read as texts: 1 Condition",)
    reason = {"reasonReference": [{"reference": "#c"}]}
    inner[0]["severity"] = coded("severe")
    (draft,) = read(READER, json.dumps(resource("Observation", "o", code=coded("Urate"), contained=inner, **reason)))
    assert (draft.sections[0].text, draft.remarks) == (
        "Urate; status: final; reason: Gout (severity: severe)", (),
    )  # fmt: skip


MODIFIER = "http://x.example/StructureDefinition/condition-"


@pytest.mark.parametrize(
    ("fields", "lead"),
    [
        ({"doNotPerform": True}, "Do not perform"),
        ({"notGiven": True}, "Not given"),
        ({"wasNotTaken": True}, "Not taken"),
        ({"taken": "n"}, "Not taken"),
        ({"status": "not-done"}, "Not done"),
        ({"status": "stopped"}, "Stopped"),
        ({"status": "on-hold", "doNotPerform": True}, "Do not perform, on hold"),
        ({"verificationStatus": {"coding": [{"code": "refuted"}]}}, "Refuted"),
        ({"clinicalStatus": {"coding": [{"display": "Resolved"}]}}, "Resolved"),
        ({"negated": True}, "Negated"),
        ({"modifierExtension": [{"url": f"{MODIFIER}negated", "valueBoolean": True}]}, "Condition negated"),
        ({"modifierExtension": [{"url": f"{MODIFIER}certainty", "valueCode": "low"}]}, "Condition certainty: low"),
        ({"doNotPerform": False, "status": "active", "verificationStatus": coded("Confirmed")}, ""),
    ],
)  # fmt: skip
def test_what_turns_a_resource_around_comes_first(fields: dict[str, Any], lead: str) -> None:
    begin = f"{lead}: Warfarin" if lead else "Warfarin"
    (alone,) = read(READER, json.dumps(resource("Statement", "s", code=coded("Warfarin"), **fields)))
    assert alone.sections[0].text.startswith(f"{begin}; ")
    told = narrated("Warfarin 5 mg, once a day. It was begun in 2019.")
    (short,) = read(READER, json.dumps(resource("Statement", "s", code=coded("Warfarin"), text=told, **fields)))
    assert short.sections[0].text.startswith(lead or "Warfarin 5 mg")
    listed = section("Medicines", "Warfarin 5 mg.") | {"entry": [{"reference": "#s"}]}
    inner = resource("Statement", "s", code=coded("Warfarin"), **fields)
    (letter,) = read(READER, json.dumps(composition(listed, contained=[inner])))
    assert (begin in letter.sections[0].text) or not lead


def test_a_modifier_inside_a_field_is_told() -> None:
    component = {"code": coded("Rash"), "modifierExtension": [{"url": "urn:x:absent", "valueBoolean": True}]}
    (draft,) = read(READER, json.dumps(resource("Observation", "o", code=coded("Skin"), component=[component])))
    assert draft.sections[0].text.endswith("component: absent; Rash")


def test_periods_and_ranges_with_one_limit_say_which() -> None:
    ranged = [{"high": {"value": 5, "unit": "mg"}, "age": {"low": {"value": 1, "unit": "a"}}}]
    (draft,) = read(READER, json.dumps(resource(
        "Observation", "o", code=coded("Urate"), effectivePeriod={"end": "2026-03-01"}, referenceRange=ranged,
    )))  # fmt: skip
    assert draft.sections[0].text.endswith(
        "effective: until 2026-03-01; reference range: at most 5 mg; age: at least 1 a"
    )
