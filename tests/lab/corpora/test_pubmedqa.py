"""PubMedQA: a question is asked of all abstracts, and its own is right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auscult.files.records import RecordError
from auscult.ingest.corpus import Judgement
from auscult.understanding import Query
from auscult_lab.corpora.described import PUBMEDQA, PubMedQaCorpus
from needs import Needs


def corpus(folder: Path, **fields: object) -> PubMedQaCorpus:
    sections = [{"heading": "METHODS", "text": "We asked."}, {"heading": "RESULTS", "text": "They said."}]
    own = {"question": "Does it?", "sections": sections, "conclusion": "It does."}
    rows = [{"pmid": str(n), **own, "split": split, **fields} for n, split in enumerate(("train_dev", "test"))]
    (folder / "abstracts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return PubMedQaCorpus(PUBMEDQA, folder / "abstracts.jsonl")


def test_an_abstract_tells_neither_question_nor_conclusion(tmp_path: Path) -> None:
    (document,) = corpus(tmp_path).documents("test")
    assert (document.title, document.text) == ("", "We asked.\n\nThey said.")
    assert [passage.heading for passage in document.passages] == ["METHODS", "RESULTS"]
    assert document.url == "https://pubmed.ncbi.nlm.nih.gov/1/"


def test_every_section_of_its_own_abstract_is_right(tmp_path: Path) -> None:
    read = corpus(tmp_path)
    assert read.queries("test") == [Query("pubmedqa:1", "Does it?", text="Does it?")]
    assert read.judgements("test") == [Judgement("pubmedqa:1", f"pubmedqa:1#{n}") for n in (1, 2)]
    assert [query.query_id for query in read.queries("train")] == ["pubmedqa:0"]


def test_bad_records_are_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="'pubmedqa:3' again"):
        list(corpus(tmp_path, pmid="3").documents())
    with pytest.raises(RecordError, match="a string in 'question'"):
        corpus(tmp_path, question=3).queries("test")


def test_the_prepared_file(needs: Needs) -> None:
    read = PubMedQaCorpus(PUBMEDQA, needs.file("qa/pubmedqa_labeled.jsonl.gz"))
    assert (len(read.queries("test")), len(read.judgements("test"))) == (500, 1689)
