"""What is read from questions as people type them: which things, by which names, and which aspects."""

from __future__ import annotations

import pytest

from auscult.concepts import Concept, EntityResolver, KnowledgeBase
from auscult.understanding import Query, QuestionParser
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
PARSER = QuestionParser(EntityResolver(KNOWN), titles=TITLES)
TEXTS = frozenset({"sclerodema"})


def read(question: str, *, in_texts: frozenset[str] = frozenset()) -> Understanding:
    return understand(Query("q", "", text=question), PARSER, TITLES, in_texts.__contains__)


@pytest.mark.parametrize(
    ("question", "entity", "concept_id", "aspects"),
    [
        # misspelt, both what is asked and what of it; in a title alone
        ("simptoms of sclerodema", "scleroderma", "DOID:419", ("symptoms",)),
        ("what is gastroparesys", "gastroparesis", "", ("information",)),
        ("is MS contagious in adults", "MS", "DOID:2377", ("transmission",)),
        # abbreviations, plurals, owners
        ("What is the life expectancy with COPD?", "COPD", "DOID:3083", ("prognosis",)),
        ("does MS run in families", "MS", "DOID:2377", ("inheritance",)),
        ("how to get rid of kidney stones", "kidney stones", "DOID:585", ("treatment",)),
        ("Hi, my mother has alzheimers. What foods are ok?", "alzheimers", "DOID:10652", ("diet",)),
        # medicines, tests; what no vocabulary has; a name that only describes
        ("how much advil can I take in a day", "advil", "MEDQUAD:1", ("dosage",)),
        ("what happens if I miss a dose of warfarin", "warfarin", "MEDQUAD:2", ("missed dose",)),
        ("shelf life of insulin after opening", "insulin", "", ("storage",)),
        ("how is a colonoscopy done", "colonoscopy", "", ("procedure",)),
        ("should pregnant women get the flu shot", "flu", "DOID:8469", ("pregnancy",)),
        # another language, nothing to read
        ("Wie wird Bluthochdruck behandelt?", "", "", ()),
        ("asdf qwer zxcv", "", "", ()),
        ("Who won the world cup in 2014?", "", "", ()),
    ],
)
def test_one_thing_is_read(question: str, entity: str, concept_id: str, aspects: tuple[str, ...]) -> None:
    understood = read(question)
    assert (understood.asked, understood.query.entity_id, understood.query.aspects) == (entity, concept_id, aspects)
    assert [each.asked for each in understood.entities] == [entity] * bool(entity)
    assert (understood.match is None) == (not concept_id)
    assert bool(understood.query.entity) == bool(entity)


@pytest.mark.parametrize(
    ("question", "names", "concept_ids", "aspect"),
    [
        ("can I take ibuprofen with warfarin", ("ibuprofen", "warfarin"), ("MEDQUAD:1", "MEDQUAD:2"), "interactions"),
        ("is st john's wort safe with advil", ("st john's wort", "advil"), ("", "MEDQUAD:1"), "interactions"),
        (
            "He has a fever. Should I give him advil or warfarin?",
            ("advil", "warfarin"),
            ("MEDQUAD:1", "MEDQUAD:2"),
            "information",
        ),
        ("COPD vs influenza", ("COPD", "influenza"), ("DOID:3083", "DOID:8469"), "information"),
        ("symptoms of COPD and flu", ("COPD", "flu"), ("DOID:3083", "DOID:8469"), "symptoms"),
        (
            "difference between type 1 and type 2 diabetes",
            ("type 1 diabetes", "type 2 diabetes"),
            ("DOID:9744", "DOID:9352"),
            "information",
        ),
    ],
)
def test_several_entities_in_a_question_are_recognised(
    question: str, names: tuple[str, ...], concept_ids: tuple[str, ...], aspect: str
) -> None:
    understood = read(question)
    assert tuple(entity.asked for entity in understood.entities) == names
    ids = tuple(entity.match.concept.concept_id if entity.match else "" for entity in understood.entities)
    assert ids == concept_ids
    assert understood.query.aspects == (aspect,)
    assert tuple(entity.names[0] for entity in understood.entities) == names


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
    assert names("how is a colonoscopy done") == ("colonoscopy",)


