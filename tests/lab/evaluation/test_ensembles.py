"""Several models as one: standardised scores, averaged."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.errors import ConfigError
from auscult.search.fusion import fuse_scores
from auscult.understanding import Query
from auscult_lab.evaluation.comparing import compare_models
from auscult_lab.evaluation.comparison import Contender
from auscult_lab.evaluation.ensembles import Ensemble, ensembles_of
from auscult_lab.evaluation.records import Track
from leaflet_task import PASSAGES, leaflet_task

CANDIDATES = PASSAGES[:4]
TASK = leaflet_task(3, CANDIDATES[1], CANDIDATES)


class Fixed:
    """Gives each passage the same score, whatever is asked."""

    def __init__(self, name: str, scores: Sequence[float]) -> None:
        self.name = name
        self.scores = dict(zip(CANDIDATES, scores, strict=True))

    def prepare(self, documents: Iterable[Document]) -> None:
        pass

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        return np.array([self.scores[each] for each in passage_ids], dtype=np.float32)


def contender(name: str, track: Track, scores: Sequence[float], **more: object) -> Contender:
    return Contender(scorer=Fixed(name, scores), track=track, **more)  # type: ignore[arg-type]


def test_fused_scores_are_means_of_standard_scores():
    first, second = [1.0, 2.0, 4.0], [300.0, 100.0, 200.0]
    standard = [
        [(value - statistics.mean(each)) / statistics.pstdev(each) for value in each] for each in (first, second)
    ]
    expected = [statistics.mean(pair) for pair in zip(*standard, strict=True)]
    fused = fuse_scores([np.array(first, dtype=np.float32), np.array(second, dtype=np.float32)])
    assert fused.dtype == np.float32
    np.testing.assert_allclose(fused, expected, rtol=1e-6)


def test_fusion_ignores_score_scales_and_constant_models():
    scores = np.random.default_rng(0).normal(size=(2, 20)).astype(np.float32)
    fused = fuse_scores([*scores])
    np.testing.assert_allclose(fuse_scores([1000 + 50 * scores[0], scores[1] / 9]), fused, atol=1e-4)
    np.testing.assert_array_equal(np.argsort(fuse_scores([*scores, np.full(20, 7.0, np.float32)])), np.argsort(fused))
    assert fuse_scores([np.zeros(0, np.float32)] * 2).shape == (0,)


def test_an_ensemble_ranks_first_what_both_rank_second():
    # The answer is second for both, and what is first for one is last for the other.
    first = contender("A", "zero-shot", [9, 8, 1, 0], fingerprint="1", training={"kind": "capr", "seconds": 60})
    second = contender("B", "adapted", [0, 80, 10, 90], precision="bf16", training={"kind": "capr", "seconds": 30})
    ensemble = Ensemble((first, second))
    comparison = compare_models(TASK, [first, second], ensembles=[ensemble])
    assert [record.measures["R@1"] for record in comparison.records] == [0.0, 0.0, 1.0]
    record, own = comparison.records[-1], comparison.records[:2]
    assert (record.model, record.track, record.label) == ("A + B", "adapted", "A + B, adapted")
    assert (record.precision, record.fingerprint, record.of_bench) == ("bf16", "1", True)
    assert (record.training["seconds"], list(record.training["models"])) == (90, ["A, zero-shot", "B, adapted"])
    assert record.ms_per_query == pytest.approx(sum(each.ms_per_query for each in own))
    for ranking in comparison.runs[-1].rankings:
        expected = fuse_scores(
            [np.array([model.scorer.scores[p] for p in CANDIDATES], np.float32) for model in (first, second)]
        )  # type: ignore[attr-defined]
        assert dict(zip(ranking.passage_ids, ranking.scores, strict=True)) == pytest.approx(
            dict(zip(CANDIDATES, expected.tolist(), strict=True))
        )


def test_ties_of_fused_scores_count_against_it():
    first, second = contender("A", "untrained", [1, 0, 0, 0]), contender("B", "untrained", [0, 1, 0, 0])
    record = compare_models(TASK, [first, second], ensembles=[Ensemble((first, second))]).records[-1]
    assert (record.label, record.measures["R@1"], record.measures["RR"]) == ("A + B", 0.0, 0.5)


@pytest.mark.parametrize("asked", ["a", "a+a", "a+c", "a+", ""])
def test_an_ensemble_names_different_models_that_are_there(asked: str):
    models = {name: contender(name, "untrained", [0] * 4) for name in ("a", "b")}
    with pytest.raises(ConfigError, match="two or more of a, b joined"):
        ensembles_of([asked], models, "rerank")
    assert [each.name for each in ensembles_of(["b+a"], models, "rerank")] == ["b + a"]
    with pytest.raises(ConfigError, match="end-to-end"):
        ensembles_of(["a+b"], models, "end-to-end")
