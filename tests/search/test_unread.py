"""What a question says beyond its entity and aspects."""

from __future__ import annotations

import pytest

from auscult.understanding import Query
from auscult.understanding.saying import unread_words


@pytest.mark.parametrize(
    ("text", "entity", "aspects", "left"),
    [
        ("How is gout treated?", "gout", ("treatment",), ["treated"]),
        ("What is the treatment of gout?", "gout", ("treatment",), []),
        ("Is gout more common in men?", "gout", (), ["common", "men"]),
        ("Do gout and gout flare and flare?", "Gout", (), ["flare"]),
        ("", "gout", ("treatment",), []),
        ("lupus", "", (), ["lupus"]),
        ("Is haemophilia A more common in boys?", "Hemophilia A", ("frequency",), ["common", "boys"]),
        ("Do \u03b2-blockers prevent migraine?", "beta blocker", (), ["prevent", "migraine"]),
    ],
)
def test_words_without_a_recognised_meaning_are_listed(
    text: str, entity: str, aspects: tuple[str, ...], left: list[str]
) -> None:
    assert unread_words(Query("", entity, aspects, text=text)) == left


def test_the_questions_name_of_an_entity_was_read() -> None:
    query = Query("", "myocardial infarction", ("causes",), text="What causes a heart attack?")
    assert unread_words(query) == ["heart", "attack"]
    assert unread_words(query, ["heart attack"]) == []


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("fr", "le temps que se garde un stylo d'insuline hors du frigo", ["temps", "garde", "stylo", "hors", "frigo"]),
        ("de", "Wie lange kann die Nadel im Port drinbleiben?", ["lange", "Nadel", "Port", "drinbleiben"]),
        ("es", "¿cuánto aguanta la insulina sin frío?", ["cuánto", "aguanta", "insulina", "frío"]),
    ],
)  # fmt: skip
def test_function_words_of_other_languages_are_read(language: str, text: str, words: list[str]) -> None:
    assert unread_words(Query("", "insuline", text=text, language=language)) == words