def test_corrections_are_reported_and_spare_collection_words() -> None:
    question = "symptoms of sclerodema"
    understood = read(question)
    assert understood.note.startswith("read 'sclerodema' as 'scleroderma'; understood as: scleroderma (DOID:419)")
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


def test_doubtful_names_are_reported_and_rename_nothing() -> None:
    titles = {"influenza": "Influenza", "nephrolithiasis": "Nephrolithiasis"}
    understood = understand(Query("q", "", text="should kids with kidney stones get the flu shot"), PARSER, titles)
    assert understood.note == "may be about: nephrolithiasis (DOID:585), influenza (DOID:8469)"
    assert understood.query.text == "should kids with Nephrolithiasis get the flu shot"
    assert (understood.query.likelihoods, understood.query.titled) == ((1, 0.5), False)
    # What somebody gives is certain.
    given = understand(Query("q", "flu", ("treatment",)), PARSER, titles).query
    assert (given.entity, given.likelihoods, given.titled) == ("Influenza", (), False)


def test_ordinary_and_collection_words_are_no_misspelt_names() -> None:
    assert [each.match for each in read("What is generic?").entities] == [None]
    assert [each.match for each in read("what is sclerodema", in_texts=TEXTS).entities] == [None]


GLAD = "Thank you so much for your help with this, we are grateful for anything that you can say."


@pytest.mark.parametrize(
    ("message", "entity", "aspects", "gist"),
    [
        # what somebody was told to have, and not a part of a sentence behind "treat"
        (
            "Hi, my husband is 52 and he was told he has COPD after coughing for years. The doctor gave him pills but "
            f"we would like to know what else can be done to treat it and stop it. {GLAD}",
            "COPD",
            ("treatment",),
            "COPD. what else can be done to treat it and stop it.",
        ),
        # all of what is told may be meant
        (
            "I have had gastroparesis since I was a child. My cousin has chronic obstructive pulmonary disease. I am "
            "tired and sick all the time. What are the signs that it is getting worse?",
            "gastroparesis and chronic obstructive pulmonary disease",
            ("symptoms", "prognosis"),
            "gastroparesis and chronic obstructive pulmonary disease. What are the signs that it is getting worse?",
        ),
        # what is asked first is what it is about
        (
            "My father takes a lot of pills for his heart and his lungs, and he is 81 years old now. What are the side "
            "effects of warfarin? He has the flu now. Can he go out?",
            "warfarin",
            ("side effects",),
            "What are the side effects of warfarin? Can he go out?",
        ),
        # a medicine that no vocabulary has, though something else is told
        (
            "My mother has the flu and she is 81 years old now, and she takes a lot of pills every day and all night. "
            "What are the side effects of zorbimab?",
            "zorbimab",
            ("side effects",),
            "What are the side effects of zorbimab?",
        ),
        # nothing is asked: all of it is
        (f"My mother has scleroderma and she feels very bad about it every day and all night. {GLAD}", "scleroderma",
         ("information",), ""),
    ],
)  # fmt: skip
def test_long_messages_are_read_for_entity_and_gist(
    message: str, entity: str, aspects: tuple[str, ...], gist: str
) -> None:
    query = read(message).query
    assert (query.entity, query.aspects, query.gist) == (entity, aspects, gist)
    assert query.text == message


def test_entities_are_renamed_to_their_documents_title() -> None:
    titles = {"nephrolithiasis": "Nephrolithiasis"}
    query = understand(Query("q", "", text="How are Kidney Stones treated?"), PARSER, titles).query
    assert (query.entity, query.text) == ("Nephrolithiasis", "How are Nephrolithiasis treated?")
    assert "Kidney Stones" in query.names
    # No part of another word.
    short = understand(Query("q", "", text="symptoms of MS"), PARSER, {"multiple sclerosis": "Multiple sclerosis"})
    assert short.query.text == "symptoms of Multiple sclerosis"


def test_names_of_several_things_are_kept_apart() -> None:
    query = read("can I take advil and warfarin together").query
    assert query.several == (("advil", "Ibuprofen"), ("warfarin", "Coumadin"))
    assert {"advil", "Ibuprofen", "warfarin", "Coumadin"} <= set(query.all_names)
    assert read("symptoms of COPD").query.several == ()
