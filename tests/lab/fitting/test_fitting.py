"""Weights of the evidence are found where they can be known, from questions whose answers are known."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from auscult.concepts import Concept, KnowledgeBase
from auscult.concepts.aspects import normalise_heading
from auscult.documents import Section, build_document
from auscult.errors import DataError, QueryError
from auscult.ingest.building import build_index
from auscult.ingest.corpus import Judgement
from auscult.search import Searcher
from auscult.search.certainty import HELD, shares_of_first
from auscult.search.fusion import Fusion
from auscult.search.hits import EVIDENCE
from auscult.understanding import Query
from auscult_lab.fitting import weighing
from auscult_lab.fitting.fitting import (
    HIDDEN,
    WITHOUT,
    Candidates,
    Judged,
    candidates,
    fit,
    fit_indexes,
    judged_questions,
)
from auscult_lab.fitting.own_questions import own_questions
from encoders import HashedEncoder
from leaflets import leaflets

ENCODER = HashedEncoder(256)
KNOWN = KnowledgeBase(
    [Concept("DOID:13189", "gout", ("podagra",)), Concept("DOID:6364", "migraine", ("sick headache",))]
)


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder = tmp_path_factory.mktemp("fitting") / "index"
    build_index(leaflets(), ENCODER, folder, knowledge_base=KNOWN, corpus="leaflets")
    return Searcher.open(folder, ENCODER)


def made_up(count: int, in_words: bool, seed: int) -> list[Candidates]:
    """The first evidence tells answers apart, the second speaks against them, the third says nothing."""
    chance = np.random.default_rng(seed)
    examples = []
    for _ in range(count):
        evidence = np.zeros((20, len(EVIDENCE)), np.float32)
        evidence[:, :3] = chance.random((20, 3))
        relevant = np.arange(20) == 0
        evidence[0, 0] += 0.5
        evidence[0, 1] -= 0.5
        coverage = np.zeros((20, len(HELD)), np.float32)
        examples.append(Candidates(evidence, relevant, relevant, in_words, coverage))
    return examples


def said_of(fusion: Fusion, example: Candidates, row: int) -> float:
    rows = slice(row, row + 1)
    scores = example.evidence @ (fusion.words if example.in_words else fusion.parts)
    return fusion.probabilities(
        example.undivided[rows],
        example.coverage[rows],
        shares_of_first(scores[rows], scores),
        example.background,
        in_words=example.in_words,
    )[0]


def test_weights_are_the_best_that_are_not_negative() -> None:
    answered = made_up(300, False, 0)
    fusion = fit([*answered, *made_up(300, True, 1)])
    assert fusion.parts[0] > 5
    assert fusion.parts[1] == 0
    assert not fusion.parts[3:].any()

    def loss(weights: np.ndarray) -> float:
        losses = []
        for example in answered:
            odds = np.exp(example.evidence.astype(np.float64) @ weights)
            losses.append(-np.log(odds[example.relevant].sum() / odds.sum()))
        return float(np.mean(losses) + 1e-4 * weights @ weights)

    least = loss(fusion.parts.astype(np.float64))
    for place in range(3):
        for step in (-0.1, 0.1):
            other = fusion.parts.astype(np.float64)
            other[place] += step
            assert other[place] < 0 or loss(other) > least


def test_the_probability_is_that_of_being_right() -> None:
    fusion = fit([*made_up(300, False, 0), *made_up(300, True, 1)])
    said, right = [], []
    for example in made_up(300, False, 2):
        scores = example.evidence @ fusion.parts
        for first in (int(np.argmax(scores)), 1 + int(np.argmax(scores[1:]))):
            said.append(said_of(fusion, example, first))
            right.append(bool(example.relevant[first]))
    # As often as it was fitted on: without its answer a question counts a quarter.
    counts = np.tile([1, WITHOUT], len(said) // 2)
    assert np.average(said, weights=counts) == pytest.approx(np.average(right, weights=counts), abs=0.05)
    assert np.mean(said[::2]) > np.mean(said[1::2]) + 0.15
    assert fusion.certainty[:-1].min() == 0 > fusion.certainty[-1]


def test_both_kinds_of_questions_are_needed() -> None:
    with pytest.raises(DataError, match="10 of one kind"):
        fit(made_up(10, True, 0))


def test_own_questions_are_answered_by_title_and_heading(searcher: Searcher) -> None:
    questions = list(own_questions(searcher, 120, seed=3))
    reader = searcher.index.reader
    names: set[str] = set()
    by_words, and_about = 0, 0
    for question in questions:
        if not len(question.relevant):
            continue
        passages = [reader.passage(row) for row in question.relevant]
        titles = {reader.document_record(reader.passage_documents[row]).title for row in question.related}
        assert len(titles) == 1
        assert len(question.related) == 3
        assert set(question.relevant) <= set(question.related)
        query = question.query
        asked_by = titles | {"podagra", "sick headache"}
        if query.text and "?" not in query.text:
            (row,) = question.relevant
            words = set(re.findall(r"\w+", reader.passage_text(row)))
            about = next((name for name in asked_by if query.text.startswith(f"{name} ")), "")
            assert set(query.text.removeprefix(about).split()) <= words
            by_words += not about
            and_about += bool(about)
            continue
        names.update(query.all_names)
        if query.entity and not query.aspects:
            assert len(passages) == 3
        else:
            (heading,) = (normalise_heading(passage.heading)[0] for passage in passages)
            assert (
                heading in query.text.lower() or (heading,) == query.aspects or heading in ("treatment", "what is it")
            )
        assert any(name.lower() in f"{query.text} {query.entity}".lower() for name in asked_by)
    assert by_words > 3
    assert and_about > 1
    assert {"podagra", "sick headache"} <= names
    read = [bool(question.query.entity) for question in questions]
    in_words = [bool(question.query.text) for question in questions]
    assert {(True, True), (True, False), (False, True)} == set(zip(read, in_words, strict=True))
    again, other = own_questions(searcher, 80, seed=3), own_questions(searcher, 80, seed=4)
    assert [question.query for question in questions[:80]] == [question.query for question in again]
    assert [question.query for question in questions[:80]] != [question.query for question in other]


def test_some_questions_ask_about_entities_mentioned_elsewhere(tmp_path: Path) -> None:
    known = KnowledgeBase([*KNOWN.concepts.values(), Concept("DOID:1", "colchicine")])
    texts = {"gout": "Colchicine eases an attack.", "migraine": "Rest helps.", "pericarditis": "Give colchicine early."}
    documents = []
    for name, text in texts.items():
        sections = [Section("Treatment", text, f"{name}-1"), Section("Symptoms", f"{name} hurts.", f"{name}-2")]
        documents.append(build_document(doc_id=name, title=name, sections=sections))
    build_index(documents, ENCODER, tmp_path / "index", knowledge_base=known)
    searcher = Searcher.open(tmp_path / "index", ENCODER)
    named = [
        question
        for question in own_questions(searcher, 150)
        if question.query.entity == "colchicine" and (not question.query.text or "?" in question.query.text)
    ]
    assert {bool(question.query.text) for question in named} == {True, False}
    reader = searcher.index.reader
    for question in named:
        answering = [reader.passage_id(row) for row in question.relevant]
        assert answering == ["gout-1", "pericarditis-1"]
        assert question.related.tolist() == question.relevant.tolist()


def test_some_questions_have_no_answer(searcher: Searcher) -> None:
    unanswered = [question for question in own_questions(searcher, 200) if not len(question.relevant)]
    assert 10 < len(unanswered) < 40
    titles = {title.lower() for title in searcher.index.reader.titles}
    for question in unanswered:
        assert not len(question.related)
        assert question.query.entity.lower() not in titles
    assert {bool(question.query.text) for question in unanswered} == {True, False}


def test_titles_and_headings_are_hidden_from_some_questions(searcher: Searcher) -> None:
    chance = np.random.default_rng(0)
    columns = [EVIDENCE.index(name) for name in HIDDEN]
    answered = [question for question in own_questions(searcher, 250) if len(question.relevant)]
    taken = [candidates(searcher, question, chance) for question in answered]
    assert all(row.relevant.any() and row.evidence.shape == (len(row.relevant), len(EVIDENCE)) for row in taken)
    hidden = np.array([not row.evidence[:, columns].any() for row in taken])
    of_answers = np.array([not row.evidence[np.ix_(row.related, columns)].any() for row in taken])
    assert 0.15 < np.mean(hidden) < 0.5
    assert 0.15 < np.mean(of_answers & ~hidden) < 0.45


def test_an_index_gives_weights_that_find_its_answers(searcher: Searcher) -> None:
    fusion = fit_indexes([searcher], questions=150)
    right_first = []
    for question in own_questions(searcher, 80, seed=9):
        if not len(question.relevant):
            continue
        scores = fusion.scores(question.query, searcher.gather(question.query)[1])
        right_first.append(np.argmax(scores) in question.relevant)
    assert np.mean(right_first) > 0.9


def test_peoples_questions_tell_how_certain_a_hit_is() -> None:
    own = [*made_up(200, False, 0), *made_up(200, True, 1)]
    people = made_up(200, True, 2)
    for example in people:
        # Their answers hold less of the question, and are right all the same.
        example.evidence[:, 0] *= 0.2
    fits = {"alone": fit(own), "both": fit(own, [people])}
    np.testing.assert_array_equal(fits["both"].parts, fits["alone"].parts)
    certainty = {name: np.mean([said_of(fusion, row, 0) for row in people]) for name, fusion in fits.items()}
    assert certainty["both"] > certainty["alone"]


def test_each_collection_of_peoples_questions_weighs_like_own() -> None:
    own = [*made_up(200, False, 0), *made_up(200, True, 1)]
    people = made_up(50, True, 2)
    for each in people:
        # Of what they ask, the third evidence tells answers apart, and not the first.
        each.evidence[:, [0, 2]] = each.evidence[:, [2, 0]]
    alone, one, two = fit(own), fit(own, [people]), fit(own, [people, people])
    np.testing.assert_array_equal(one.parts, alone.parts)
    assert alone.words[2] < 0.1
    # As many as the own ones or fewer, a collection counts as much.
    assert one.words[2] == pytest.approx(one.words[0], rel=0.25)
    assert two.words[2] > 1.3 * two.words[0]


def test_fitting_only_certainty_keeps_the_order_weights() -> None:
    order = Fusion(*(np.full(len(EVIDENCE) + more, 0.5, np.float32) for more in (0, 0, 1, 1)))
    fusion = fit([*made_up(100, False, 0), *made_up(100, True, 1)], order=order)
    np.testing.assert_array_equal(fusion.parts, order.parts)
    np.testing.assert_array_equal(fusion.words, order.words)
    assert not np.array_equal(fusion.certainty, order.certainty)


def test_fitting_words_keeps_the_weights_of_pairs() -> None:
    order = Fusion(*(np.full(len(EVIDENCE) + more, 0.5, np.float32) for more in (0, 0, 1, 1)))
    own, people = [*made_up(100, False, 0), *made_up(100, True, 1)], made_up(100, True, 2)
    fusion = fit(own, [people], order, "pairs")
    np.testing.assert_array_equal(fusion.parts, order.parts)
    np.testing.assert_array_equal(fusion.words, fit(own, [people]).words)


def test_sampled_questions_keep_their_answers_and_other_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weighing, "PEOPLES_QUESTIONS", 3)
    monkeypatch.setattr(weighing, "PEOPLES_DOCUMENTS", 6)
    documents = leaflets()
    first = [document.passages[0].passage_id for document in documents]
    queries = [Query(str(row), "", text=f"question {row}") for row in range(len(documents))]
    judged = Judged(documents, queries, [Judgement(str(row), first[row]) for row in range(len(documents))])
    some = weighing._some(judged, random.Random(0))
    assert len(some.queries) == 3
    assert len(some.documents) == min(6, len(documents))
    held = {passage.passage_id for document in some.documents for passage in document.passages}
    assert {each.query_id for each in some.judgements} == {query.query_id for query in some.queries}
    assert {each.passage_id for each in some.judgements} <= held


def test_judged_questions_relate_the_documents_of_their_answers(searcher: Searcher) -> None:
    reader = searcher.index.reader
    gout = next(row for row in range(len(reader.passage_documents)) if reader.passage_id(row).startswith("gout"))
    answer = reader.passage_id(gout)
    other = next(row for row in range(len(reader.passage_documents)) if not reader.passage_id(row).startswith("gout"))
    queries = [Query("q", "", text="How is podagra treated?"), Query("nobody", "", text="What is mumps?")]
    judged = Judged((), queries, [Judgement("q", answer), Judgement("q", reader.passage_id(other), 0)])
    asked, unanswered = judged_questions(searcher, judged)
    assert (asked.query.entity.lower(), asked.query.aspects) == ("gout", ("treatment",))
    assert asked.relevant.tolist() == [gout]
    assert asked.related.tolist() == list(reader.passages_of(int(reader.passage_documents[gout])))
    assert not len(unanswered.relevant)
    assert not len(unanswered.related)


def test_documents_without_titles_give_no_questions(tmp_path: Path) -> None:
    build_index([replace(each, title="") for each in leaflets()], ENCODER, tmp_path / "index")
    with pytest.raises(QueryError, match="documents with titles"):
        next(own_questions(Searcher.open(tmp_path / "index", ENCODER), 1))
