"""If a question names one of two patients of a surname, the other one is never marked."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.documents import Document, Section, build_document
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.search.certainty import DOUBTFUL
from auscult.search.persons import AskedPerson, dates_in, identity_in, persons_in
from auscult.understanding import Query
from encoders import HashedEncoder

ENCODER = HashedEncoder(256)
PATIENTS = (
    ("John", "Smith", "0815", "1950-01-02", "6.1"),
    ("Mary", "Smith", "0816", "1962-03-04", "4.2"),
    ("Ann", "Jones", "0817", "1970-05-06", "3.9"),
)


def records() -> list[Document]:
    return [
        build_document(
            doc_id=number,
            title="Electrolytes",
            sections=[Section("", f"Potassium: {value} mmol/L\nSodium: 140 mmol/L")],
            metadata={"names": f"{first} {last}", "patient": number},
        )
        for first, last, number, _, value in PATIENTS
    ]


def notes() -> list[Document]:
    text = "Patient: {} {}\nMRN: {}\nDOB: {}\n\nSeen on the ward. Potassium was {} mmol/L. It is stable."
    return [
        build_document(doc_id=each[2], title="Note", sections=[Section("", text.format(*each))]) for each in PATIENTS
    ]


def sheet() -> list[Document]:
    lines = [
        f"Name: {last}, {first} | MRN: {n} | Born: {born} | Potassium: {v}" for first, last, n, born, v in PATIENTS
    ]
    return [build_document(doc_id="sheet", title="Ward 3", sections=[Section("", "\n".join(lines))])]


def handover() -> list[Document]:
    text = "\n\n".join(
        f"Patient: {first} {last}\nMRN: {n}\nDOB: {born}\nPotassium {v} mmol/L this morning."
        for first, last, n, born, v in PATIENTS
    )
    return [build_document(doc_id="list", title="Handover", sections=[Section("", text)])]


def answering(folder: Path, documents: list[Document], question: str) -> str:
    """Return the marked sentences of hits that may answer."""
    build_index(documents, ENCODER, folder)
    searcher = Searcher.open(folder, ENCODER)
    query = searcher.understand(Query("", "", text=question)).query
    hits = searcher.search(query, 10)
    return " ".join(each.text for hit in hits for each in hit.sentences if each.marked)


@pytest.mark.parametrize("written", [records, notes, sheet, handover])
@pytest.mark.parametrize(
    "question", ["Mary Smith potassium", "What is Mary Smith's potassium?", "potassium of smith, mary"]
)
def test_another_patient_of_the_surname_is_unmarked(tmp_path: Path, written, question: str) -> None:
    marked = answering(tmp_path / "index", written(), question)
    assert "4.2" in marked or "Mary" in marked
    assert not any(other in marked for other in ("6.1", "3.9", "John", "Jones"))


@pytest.mark.parametrize("written", [notes, sheet, handover])
@pytest.mark.parametrize("question", ["potassium of Smith, MRN 0816", "potassium of Smith born 4 March 1962"])
def test_numbers_and_birth_dates_tell_patients_apart(tmp_path: Path, written, question: str) -> None:
    marked = answering(tmp_path / "index", written(), question)
    assert marked
    assert not any(other in marked for other in ("6.1", "3.9", "John", "Jones"))


def test_a_surname_alone_shows_both_patients(tmp_path: Path) -> None:
    marked = answering(tmp_path / "index", records(), "Smith potassium")
    assert "6.1" in marked
    assert "4.2" in marked


def test_a_patient_without_a_record_is_nobody_else(tmp_path: Path) -> None:
    for written in (records, notes, sheet, handover):
        assert answering(tmp_path / written.__name__, written(), "Peter Smith potassium") == ""


def test_records_of_others_are_no_answer(tmp_path: Path) -> None:
    build_index(records(), ENCODER, tmp_path / "index")
    searcher = Searcher.open(tmp_path / "index", ENCODER)
    hits = searcher.search(Query("", "", text="Mary Smith potassium"), 3)
    assert all((hit.probability or 0) < DOUBTFUL for hit in hits if hit.doc_id != "0816")


@pytest.mark.parametrize(
    ("question", "text", "is_another"),
    [
        ("J. Smith potassium", "Patient: John Smith", False),
        ("M. Smith potassium", "Patient: John Smith", True),
        ("John Smith potassium", "Patient: John Adam Smith", False),
        ("potassium of Mr Smith", "Patient: John Smith", False),
        ("potassium smith", "Patient: John Smith", False),
        ("José García potassium", "Patient: Garcia, Jose", False),
        ("Ana García potassium", "Patient: Garcia, Jose", True),
        ("Mary Smith potassium", "Surname: Smith | First name: John", True),
        ("Mary Smith potassium", "Mr John Smith was seen.", True),
        ("gout treatment", "Patient: John Smith", False),
    ],
)
def test_a_name_conflicts_by_its_further_parts(question: str, text: str, is_another: bool) -> None:
    ((_, identity),) = persons_in(text)
    if "|" in text:
        identity = identity_in(text)
    assert AskedPerson(question).is_another(identity, {"potassium"}) is is_another


def test_relatives_and_staff_are_not_the_patient() -> None:
    text = "Patient: John Smith\nNext of kin name: Mary Smith\nConsultant\nName: Dr Brown\nPotassium 6.1"
    ((_, identity),) = persons_in(text)
    assert identity.names == {("john", "smith")}


def test_dates_are_read_however_written() -> None:
    texts = ("1962-03-04", "04/03/1962", "3/4/62", "4 March 1962", "March 4th, 1962", "4. März 1962")
    assert {date for text in texts for date in dates_in(text)} == {(1962, 3, 4)}
