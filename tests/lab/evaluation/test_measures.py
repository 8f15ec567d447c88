"""Measures equal values worked out by hand; ties and missing queries count against a run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.errors import DataError
from auscult.ingest.corpus import Judgement
from auscult.search.hits import Ranking
from auscult_lab.evaluation.measures import MEASURES, measure, measure_at_cutoff


def ranking(query_id: str, *passage_ids: str) -> Ranking:
    return Ranking(query_id, passage_ids, tuple(float(-rank) for rank in range(len(passage_ids))))


def test_hand_computed_values() -> None:
    judgements = [Judgement("q1", "a"), Judgement("q1", "b"), Judgement("q2", "c"), Judgement("q2", "x", 0)]
    measured = measure([ranking("q1", "a", "n", "b"), ranking("q2", "n", "c")], judgements)
    assert measured.names == MEASURES
    row = {
        query: dict(zip(MEASURES, values, strict=True))
        for query, values in zip(measured.query_ids, measured.values, strict=True)
    }
    assert row["q1"] == pytest.approx(
        {
            "R@1": 1 / 2,
            "R@5": 1.0,
            "R@10": 1.0,
            "AP": (1 + 2 / 3) / 2,
            "RR": 1.0,
            "nDCG@10": (1 + 1 / 2) / (1 + 1 / math.log2(3)),
            "P@1": 1.0,
            "P@3": 2 / 3,
            "P@5": 2 / 5,
            "R@3": 1.0,
            "nDCG@1": 1.0,
            "nDCG@3": (1 + 1 / 2) / (1 + 1 / math.log2(3)),
            "nDCG@5": (1 + 1 / 2) / (1 + 1 / math.log2(3)),
        }
    )
    second = {"R@1": 0.0, "R@5": 1.0, "R@10": 1.0, "AP": 1 / 2, "RR": 1 / 2, "nDCG@10": 1 / math.log2(3)}
    second |= {"P@1": 0.0, "P@3": 1 / 3, "P@5": 1 / 5, "R@3": 1.0, "nDCG@1": 0.0}
    second |= {"nDCG@3": 1 / math.log2(3), "nDCG@5": 1 / math.log2(3)}
    assert row["q2"] == pytest.approx(second)
    assert measured.means()["MAP"] == pytest.approx((5 / 6 + 1 / 2) / 2)
    assert measured.means()["MAP"] == measured.means()["AP"]


def test_recall_is_a_share_not_success() -> None:
    judgements = [Judgement("q", each) for each in "abcd"]
    assert measure([ranking("q", "a", "b")], judgements, ["R@1", "R@5"]).values.tolist() == [[0.25, 0.5]]


def test_unranked_queries_count_zero_and_unknown_ones_nothing() -> None:
    measured = measure([ranking("q1", "a"), ranking("other", "a")], [Judgement("q1", "a"), Judgement("q2", "b")])
    assert set(measured.query_ids) == {"q1", "q2"}
    assert measured.means()["R@1"] == 0.5


def test_ties_count_against_the_run_whatever_the_ids() -> None:
    for true in ("a", "m", "z"):
        tied = Ranking("q", ("a", "m", "z"), (1.0, 1.0, 1.0))
        assert measure([tied], [Judgement("q", true)], ["RR"]).values.tolist() == [[pytest.approx(1 / 3)]]


def test_scores_closer_than_single_precision_are_no_tie() -> None:
    near = Ranking("q", ("b", "a"), (1.0 + 1e-12, 1.0))
    assert measure([near], [Judgement("q", "b")], ["R@1"]).values.tolist() == [[1.0]]


@given(st.permutations(list("abcdefgh")), st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_average_precision_follows_its_definition(order: list[str], relevant: set[str]) -> None:
    hits = np.array([each in relevant for each in order])
    precision = np.cumsum(hits) / np.arange(1, 9)
    measured = measure([ranking("q", *order)], [Judgement("q", each) for each in sorted(relevant)], ["AP", "R@5"])
    assert measured.values[0] == pytest.approx([precision[hits].mean(), hits[:5].sum() / len(relevant)])


def test_wrong_input_is_named() -> None:
    with pytest.raises(DataError, match="relevant"):
        measure([ranking("q", "a")], [Judgement("q", "a", 0)])
    with pytest.raises(DataError, match="notation"):
        measure([ranking("q", "a")], [Judgement("q", "a")], ["Bogus@3"])


def test_measures_at_a_cutoff_by_hand() -> None:
    few = [Judgement("few", "a"), Judgement("few", "b"), Judgement("few", "n", 0)]
    many = [Judgement("many", f"r{n}") for n in range(5)]
    lost = [Judgement("lost", "z")]
    rankings = [ranking("few", "a", "n", "m", "b"), ranking("many", "n", "r1", "r2", "r3")]
    measured = measure_at_cutoff(rankings, [*few, *many, *lost], 3)
    assert measured.names == ("MAP@3", "P@3", "R@3", "F1@3")
    rows = dict(zip(measured.query_ids, measured.values.tolist(), strict=True))
    # Two are relevant and one is found; then five are relevant, of which three would fit.
    assert rows["few"] == pytest.approx([1 / 2, 1 / 3, 1 / 2, 2 / 5])
    assert rows["many"] == pytest.approx([(1 / 2 + 2 / 3) / 3, 2 / 3, 2 / 5, 1 / 2])
    assert rows["lost"] == [0.0, 0.0, 0.0, 0.0]
