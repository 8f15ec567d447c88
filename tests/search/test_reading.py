"""What is read from questions as people type them: which things, by which names, and which aspects."""

from __future__ import annotations

import re
from typing import cast

import pytest

from auscult.concepts import Concept, EntityResolver, KnowledgeBase
from auscult.encoders import load_model
from auscult.understanding import Query, QuestionParser
from auscult.understanding.aspects import ReadsAspects
from auscult.understanding.understand import Understanding, understand

KNOWN = KnowledgeBase(
    [
        Concept("DOID:419", "scleroderma", ("systemic sclerosis", "SSc")),
        Concept("DOID:3083", "chronic obstructive pulmonary disease", ("COPD",)),
        Concept("DOID:2377", "multiple sclerosis", ("MS",)),
        Concept("DOID:585", "nephrolithiasis", ("kidney stone", "calculus of kidney (disorder)", "kidney stone NOS")),
        Concept("DOID:10652", "Alzheimer's disease"),
        Concept("DOID:8469", "influenza", ("flu",)),
        Concept("DOID:9744", "type 1 diabetes mellitus", ("type 1 diabetes",)),
        Concept("DOID:9352", "type 2 diabetes mellitus", ("type 2 diabetes", "diabetes mellitus, type 2")),
        Concept("DOID:9169", "Wiskott-Aldrich syndrome", ("WAS", "eczema-thrombocytopenia syndrome")),
        Concept("MEDQUAD:1", "Ibuprofen", ("Advil",)),
        Concept("MEDQUAD:2", "Warfarin", ("Coumadin",)),
    ]
)
TITLES = {"gastroparesis": "Gastroparesis"}
READER = cast(ReadsAspects, load_model("fast"))
PARSER = QuestionParser(EntityResolver(KNOWN), titles=TITLES, aspects=READER)
TEXTS = frozenset({"sclerodema"})


def read(question: str, *, in_texts: frozenset[str] = frozenset()) -> Understanding:
    return understand(Query("q", "", text=question), PARSER, TITLES, in_texts.__contains__)


@pytest.mark.parametrize(
    ("question", "entity", "concept_id", "aspect"),
    [
        # misspelt, both what is asked and what of it; in a title alone
        ("simptoms of sclerodema", "scleroderma", "DOID:419", "symptoms"),
        ("what is gastroparesys", "gastroparesis", "", ""),
        # abbreviations, plurals, owners
        ("does MS run in families", "MS", "DOID:2377", "inheritance"),
        ("how to get rid of kidney stones", "kidney stones", "DOID:585", ""),
        ("Hi, my mother has alzheimers. What can she eat?", "alzheimers", "DOID:10652", "diet"),
        # medicines; what no vocabulary has
        ("what happens if I miss a dose of warfarin", "warfarin", "MEDQUAD:2", "missed dose"),
        ("shelf life of insulin after opening", "", "", "storage"),
        # another language, nothing to read
        ("Wie wird Bluthochdruck behandelt?", "", "", ""),
        ("asdf qwer zxcv", "", "", ""),
        ("Who won the world cup in 2014?", "", "", ""),
    ],
)
def test_one_thing_is_read(question: str, entity: str, concept_id: str, aspect: str) -> None:
    understood = read(question)
    assert (understood.asked, understood.query.entity_id) == (entity, concept_id)
    assert [each.asked for each in understood.entities] == [entity] * bool(entity)
    assert (understood.match is None) == (not concept_id)
    assert not aspect or aspect in list(understood.likely)[:2]


