"""Questions in other languages are not read as English ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from auscult.concepts import Concept, EntityResolver, KnowledgeBase
from auscult.encoders import load_model
from auscult.understanding import Query, QuestionParser
from auscult.understanding.aspects import ReadsAspects
from auscult.understanding.conversation import understand_next
from auscult.understanding.question_language import QuestionLanguage, read_language
from auscult.understanding.understand import Understanding, understand

CONCEPTS = {
    "asthma": (), "gout": ("podagra",), "lupus erythematosus": ("lupus",), "health": ("mason", "femur", "andre"),
    "von Willebrand's disease": ("Von",), "La Crosse encephalitis": ("la",), "Crohn's disease": ("Morbus Crohn",),
    "cri du chat syndrome": (), "IgA nephropathy": (), "pneumonia": (), "enoxaparin": ("clexane",),
    "arterial tension": ("TA",), "chronic obstructive pulmonary disease": ("COPD",), "cafe au lait spots": (),
}  # fmt: skip


@pytest.fixture(scope="module")
def parser() -> QuestionParser:
    concepts = [Concept(f"X:{number}", name, (name, *others)) for number, (name, others) in enumerate(CONCEPTS.items())]
    encoder = load_model("fast")
    assert isinstance(encoder, ReadsAspects)
    return QuestionParser(EntityResolver(KnowledgeBase(concepts)), aspects=encoder)


def read(parser: QuestionParser, question: str, main: Callable[[], str] = lambda: "") -> Understanding:
    return understand(Query("", "", text=question), parser, of_collection=main)


@pytest.mark.parametrize(
    ("question", "code", "entity"),
    [
        ("Was sind die Symptome von Gicht?", "de", ""),
        ("Was hilft bei Asthma?", "de", "Asthma"),
        ("Wie heilt man andere Wunden?", "de", ""),
        ("Wie wird Morbus Crohn behandelt?", "de", "Morbus Crohn"),
        ("¿Qué es el lupus?", "es", "lupus"),
        ("¿Cómo se trata la gota?", "es", ""),
        ("comment arrêter de fumer à la maison", "fr", ""),
        ("Que contient Clexane ?", "fr", "Clexane"),
        ("Que contient Actiq ?", "fr", ""),
        ("La TA est trop haute, que faire ?", "fr", ""),
        ("Quali sono i sintomi della gotta?", "it", ""),
    ],
)
def test_other_languages_are_read_by_name_alone(parser: QuestionParser, question: str, code: str, entity: str) -> None:
    understood = read(parser, question)
    assert (understood.language, understood.asked) == (code, entity)
    assert (understood.corrections, understood.query.aspects, dict(understood.likely)) == ((), (), {})
    assert understood.query.text.casefold() == question.casefold() or entity
    names = {"de": "German", "es": "Spanish", "fr": "French", "it": "Italian"}
    assert understood.note.startswith(f"question in {names[code]}; ")


@pytest.mark.parametrize(
    "question",
    ["IgA nephropathy symptoms", "gout", "CRP", "dx COPD", "clexane dose eGFR 25", "C diff", "Asthma", "Morbus Crohn",
     "cri du chat syndrome treatment", "cafe au lait spots"],
)  # fmt: skip
def test_names_and_shorthand_are_in_no_other_language(parser: QuestionParser, question: str) -> None:
    language = read_language(question, parser, lambda: "")
    assert language.code in ("", "en")
    assert language.in_english
    assert "question in" not in read(parser, question).note


def test_english_is_corrected_and_its_aspects_read(parser: QuestionParser) -> None:
    understood = read(parser, "what are the symtoms of pneumonnia")
    assert understood.language == "en"
    assert dict(understood.corrections) == {"symtoms": "symptom", "pneumonnia": "pneumonia"}
    assert understood.query.aspects == ("symptoms",)


def test_known_words_are_not_classified(parser: QuestionParser, monkeypatch: pytest.MonkeyPatch) -> None:
    def classify(text: str) -> None:
        raise AssertionError(text)

    monkeypatch.setattr("auscult.understanding.question_language.likeliest_language", classify)
    assert read_language("How is gout treated?", parser, lambda: "fr") == QuestionLanguage("en", "en")
    assert read_language("gout, asthma", parser, lambda: "fr") == QuestionLanguage("", "en")
    with pytest.raises(AssertionError, match="Gicht"):
        read_language("Gicht", parser, lambda: "")


def test_an_unsure_question_follows_the_collection(parser: QuestionParser) -> None:
    assert read(parser, "pneumonnia gotta").corrections
    understood = read(parser, "pneumonnia gotta", lambda: "de")
    assert (understood.corrections, understood.language) == ((), "")
    assert "question in" not in understood.note


def test_a_follow_up_keeps_its_own_language(parser: QuestionParser) -> None:
    def alone(query: Query) -> Understanding:
        return understand(query, parser)

    understood = understand_next(Query("", "", text="Was hilft gegen das hohe Fieber?"), ["what is gout"], alone)
    assert understood.language == "de"
