"""Aspects: their names, their questions, and what the shipped encoder reads in any wording."""

from __future__ import annotations

import pytest

from auscult.concepts import EntityResolver, KnowledgeBase
from auscult.encoders import load_model
from auscult.understanding import QuestionParser
from auscult.understanding.aspects import QUESTIONS, ReadsAspects, question_about

FOUR = ["en", "fr", "es", "de"]


def test_each_aspect_has_a_question_with_a_name() -> None:
    assert all(question.count("{e}") == 1 for question in QUESTIONS.values())
    assert len(set(QUESTIONS.values())) == len(QUESTIONS)


def test_a_question_about_an_aspect_names_the_thing() -> None:
    assert question_about("treatment", "gout") == "How is gout treated?"
    assert question_about("house rules", "gout") == "House rules of gout?"


@pytest.fixture(scope="module", params=["fast", "best"])
def reader(request: pytest.FixtureRequest) -> ReadsAspects:
    model = load_model(request.param)
    assert isinstance(model, ReadsAspects)
    return model


def test_shipped_encoders_know_the_aspects_with_questions(reader: ReadsAspects) -> None:
    (likely,) = reader.read_aspects(["how is this treated"])
    assert set(likely) == set(QUESTIONS)
    assert sum(likely.values()) == pytest.approx(1, abs=1e-4)
    assert list(likely.values()) == sorted(likely.values(), reverse=True)


@pytest.mark.parametrize(
    ("asking", "aspects"),
    [
        ("do many people have this", {"frequency"}),
        ("is this rare", {"frequency"}),
        ("can my children get this from me", {"inheritance", "transmission"}),
        ("what is wrong in the DNA in this", {"genetic changes"}),
        ("how can they be sure that it is this", {"diagnosis"}),
        ("what do doctors give people for this disease", {"treatment"}),
        ("i forgot my this last night", {"missed dose"}),
        ("what runs through the mind of a beta blocker", set()),
    ],
)
def test_an_aspect_is_read_in_any_wording(reader: ReadsAspects, asking: str, aspects: set[str]) -> None:
    (likely,) = reader.read_aspects([asking])
    first = list(likely)[:2]
    assert not aspects or aspects.intersection(first), likely


def test_best_reads_what_doctors_give() -> None:
    model = load_model("best")
    assert isinstance(model, ReadsAspects)
    (likely,) = model.read_aspects(["what do doctors give people for this"])
    assert {"treatment", "uses", "medications"}.intersection(list(likely)[:3]), likely


@pytest.mark.parametrize(
    ("read", "languages", "named", "aspects"),
    [
        (FOUR, ["de"], "Nebenwirkungen", ("side effects",)),
        (FOUR, ["en", "fr"], "posologie", ("dosage",)),
        (FOUR, ["fr"], "Nebenwirkungen", ("side effects",)),
        (FOUR, ["de", "fr"], "Signs and symptoms", ("signs", "symptoms")),
        (FOUR, ["de"], "house rules", ("house rules",)),
        (FOUR, ["en"], "Nebenwirkungen", ("nebenwirkungen",)),
        (FOUR, ["en"], "labor", ("labor",)),
        (["en"], ["de"], "Nebenwirkungen", ("nebenwirkungen",)),
    ],
)
def test_named_aspects_of_languages_that_are_read(
    read: list[str], languages: list[str], named: str, aspects: tuple[str, ...]
) -> None:
    parser = QuestionParser(EntityResolver(KnowledgeBase([])), aspect_languages=read)
    assert parser.aspects_named(named, languages) == aspects
