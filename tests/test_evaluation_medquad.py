"""The published figures of term-based models are reproduced on the real test set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auscult.corpora.medquad import MedQuadCorpus
from auscult.evaluation.comparison import Contender, compare_models
from auscult.evaluation.published_figures import find_published
from auscult.evaluation.task import build_task
from auscult.models.lexical import Bm25Scorer, TfIdfScorer

pytestmark = pytest.mark.skipif("AUSCULT_DATA" not in os.environ, reason="needs MedQuAD: set AUSCULT_DATA")


def test_term_based_models_land_within_one_point_of_the_published_figures() -> None:
    task = build_task(MedQuadCorpus(Path(os.environ["AUSCULT_DATA"]) / "medquad"))
    assert len(task.queries) == 3293
    assert len(task.judgements) == 3481
    contenders = [Contender(scorer=each, track="untrained") for each in (Bm25Scorer(), TfIdfScorer())]
    bm25, tfidf = compare_models(task, contenders).records
    for record in (bm25, tfidf):
        published = find_published("medquad", record.model)
        assert published is not None
        for name, value in published.measures.items():
            assert record.measures[name] == pytest.approx(value, abs=0.01), (record.model, name)
        low, high = record.intervals["R@1"]
        assert low < record.measures["R@1"] < high
        assert sum(group.queries for group in record.by_source) >= 3293
    assert bm25.better_than["R@1"] == ["TF-IDF"]
    assert tfidf.better_than == {}
