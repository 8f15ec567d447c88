"""Questions that follow others."""

from __future__ import annotations

from functools import cache
from typing import cast

import pytest

from auscult.concepts import Concept, EntityResolver, KnowledgeBase
from auscult.concepts.names import normalise_name
from auscult.encoders import load_model
from auscult.understanding import Query, QuestionParser
from auscult.understanding.aspects import ReadsAspects
from auscult.understanding.conversation import MOST_WORDS, understand_next
from auscult.understanding.spelling import MOST_COMPARED, SpellingOfWords
from auscult.understanding.understand import Understanding, understand
from places import DATA

NAMES = (
    "gout", "asthma", "migraine", "celiac disease", "measles", "mumps", "epilepsy", "psoriasis", "scabies",
    "Graves disease", "Addison disease", "Crohn disease", "ulcerative colitis", "kidney stones", "high blood pressure",
)  # fmt: skip
MEDICINES = ("ibuprofen", "metformin", "warfarin")


@cache
def parser() -> QuestionParser:
    """Of diseases that are known, and medicines that only documents are about."""
    known = KnowledgeBase([Concept(f"X:{number}", name) for number, name in enumerate(NAMES)])
    return QuestionParser(
        EntityResolver(known),
        titles=frozenset(map(normalise_name, MEDICINES)),
        aspects=cast(ReadsAspects, load_model("fast")),
    )


def asked_after(earlier: list[str], query: Query | str) -> Understanding:
    asked = Query("", "", text=query) if isinstance(query, str) else query
    titles = {normalise_name(name): name for name in MEDICINES}
    return understand_next(asked, earlier, lambda each: understand(each, parser(), titles))


def conversations(name: str = "conversations") -> list[list[str]]:
    lines = (DATA / f"{name}.tsv").read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def right(conversation: list[str]) -> bool:
    earlier, question, entity, aspects = conversation
    query = asked_after(earlier.split(" / "), question).query
    named = query.entity.lower() if entity or query.entity_id else ""
    return (named, ", ".join(query.aspects)) == (entity.lower(), aspects)


@pytest.mark.parametrize("half", [0, 1])
def test_conversations_are_followed(half: int) -> None:
    """Both halves: the one used while this was written, and the one held back."""
    chosen = conversations()[half::2]
    assert len(chosen) >= 20
    wrong = [each for each in chosen if not right(each)]
    assert len(wrong) <= len(chosen) // 6, wrong


@pytest.mark.parametrize("half", [0, 1])
def test_questions_that_add_people_or_words_are_followed(half: int) -> None:
    chosen = conversations("conversations_people")[half::2]
    assert len(chosen) >= 12
    wrong = [each for each in chosen if not right(each)]
    assert len(wrong) <= len(chosen) // 6, wrong


def test_people_are_added_to_the_earlier_question() -> None:
    told = asked_after(["How is gout treated?"], "and vegetarians?")
    assert (told.taken_entity, told.taken_aspects) == ("gout", ("treatment",))
    assert told.query.text == "gout treatment and vegetarians?"
    assert told.query.entity_id == "X:0"
    # A name of its own, an aspect or a verb asks for something, known or not.
    assert asked_after(["How is gout treated?"], "zorbimab dosage").query.entity == "zorbimab"
    assert asked_after(["How is gout treated?"], "Can I take zorbimab?").taken_aspects == ()
    assert asked_after(["How is gout treated?"], Query("", "zorbimab")).query.entity == "zorbimab"
    assert asked_after(["How is gout treated?"], "and zorbimab?").query.text == "gout treatment and zorbimab?"


def test_people_that_a_vocabulary_has_are_people() -> None:
    known = KnowledgeBase([Concept("X:1", "gout"), Concept("X:2", "Smokers"), Concept("X:3", "smoker's melanosis")])
    people = QuestionParser(EntityResolver(known), aspects=cast(ReadsAspects, load_model("fast")))
    for question, entity in (("and smokers?", "gout"), ("and smoker's melanosis?", "smoker's melanosis")):
        asked = Query("", "", text=question)
        told = understand_next(asked, ["How is gout treated?"], lambda each: understand(each, people))
        assert (told.query.entity, told.query.aspects) == (entity, ("treatment",))


def misspelt(number: int, words: int) -> str:
    return " ".join(f"epilep{'abcdefghij'[number % 10]}{'klmnopqrst'[each % 10]}{'uvwxyz' * (each // 10)}"
                    for each in range(words))  # fmt: skip


