"""Clinical notes in their four formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auscult.files.records import RecordError
from auscult_lab.corpora.described import CLINICAL_NOTES, DescribedCorpus

SECTIONS = [{"heading": "PLAN", "text": "Rest. Take 5 mg p.o. daily."}, {"heading": "LABS", "text": " "}]
MTSAMPLES = {
    "note_id": "mts-1",
    "sample_name": "Gout",
    "description": "Gout of the toe.",
    "medical_specialty": ["Rheumatology", "Office Notes"],
    "sections": SECTIONS,
}
ACI = {
    "note_id": "aci-1",
    "split": "test1",
    "chief_complaint": "toe pain",
    "sections": SECTIONS,
    "dialogue": "Hi.",
}
DIALOG = {
    "id": "mtsd-1",
    "split": "valid",
    "section_header": "PLAN",
    "section_text": "Rest.",
    "dialogue": "Hi.",
}
PRIMOCK = {
    "note_id": "primock-1",
    "presenting_complaint": "My toe hurts",
    "note": "3/7 hx of pain.\n\nPlan:\n1.\tRest\n",
}


@pytest.fixture
def corpus(tmp_path: Path) -> DescribedCorpus:
    path = tmp_path / "notes.jsonl"
    path.write_text("\n".join(map(json.dumps, [MTSAMPLES, ACI, DIALOG, PRIMOCK])))
    return DescribedCorpus(CLINICAL_NOTES, path)


def test_each_format(corpus: DescribedCorpus) -> None:
    mtsamples, aci, dialog, primock = corpus.documents()
    assert (mtsamples.title, mtsamples.source) == ("Gout", "MTSamples")
    assert mtsamples.metadata["medical_specialty"] == "Rheumatology; Office Notes"
    assert [mtsamples.slice(s) for s in mtsamples.sentences] == ["Rest.", "Take 5 mg p.o. daily."]
    assert (aci.title, aci.passages[0].heading) == ("toe pain", "PLAN")
    assert (dialog.doc_id, dialog.title, dialog.text) == ("mtsd-1", "", "Rest.")
    assert "Hi." not in aci.text + dialog.text
    assert primock.text == PRIMOCK["note"]
    assert [(p.heading, primock.slice(p)) for p in primock.passages] == [("", "3/7 hx of pain."), ("Plan", "1.\tRest")]
    assert [s.list_item for s in primock.sentences] == [False, True]


def test_every_note_has_a_patient_to_split_by(corpus: DescribedCorpus) -> None:
    assert [d.metadata["patient"] for d in corpus.documents()] == ["mts-1", "aci-1", "mtsd-1", "primock-1"]


def test_splits_are_those_of_the_source(corpus: DescribedCorpus) -> None:
    assert [d.doc_id for d in corpus.documents("train")] == ["mts-1", "primock-1"]
    assert [d.doc_id for d in corpus.documents("valid")] == ["mtsd-1"]


def test_an_unknown_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"note_id": "x", "body": "Text."}\n')
    with pytest.raises(RecordError, match=r"'sections'.*line 1"):
        list(DescribedCorpus(CLINICAL_NOTES, path).documents())
