"""The published figures of term-based models are reproduced on the real test set."""

from __future__ import annotations

import pytest

from auscult_lab.corpora.medquad import MedQuadCorpus
from auscult_lab.evaluation.comparing import compare_models
from auscult_lab.evaluation.comparison import Contender
from auscult_lab.evaluation.published_figures import published_tables
from auscult_lab.evaluation.task import build_task
from auscult_lab.scorers.lexical import Bm25Scorer, TfIdfScorer
from needs import Needs


@pytest.mark.slow
def test_term_models_match_published_figures_within_a_point(needs: Needs) -> None:
    task = build_task(MedQuadCorpus(needs.file("medquad")))
    assert len(task.queries) == 3293
    assert len(task.judgements) == 3481
    contenders = [Contender(scorer=each, track="untrained") for each in (Bm25Scorer(), TfIdfScorer())]
    bm25, tfidf = compare_models(task, contenders).records
    for record in (bm25, tfidf):
        published = published_tables("medquad")[0].find(record.model)
        assert published is not None
        for name, value in published.measures.items():
            assert record.measures[name] == pytest.approx(value, abs=0.01), (record.model, name)
        low, high = record.intervals["R@1"]
        assert low < record.measures["R@1"] < high
        assert sum(group.queries for group in record.by_source) >= 3293
    assert bm25.better_than["R@1"] == ["TF-IDF"]
    assert tfidf.better_than == {}
