"""Documents about many subjects: only what was asked is marked, in hits and in opened documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from auscult.documents import Document, Section, build_document
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.search.entries import entries_of
from auscult.search.spans import find_answer
from auscult.understanding import Query
from encoders import HashedEncoder

ENCODER = HashedEncoder(256)
MEDICINES = (
    ("Enoxaparin (Clexane)", "1.5 mg/kg once daily", "eGFR 15-30: 1 mg/kg once daily. Avoid below 15."),
    ("Colchicine", "500 micrograms twice daily", "eGFR 10-50: reduce the dose. Avoid below 10."),
    ("Apixaban (Eliquis)", "5 mg twice daily", "eGFR 15-29: 2.5 mg twice daily. Avoid below 15."),
    ("Digoxin", "125 micrograms daily", "eGFR 10-50: 62.5 micrograms daily dose. eGFR below 10: lower dose."),
    ("Levetiracetam (Keppra)", "500 mg twice daily", "eGFR 30-49: 250 mg twice daily. eGFR below 30: lower dose."),
)


def rows(label: str, dose: str, renal: str) -> str:
    return f"Medicine: {label} | Usual dose: {dose} | Renal: {renal}"


def titled(label: str, dose: str, renal: str) -> str:
    return f"{label}\nUsual dose {dose}. {renal}\n"


def items(label: str, dose: str, renal: str) -> str:
    return f"- {label}: {dose}; {renal}"


def dosed(label: str, dose: str, renal: str) -> str:
    return f"{label} {dose}; {renal}"


def in_second_cell(label: str, dose: str, renal: str) -> str:
    return f"Group: Ward | Medicine: {label} | Usual dose: {dose} | Renal: {renal}"


def formulary(written: Callable[[str, str, str], str]) -> Document:
    text = "\n".join(written(*medicine) for medicine in MEDICINES)
    return build_document(doc_id="d", title="Doses of the ward", sections=[Section("", text)])


def opened(tmp_path: Path, document: Document, *others: Document) -> Searcher:
    build_index([document, *others], ENCODER, tmp_path / "index")
    return Searcher.open(tmp_path / "index", ENCODER)


def asking(question: str) -> Query:
    return Query("", "", ("dosage",), text=question)


def marked(searcher: Searcher, question: str) -> list[str]:
    (hit, *_) = searcher.search(asking(question), 1)
    return [each.text for each in hit.sentences if each.marked]


WRITTEN = pytest.mark.parametrize("written", [rows, titled, items, dosed, in_second_cell])


@WRITTEN
@pytest.mark.parametrize(("asked", "name"), [("clexane", 0), ("Eliquis", 2), ("digoxin", 3), ("keppra", 4)])
def test_no_other_medicine_is_ever_marked(
    tmp_path: Path, written: Callable[[str, str, str], str], asked: str, name: int
) -> None:
    document = formulary(written)
    searcher, question = opened(tmp_path, document), asking(f"{asked} dose eGFR 25")
    begin = document.text.index(MEDICINES[name][0])
    end = document.text.index(MEDICINES[name + 1][0]) if name + 1 < len(MEDICINES) else len(document.text)
    begin = document.text.rfind("\n", 0, begin) + 1
    end = document.text.rfind("\n", 0, end) + 1 if name + 1 < len(MEDICINES) else end
    (hit,) = searcher.search(question, 1)
    of_hit = {(each.start, each.end) for each in hit.sentences if each.marked}
    assert of_hit
    assert all(begin <= first < last <= end for first, last in of_hit)
    found = find_answer(searcher, question, "d")
    sentences = document.sentences
    assert {(sentences[number].start, sentences[number].end) for number in found.marked} == of_hit
    assert found.span
    assert begin <= found.span.start < found.span.end <= end
    assert all(found.span.start <= first < last <= found.span.end for first, last in of_hit)


@WRITTEN
def test_a_medicine_without_a_row_marks_none(tmp_path: Path, written: Callable[[str, str, str], str]) -> None:
    searcher = opened(tmp_path, formulary(written))
    assert marked(searcher, "dalteparin dose eGFR 25") == []
    assert find_answer(searcher, asking("dalteparin dose eGFR 25"), "d").span is None


def test_documents_of_one_subject_keep_their_marks(tmp_path: Path) -> None:
    text = (
        "Signs of gout are:\n- fever: often high\n- a red toe: at night\nGout is treated with rest. Colchicine helps."
    )
    searcher = opened(tmp_path, build_document(doc_id="d", title="Gout", sections=[Section("Gout", text)]))
    assert "Colchicine helps." in marked(searcher, "does colchicine help gout")
    assert [each for each in marked(searcher, "gout toe") if "toe" in each]


def test_fields_of_one_medicine_are_all_its(tmp_path: Path) -> None:
    text = "Dose: 1.5 mg/kg once daily.\nRenal: 1 mg/kg if the eGFR is 25.\nMonitoring: platelets."
    section = Section("Enoxaparin (Clexane)", text)
    searcher = opened(tmp_path, build_document(doc_id="d", title="Doses", sections=[section]))
    assert any("eGFR" in each for each in marked(searcher, "clexane dose eGFR 25"))


def test_prose_has_no_entries() -> None:
    text = "Gout is common. It hurts.\nDoctors give colchicine. It helps within 2 days.\nRest helps, too."
    document = build_document(doc_id="d", title="Gout", sections=[Section("", text)])
    (passage,) = document.passages
    assert entries_of(passage.sentences, document.slice(passage), passage.start) == []
