"""cpgQA: half of the questions are held back, and an answer is where its text says."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.files.records import RecordError
from auscult_lab.corpora.cpgqa import QUESTIONS, CpgQaCorpus
from auscult_lab.corpora.opening import open_corpus
from needs import Needs
from small_corpora import CORPORA


def test_splits_divide_questions_and_share_all_paragraphs(tmp_path: Path) -> None:
    corpus = CORPORA["cpgqa"](tmp_path)
    train, test = ({query.query_id for query in corpus.queries(split)} for split in ("train", "test"))
    assert train
    assert test
    assert not train & test
    assert [*corpus.documents("train")] == [*corpus.documents("test")] == [*corpus.documents()]


def test_answers_lie_at_their_offsets(needs: Needs) -> None:
    needs.data("qa/cpgqa_questions.jsonl.gz")
    corpus = open_corpus("cpgqa")
    assert isinstance(corpus, CpgQaCorpus)
    texts = {document.doc_id: document.text for document in corpus.documents()}
    places = {**corpus.answers("train"), **corpus.answers("test")}
    assert len(places) == 1097
    for answers in places.values():
        for place in answers:
            assert 0 <= place.begin < place.end <= len(texts[place.passage_id])


def test_an_offset_that_is_no_number_is_refused(tmp_path: Path) -> None:
    corpus = CORPORA["cpgqa"](tmp_path)
    file = tmp_path / QUESTIONS
    file.write_text(file.read_text(encoding="utf-8").replace('"begin": 0', '"begin": "0"'), encoding="utf-8")
    with pytest.raises(RecordError, match="whole numbers in 'grade', 'begin' and 'length'"):
        [*corpus.judgements("train"), *corpus.judgements("test")]
