"""Reading first hits again: one more evidence, that moves them alone, and marks their sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from auscult.encoders.reranker import Reranker
from auscult.errors import ModelError, QueryError
from auscult.ingest.building import build_index
from auscult.search import Searcher, SearchOptions
from auscult.understanding import Query
from auscult_lab.fitting.fused_scorer import FusedScorer
from encoders import HashedEncoder
from leaflets import leaflets
from small_reranker import REREADING, save_reranker, small_network

ENCODER = HashedEncoder(256)
ASKED = Query("", "", text="symptoms of gout")


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> Reranker:
    place = tmp_path_factory.mktemp("reranker")
    return save_reranker(place / "model", small_network(place / "bert"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("reranking") / "index"
    build_index(leaflets(), ENCODER, folder, corpus="leaflets")
    return folder


@pytest.fixture(scope="module")
def plain(folder: Path) -> Searcher:
    return Searcher.open(folder, ENCODER)


@pytest.fixture
def searcher(folder: Path, reranker: Reranker, monkeypatch: pytest.MonkeyPatch) -> Searcher:
    # Scores by a hashing encoder are further apart than those of a fitted model.
    monkeypatch.setattr("auscult.search.reranking.NEAR", 99.0)
    searcher = Searcher.open(folder, ENCODER, reranker)
    searcher.fusion = replace(searcher.fusion, rereading=REREADING)
    return searcher


def test_only_the_first_hits_are_reranked(searcher: Searcher, plain: Searcher) -> None:
    before = {hit.passage_id: hit for hit in plain.search(ASKED, k=12)}
    hits = searcher.search(ASKED, k=8, options=SearchOptions(rerank=5))
    ids = [hit.passage_id for hit in hits]
    assert ids[:5] != list(before)[:5]
    assert set(ids[:5]) == set(list(before)[:5])
    assert ids[5:] == list(before)[5:8]
    assert [hit.rank for hit in hits] == list(range(1, 9))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert hit.score == pytest.approx(sum(hit.evidence.values()), abs=1e-4)
        added = hit.evidence.get("reranker", 0.0)
        assert hit.score - added == pytest.approx(before[hit.passage_id].score, abs=1e-4)
    assert "reranker" not in hits[5].evidence
    assert [hit.probability for hit in hits] != [before[each].probability for each in ids]


def test_a_questions_near_first_hits_are_read_again(
    searcher: Searcher, plain: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> list[bool]:
        return ["reranker" in hit.evidence for hit in searcher.search(ASKED, k=12)]

    assert read() == [True] * 8 + [False] * 4
    scores = [hit.score for hit in plain.search(ASKED, k=12)]
    monkeypatch.setattr("auscult.search.reranking.NEAR", scores[0] - scores[3])
    assert read() == [True] * 4 + [False] * 8
    assert not any("reranker" in hit.evidence for hit in searcher.search(Query("", "Gout", ("symptoms",))))


def test_reranking_reads_more_hits_than_are_shown(searcher: Searcher) -> None:
    few, many = searcher.search(ASKED, k=2), searcher.search(ASKED, k=8)
    assert [(hit.passage_id, hit.score) for hit in few] == [(hit.passage_id, hit.score) for hit in many[:2]]


def test_the_likeliest_sentence_is_marked(searcher: Searcher) -> None:
    found = searcher.find(ASKED, 4)
    assert found.weighed is not None
    for number, again in enumerate(found.weighed.reread):
        assert again is not None
        likeliest = max(again.read.sentences, key=again.read.sentences.__getitem__)
        assert likeliest in found.marked(number)
        assert searcher.marked(ASKED, found.rows[number]) == found.marked(number)


def test_a_list_of_passages_is_reranked_alike(
    searcher: Searcher, plain: Searcher, reranker: Reranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [hit.passage_id for hit in searcher.search(ASKED, k=12)]
    assert [hit.passage_id for hit in plain.search(ASKED, k=12)] != ids
    monkeypatch.setattr("auscult.search.searcher.READ_AGAIN", 5)
    monkeypatch.setattr(Searcher, "reranker", reranker)
    scorer = FusedScorer(ENCODER, hide_names=False)
    scorer.prepare(leaflets())
    assert scorer._searcher is not None
    before = scorer.score(ASKED, ids)
    scorer._searcher.fusion = searcher.fusion
    assert np.count_nonzero(scorer.score(ASKED, ids) - before) == 5


def test_searches_that_cannot_be_reranked_are_refused(searcher: Searcher, plain: Searcher) -> None:
    with pytest.raises(QueryError, match="all evidence"):
        searcher.search(ASKED, options=SearchOptions(scoring="model", rerank=5))
    with pytest.raises(QueryError, match="a question in words"):
        searcher.search(Query("", "Gout", ("symptoms",)), options=SearchOptions(rerank=5))
    with pytest.raises(ModelError, match="weights for re-ranking"):
        plain.search(ASKED, options=SearchOptions(rerank=5))
