"""What is found of each patient."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auscult.documents import Document, Section, build_document
from auscult.errors import QueryError
from auscult.ingest.building import build_index
from auscult.ingest.files import FilesCorpus
from auscult.search import Searcher
from auscult.search import patients as module
from auscult.search.patients import Patients, by_patient
from auscult.understanding import Query
from encoders import HashedEncoder
from leaflets import leaflets

ENCODER = HashedEncoder(256)
NOTES = (
    ("ann", "2023-01", "No sign of gout. She sleeps well.", ""),
    ("ann", "", "Gout of the toe.", ""),
    ("ann", "2019-03-02", "Her father had gout. She had gout in 2015.", ""),
    ("bert", "2020", "Possible gout.", "ward-b"),
    ("carl", "2021", "Asthma since childhood.", ""),
    (" ", "2021", "Gout of nobody in particular.", ""),
)


def note(number: int, patient: str, date: str, text: str, access: str) -> Document:
    fields = {"patient": patient, "date": date, "access": access}
    metadata = {name: value for name, value in fields.items() if value}
    return build_document(
        doc_id=f"n{number}", title="Note", sections=[Section("", text, f"n{number}")], metadata=metadata
    )


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder = tmp_path_factory.mktemp("patients") / "index"
    build_index([*leaflets(), *(note(number, *each) for number, each in enumerate(NOTES))], ENCODER, folder)
    return Searcher.open(folder, ENCODER)


GOUT = Query("", "gout")


def assertions_by_patient(answer: Patients) -> dict[str, list[tuple[str, str]]]:
    return {
        patient.name: [(mention.date, ", ".join(mention.sentence.assertions)) for mention in patient.sentences]
        for patient in answer.patients
    }


def test_each_patients_sentences_are_in_date_order(searcher: Searcher) -> None:
    answer = by_patient(searcher, GOUT)
    assert not answer.cut
    assert assertions_by_patient(answer) == {
        "ann": [("2019-03-02", "family"), ("2019-03-02", "historical"), ("2023-01", "negated"), ("", "affirmed")],
        "bert": [("2020", "hypothetical")],
    }
    ann = next(patient for patient in answer.patients if patient.name == "ann")
    assert [*ann.documents] == ["n2", "n0", "n1"]
    assert ann.counts == {"family": 1, "historical": 1, "negated": 1, "affirmed": 1}
    assert ann.dates == ("2019-03-02", "2023-01")


def test_mentions_count_even_in_passages_without_an_answer(searcher: Searcher) -> None:
    query = Query("", "gout", ("side effects",), text="What are the side effects of allopurinol against gout?")
    answer = by_patient(searcher, query)
    assert {*assertions_by_patient(answer)} == {"ann", "bert"}
    chances = [mention.hit.probability for patient in answer.patients for mention in patient.sentences]
    assert min(chance for chance in chances if chance is not None) < 0.1


def test_records_of_hospitals_name_their_patients(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    resource = {
        "resourceType": "DiagnosticReport",
        "id": "r1",
        "status": "final",
        "subject": {"reference": "Patient/7"},
        "effectiveDateTime": "2021-05-06",
        "code": {"text": "Clinic letter"},
        "text": {"status": "generated", "div": "<div><p>The patient has gout of the left big toe.</p></div>"},
    }
    (tmp_path / "files" / "report.json").write_text(json.dumps(resource))
    message = (
        "MSH|^~\\&|LAB|H|X|H|202303040900||ORU^R01|1|P|2.5",
        "PID|1||0815^^^H||Doe^Jane",
        "OBR|1|||1^Letter|||202303040900",
        "OBX|1|TX|1^Letter||There is no sign of gout today.||||||F",
    )
    (tmp_path / "files" / "report.hl7").write_bytes("\r".join(message).encode())
    build_index(FilesCorpus(tmp_path / "files").documents(), ENCODER, tmp_path / "index")
    found = by_patient(Searcher.open(tmp_path / "index", ENCODER), GOUT)
    assert assertions_by_patient(found) == {
        "Patient/7": [("2021-05-06", "affirmed")],
        "0815": [("2023-03-04", "negated")],
    }


def test_filters_limit_which_mentions_count(searcher: Searcher) -> None:
    said = by_patient(searcher, GOUT, assertions=["affirmed", "negated"])
    assert assertions_by_patient(said) == {"ann": [("2023-01", "negated"), ("", "affirmed")]}
    assert {*assertions_by_patient(by_patient(searcher, GOUT, where={"patient": "bert"}))} == {"bert"}
    assert assertions_by_patient(by_patient(searcher, Query("", "gout"), where={"date": "2021"})) == {}
    with pytest.raises(QueryError, match="a patient of this index"):
        by_patient(searcher, GOUT, where={"patient": "zoe"})


def test_patients_in_hidden_documents_are_not_found(searcher: Searcher) -> None:
    assert {*assertions_by_patient(by_patient(searcher.seen_by(["ward-a"]), GOUT))} == {"ann"}
    assert {*assertions_by_patient(by_patient(searcher.seen_by(["ward-b"]), GOUT))} == {"ann", "bert"}


def test_a_cut_to_the_best_passages_is_reported(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PASSAGES", 2)
    found = by_patient(searcher, GOUT)
    assert found.cut
    assert sum(len(each.documents) for each in found.patients) <= 2


def test_an_index_without_patients_is_an_error(tmp_path: Path) -> None:
    build_index(leaflets(), ENCODER, tmp_path / "index")
    with pytest.raises(QueryError, match="name patients"):
        by_patient(Searcher.open(tmp_path / "index", ENCODER), GOUT)
