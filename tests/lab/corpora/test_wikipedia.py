"""Wikipedia articles, and questions made from their headings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auscult.documents import check_document
from auscult.files.records import RecordError
from auscult_lab.corpora.described import WIKIPEDIA, DescribedCorpus, aspect_of
from needs import Needs


def article(doc_id: str, title: str, cdv_list: str | None, *sections: tuple[str, str]) -> dict[str, object]:
    return {
        "doc_id": doc_id,
        "title": title,
        "cdv_list": cdv_list,
        "snapshot": "2014",
        "sections": [{"heading": heading, "text": text} for heading, text in sections],
    }


ARTICLES = [
    article("enwiki:Gout", "Gout", "train", ("Abstract", "Gout is painful."), ("Causes", "Uric acid.")),
    article(
        "enwiki:Cleft_lip",
        "Cleft lip (and palate)",
        "test",
        ("Abstract", "A cleft lip is an opening."),
        ("Signs & symptoms", "It shows at birth."),
        ("Other", "Something else."),
        ("Signs, symptoms", "It may affect speech."),
        ("Signs symptoms", "And feeding."),
        ("See also", "A list."),
    ),
    article(
        "simplewiki:Cleft_lip",
        "Cleft lip (and palate)",
        "test",
        ("Abstract", "A split lip."),
        ("Treatment", "Surgery."),
    ),
    article("enwiki:Rash", "Rash", None, ("Abstract", "A rash is red.")),
]


@pytest.fixture
def corpus(tmp_path: Path) -> DescribedCorpus:
    path = tmp_path / "articles.jsonl"
    path.write_text("\n".join(map(json.dumps, ARTICLES)))
    return DescribedCorpus(WIKIPEDIA, path)


def test_documents_and_splits(corpus: DescribedCorpus) -> None:
    assert [d.doc_id for d in corpus.documents("train")] == ["enwiki:Gout", "enwiki:Rash"]
    cleft, simple = corpus.documents("test")
    assert cleft.source == "Wikipedia"
    assert cleft.url == "https://en.wikipedia.org/wiki/Cleft_lip_(and_palate)"
    assert simple.url == "https://simple.wikipedia.org/wiki/Cleft_lip_(and_palate)"
    assert [p.aspect for p in cleft.passages][:3] == ["information", "signs symptoms", ""]
    assert len(list(corpus.documents())) == 4


def test_queries_come_from_test_articles_headings(corpus: DescribedCorpus) -> None:
    queries = corpus.queries("test")
    assert [(q.entity, q.aspects) for q in queries] == [
        ("Cleft lip (and palate)", ("information",)),
        ("Cleft lip (and palate)", ("signs symptoms",)),
        ("Cleft lip (and palate)", ("treatment",)),
    ]
    assert len({q.query_id for q in queries}) == 3
    assert not any(" " in q.query_id for q in queries)
    relevant: dict[str, list[str]] = {}
    for judgement in corpus.judgements("test"):
        relevant.setdefault(judgement.query_id, []).append(judgement.passage_id)
    assert [relevant[q.query_id] for q in queries] == [
        ["enwiki:Cleft_lip#1", "simplewiki:Cleft_lip#1"],
        ["enwiki:Cleft_lip#2", "enwiki:Cleft_lip#4", "enwiki:Cleft_lip#5"],
        ["simplewiki:Cleft_lip#2"],
    ]
    passages = {p.passage_id for d in corpus.documents("test") for p in d.passages}
    assert {j.passage_id for j in corpus.judgements("test")} <= passages


def test_other_splits_have_no_queries(corpus: DescribedCorpus) -> None:
    assert not corpus.queries("train")
    assert not corpus.judgements("train")
    assert not corpus.candidates("test")


@pytest.mark.parametrize(
    ("heading", "aspect"),
    [
        ("Abstract", "information"),
        ("Signs and Symptoms", "signs and symptoms"),
        ("Mother-to-child", "mother to child"),
        ("Crohn's disease", "crohns disease"),
        ("Others", ""),
        ("See also:", ""),
        ("Other drugs", "other drugs"),
        ("?!", ""),
    ],
)
def test_aspect_of_a_heading(heading: str, aspect: str) -> None:
    assert aspect_of(heading) == aspect


def test_a_bad_article_is_named(tmp_path: Path) -> None:
    path = tmp_path / "articles.jsonl"
    path.write_text(json.dumps(ARTICLES[0]) + "\n" + json.dumps({"doc_id": "x", "title": "X"}) + "\n")
    with pytest.raises(RecordError, match="line 2"):
        list(DescribedCorpus(WIKIPEDIA, path).documents())
    corpus = DescribedCorpus(WIKIPEDIA, path, skip_bad=True)
    assert len(list(corpus.documents())) == 1
    assert corpus.bad.counts["missing field"] == 1


def test_the_prepared_files(needs: Needs) -> None:
    corpus = DescribedCorpus(
        WIKIPEDIA, *(needs.file(f"wikipedia/{name}_medical.jsonl.gz") for name in ("enwiki", "simplewiki"))
    )
    tested = [check_document(document) for document in corpus.documents("test")]
    assert len(tested) == 58 + 99
    assert sum(1 for _ in corpus.drafts()) == 1021 + 1012
    passages = {p.passage_id for d in tested for p in d.passages}
    judgements = corpus.judgements("test")
    assert {j.passage_id for j in judgements} <= passages
    assert {j.query_id for j in judgements} == {q.query_id for q in corpus.queries("test")}
