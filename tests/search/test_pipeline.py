"""Retrieve, then re-rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from auscult.documents import Document
from auscult.encoders.contract import FloatArray, ReadsDocuments
from auscult.errors import QueryError
from auscult.ingest.building import build_index
from auscult.search import Pipeline, Searcher
from auscult.understanding import Query
from auscult_lab.encoders.registry import create
from auscult_lab.encoders.scorer import CaprScorer
from auscult_lab.scorers.lexical import TfIdfScorer
from encoders import HashedEncoder
from leaflets import leaflets
from tiny_bert import save_tiny_bert

ENCODER = HashedEncoder(256)
ASKED = Query("q1", "Gout", ("symptoms",))


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder: Path = tmp_path_factory.mktemp("pipeline") / "index"
    build_index(leaflets(), ENCODER, folder, corpus="leaflets")
    return Searcher.open(folder, ENCODER)


def test_the_scorer_decides_the_order(searcher: Searcher) -> None:
    hits = Pipeline(searcher, TfIdfScorer(), candidates=12).search(ASKED, k=5)
    retrieved = {hit.passage_id: hit for hit in searcher.search(ASKED, k=12)}
    alone = TfIdfScorer()
    alone.prepare(leaflets())
    expected = alone.score(ASKED, list(retrieved))
    best = [list(retrieved)[row] for row in np.argsort(-expected, kind="stable")[:5]]
    assert [hit.passage_id for hit in hits] == best
    assert [hit.passage_id for hit in hits] != list(retrieved)[:5]
    assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]
    assert [hit.score for hit in hits] == sorted((float(each) for each in expected), reverse=True)[:5]
    for hit in hits:
        assert (hit.text, hit.sentences) == (retrieved[hit.passage_id].text, retrieved[hit.passage_id].sentences)


def test_fused_scores_combine_search_and_scorer(searcher: Searcher) -> None:
    hits = Pipeline(searcher, TfIdfScorer(), candidates=12, fuse=True).search(ASKED, k=12)
    candidates = searcher.search(ASKED, k=12)
    read = {hit.passage_id: hit.score for hit in Pipeline(searcher, TfIdfScorer(), candidates=12).search(ASKED, k=12)}
    retrieved = np.array([hit.score for hit in candidates])
    scored = np.array([read[hit.passage_id] for hit in candidates])
    expected = (retrieved - retrieved.mean()) / retrieved.std() / 2 + (scored - scored.mean()) / scored.std() / 2
    best = [candidates[row].passage_id for row in np.argsort(-expected, kind="stable")]
    assert [hit.passage_id for hit in hits] == best
    assert best not in ([hit.passage_id for hit in candidates], sorted(read, key=lambda each: -read[each]))
    np.testing.assert_allclose([hit.score for hit in hits], np.sort(expected)[::-1], atol=1e-5)


def test_only_candidates_are_reranked(searcher: Searcher) -> None:
    hits = Pipeline(searcher, TfIdfScorer(), candidates=3).search(ASKED, k=3)
    assert {hit.passage_id for hit in hits} == {hit.passage_id for hit in searcher.search(ASKED, k=3)}


def test_more_hits_than_candidates_are_retrieved_for(searcher: Searcher) -> None:
    assert len(Pipeline(searcher, TfIdfScorer(), candidates=1).search(ASKED, k=6)) == 6


def test_no_candidates_are_refused(searcher: Searcher) -> None:
    with pytest.raises(QueryError, match="at least 1"):
        Pipeline(searcher, TfIdfScorer(), candidates=0)


class _Watched:
    """A scorer that keeps what it is shown."""

    name = "watched"

    def __init__(self) -> None:
        self.shown: list[Document] = []

    def prepare(self, documents: Iterable[Document]) -> None:
        self.shown = list(documents)

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        return np.arange(len(passage_ids), dtype=np.float32)


class _WatchedReader(_Watched):
    reads_documents = True


@pytest.mark.parametrize("scorer", [_Watched(), _WatchedReader()])
def test_candidates_are_shown_within_their_documents(scorer: _Watched, searcher: Searcher) -> None:
    candidates = {hit.passage_id for hit in searcher.search(ASKED, k=4)}
    Pipeline(searcher, scorer, candidates=4).search(ASKED, k=4)
    originals = {document.doc_id: document for document in leaflets()}
    assert len({document.doc_id for document in scorer.shown}) == len(scorer.shown)
    for document in scorer.shown:
        original = originals[document.doc_id]
        assert document.text == original.text
        wanted = [passage for passage in original.passages if passage.passage_id in candidates]
        assert list(document.passages) == (list(original.passages) if isinstance(scorer, ReadsDocuments) else wanted)
        assert wanted


@pytest.mark.parametrize(
    ("kind", "settings"),
    [("bi", {"document_share": 0.5}), ("long-bi", {"window": 8, "stretch": 64}), ("cross", {})],
)
def test_pipeline_scores_equal_those_of_the_prepared_scorer(
    kind: str, settings: dict[str, object], searcher: Searcher, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    scorer = CaprScorer(create(kind, str(save_tiny_bert(tmp_path)), settings))
    hits = Pipeline(searcher, scorer, candidates=3).search(ASKED, k=3)
    scorer.prepare(leaflets())
    expected = scorer.score(ASKED, [hit.passage_id for hit in hits])
    assert len(set(expected.tolist())) == 3
    np.testing.assert_allclose([hit.score for hit in hits], expected, atol=1e-4)
