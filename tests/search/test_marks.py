"""Which sentences of a hit are marked, and that every place shows the same ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.documents import Document, Section, build_document
from auscult.index.words import analyse
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.search.answering import Answering
from auscult.search.hits import Hit, SentenceScore
from auscult.search.marks import ALIKE, EXCERPT, MOST, REACH, begins_block, excerpt, mark_sentences
from auscult.understanding import Query
from encoders import HashedEncoder

PARTS = {"entity": (0, 2), "aspect": (2, 4), "question": (4, 6)}
TREATMENT = """Gout is common. It can hurt a lot.
Doctors treat gout with one of these drugs:
- colchicine
- allopurinol
- ice
Many people get it again. Rest helps some."""
PARAGRAPHS = """Gout is common.
Two things are seen often:
- red skin
- fever
Ask a doctor when the fever stays.
- a cold pack
- rest"""


def made(text: str) -> Document:
    return build_document(doc_id="d", title="Gout", sections=[Section("", text)])


def marked(
    text: str, question: str = "", *, entity: str = "", aspects: tuple[str, ...] = (), alike: Sequence[float] = ()
) -> list[str]:
    """The marked sentences of a text; `alike` are cosines of sentences with the aspect and the question alike."""
    document = made(text)
    (passage,) = document.passages
    query = Query("", entity, aspects, text=question)
    terms = dict.fromkeys(analyse(question or query.terms))
    cosines = np.array(alike or [0.0] * len(passage.sentences))
    vectors = np.zeros((len(cosines), 6))
    vectors[:, 0] = 1
    vectors[:, 2] = vectors[:, 4] = cosines
    vectors[:, 3] = vectors[:, 5] = np.sqrt(1 - cosines**2)
    vectors /= np.sqrt(3)
    vector = np.array([0, 0, 1, 0, 1, 0], np.float32)
    answering = Answering(query, vector, PARTS, {term: 1 / len(terms) for term in terms})
    text = document.slice(passage)
    held = mark_sentences(passage, text, answering.log_odds(passage, text, vectors))
    return [document.slice(each) for number, each in enumerate(passage.sentences) if number in held]


def test_only_the_single_answering_sentence_is_marked() -> None:
    said = ["Gout is a disease.", "Colchicine may cause diarrhoea.", "Drink water.", "Ask your doctor."]
    for turn in range(4):
        text = " ".join(said[turn:] + said[:turn])
        assert marked(text, "Does colchicine cause diarrhoea?") == [said[1]]


def test_sentences_half_as_likely_are_marked_too() -> None:
    document = made("Gout is common. It can cause fever. It is old. It can also cause a rash.")
    (passage,) = document.passages
    odds = {0: -3.0, 1: 0.0, 2: math.log(ALIKE) - 0.01, 3: math.log(ALIKE) + 0.01}
    assert mark_sentences(passage, document.slice(passage), odds) == {1, 3}


def test_padding_is_not_marked() -> None:
    text = "Gout is a common disease of joints. Read more about gout here. A gout diet has little meat. See also gout."
    assert marked(text, "Which diet has little meat in gout?", entity="gout") == ["A gout diet has little meat."]


def test_a_lead_in_that_answers_brings_its_list() -> None:
    assert marked(TREATMENT, "Which drugs do doctors treat gout with?") == [
        "Doctors treat gout with one of these drugs:",
        "- colchicine",
        "- allopurinol",
        "- ice",
    ]


def test_an_answering_item_also_marks_its_lead_in() -> None:
    found = marked(TREATMENT, "Is allopurinol advised?")
    assert found == ["Doctors treat gout with one of these drugs:", "- allopurinol"]


def test_items_without_a_lead_in_are_marked_alone() -> None:
    assert marked(PARAGRAPHS, "Is rest advised?") == ["- rest"]
    assert marked(PARAGRAPHS, "Is a cold pack advised?") == ["- a cold pack"]
    assert marked(PARAGRAPHS, "Ask a doctor when?")[0] == "Ask a doctor when the fever stays."
    assert marked(PARAGRAPHS, "Is fever seen often?", alike=[0, 0.9, 0, 0, 0, 0, 0])[:1] == [
        "Two things are seen often:"
    ]


def test_long_lists_are_marked_up_to_the_reach() -> None:
    items = [f"- drug {number} with a name of some length" for number in range(60)]
    found = marked("\n".join(["Doctors treat gout with drugs:", *items]), "How do doctors treat gout?")
    assert found[:2] == ["Doctors treat gout with drugs:", items[0]]
    assert REACH - 50 < sum(map(len, found)) + len(found) <= REACH + 1


def test_words_of_the_entity_count_less_than_others() -> None:
    text = "Colchicum autumnale extract is sold here. It may give nausea. Colchicum autumnale extract is old."
    question = "Does colchicum autumnale extract give nausea?"
    assert marked(text, question, entity="colchicum autumnale extract") == ["It may give nausea."]


def test_an_aspects_vector_outweighs_its_name() -> None:
    text = "Symptoms of gout are many. The toe swells. Gout is old."
    assert marked(text, entity="gout", aspects=("symptoms",), alike=[0.2, 0.8, 0.1]) == ["The toe swells."]


def test_the_first_sentence_is_no_default() -> None:
    assert marked("Gout is common. It hurts.", "What is scurvy?") == []
    assert marked("Gout is common. It hurts.", "What is scurvy?", alike=[-0.1, 0.4]) == ["It hurts."]


def test_a_passage_that_is_its_heading_marks_it() -> None:
    assert marked("NO KNOWN DRUG ALLERGIES", "What is scurvy?") == ["NO KNOWN DRUG ALLERGIES"]


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=30), st.integers(1, 400))
def test_marks_are_few_near_and_include_the_likeliest(odds: list[float], letters: int) -> None:
    document = made("\n".join(f"Sentence {number} {'a' * letters}." for number in range(len(odds))))
    (passage,) = document.passages
    numbers = mark_sentences(passage, document.slice(passage), dict(enumerate(odds)))
    assert 1 <= len(numbers) <= MOST
    assert max(odds[number] for number in numbers) == max(odds)
    assert all(odds[number] >= max(odds) + math.log(ALIKE) for number in numbers)
    first, last = passage.sentences[min(numbers)], passage.sentences[max(numbers)]
    assert len(numbers) == 1 or last.end - first.start <= 2 * REACH


def test_a_sentence_beyond_the_reach_is_marked() -> None:
    document = made("Gout is common.\n" + "It hurts and " * 200 + "lasts.")
    (passage,) = document.passages
    assert mark_sentences(passage, document.slice(passage), {0: 0.0, 1: 1.0}) == {1}


def test_others_sentences_are_never_marked() -> None:
    document = made("Gout is common. It hurts.")
    (passage,) = document.passages
    assert mark_sentences(passage, document.slice(passage), {0: 1.0, 1: 0.0}, frozenset({0})) == {1}


def test_blocks_are_paragraphs_or_lists_with_lead_in() -> None:
    document = made(PARAGRAPHS)
    begins = [begins_block(document.sentences, number, document.text) for number in range(7)]
    assert begins == [True, True, False, False, True, True, False]


@given(st.lists(st.tuples(st.integers(1, 300), st.floats(-1, 1), st.booleans()), min_size=1, max_size=20))
def test_an_excerpt_has_all_marks_and_enough_letters(drawn: list[tuple[int, float, bool]]) -> None:
    sentences, at = [], 0
    for length, score, mark in drawn:
        sentences.append(SentenceScore(at, at + length, "x" * length, score, 0, 0, mark))
        at += length
    shown = excerpt(sentences)
    assert all(number in shown for number, each in enumerate(sentences) if each.marked)
    letters = sum(len(sentences[number].text) for number in shown)
    assert letters >= min(EXCERPT, at)
    marks = [number for number, each in enumerate(sentences) if each.marked]
    if len(marks) < 2:
        assert letters - max(len(sentences[shown.start].text), len(sentences[shown.stop - 1].text)) < EXCERPT


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder = tmp_path_factory.mktemp("marks") / "index"
    encoder = HashedEncoder(256)
    build_index([made(TREATMENT), build_document(doc_id="e", title="Flu", sections=[Section("", "Flu is short.")])],
                encoder, folder)  # fmt: skip
    return Searcher.open(folder, encoder)


def test_a_hit_says_its_marks_and_its_answer(searcher: Searcher) -> None:
    query = Query("", "", text="Which drugs do doctors treat gout with?")
    (hit, *_) = searcher.search(query, 1)
    numbers = {number for number, each in enumerate(hit.sentences) if each.marked}
    assert numbers == {2, 3, 4, 5}
    assert numbers == searcher.marked(query, searcher.index.reader.passages_of(0)[0])
    assert hit.answer == hit.sentences[2]
    assert str(hit).endswith("Gout: Doctors treat gout with one of these drugs:")


def test_without_marks_the_best_sentence_is_the_answer() -> None:
    sentences = (SentenceScore(0, 1, "a", 0.1, 0, 0), SentenceScore(2, 3, "b", 0.2, 0, 0))
    hit = Hit(
        rank=1, passage_id="p", doc_id="d", title="", heading="", source="", url="", text="a b", start=0, end=3,
        score=1, entity_score=0, aspect_score=0, sentences=sentences,
    )  # fmt: skip
    assert hit.answer == sentences[1]
