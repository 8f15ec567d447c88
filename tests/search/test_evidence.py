"""Each evidence says what it should of a few passages, and nothing where a query gives no cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from auscult.documents import Section, build_document
from auscult.encoders.contract import FloatArray
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.search.evidence import READ_BY_SENTENCE, best_sentences
from auscult.search.hits import EVIDENCE, SENTENCE
from auscult.understanding import Query
from encoders import HashedEncoder, TermEncoder

PAGES = {
    "Psoriasis": [("Treatment", "Creams calm the skin."), ("Symptoms", "Plaques on elbows itch.")],
    "Psoriasis of the scalp": [("Treatment", "A shampoo with tar.")],
    "Eczema": [("Treatment", "Unlike psoriasis it is not treated with light.")],
}
CREAMS, PLAQUES, SHAMPOO, LIGHT = range(4)
NAMED = Query("", "psoriasis", ("symptoms",))
IN_WORDS = Query("", "", text="Do plaques itch?")
CASES: dict[str, tuple[Query, list[int], list[int]]] = {
    # The evidence: a query, the passages that come first, those that have some of it, too.
    "question_text": (IN_WORDS, [PLAQUES], []),
    "question_label": (Query("", "", text="scalp treatment"), [SHAMPOO], [CREAMS, LIGHT]),
    "question_document": (Query("", "", text="plaques and creams"), [CREAMS, PLAQUES], []),
    "question_together": (IN_WORDS, [PLAQUES], []),
    "question_sentence": (IN_WORDS, [PLAQUES], []),
    "question_expansion": (IN_WORDS, [PLAQUES], []),
    "entity_document": (Query("", "eczema"), [LIGHT], []),
    "entity_passage": (NAMED, [LIGHT], []),
    "entity_title": (NAMED, [CREAMS, PLAQUES], [SHAMPOO]),
    "aspect_heading": (Query("", "", ("signs", "symptoms")), [PLAQUES], []),
    "entity_vector": (Query("", "eczema"), [LIGHT], []),
    "aspect_vector": (Query("", "", ("symptoms",)), [PLAQUES], []),
    "question_vector": (Query("", "eczema", ("treatment",)), [LIGHT], []),
}


class WholeEncoder(HashedEncoder):
    """Places query and passage whole."""

    def __init__(self) -> None:
        super().__init__(4096)
        self.parts = {}


@pytest.fixture(scope="module")
def searchers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Searcher]:
    documents = [
        build_document(doc_id=title, title=title, sections=[Section(heading, text) for heading, text in sections])
        for title, sections in PAGES.items()
    ]
    opened = {}
    for name, encoder in (("parts", HashedEncoder(4096)), ("whole", WholeEncoder()), ("terms", TermEncoder(4096))):
        folder: Path = tmp_path_factory.mktemp(name) / "index"
        build_index(documents, encoder, folder)
        opened[name] = Searcher.open(folder, encoder)
    return opened


def evidence_of(searcher: Searcher, query: Query, name: str) -> FloatArray:
    """Return one evidence of all passages, as it is before it is divided by its spread."""
    vector, evidence, background = searcher.gather(query)
    if query.text:
        evidence *= background.spread
    evidence[:, SENTENCE] = best_sentences(searcher.index, query, vector, np.arange(len(evidence)))
    return evidence[:, EVIDENCE.index(name)]


def test_each_evidence_has_a_case() -> None:
    assert tuple(CASES) == EVIDENCE


@pytest.mark.parametrize("name", EVIDENCE)
def test_each_evidence_favours_the_right_passages(searchers: dict[str, Searcher], name: str) -> None:
    query, first, some = CASES[name]
    kinds = {"question_vector": "whole", "question_expansion": "terms"}
    column = evidence_of(searchers[kinds.get(name, "parts")], query, name)
    assert column.dtype == np.float32
    assert np.flatnonzero(column == column.max()).tolist() == first
    if not name.endswith("_vector"):
        assert np.flatnonzero(column).tolist() == sorted([*first, *some])
        assert column.max() <= 1


def test_evidence_is_zero_for_absent_query_parts(searchers: dict[str, Searcher]) -> None:
    def silent(searcher: str, query: Query) -> set[str]:
        return {name for name in EVIDENCE if not evidence_of(searchers[searcher], query, name).any()}

    named = {"entity_document", "entity_passage", "entity_title", "entity_vector"}
    words = {"question_together", "question_sentence"}
    none = "question_expansion"
    assert silent("parts", Query("", "psoriasis", ("symptoms",))) == {*words, "question_vector", none}
    assert silent("parts", Query("", "", ("treatment",))) >= named | {"question_vector"}
    unasked = {*named, "question_label", "aspect_heading", "aspect_vector"}
    assert silent("parts", IN_WORDS) == {*unasked, "question_vector", none}
    assert silent("terms", IN_WORDS) == {*unasked, "question_vector"}
    assert silent("whole", NAMED) == {*words, "entity_vector", "aspect_vector", none}


def test_words_found_together_count_more_than_separately(searchers: dict[str, Searcher]) -> None:
    asked = [Query("", "", text=text) for text in ("plaques", "itch", "Do plaques itch?", "plaques of light")]
    together, apart = (
        [float(evidence_of(searchers["parts"], query, name)[PLAQUES]) for query in asked]
        for name in ("question_together", "question_text")
    )
    np.testing.assert_allclose(together, np.square(apart), rtol=1e-6)
    # Half of the words count for less than half.
    assert apart[3] < apart[2]
    assert together[3] / together[2] < apart[3] / apart[2]
    # Of what is read as an entity and an aspect nothing is left that would have to stand together.
    whole = Query("", "psoriasis", ("treatment",), text="What is the treatment of psoriasis?")
    assert not evidence_of(searchers["parts"], whole, "question_together").any()
    more = replace(whole, text="How is psoriasis treated by light?")
    assert evidence_of(searchers["parts"], more, "question_together")[LIGHT] > 0


def test_title_evidence_decreases_for_longer_titles(searchers: dict[str, Searcher]) -> None:
    column = evidence_of(searchers["parts"], NAMED, "entity_title")
    assert column[CREAMS] == pytest.approx(1.0)
    assert 0 < column[SHAMPOO] < 0.6
    synonym = Query("", "red scaly skin disease", ("symptoms",), names=("psoriasis",))
    np.testing.assert_allclose(evidence_of(searchers["parts"], synonym, "entity_title"), column, atol=1e-6)


def test_words_in_one_sentence_count_more_than_scattered(tmp_path: Path) -> None:
    sections = [
        Section("One", "Plaques on elbows itch at night. Creams calm the skin."),
        Section("Two", "Plaques are red. Elbows hurt. The skin may itch a lot."),
        Section("None", "Light helps."),
    ]
    document = build_document(doc_id="Psoriasis", title="Psoriasis", sections=sections)
    for name, encoder in (("parts", HashedEncoder(4096)), ("whole", WholeEncoder()), ("terms", TermEncoder(4096))):
        build_index([document], encoder, tmp_path / name)
        searcher = Searcher.open(tmp_path / name, encoder)
        asked = Query("", "plaques", text="Do plaques on elbows itch?")
        one, two, none = evidence_of(searcher, asked, "question_sentence")
        # Half for all of its words; the other half, where a model places whole questions, is for what it means.
        assert one > 0.5 if name == "whole" else one == pytest.approx(0.5)
        assert one > two > none >= 0


def test_only_the_best_passages_are_scored_by_sentence(tmp_path: Path) -> None:
    many = [
        build_document(
            doc_id=f"{number:02d}", title="Itch", sections=[Section("Creams", f"Plaques itch {'a lot ' * number}.")]
        )
        for number in range(READ_BY_SENTENCE + 4)
    ]
    encoder = WholeEncoder()
    build_index(many, encoder, tmp_path / "index")
    searcher = Searcher.open(tmp_path / "index", encoder)
    counting = searcher.fusion
    silent = counting.words.copy()
    silent[SENTENCE] = 0
    searcher.fusion = replace(counting, words=silent)
    assert not searcher.gather(IN_WORDS)[1][:, SENTENCE].any()
    searcher.fusion = counting
    evidence = searcher.gather(IN_WORDS)[1]
    looked_at = np.flatnonzero(evidence[:, SENTENCE])
    without = evidence.copy()
    without[:, SENTENCE] = 0
    first, _ = searcher.index.best(searcher.fusion.scores(IN_WORDS, without), READ_BY_SENTENCE)
    assert sorted(first.tolist()) == looked_at.tolist()
    # A search counts it, and tells it of each hit.
    hits = searcher.search(IN_WORDS, READ_BY_SENTENCE + 4)
    assert [("question_sentence" in hit.evidence) for hit in hits] == [True] * READ_BY_SENTENCE + [False] * 4
    scores = searcher.fusion.scores(IN_WORDS, evidence)
    np.testing.assert_allclose([hit.score for hit in hits], np.sort(scores)[::-1], rtol=1e-5)


def test_several_entities_are_averaged_by_likelihood(searchers: dict[str, Searcher]) -> None:
    searcher = searchers["parts"]
    both = Query("", "psoriasis and eczema", several=(("psoriasis", "red skin"), ("eczema",)))
    alone = [Query("", "psoriasis", names=("red skin",)), Query("", "eczema")]
    for name in ("entity_document", "entity_passage", "entity_title"):
        of_both, *of_each = (evidence_of(searcher, query, name) for query in (both, *alone))
        np.testing.assert_allclose(of_both, np.mean(of_each, axis=0), rtol=1e-5)
        # One that is doubtful counts by how likely it is, alone and beside another one.
        doubtful = evidence_of(searcher, replace(alone[0], likelihoods=(0.5,)), name)
        np.testing.assert_allclose(doubtful, of_each[0] / 2, rtol=1e-5)
        weighed = evidence_of(searcher, replace(both, likelihoods=(1.0, 0.5)), name)
        np.testing.assert_allclose(weighed, np.average(of_each, axis=0, weights=(1.0, 0.5)), rtol=1e-5)
