"""COVID-QA: paragraphs of articles, and which of them hold an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auscult.documents import check_document
from auscult.files.records import RecordError
from auscult.ingest.corpus import Judgement
from auscult_lab.corpora.covidqa import CovidQaCorpus, passage_ranges

FIRST = "Abstract: " + "Bats carry it. " * 20
LONG = "It spreads by air. " * 150
HEAD = "Bats and \u201cviruses\u201d\n\nhttps://x\n\nDoe, J\nLicense: cc-by"
ARTICLE = f"{HEAD}\n\n{FIRST}\n \nMethods\n\n{LONG}\n\nNone declared."


def corpus(folder: Path, *answers: dict[str, object], doc_id: str = "covidqa:1") -> CovidQaCorpus:
    (folder / "articles.jsonl").write_text(json.dumps({"doc_id": "covidqa:1", "text": ARTICLE}))
    question = {"question_id": "7", "doc_id": doc_id, "question": "What carries it? ", "answers": answers}
    (folder / "questions.jsonl").write_text(json.dumps(question))
    return CovidQaCorpus(folder / "articles.jsonl", folder / "questions.jsonl")


def test_paragraphs_become_passages(tmp_path: Path) -> None:
    (article,) = corpus(tmp_path).documents("test")
    assert (article.title, article.text) == ("Bats and “viruses”", ARTICLE)
    texts = [check_document(article).slice(passage) for passage in article.passages]
    # What stands above the body is in no passage, a heading goes with what follows, a long paragraph is cut.
    assert texts[0] == FIRST
    assert texts[1].startswith("Methods\n\nIt spreads")
    assert texts[-1] == "None declared."
    assert all(len(text) <= 2000 and text.rstrip().endswith(".") for text in texts)
    assert "".join(texts[1:]).count("spreads") == 150


def test_a_text_without_any_form_is_one_passage() -> None:
    assert passage_ranges("A title\nand a line. ") == [(8, 19)]
    assert passage_ranges("") == []
    (cut, rest) = passage_ranges("A title\n" + "x" * 3000)
    assert (cut, rest) == ((8, 2008), (2008, 3008))


def test_passages_containing_part_of_an_answer_are_relevant(tmp_path: Path) -> None:
    long = {"text": "Bats carry it. \n \nMethods", "start": ARTICLE.rindex("Bats")}
    read = corpus(tmp_path, long)
    (query,) = read.queries("test")
    assert (query.query_id, query.entity, query.text) == ("7", "What carries it?", "What carries it?")
    assert read.judgements("test") == [Judgement("7", "covidqa:1#1"), Judgement("7", "covidqa:1#2")]
    # White space behind an answer is none of it.
    short = {"text": "Bats carry it. \n \n", "start": ARTICLE.rindex("Bats")}
    assert corpus(tmp_path, short).judgements("test") == [Judgement("7", "covidqa:1#1")]
    assert not read.queries("train")
    assert not read.judgements("train")


def test_an_answer_outside_its_paragraphs_is_an_error(tmp_path: Path) -> None:
    answer = {"text": "Doe", "start": ARTICLE.index("Doe")}
    with pytest.raises(RecordError, match="an answer in a paragraph of its article"):
        corpus(tmp_path, answer).judgements("test")
    with pytest.raises(RecordError, match="an answer in a paragraph of its article"):
        corpus(tmp_path, {"text": "Bats", "start": ARTICLE.rindex("Bats")}, doc_id="covidqa:2").judgements("test")
    with pytest.raises(RecordError, match="a whole number in 'start'"):
        corpus(tmp_path, {"text": "Bats", "start": "3"}).judgements("test")