@pytest.mark.parametrize(
    ("question", "names", "concept_ids"),
    [
        ("can I take ibuprofen with warfarin", ("ibuprofen", "warfarin"), ("MEDQUAD:1", "MEDQUAD:2")),
        ("COPD vs influenza", ("COPD", "influenza"), ("DOID:3083", "DOID:8469")),
        ("symptoms of COPD and flu", ("COPD", "flu"), ("DOID:3083", "DOID:8469")),
    ],
)
def test_several_entities_in_a_question_are_recognised(
    question: str, names: tuple[str, ...], concept_ids: tuple[str, ...]
) -> None:
    understood = read(question)
    assert tuple(entity.asked for entity in understood.entities) == names
    ids = tuple(entity.match.concept.concept_id if entity.match else "" for entity in understood.entities)
    assert ids == concept_ids
    assert tuple(entity.names[0] for entity in understood.entities) == names


def test_an_aspect_is_told_with_its_probability() -> None:
    assert re.search(r"asked about: inheritance \(\d+%\)", read("does MS run in families").note)
    assert re.search(r"asked about: treatment \(\d+%\)", read("what do doctors give people for MS").note)
    unsure = read("what did the doctor say of MS yesterday").note
    assert re.search(r"asked about: not sure, perhaps [a-z ]+ \(\d+%\)", unsure)


def names(question: str) -> tuple[str, ...]:
    (entity,) = read(question).entities
    return entity.names


def test_only_names_that_texts_use_are_searched() -> None:
    assert names("how to get rid of kidney stones") == ("kidney stones", "nephrolithiasis", "calculus of kidney")
    # Neither "was" nor an inverted name besides the plain one.
    assert names("treatment of Wiskott-Aldrich syndrome") == (
        "Wiskott-Aldrich syndrome",
        "eczema-thrombocytopenia syndrome",
    )
    assert names("type 2 diabetes") == ("type 2 diabetes", "type 2 diabetes mellitus")


def test_corrections_are_reported_and_spare_collection_words() -> None:
    question = "symptoms of sclerodema"
    understood = read(question)
    assert understood.note.startswith("read 'sclerodema' as 'scleroderma'; may be about: scleroderma (DOID:419)")
    assert understood.query.text == "symptoms of scleroderma"
    kept = read(question, in_texts=TEXTS)
    assert (kept.asked, kept.match, kept.query.text, kept.corrections) == ("sclerodema", None, question, ())
    # Everyday words look like medicine's.
    assert read("generic name for advil").corrections == ()


def test_a_whole_question_is_no_name() -> None:
    question = "How is the flu treated?"
    as_corpora_have_it = understand(Query("q", question, text=question), PARSER, TITLES)
    assert as_corpora_have_it == read(question)
    assert as_corpora_have_it.query.entity == "flu"
    nothing = "Who won the world cup in 2014?"
    assert understand(Query("q", nothing, text=nothing), PARSER, TITLES).query.entity == ""


def test_what_somebody_gives_is_certain() -> None:
    titles = {"influenza": "Influenza", "nephrolithiasis": "Nephrolithiasis"}
    given = understand(Query("q", "flu", ("treatment",)), PARSER, titles).query
    assert (given.entity, given.likelihoods, given.titled) == ("Influenza", (), False)


def test_ordinary_and_collection_words_are_no_misspelt_names() -> None:
    assert read("What is generic?").entities == ()
    assert [each.match for each in read("what is sclerodema", in_texts=TEXTS).entities] == [None]


def test_entities_are_renamed_to_their_documents_title() -> None:
    titles = {"nephrolithiasis": "Nephrolithiasis"}
    parser = QuestionParser(PARSER.resolver, titles=titles, aspects=READER)
    query = understand(Query("q", "", text="How are Kidney Stones treated?"), parser, titles).query
    assert (query.entity, query.text) == ("Nephrolithiasis", "How are Nephrolithiasis treated?")
    assert "Kidney Stones" in query.names


def test_names_of_several_things_are_kept_apart() -> None:
    query = read("can I take advil and warfarin together").query
    assert query.several == (("advil", "Ibuprofen"), ("warfarin", "Coumadin"))
    assert {"advil", "Ibuprofen", "warfarin", "Coumadin"} <= set(query.all_names)
    assert read("symptoms of COPD").query.several == ()
