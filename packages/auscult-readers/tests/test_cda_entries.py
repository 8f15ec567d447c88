"""Entries of clinical documents (CDA) in words, and their enclosed files."""

from __future__ import annotations

import base64

import pytest

from auscult_readers.records.xml import XmlReader
from readings import read

READER = XmlReader()
CDA = (
    "<ClinicalDocument xmlns='urn:hl7-org:v3'><title>Letter</title><component><structuredBody><component><section>"
    "<title>{}</title>{}</section></component></structuredBody></component></ClinicalDocument>"
)


def entry(statement: str) -> str:
    return f"<entry>{statement}</entry>"


def observation(code: str, value: str, more: str = "", attributes: str = "") -> str:
    named = f"<code displayName='{code}'/>"
    return f"<observation moodCode='EVN' {attributes}>{named}{value}{more}</observation>"


VALUE = "<value value='128'/>"
COUGH = "<value xsi:type='CD' displayName='Cough'/>"
WARFARIN = (
    "<consumable><manufacturedProduct><manufacturedMaterial><code displayName='Warfarin'/></manufacturedMaterial>"
    "</manufacturedProduct></consumable>"
)


def medicine(details: str, attributes: str = "moodCode='INT'") -> str:
    return f"<substanceAdministration {attributes}>{details}{WARFARIN}</substanceAdministration>"


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("<observation negationInd='true'><code code='ASSERTION'/><value displayName='Allergy to penicillin'/>"
         "</observation>", "No allergy to penicillin"),
        (observation("Problem", "<value displayName='MRSA'/>", attributes="negationInd='true'"), "Problem: no MRSA"),
        (observation("Blood pressure", "", attributes="negationInd='true'"), "No blood pressure"),
        (observation("Potassium", "<value value='6.90' unit='mmol/L'/><interpretationCode displayName='High'/>",
                     "<referenceRange><observationRange><value><low value='3.5'/><high value='5.1'/></value>"
                     "</observationRange></referenceRange>"),
         "Potassium: 6.90 mmol/L; interpretation: High; reference range: 3.5 to 5.1"),
        (observation("Urate", "<value xsi:type='IVL_PQ'><high value='360' unit='umol/L'/></value>"),
         "Urate: at most 360 umol/L"),
        (observation("Titre", "<value><numerator value='1'/><denominator value='128'/></value>"), "Titre: 1 / 128"),
        (observation("Seen", "<value xsi:type='TS' value='202601031430'/>"), "Seen: 2026-01-03 14:30"),
        (observation("Smoking", "<value nullFlavor='UNK'/>"), "Smoking: unknown"),
        (observation("Allergy", "<value displayName='Drug allergy'/><participant typeCode='CSM'><participantRole>"
                     "<playingEntity><code displayName='Latex'/></playingEntity></participantRole></participant>",
                     f"<entryRelationship typeCode='MFST'>{observation('Sign', COUGH)}</entryRelationship>"),
         "Allergy: Drug allergy: Latex; reaction: Sign: Cough"),
        (medicine("<doseQuantity value='5' unit='mg'/><routeCode displayName='Oral'/>"
                  "<effectiveTime><low value='20260101'/><high value='20260105'/></effectiveTime>"
                  "<effectiveTime xsi:type='PIVL_TS'><period value='12' unit='h'/></effectiveTime>"
                  "<effectiveTime xsi:type='EIVL_TS'><event code='PCM'/></effectiveTime>"
                  "<maxDoseQuantity><numerator value='10' unit='mg'/><denominator value='1' unit='d'/>"
                  "</maxDoseQuantity>"
                  "<precondition><criterion><value displayName='Pain'/></criterion></precondition>"),
         "Warfarin; dose: 5 mg; at most: 10 mg / 1 d; 2026-01-01 to 2026-01-05; every 12 hours; after breakfast; "
         "route: Oral; if: Pain"),
        (medicine("", "moodCode='EVN' negationInd='true'"), "Not given: Warfarin"),
        (medicine("", "moodCode='INT' negationInd='1'"), "Do not give: Warfarin"),
        (medicine("<statusCode code='aborted'/>"), "Aborted: Warfarin"),
        (medicine("<statusCode code='active'/>"), "Warfarin; status: active"),
        ("<procedure moodCode='INT'><code displayName='Biopsy'/></procedure>", "Planned: Biopsy"),
        ("<procedure negationInd='true'><code displayName='Biopsy'/></procedure>", "Not done: Biopsy"),
        ("<act><code code='CONC'/><entryRelationship typeCode='SUBJ'>"
         f"{observation('Problem', COUGH)}</entryRelationship></act>", "Problem: Cough"),
        ("<organizer><code displayName='Panel'/><component>"
         f"{observation('Sodium', VALUE)}</component><component>"
         f"{observation('Urea', VALUE)}</component></organizer>", "Panel\n\nSodium: 128\n\nUrea: 128"),
    ],
)  # fmt: skip
def test_entries_without_narrative_are_read_in_words(statement: str, text: str) -> None:
    (draft,) = read(READER, CDA.format("Part", f"<text/>{entry(statement)}").replace("xsi:type", "type"))
    assert [(each.heading, each.text) for each in draft.sections] == [("Part", text)]
    assert not draft.remarks


def test_entries_repeat_a_narrative_and_are_not_read() -> None:
    (draft,) = read(READER, CDA.format("Part", f"<text>Signed words.</text>{entry(medicine(''))}"))
    assert draft.sections[0].text == "Signed words."


def test_empty_sections_and_wordless_entries_are_told() -> None:
    empty = CDA.replace("<section>", "<section nullFlavor='NASK'>").format("Part", entry("<observation/>"))
    (draft,) = read(READER, empty)
    assert (draft.sections[0].text, draft.remarks) == ("Not asked", ("entries that have no words: 1",))


def media(kind: str, data: bytes, name: str) -> str:
    value = f"<value mediaType='{kind}' representation='B64'>{base64.b64encode(data).decode()}</value>"
    return entry(f"<observationMedia ID='{name}'>{value}</observationMedia>")


def test_captions_and_enclosed_files_are_read_or_counted() -> None:
    shown = "".join(f"<renderMultiMedia referencedObject='{name}'><caption>Rash {name}</caption></renderMultiMedia>"
                    for name in ("A", "B"))  # fmt: skip
    rows = "<tr><th>Drug</th><th>Dose</th></tr><tr><td>Apixaban</td><td>5</td></tr>"
    table = f"<table><caption>Of May</caption>{rows}</table>"
    enclosed = media("image/png", b"x", "A") + media("text/plain", b"Stop heparin.", "C")
    first, second = read(READER, CDA.format("Skin", f"<text>{shown}{table}</text>{enclosed}"))
    assert first.sections[0].text == "Rash A\n\nRash B\n\nOf May\nDrug: Apixaban | Dose: 5"
    assert first.remarks == (
        "enclosed files that are not read: 1 image/png", "pictures that are shown, but not in the file: 1",
    )  # fmt: skip
    assert (first.key, second.key, second.text) == ("1", "2", "Stop heparin.")
