"""From what a person gives to a query."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auscult.concepts import EntityResolver, KnowledgeBase, normalise_name
from auscult.encoders import load_model
from auscult.errors import QueryError
from auscult.understanding import Query, QuestionParser, QuestionReading
from auscult.understanding.aspects import ReadsAspects
from auscult.understanding.understand import Understanding, understand
from needs import Needs
from places import DATA

TAXONOMIES = DATA / "concepts"


@pytest.fixture(scope="module")
def parser() -> QuestionParser:
    names = ("small.obo", "entities.tsv", "triples.tsv", "codes.tsv")
    return QuestionParser(EntityResolver(KnowledgeBase.from_files([TAXONOMIES / name for name in names])))


def about(reading: QuestionReading) -> str:
    return " and ".join(each.words for each in reading.entities)


@pytest.mark.parametrize(
    ("question", "entity"),
    [
        ("What are the symptoms of IgA nephropathy?", "IgA nephropathy"),
        ("what are the signs of a heart attack", "heart attack"),
        ("How is Alzheimer's disease treated?", "Alzheimer's disease"),
        ("Is there a cure for ALS?", "ALS"),
        ("Is haemophilia A inherited ?", "haemophilia A"),
        ("Is acute leukemia curable?", "acute leukemia"),
        ("leukemia", "leukemia"),
        ("symptoms and treatment of leukemia", "leukemia"),
        ("my brother has ALS will it get worse", "ALS"),
        ("He cannot swallow well", ""),
        ("What are the treatments for Zanzibar syndrome?", "Zanzibar syndrome"),
        ("What are the side effects of zorbimab?", "zorbimab"),
    ],
)
def test_names_are_found(parser: QuestionParser, question: str, entity: str) -> None:
    assert about(parser.read(question)) == entity


@pytest.mark.parametrize(
    ("question", "asking"),
    [
        ("How is Alzheimer's disease treated?", "How is this treated?"),
        ("my brother has ALS will it get worse", "my brother has this will it get worse"),
        ("leukemia", ""),
        ("leukemia and heart attack: which is worse", "this: which is worse"),
        ("what can be done", "what can be done"),
    ],
)
def test_what_is_asked_has_no_names(parser: QuestionParser, question: str, asking: str) -> None:
    assert parser.read(question).asking == asking


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("How is Alzheimer's disease treated?", "How is this disease treated?"),
        ("leukemia and heart attack: which is worse", "this disease: which is worse"),
        ("side effects of zorbimab", "side effects of this"),
        ("what can be done", "what can be done"),
    ],
)
def test_a_diseases_kind_is_read(parser: QuestionParser, question: str, read: str) -> None:
    assert parser.asked_with_kinds(question, parser.names(question)) == read


def test_names_of_several_kinds_stay_apart(parser: QuestionParser) -> None:
    collection = QuestionParser(parser.resolver, titles={"zorbimab"})
    question = "zorbimab for leukemia"
    assert collection.asked_with_kinds(question, collection.names(question)) == "this for this disease"


def test_titles_of_the_collection_are_likelier(parser: QuestionParser) -> None:
    collection = QuestionParser(parser.resolver, titles={"heart attack"})
    likelihoods = {each.words: each.likelihood for each in collection.read("leukemia after a heart attack").entities}
    assert likelihoods["heart attack"] > likelihoods["leukemia"]


def test_no_aspects_without_a_model_that_reads(parser: QuestionParser) -> None:
    reading = parser.read("What causes leukemia?")
    assert (reading.aspects, reading.likely) == ((), {})


def test_aspects_come_from_the_model(parser: QuestionParser) -> None:
    model = load_model("fast")
    assert isinstance(model, ReadsAspects)
    reading = QuestionParser(parser.resolver, aspects=model).read("What causes leukemia?")
    assert "causes" in reading.aspects
    assert next(iter(reading.likely)) == "causes"


def read(parser: QuestionParser, entity: str = "", aspects: tuple[str, ...] = (), text: str = "") -> Understanding:
    return understand(Query("", entity, aspects, text=text), parser)


def test_own_words_stay_and_the_id_is_set(parser: QuestionParser) -> None:
    understood = read(parser, "Heart attack", ("Signs and symptoms", "symptoms"))
    query = understood.query
    assert (query.entity, query.entity_id, query.aspects) == ("Heart attack", "DOID:5844", ("signs", "symptoms"))
    assert understood.match is not None
    assert understood.match.kind == "synonym"
    assert query.text == ""


def test_an_identifier_becomes_the_preferred_name(parser: QuestionParser) -> None:
    query = read(parser, "umls:c0027051", ("treatment",)).query
    assert (query.entity, query.entity_id) == ("myocardial infarction", "DOID:5844")
    with pytest.raises(QueryError, match="DOID:123456"):
        read(parser, "DOID:123456", ("treatment",))


def test_identifier_like_question_word_stays_a_word(parser: QuestionParser) -> None:
    understood = read(parser, text="What is EURON:roblis?")
    assert (understood.query.text, understood.query.entity_id, understood.match) == ("What is EURON:roblis?", "", None)


def test_a_question_keeps_its_text(parser: QuestionParser) -> None:
    query = read(parser, text=" What causes leukemia? ").query
    assert query.text == "What causes leukemia?"
    assert (query.entity, query.entity_id, query.asking) == ("leukemia", "DOID:1240", "What causes this?")


def test_words_beside_a_name_leave_the_entity_alone(parser: QuestionParser) -> None:
    query = read(parser, text="What are the symptoms of leukemia in children?").query
    assert (query.entity, query.entity_id) == ("leukemia", "DOID:1240")


def test_given_parts_win_over_the_question(parser: QuestionParser) -> None:
    query = read(parser, "AIDS", text="What causes leukemia?").query
    assert (query.entity, query.asking) == ("AIDS", "What causes this?")
    understood = read(parser, "Zanzibar syndrome", text="What causes leukemia in children?")
    assert (understood.query.entity, understood.query.entity_id, understood.match) == ("Zanzibar syndrome", "", None)
    query = read(parser, aspects=("outlook",), text="What causes leukemia?").query
    assert (query.entity, query.aspects) == ("leukemia", ("outlook",))


def test_unknown_words_stay_unresolved(parser: QuestionParser) -> None:
    understood = read(parser, "Zanzibar syndrome")
    query = understood.query
    assert (query.entity, query.entity_id, query.aspects) == ("Zanzibar syndrome", "", ())
    assert understood.match is None


@pytest.mark.parametrize(
    "text",
    [
        "???",
        "Could somebody please tell me why I always wake up so early?",
    ],
)
def test_question_without_a_name_gives_no_entity(parser: QuestionParser, text: str) -> None:
    understood = read(parser, text=text)
    assert (understood.query.entity, understood.query.text, understood.match) == ("", text, None)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(["what", "is", "the", "of", "symptoms", "leukemia", "and", "?", "treat"]),
            st.text(max_size=8),
        ),
        max_size=12,
    ).map(" ".join)
)
def test_reading_never_fails(parser: QuestionParser, question: str) -> None:
    reading = parser.read(question)
    assert all(each.words in " ".join(question.split()) for each in reading.entities)
    assert all(0 < each.likelihood <= 1 for each in reading.entities)


@pytest.mark.slow
def test_medquad_training_questions(taxonomies: KnowledgeBase, needs: Needs) -> None:
    with gzip.open(needs.file("medquad/queries_train.jsonl.gz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][1::10]
    parser = QuestionParser(EntityResolver(taxonomies), titles={normalise_name(row["entity"]) for row in rows})
    readings = [(row, parser.read(row["text"])) for row in rows]
    likeliest = [
        (row, max(reading.entities, key=lambda each: each.likelihood, default=None)) for row, reading in readings
    ]
    entities = sum(
        best is not None and normalise_name(best.words) == normalise_name(row["entity"]) for row, best in likeliest
    )
    assert entities / len(rows) > 0.97