@pytest.mark.parametrize(("messages", "words"), [(16, 60), (20, 300), (20, 19)])
def test_long_conversations_cost_a_bounded_number_of_corrections(
    monkeypatch: pytest.MonkeyPatch, messages: int, words: int
) -> None:
    compared: list[str] = []
    real = SpellingOfWords._nearest

    def count(spelling: SpellingOfWords, word: str) -> str:
        compared.append(word)
        return real(spelling, word)

    monkeypatch.setattr(SpellingOfWords, "_nearest", count)
    asked_after([misspelt(number, words) for number in range(messages)], "and in children?")
    assert MOST_COMPARED <= len(compared) + 1 <= MOST_WORDS


def test_a_long_message_displaces_older_ones() -> None:
    long = "how is gout treated " + "and what else matters " * 80
    assert asked_after([long], "and in children?").query.entity == "gout"
    assert asked_after(["what is asthma?", long.replace("gout", "it")], "and in children?").query.entity != "asthma"
    assert asked_after(["what is asthma?", *["and then?"] * 19], "and in children?").query.entity == "asthma"


def test_what_was_taken_is_told() -> None:
    understood = asked_after(["How is gout treated?"], "and in children?")
    assert (understood.taken_entity, understood.taken_aspects) == ("gout", ("treatment",))
    assert understood.note.endswith("from before: gout, treatment")
    assert understood.query.text == "gout treatment and in children?"
    assert understood.query.entity_id == "X:0"
    assert not understood.aspects_read
    understood = asked_after(["How is gout treated?"], "is it contagious?")
    assert (understood.taken_entity, understood.taken_aspects, understood.aspects_read) == ("gout", (), True)
    understood = asked_after(["How is gout treated?"], "and asthma?")
    assert (understood.taken_entity, understood.taken_aspects) == ("", ("treatment",))
    assert [each.asked for each in understood.entities] == ["asthma"]


@pytest.mark.parametrize(
    "question",
    [
        "How is asthma treated?",
        "What is asthma?",
        "metformin dosage",
    ],
)
def test_whole_questions_and_first_ones_take_nothing(question: str) -> None:
    alone = asked_after([], question)
    assert asked_after(["What are the symptoms of gout?"], question) == alone
    assert asked_after(["", " ", "hello"], question) == alone
    assert (alone.taken_entity, alone.taken_aspects) == ("", ())


def test_a_question_that_says_much_stands_by_itself() -> None:
    question = "how do I repair the carburettor of an old tractor"
    assert asked_after(["How is gout treated?"], question) == asked_after([], question)
    # But a pronoun needs what was named before.
    assert asked_after(["How is gout treated?"], f"{question} with it").taken_entity == "gout"
    assert asked_after(["How is gout treated?"], "does it hurt?").taken_entity == "gout"


@pytest.mark.parametrize(
    "people", ["older people", "elderly patients", "obese children", "younger men", "older adults"]
)
def test_words_that_only_describe_people_are_no_name(people: str) -> None:
    told = asked_after(["How is gout treated?"], f"and {people}?")
    assert (told.taken_entity, told.taken_aspects) == ("gout", ("treatment",))
    assert asked_after([], people).query.entity == ""
    assert asked_after([], f"asthma in {people}").query.entity == "asthma"


def test_given_parts_win_and_lack_what_they_lack() -> None:
    earlier = ["How is gout treated?"]
    by_aspect = asked_after(earlier, Query("", "", ("symptoms",)))
    assert (by_aspect.query.entity, by_aspect.query.aspects, by_aspect.query.text) == ("gout", ("symptoms",), "")
    by_entity = asked_after(earlier, Query("", "asthma"))
    assert (by_entity.query.entity, by_entity.query.aspects) == ("asthma", ("treatment",))
    both = Query("", "asthma", ("symptoms",))
    assert asked_after(earlier, both) == asked_after([], both)


def test_several_entities_are_taken_together() -> None:
    told = asked_after(["Can I take ibuprofen with warfarin?"], "and at night?")
    assert {each.asked for each in told.entities} == {"ibuprofen", "warfarin"}
    by_aspect = asked_after(["Can I take ibuprofen with warfarin?"], Query("", "", ("side effects",)))
    assert {each.asked for each in by_aspect.entities} == {"ibuprofen", "warfarin"}
    assert by_aspect.query.aspects == ("side effects",)


def test_only_the_conversations_last_questions_are_read() -> None:
    assert asked_after(["How is gout treated?", *["hello"] * 20], "and in children?").taken_entity == ""
    assert asked_after(["How is gout treated?", *["hello"] * 19], "and in children?").taken_entity == "gout"
