"""Aspects of notes' headings: the built-in table, tables of one's own, bad tables."""

from __future__ import annotations

import csv
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.errors import DataError
from auscult_lab.corpora.note_labels import NoteAspects, heading_key, note_aspects


@pytest.mark.parametrize(
    ("headings", "aspects"),
    [
        (["CHIEF COMPLAINT", "CC", "Reason for visit:"], ("chief complaint",)),
        (["HPI", "Hx of Present Illness", "HISTORY OF THE PRESENTING ILLNESS"], ("history of present illness",)),
        (["PMH", "PMHx", "Past Medical Hx", "PASTMEDICALHX"], ("past medical history",)),
        (["Allergies", "ALLERGY", "Drug Allergies"], ("allergies",)),
        (["Medications on Admission", "HOME MEDS"], ("medications on admission",)),
        (["Discharge Medications", "Prescriptions"], ("discharge medications",)),
        (["PREOPERATIVE DIAGNOSES", "Pre-op Dx", "PREOPERATIVE DIAGNOSIS (ES)"], ("preoperative diagnosis",)),
        (["Brief Hospital Course"], ("hospital course",)),
        (["Pertinent Labs", "LABORATORY DATA"], ("laboratory results",)),
        (["X-RAYS", "Imaging"], ("imaging",)),
        (["ROS", "Review of Systems"], ("review of systems",)),
        (["A/P", "ASSESSMENT/PLAN", "Assessment & Plan", "Impression and Plan"], ("assessment", "plan")),
        (["SHX/FHX", "Social history, family history"], ("social history", "family history")),
        (["2. ACTIVITY"], ("activity",)),
        (["Operation Performed", "PROCEDURE"], ("procedure",)),
    ],
)  # fmt: skip
def test_variants_of_one_heading(headings: list[str], aspects: tuple[str, ...]) -> None:
    assert list(map(note_aspects, headings)) == [aspects] * len(headings)


def test_an_unlisted_heading_keeps_its_words() -> None:
    assert note_aspects("BARIUM Meals & Enemas") == ("barium meals", "enemas")
    assert note_aspects("3. Left-Hand Grip") == ("left hand grip",)
    assert note_aspects("Grip/Allergy") == ("grip", "allergies")
    assert note_aspects(" -- ") == ()


@given(st.text(max_size=60))
def test_any_heading_has_clean_aspects(heading: str) -> None:
    for aspect in note_aspects(heading):
        assert aspect == " ".join(aspect.split()) != ""


def test_every_line_of_the_table_counts() -> None:
    path = resources.files("auscult_lab.corpora").joinpath("note_aspects.tsv")
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = list(csv.reader(lines, delimiter="\t"))[1:]
    assert len({heading_key(heading) for heading, _ in rows}) == len(rows) == len(NoteAspects.load())
    assert {aspect for _, aspects in rows for aspect in aspects.split("|")} <= {
        aspect for heading, _ in rows for aspect in note_aspects(heading)
    }


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    first, second = tmp_path / "one.tsv", tmp_path / "two.tsv"
    first.write_text("heading\taspect\n# ours\n\nWard Round\tPlan\nPMH\tearlier illness|Earlier Operations\n")
    second.write_text("\ufeffward rounds\tround\nWARD ROUND\tround\n", encoding="utf-8")
    table = NoteAspects.load(first, second)
    assert table.aspects("WARD ROUND:") == ("round",)
    assert table.aspects("pmh") == ("earlier illness", "earlier operations")
    assert table.aspects("HPI") == ("history of present illness",)
    assert "Ward round" in table
    assert "Ward round" not in NoteAspects.load()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PMH\tx\nHPI\n", r"mine\.tsv:2, got 1 columns"),
        (b"PMH\tx\ty\n", r"mine\.tsv:1, got 3 columns"),
        (b"PMH\t\n", r"words for heading and aspect at .*:1"),
        (b"--\tplan\n", r"words for heading and aspect"),
        (b"PMH\tplan| \n", r"words for heading and aspect"),
        (b"PMH\tx\nPmh:\ty\n", r"one aspect for each heading at .*:2, got 'Pmh:' as y, and before as x"),
        (b"PMH\tx\nHPI\tcaf\xe9\n", r"UTF-8 text at .*:2, got byte 0xe9"),
    ],
)
def test_a_bad_table_is_named_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "mine.tsv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        NoteAspects.load(path)


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        NoteAspects.load(tmp_path / "none.tsv")
