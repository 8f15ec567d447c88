"""From what a person gives to a query."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auscult.concepts import EntityResolver, KnowledgeBase, normalise_heading, normalise_name
from auscult.errors import QueryError
from auscult.understanding import Query, QuestionParser, Reading
from auscult.understanding.understand import Understanding, understand
from needs import Needs
from places import DATA

TAXONOMIES = DATA / "concepts"


@pytest.fixture(scope="module")
def parser() -> QuestionParser:
    names = ("small.obo", "entities.tsv", "triples.tsv", "codes.tsv")
    return QuestionParser(EntityResolver(KnowledgeBase.from_files([TAXONOMIES / name for name in names])))


def about(reading: Reading) -> str:
    return " and ".join(each.words for each in reading.entities)


@pytest.mark.parametrize(
    ("question", "entity", "aspects"),
    [
        ("What are the symptoms of IgA nephropathy?", "IgA nephropathy", ("symptoms",)),
        ("what are the signs of a heart attack", "heart attack", ("symptoms",)),
        ("How do I know if I have leukemia?", "leukemia", ("symptoms",)),
        ("How is Alzheimer's disease treated?", "Alzheimer's disease", ("treatment",)),
        ("Is there a cure for ALS?", "ALS", ("treatment",)),
        ("What causes headaches", "headaches", ("causes",)),
        ("Is haemophilia A inherited ?", "haemophilia A", ("inheritance",)),
        ("How common is hypothyroidism?", "hypothyroidism", ("frequency",)),
        ("What is the outlook for acute leukemia?", "acute leukemia", ("prognosis",)),
        ("Is acute leukemia curable?", "acute leukemia", ("prognosis",)),
        ("How to diagnose liver cirrhosis ?", "liver cirrhosis", ("diagnosis",)),
        ("How can I prevent a heart attack?", "heart attack", ("prevention",)),
        ("Who is at risk for AIDS? ?", "AIDS", ("risk factors",)),
        ("Is AIDS contagious?", "AIDS", ("transmission",)),
        ("What is (are) leukemia ?", "leukemia", ("information",)),
        ("leukemia", "leukemia", ("information",)),
        ("symptoms and treatment of leukemia", "leukemia", ("symptoms", "treatment")),
        ("heart attack causes & prevention", "heart attack", ("causes", "prevention")),
        ("My father had a heart attack, what is his life expectancy", "heart attack", ("prognosis",)),
        ("What are the symptoms of my father's leukemia?", "leukemia", ("symptoms",)),
        ("What are the symptoms of leukemia in children?", "leukemia", ("symptoms",)),
        ("What are the treatments for Zanzibar syndrome?", "Zanzibar syndrome", ("treatment",)),
        ("is it serious?", "", ("prognosis",)),
        ("How is leukemia treated and prevented?", "leukemia", ("treatment", "prevention")),
        ("What is leukemia and how is it treated?", "leukemia", ("treatment",)),
        ("What causes leukemia and what are its symptoms?", "leukemia", ("causes", "symptoms")),
        ("What causes Zanzibar syndrome, and what are its symptoms?", "Zanzibar syndrome", ("causes", "symptoms")),
        ("How is acute leukemia diagnosed and treated?", "acute leukemia", ("diagnosis", "treatment")),
        ("How is leukemia managed?", "leukemia", ("management",)),
        (
            "What are the treatments for headaches and genetic leukemia?",
            "headaches and leukemia",
            ("treatment", "genetics"),
        ),
    ],
)
def test_read(parser: QuestionParser, question: str, entity: str, aspects: tuple[str, ...]) -> None:
    reading = parser.read(question)
    assert reading.aspects == aspects
    if entity:
        assert about(reading) == entity
    else:
        assert normalise_name(about(reading)) not in parser.resolver.knowledge_base.name_index


@pytest.mark.parametrize(
    ("question", "entity", "aspects"),
    [
        ("I had a heart attack. What are the side effects of colchicine?", "colchicine", ("side effects",)),
        ("Hi, could you please tell me what causes leukemia?", "leukemia", ("causes",)),
        ("My son was diagnosed with leukemia. What foods are ok?", "leukemia", ("diet",)),
        ("Does lipitor cause headaches?", "headaches", ("causes",)),
        ("He has leukemia. Can he take aspirin with warfarin?", "aspirin and warfarin", ("interactions",)),
        # Told and asked without a stop between; what is asked has no name of its own.
        ("my mom was just diagnosed with leukemia how long does she have", "leukemia", ("prognosis",)),
        ("diagnosed with leukemia what tests do i need next", "leukemia", ("diagnosis",)),
        ("I was recently diagnosed with leukemia. What are my treatment options?", "leukemia", ("treatment",)),
        ("have leukemia what causes flare ups", "leukemia", ("causes",)),
        ("I have leukemia. What are my options?", "leukemia", ("information",)),
        ("I have leukemia. What is zurlip?", "zurlip", ("information",)),
        ("my brother has ALS will it get worse", "ALS", ("prognosis",)),
        ("Is leukemia passed on to children?", "leukemia", ("inheritance",)),
        ("chances of passing on leukemia", "leukemia", ("inheritance",)),
        ("How long do people with leukemia have to live?", "leukemia", ("prognosis",)),
        ("he has leukemia can i catch it", "leukemia", ("transmission",)),
        ("what are my odds of getting leukemia if my mother had it", "leukemia", ("risk factors",)),
        ("is leukemia always deadly", "leukemia", ("prognosis",)),
        # What no aspect has a name for is not asked of what something is.
        ("Can I drive with leukemia?", "leukemia", ()),
        ("My father has leukemia. May he go swimming?", "leukemia", ()),
        ("Does stress make leukemia worse?", "leukemia", ()),
        ("What is the role of antibodies in leukemia?", "leukemia", ()),
        ("I have leukemia. Is it safe to fly?", "leukemia", ("precautions",)),
        ("Is it safe to get a tattoo after a heart attack?", "heart attack", ("precautions",)),
        ("My father has leukemia.", "leukemia", ("information",)),
        ("Can you tell me something about leukemia?", "leukemia", ("information",)),
        ("Could somebody please explain leukemia to me", "leukemia", ("information",)),
    ],
)
def test_the_asked_entity_is_read_not_the_longest(
    parser: QuestionParser, question: str, entity: str, aspects: tuple[str, ...]
) -> None:
    reading = parser.read(question)
    assert (about(reading), reading.aspects) == (entity, aspects)


def test_entity_of_an_aspect_counts_more_than_others(parser: QuestionParser) -> None:
    reading = parser.read("After a heart attack, are there known treatment options for leukemia")
    assert [(each.words, each.likelihood) for each in reading.entities] == [("heart attack", 0.5), ("leukemia", 1)]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        # a word that describes another one; a short word; what nothing lists
        ("Where does TDP43 localize in ALS neurons?", "ALS"),
        ("how is als treated", "als"),
        ("What are the side effects of zorbimab?", "zorbimab"),
    ],
)
def test_what_may_be_no_name_counts_by_half(parser: QuestionParser, question: str, name: str) -> None:
    assert [(each.words, each.likelihood) for each in parser.read(question).entities] == [(name, 0.5)]


@pytest.mark.parametrize(
    "question",
    ["He cannot swallow well", "What does the patient take at discharge?", "Are men more often ill than women?"],
)
def test_ordinary_words_name_nothing(parser: QuestionParser, question: str) -> None:
    assert parser.read(question) == Reading((), ())


def test_what_somebody_does_is_no_entity(parser: QuestionParser) -> None:
    reading = parser.read("Is it safe to fly while pregnant?")
    assert "precautions" in reading.aspects
    # As what is asked about, like an illness, or as an aspect, like that of a drug: either finds it.
    assert "pregnan" in " ".join([about(reading), *reading.aspects])
    assert "fly" not in about(reading)


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
    assert (query.entity, query.aspects, query.entity_id) == ("leukemia", ("causes",), "DOID:1240")


def test_words_beside_a_name_leave_the_entity_alone(parser: QuestionParser) -> None:
    query = read(parser, text="What are the symptoms of leukemia in children?").query
    assert (query.entity, query.entity_id) == ("leukemia", "DOID:1240")


def test_given_parts_win_over_the_question(parser: QuestionParser) -> None:
    query = read(parser, "AIDS", text="What causes leukemia?").query
    assert (query.entity, query.aspects) == ("AIDS", ("causes",))
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


def test_medquad_training_questions(taxonomies: KnowledgeBase, needs: Needs) -> None:
    same = {
        "genetics": "genetic mechanism",
        "inheritance": "genetic inheritance",
        "research": "research directions",
        "management": "management considerations",
    }
    with gzip.open(needs.file("medquad/queries_train.jsonl.gz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][1::10]
    parser = QuestionParser(EntityResolver(taxonomies), titles={normalise_name(row["entity"]) for row in rows})
    readings = [(row, parser.read(row["text"])) for row in rows]
    aspects = sum(
        same.get(reading.aspects[0], reading.aspects[0]) in normalise_heading(row["aspect_heading"])
        if reading.aspects
        else False
        for row, reading in readings
    )
    entities = sum(normalise_name(about(reading)) == normalise_name(row["entity"]) for row, reading in readings)
    assert aspects / len(rows) > 0.99
    assert entities / len(rows) > 0.98
