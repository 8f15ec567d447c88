"""Consumer questions with graded answers, and that no experiment learns from them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import ValidationError

from auscult.documents import check_document
from auscult.errors import ConfigError, CorpusMissingError
from auscult.files.records import RecordError
from auscult.ingest.corpus import Judgement
from auscult_lab.cdv.experiment import CdvExperiment
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.corpora.questions import DEVELOPMENT, ConsumerQuestionsCorpus, answer_id
from auscult_lab.graphs.opening import open_graph
from needs import Needs

PAGE = "https://www.ninds.nih.gov/stroke"


def answer(grade: object, text: str | None, url: str = PAGE) -> dict[str, object]:
    return {"answer_id": "1_1", "reference_score": grade, "url": url, "text": text}


SHARED = answer(2, "Stroke: A stroke  is serious.")
GOOD: dict[str, object] = {
    "question_id": "1",
    "question": "What is  Stroke ?",
    "answers": [answer(4, "What is Stroke?: It is sudden."), answer(3, "A clot."), SHARED, answer(4, None)],
}
OTHERS: list[dict[str, object]] = [
    # Its one correct answer has no text.
    {"question_id": "2", "question": "What causes Stroke?", "answers": [answer(1, "Clots."), answer(4, None)]},
    {"question_id": "3", "question": "How to diagnose Stroke?", "answers": [SHARED | {"reference_score": 3}]},
]


def corpus_of(folder: Path, *rows: Mapping[str, object], skip_bad: bool = False) -> ConsumerQuestionsCorpus:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ConsumerQuestionsCorpus(path, skip_bad=skip_bad)


def test_every_distinct_answer_with_text_is_a_document(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, GOOD, *OTHERS)
    documents = [check_document(document) for document in corpus.documents()]
    texts = ["What is Stroke?: It is sudden.", "A clot.", "Stroke: A stroke  is serious.", "Clots."]
    assert [document.text for document in documents] == texts
    assert [document.doc_id for document in documents] == [answer_id(PAGE, text) for text in texts]
    assert [[passage.passage_id for passage in document.passages] for document in documents] == [
        [document.doc_id] for document in documents
    ]
    assert {(document.title, document.source, document.url) for document in documents} == {("", "ninds.nih.gov", PAGE)}
    assert list(corpus.documents(DEVELOPMENT)) == documents


def test_answerable_questions_are_queries_with_all_answers_judged(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, GOOD, *OTHERS)
    first, second = corpus.queries(DEVELOPMENT)
    assert (first.query_id, first.text, first.terms, first.aspects) == ("1", "What is Stroke ?", first.text, ())
    assert second.query_id == "3"
    grades = [("What is Stroke?: It is sudden.", 2), ("A clot.", 1), ("Stroke: A stroke  is serious.", 0)]
    own = [Judgement("1", answer_id(PAGE, text), relevance) for text, relevance in grades]
    assert corpus.judgements(DEVELOPMENT) == [*own, Judgement("3", answer_id(PAGE, "Stroke: A stroke  is serious."), 1)]
    assert corpus.candidates(DEVELOPMENT) == {}


def test_equal_texts_of_two_pages_are_two_answers(tmp_path: Path) -> None:
    twice = {**GOOD, "answers": [answer(4, "A clot."), answer(1, "A clot.", "https://nia.nih.gov/x")]}
    assert len(list(corpus_of(tmp_path, twice).documents())) == 2


@pytest.mark.parametrize("split", ["train", "test", "dev"])
def test_there_is_no_other_split(split: str, tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, GOOD)
    for read in (corpus.queries, corpus.judgements, lambda split: list(corpus.documents(split))):
        with pytest.raises(CorpusMissingError, match=f"'development' of consumer questions.*'{split}'"):
            read(split)


BAD: dict[str, tuple[dict[str, object], str]] = {
    "a grade in words": ({"answers": [answer("4", "A clot.")]}, r"1 to 4 in 'reference_score'.*'4'"),
    "a grade that is a truth": ({"answers": [answer(True, "A clot.")]}, r"1 to 4.*True"),
    "a grade in parts": ({"answers": [answer(2.5, None)]}, r"1 to 4.*2\.5"),
    "no such grade": ({"answers": [answer(5, "A clot.")]}, r"1 to 4.*5"),
    "no grade": ({"answers": [{"url": PAGE, "text": "A clot."}]}, "'reference_score'.*without it"),
    "no address": ({"answers": [{"reference_score": 4, "text": "A clot."}]}, "'url'"),
    "a text of another type": ({"answers": [{**SHARED, "text": 3}]}, "a string in 'text'"),
    "no answers": ({"answers": None}, "'answers'"),
    "no question": ({"question": " "}, "words in 'question'"),
    "no id": ({"question_id": None}, "'question_id'"),
    "a repeated answer": ({"answers": [SHARED, {**SHARED, "reference_score": 4}]}, "each answer of a question once"),
    "a repeated question": ({"question_id": "1"}, "'1' again"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_records_are_named_or_counted(kind: str, tmp_path: Path) -> None:
    change, message = BAD[kind]
    bad = {**OTHERS[0], **change}
    corpus = corpus_of(tmp_path, GOOD, bad)
    for read in (
        lambda: list(corpus.documents()),
        lambda: corpus.queries(DEVELOPMENT),
        lambda: corpus.judgements(DEVELOPMENT),
    ):
        with pytest.raises(RecordError, match=message) as caught:
            read()
        assert "line 2" in str(caught.value)
    lenient = corpus_of(tmp_path, GOOD, bad, skip_bad=True)
    assert len(list(lenient.documents())) == 3
    assert lenient.bad.total == 1
    with pytest.raises(RecordError, match="line 2"):
        lenient.queries(DEVELOPMENT)


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissingError, match="no such file"):
        ConsumerQuestionsCorpus(tmp_path / "none.jsonl").queries(DEVELOPMENT)


@pytest.mark.parametrize("field", ["corpora", "word_vectors.texts"])
def test_no_experiment_learns_from_them(field: str) -> None:
    chosen = {"name": "consumer-questions"}
    fields = {"name": "x", "model": "cdv", "track": "zero-shot", "validation": {"corpora": ["enwiki"]}}
    fields["corpora"] = [{"name": "enwiki"}, *([chosen] if field == "corpora" else [])]
    fields["word_vectors"] = {"texts": [chosen]} if field != "corpora" else {}
    with pytest.raises(ValidationError, match=f"{field}: consumer-questions is to measure models with, never to learn"):
        CdvExperiment.model_validate(fields)
    # What they ask may be kept out of training.
    CdvExperiment.model_validate(
        fields | {"corpora": [{"name": "enwiki"}], "word_vectors": {}, "never_learn": [chosen]}
    )


def test_no_graph_is_made_of_them() -> None:
    with pytest.raises(ConfigError, match="consumer-questions, which is only to measure"):
        open_graph("consumer-questions")


def test_the_prepared_file(needs: Needs) -> None:
    needs.data("consumer_questions/mediqa2019_alexa.jsonl.gz")
    corpus = open_corpus("consumer-questions")
    documents = {document.doc_id: check_document(document) for document in corpus.documents()}
    assert len(documents) == 248
    assert {len(document.passages) for document in documents.values()} == {1}
    assert len(corpus.queries(DEVELOPMENT)) == 72
    judgements = corpus.judgements(DEVELOPMENT)
    assert {judgement.passage_id for judgement in judgements} <= set(documents)
    assert Counter(judgement.relevance for judgement in judgements)[2] == 89
    assert Counter(judgement.relevance for judgement in judgements)[1] == 75
