"""Wrapped text: lines that go on are joined, lists and tables stay, offsets do not change."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.documents import build_document, check_document
from auscult.documents.note_headings import note_sections
from auscult.documents.wrapping import unwrapped

RULE = "-" * 140


def sentences(text: str) -> list[str]:
    document = build_document(doc_id="n", title="", sections=note_sections(text), text=text)
    check_document(document)
    return [" ".join(document.slice(sentence).split()) for sentence in document.sentences]


NARROW = [
    (
        "Seen today after a fall on the\nstairs. He reports no\nloss of consciousness and denies\nneck pain. "
        "X-ray shows no\nfracture.",
        [
            "Seen today after a fall on the stairs.",
            "He reports no loss of consciousness and denies neck pain.",
            "X-ray shows no fracture.",
        ],
    ),
    (
        "Pt has never\ntaken statins. Takes warfarin\n5 mg daily and is not\nallergic to penicillin.",
        ["Pt has never taken statins.", "Takes warfarin 5 mg daily and is not allergic to penicillin."],
    ),
    (
        "Der Patient hat keine\nAllergien. Im Röntgen kein\nAnhalt für eine\nPneumonie, ohne\nErguss.",
        ["Der Patient hat keine Allergien.", "Im Röntgen kein Anhalt für eine Pneumonie, ohne Erguss."],
    ),
    ("Le patient n'a pas\nd'allergie connue et\nne prend aucun\nanticoagulant.", None),
    ("THE PATIENT HAS NO\nALLERGY TO PENICILLIN.", ["THE PATIENT HAS NO ALLERGY TO PENICILLIN."]),
    (
        "CT of the chest was neg.\nfor embolism, w/o\neffusion.",
        ["CT of the chest was neg. for embolism, w/o effusion."],
    ),
]


@pytest.mark.parametrize(("text", "expected"), NARROW)
def test_no_line_end_parts_a_negation(text: str, expected: list[str] | None) -> None:
    assert sentences(text) == (expected or [" ".join(text.split())])


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("apart", [RULE, "Signed electronically " + "by the team, " * 12])
def test_one_long_line_changes_no_other(apart: str, line_end: str) -> None:
    text, expected = NARROW[0]
    assert expected is not None
    noted = f"{RULE}\n{text}\n\n{apart}\n".replace("\n", line_end)
    assert [each for each in sentences(noted) if each in expected] == expected


@pytest.mark.parametrize(
    "text",
    [
        "aspirin 81 mg daily\nmetoprolol succinate 25 mg twice daily\nlisinopril 10 mg",
        "no fever\nno cough or wheeze\nno chest pain",
        "Chest pain   no\nFever   yes\nCough   no",
        "Smoker: no\nAlcohol: none\nAllergies: penicillin",
        "- takes warfarin for\n- atrial fibrillation",
        "sodium 140\npotassium 4.2\ncreatinine 1.1",
        "aspirin | 81 mg\nlasix | 40 mg. Stop.",
        "Hypertension\nDiabetes mellitus type 2\nChronic kidney disease",
        "dose: 5 mg and\nroute: oral",
    ],
)
def test_lines_of_a_list_stay_apart(text: str) -> None:
    assert unwrapped(text) == text


def test_a_dose_stays_with_its_medicine() -> None:
    text = (
        "The patient was given digoxin\n0.125 mg and was told to take\n2.5 mg of bisoprolol daily and\nto rest at home."
    )
    assert sentences(text) == [" ".join(text.split())]


@given(
    st.lists(st.sampled_from(["no", "She has", "pain.", "a", "- ", "\t", " ", "Plan:", "—", "\n", "\r\n", "x" * 130]))
)
def test_only_line_ends_change(parts: list[str]) -> None:
    text = " ".join(parts)
    other = unwrapped(text)
    assert len(other) == len(text)
    assert all(a == b or (a in "\r\n" and b == " ") for a, b in zip(text, other, strict=True))


@pytest.mark.parametrize("line", ["word is and a\n", "Word xx yy zz\n", "aspirin and\n", "x\n", "- a\n"])
def test_time_grows_with_the_text(line: str) -> None:
    begin = time.perf_counter()
    unwrapped(line * 50_000)
    assert time.perf_counter() - begin < 20
