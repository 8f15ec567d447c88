"""Re-ranking first hits: one more evidence, that moves them alone; and how much it counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from auscult.encoders.reranker import Reranker
from auscult.errors import ModelError, QueryError
from auscult.ingest.building import build_index
from auscult.search import Searcher, SearchOptions, reranking
from auscult.understanding import Query
from auscult_lab.fitting.fitting import fit_reranker
from auscult_lab.fitting.fused_scorer import FusedScorer
from encoders import HashedEncoder
from leaflets import leaflets
from small_reranker import save_reranker, small_network

ENCODER = HashedEncoder(256)
ASKED = Query("", "Gout", ("symptoms",))
WEIGHTS = {"parts": 50.0, "words": 7.0}


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> Reranker:
    place = tmp_path_factory.mktemp("reranker")
    network = small_network(place / "bert")
    network.head.bias.data.fill_(-20.0)
    return save_reranker(place / "model", network, WEIGHTS)


@pytest.fixture(scope="module")
def searcher(reranker: Reranker, tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder: Path = tmp_path_factory.mktemp("reranking") / "index"
    build_index(leaflets(), ENCODER, folder, corpus="leaflets")
    return Searcher.open(folder, ENCODER, reranker)


def test_only_the_first_hits_are_reranked(searcher: Searcher) -> None:
    before = {hit.passage_id: hit for hit in searcher.search(ASKED, k=12)}
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
    assert [hit.evidence["reranker"] for hit in hits[:5]] != [hits[0].evidence["reranker"]] * 5
    assert "reranker" not in hits[5].evidence


def test_reranking_reads_more_hits_than_are_shown(searcher: Searcher) -> None:
    assert [hit.passage_id for hit in searcher.search(ASKED, k=2, options=SearchOptions(rerank=8))] == [
        hit.passage_id for hit in searcher.search(ASKED, k=8, options=SearchOptions(rerank=8))[:2]
    ]


def test_questions_in_words_have_their_own_reranker_weight(searcher: Searcher, reranker: Reranker) -> None:
    (hit,) = searcher.search(Query("", "", text="symptoms of gout"), k=1, options=SearchOptions(rerank=1))
    odds = float(reranker.score("symptoms of gout", [(f"{hit.title} > {hit.heading}.", hit.text)])[0])
    assert hit.evidence["reranker"] == pytest.approx(7 / (1 + np.exp(-odds)), abs=1e-4)


def test_a_fused_scorer_reranks_only_the_best_passages(
    searcher: Searcher, reranker: Reranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reranking, "FIRST", 5)
    scorers = [FusedScorer(ENCODER, reranker=each, hide_names=False) for each in (None, reranker)]
    for scorer in scorers:
        scorer.prepare(leaflets())
    ids = [hit.passage_id for hit in searcher.search(ASKED, k=40)][::-1]
    plain, again = (scorer.score(ASKED, ids) for scorer in scorers)
    moved = np.flatnonzero(again - plain)
    np.testing.assert_array_equal(np.sort(moved), np.arange(len(ids) - 5, len(ids)))
    shown = {
        hit.passage_id: hit.evidence["reranker"] for hit in searcher.search(ASKED, k=5, options=SearchOptions(rerank=5))
    }
    np.testing.assert_allclose((again - plain)[moved], [shown[ids[row]] for row in moved], atol=1e-3)
    assert scorers[1].name == f"{scorers[0].name}, re-ranked"


def test_searches_that_cannot_be_reranked_are_refused(searcher: Searcher, reranker: Reranker) -> None:
    with pytest.raises(QueryError, match="all evidence"):
        searcher.search(ASKED, options=SearchOptions(scoring="model", rerank=5))
    with pytest.raises(ModelError, match="the shipped model 'reranker'"):
        Searcher(searcher.index, ENCODER).search(ASKED, options=SearchOptions(rerank=5))


def test_the_rerankers_weight_is_fitted_to_its_quality(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    knows = {row: float("-2" in searcher.index.reader.passage_id(row)) for row in range(12)}

    def reads(reranker: object, reader: object, query: Query, rows: list[int], hidden: set[int]) -> np.ndarray:
        return np.array([knows[row] if "symptoms" in query.aspects else 0.0 for row in rows])

    monkeypatch.setattr("auscult_lab.fitting.fitting.probabilities", reads)
    weights = fit_reranker([searcher], object(), questions=60)  # type: ignore[arg-type]
    assert weights.keys() == {"parts", "words"}
    assert weights["parts"] > 0.5
    monkeypatch.setattr("auscult_lab.fitting.fitting.probabilities", lambda *given: 1 - reads(*given))
    assert fit_reranker([searcher], object(), questions=60)["parts"] < weights["parts"]  # type: ignore[arg-type]
