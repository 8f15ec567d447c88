"""Judgements are kept durably, and become a collection that is evaluated on."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.errors import DataError
from auscult.index import IndexUpdate
from auscult.index.reader import open_current
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.workbench.reading import read_user_data
from auscult_lab.workbench.userdata import Findings
from auscult_service.feedback import FILE, Feedback, Judged, export, read
from auscult_service.settings import Settings
from command import Command
from served_index import lines, served

QUESTION = "How is gout treated?"


def judged(caller: str = "", relevance: int = 1, passage: str = "gout-3", question: str = QUESTION) -> Judged:
    return Judged(
        index="leaflets",
        question=question,
        entity="",
        aspects=(),
        doc_id="leaflet-gout",
        passage_id=passage,
        relevance=relevance,
        caller=caller,
    )


def test_feedback_is_kept_and_exported(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with served(Settings(indexes={"leaflets": index}, page=False)) as client:
        hit = {"doc_id": "leaflet-gout", "passage_id": "gout-3", "span": [184, 224]}
        said = {"question": QUESTION, **hit, "relevance": 2}
        pair = {"entity": "gout", "aspects": ["symptoms"], **hit, "passage_id": "gout-2", "relevance": 2}
        first = client.post("feedback", json=said)
        assert first.status_code == 201
        client.post("feedback", json={**said, "passage_id": "gout-1", "relevance": 0})
        client.post("feedback", json=pair)
    folder = index.parent / "leaflets.service" / "feedback"
    assert [line["relevance"] for line in lines(folder / FILE)] == [2, 0, 2]
    assert lines(folder / FILE)[0]["span"] == [184, 224]
    # No text of a document is kept beside the index.
    assert "allopurinol" not in (folder / FILE).read_text()
    done = Command(monkeypatch, capfd)("feedback", str(index), "--out", str(tmp_path / "judged"))
    assert done == (0, f"2 questions, 3 judgements: {tmp_path / 'judged'}\n", "")
    corpus = open_corpus(str(tmp_path / "judged"))
    assert {
        (judgement.query_id, judgement.passage_id, judgement.relevance) for judgement in corpus.judgements("test")
    } == {
        (first.json()["query_id"], "gout-3", 2),
        (first.json()["query_id"], "gout-1", 0),
        (corpus.queries("test")[1].query_id, "gout-2", 2),
    }
    assert [query.entity or query.text for query in corpus.queries("test")] == [QUESTION, "gout"]
    texts = {document.doc_id: document.text for document in corpus.documents()}
    assert texts["gout-3"] == "Treatment often begins with allopurinol. Ask your doctor before you stop a medicine."
    findings = Findings()
    data = read_user_data(tmp_path / "judged", findings)
    assert not findings.faults
    assert (len(data.questions), len(data.passages), len(data.judgements)) == (2, 3, 3)


def test_export_averages_the_last_judgement_of_each_person(index: Path, tmp_path: Path) -> None:
    said = [judged("a", 0), judged("a", 3), judged("b", 1), judged("c", 1)]
    export(said, open_current(index), tmp_path / "judged")
    rows = (tmp_path / "judged" / "qrels" / "test.tsv").read_text().splitlines()
    assert rows == ["query-id\tcorpus-id\tscore", f"{said[0].query_id}\tgout-3\t2"]


def test_judgements_of_deleted_documents_are_not_exported(index: Path, tmp_path: Path) -> None:
    with IndexUpdate(index) as update:
        update.delete(["leaflet-gout"])
        update.commit()
    with pytest.raises(DataError, match="judgements of passages of this index"):
        export([judged()], open_current(index), tmp_path / "judged")
    assert not (tmp_path / "judged").exists()


def test_a_truncated_line_does_not_lose_the_next(tmp_path: Path) -> None:
    kept = Feedback(tmp_path)
    kept.add(judged())
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"index": "leafl')
    kept.add(judged(question="What is gout?"))
    assert [each.question for each in read(tmp_path)] == [QUESTION, "What is gout?"]
    with pytest.raises(DataError, match="no such file"):
        list(read(tmp_path / "none"))
