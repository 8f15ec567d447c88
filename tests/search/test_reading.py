"""What is read from questions as people type them: which things, by which names, and which aspects."""

from __future__ import annotations

import pytest

from auscult.concepts import Concept, EntityResolver, KnowledgeBase
from auscult.queries import Query, QuestionParser
from auscult.search.understanding import Understanding, understand

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
        ("should pregnant women get the flu shot", "flu shot", "", ("pregnancy",)),
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
    ("question", "asked", "concept_ids", "aspect"),
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
def test_several_things_are_told_apart(
    question: str, asked: tuple[str, ...], concept_ids: tuple[str, ...], aspect: str
) -> None:
    understood = read(question)
    assert tuple(each.asked for each in understood.entities) == asked
    found = tuple(each.match.concept.concept_id if each.match else "" for each in understood.entities)
    assert found == concept_ids
    assert understood.query.aspects == (aspect,)
    assert understood.names[0] == asked[0]
    assert set(asked) <= set(understood.names)


def test_names_are_those_that_texts_have() -> None:
    assert read("how to get rid of kidney stones").names == ("kidney stones", "nephrolithiasis", "calculus of kidney")
    # Neither "was" nor an inverted name besides the plain one.
    assert read("treatment of Wiskott-Aldrich syndrome").names == (
        "Wiskott-Aldrich syndrome",
        "eczema-thrombocytopenia syndrome",
    )
    assert read("type 2 diabetes").names == ("type 2 diabetes", "type 2 diabetes mellitus")
    assert read("how is a colonoscopy done").names == ("colonoscopy",)


def test_a_correction_is_told_and_never_of_a_word_of_the_collection() -> None:
    question = "symptoms of sclerodema"
    understood = read(question)
    assert understood.note.startswith("read 'sclerodema' as 'scleroderma'; understood as: scleroderma (DOID:419)")
    assert understood.query.text == "symptoms of scleroderma"
    kept = read(question, in_texts=TEXTS)
    assert (kept.asked, kept.match, kept.query.text, kept.corrections) == ("sclerodema", None, question, ())
    # Everyday words look like medicine's.
    assert read("generic name for advil").corrections == ()
