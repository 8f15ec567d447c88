"""Aspects that are understood: each is read from its example."""

from __future__ import annotations

import pytest

from auscult.concepts import EntityResolver, KnowledgeBase
from auscult.understanding import QuestionParser
from auscult.understanding.aspect_words import ASPECT_WORDS, AspectWords


@pytest.fixture(scope="module")
def parser() -> QuestionParser:
    """Over no concepts: an example has to be read by its wording alone."""
    return QuestionParser(EntityResolver(KnowledgeBase([])))


@pytest.mark.parametrize("words", ASPECT_WORDS, ids=lambda words: words.aspect)
def test_an_example_asks_for_its_aspect_alone(parser: QuestionParser, words: AspectWords) -> None:
    reading = parser.read(words.example)
    assert reading.aspects == (words.aspect,)
    assert " and ".join(each.words for each in reading.entities) in {
        "gout", "colchicine", "colchicine and simvastatin", "biopsy",
    }  # fmt: skip


def test_each_aspect_has_one_row() -> None:
    rows = [words.aspect for words in ASPECT_WORDS]
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize(
    ("question", "entity", "aspects"),
    [
        ("How should aspirin be used and what is the dosage ?", "aspirin", ("administration", "dosage")),
        ("Does ibuprofen interact with warfarin?", "ibuprofen and warfarin", ("interactions",)),
        ("Are there interactions between aspirin and other medications ?", "aspirin", ("interactions",)),
        ("Can I take aspirin with food?", "aspirin", ("administration",)),
        ("what are the withdrawal symptoms of xanax", "xanax", ("withdrawal",)),
        ("is it safe to take aspirin if I am pregnant", "aspirin", ("precautions", "pregnancy")),
        ("Can I use ibuprofen while breastfeeding?", "ibuprofen", ("breastfeeding",)),
    ],
)
def test_questions_about_medicines(
    parser: QuestionParser, question: str, entity: str, aspects: tuple[str, ...]
) -> None:
    reading = parser.read(question)
    assert (" and ".join(each.words for each in reading.entities), reading.aspects) == (entity, aspects)
