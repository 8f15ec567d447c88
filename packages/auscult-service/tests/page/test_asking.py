"""Addresses: reading back an address gives the same question, and whatever an address says is harmless."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl, urlencode, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from auscult.index import Between
from auscult_service.page.asking import FURTHEST, PageQuestion
from auscult_service.page.routes import own_path

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=20)
FIELDS = st.dictionaries(WORDS, st.lists(WORDS, min_size=1, max_size=3, unique=True).map(tuple), max_size=3)
BOUNDS = st.dictionaries(WORDS, st.tuples(WORDS, WORDS), max_size=2)


def read(address: str) -> PageQuestion:
    return PageQuestion.of(parse_qsl(urlsplit(address).query, keep_blank_values=True))


@given(WORDS, WORDS, st.lists(WORDS, max_size=4, unique=True), FIELDS, BOUNDS, st.integers(0, FURTHEST))
def test_a_question_survives_the_round_trip_through_urls(
    text: str,
    entity: str,
    aspects: list[str],
    fields: dict[str, tuple[str, ...]],
    bounds: dict[str, tuple[str, str]],
    start: int,
) -> None:
    question = PageQuestion(text=text, index="medquad", fields=fields, bounds=bounds, start=start)
    followed = replace(question, conversation=tuple(each for each in (entity, *aspects) if each != text))
    for each in (question, followed, question.by_entity(entity, aspects), question.in_words(entity)):
        assert read(each.at()) == each
    assert read(question.at("/compare", "answer", ("by", "source"))) == question


def test_filter_values_can_be_added_and_removed() -> None:
    question = PageQuestion(text="gout", start=20).with_value("source", "NHS", True).with_value("source", "GARD", True)
    assert (question.fields, question.start) == ({"source": ("NHS", "GARD")}, 0)
    assert question.with_value("source", "NHS", False).with_value("source", "GARD", False) == PageQuestion(text="gout")
    said = question.with_assertion("family", True).with_assertion("negated", True)
    assert read(said.at()) == replace(said, start=0)
    assert said.assertions == ("negated", "family")
    assert said.with_assertion("negated", False).with_assertion("family", False) == question
    assert read("/?q=gout&assertion=sure").assertions == ()
    dated = read("/?q=gout&from.date=2020&to.date=2021-06&f.source=NHS")
    assert dated.where == {"source": ("NHS",), "date": Between("2020", "2021-06")}


@given(st.lists(st.tuples(st.sampled_from(["q", "e", "a", "start", "as", "index", "f.x", "from.x"]), st.text())))
def test_any_query_string_makes_a_valid_question(parameters: list[tuple[str, str]]) -> None:
    question = PageQuestion.of(parameters)
    assert 0 <= question.start <= FURTHEST
    assert question.at().startswith("/")


def test_the_box_sends_the_conversation_so_far() -> None:
    first = PageQuestion(text="How is gout treated?")
    assert (first.earlier, first.following) == ((), ("How is gout treated?",))
    again = read(f"/?{urlencode([*(('c', each) for each in first.following), ('q', first.text)])}")
    assert again == first, "a question that is sent again does not follow itself"
    second = read(f"/?{urlencode([*(('c', each) for each in first.following), ('q', 'and in children?')])}")
    assert second.following == ("How is gout treated?", "and in children?")
    assert second.words["conversation"] == ["How is gout treated?"]
    assert [read(address) for _, address in second.trail] == [first]
    assert second.by_itself() == PageQuestion(text="and in children?")
    assert second.by_entity("asthma", ()).following == (), "what was chosen by hand has no words yet"
    assert sum(map(len, read("/?" + "&".join(f"c={'x' * 900}{n}" for n in range(30))).conversation)) < 4_000
    assert len(read("/?" + "&".join(f"c={n}" for n in range(30))).conversation) == 20


def test_return_addresses_never_lead_to_another_site() -> None:
    for elsewhere in ("//evil.example", "/\\evil.example", "https://evil.example", "javascript:1", "", "/a\nb"):
        assert own_path(elsewhere) == "/", elsewhere
    assert own_path("/?q=gout#hit-1") == "/?q=gout#hit-1"
