"""NHS pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auscult.errors import ConfigError
from auscult.ingest.corpus import Judgement
from auscult_lab.corpora.described import NHS, DescribedCorpus, nhs_split
from auscult_lab.evaluation.tracks import track_on
from needs import Needs

# Golden: of pages titled "Disease 0" to "Disease 19", those for testing. A change would spoil published figures.
TEST_PAGES = [0, 3, 11, 12, 14, 15, 16]

PAGE = {
    "doc_id": "nhs:conditions/gout",
    "title": "Gout",
    "page_type": "condition",
    "url": "https://www.nhs.uk/conditions/gout/",
    "last_reviewed": "1 May 2025",
    "sections": [{"heading": "symptoms", "text": "The pain comes fast.\nhot skin\nswelling"}],
}


def test_a_page(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text(json.dumps(PAGE))
    corpus = DescribedCorpus(NHS, path)
    (page,) = corpus.documents(nhs_split("Gout"))
    assert (page.title, page.source, page.url) == ("Gout", "NHS", "https://www.nhs.uk/conditions/gout/")
    assert dict(page.metadata) == {"page_type": "condition", "last_reviewed": "1 May 2025"}
    assert [page.slice(s) for s in page.sentences] == ["The pain comes fast.", "hot skin", "swelling"]
    assert [page.doc_id for page in corpus.documents()] == ["nhs:conditions/gout"]


def pages(path: Path, count: int) -> DescribedCorpus:
    """Pages with two sections on symptoms, one on causes and one without heading."""
    headings = ("symptoms", "causes", "Symptoms", "")
    sections = [{"heading": heading, "text": f"About it, {n}."} for n, heading in enumerate(headings)]
    lines = [json.dumps({"doc_id": f"nhs:{n}", "title": f"Disease {n}", "sections": sections}) for n in range(count)]
    path.write_text("\n".join(lines))
    return DescribedCorpus(NHS, path)


def test_a_fixed_fifth_of_pages_is_for_testing(tmp_path: Path) -> None:
    corpus = pages(tmp_path / "pages.jsonl", 1000)
    train, test = ({d.doc_id for d in corpus.documents(split)} for split in ("train", "test"))
    assert len(train | test) == len(list(corpus.documents())) == 1000
    assert not train & test
    assert 160 < len(test) < 240
    # The same on every machine, in every selection, and for all pages of one title.
    assert {d.doc_id for d in pages(tmp_path / "fewer.jsonl", 100).documents("test")} == {
        page for page in test if int(page[4:]) < 100
    }
    assert nhs_split("GOUT") == nhs_split("gout")
    assert [n for n in range(20) if nhs_split(f"Disease {n}") == "test"] == TEST_PAGES


def test_titles_and_headings_become_queries(tmp_path: Path) -> None:
    corpus = pages(tmp_path / "pages.jsonl", 20)
    test = [f"nhs:{n}" for n in TEST_PAGES]
    first, second, *_ = queries = corpus.queries("test")
    assert (first.entity, first.aspects, first.query_id) == (
        f"Disease {test[0][4:]}",
        ("symptoms",),
        f"{test[0]}:symptoms",
    )
    assert second.aspects == ("causes",)
    assert len(queries) == 2 * len(test)
    judged = corpus.judgements("test")
    assert judged[:3] == [
        Judgement(first.query_id, f"{test[0]}#1"),
        Judgement(first.query_id, f"{test[0]}#3"),
        Judgement(second.query_id, f"{test[0]}#2"),
    ]
    passages = {p.passage_id for d in corpus.documents("test") for p in d.passages}
    assert {j.passage_id for j in judged} <= passages
    assert not corpus.queries("train")
    assert not corpus.judgements("train")
    assert not corpus.candidates("test")


def test_models_trained_on_train_pages_may_be_tested() -> None:
    assert track_on("m", {"corpora": [{"name": "nhs", "split": "train"}]}, "nhs", "test") == "adapted"
    assert track_on("m", {"corpora": [{"name": "enwiki"}]}, "nhs", "test") == "zero-shot"
    with pytest.raises(ConfigError, match=r"trained on its test documents \(nhs, all splits\)"):
        track_on("m", {"corpora": [{"name": "nhs"}]}, "nhs", "test")


def test_the_prepared_file(needs: Needs) -> None:
    corpus = DescribedCorpus(NHS, needs.file("consumer_health/nhs_pages.jsonl.gz"))
    assert sum(1 for _ in corpus.documents("test")) == 145
    assert len(corpus.queries("test")) == 461
