"""Intervals and tests against exact values."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.errors import ConfigError
from auscult_lab.evaluation.measures import QueryMeasures
from auscult_lab.evaluation.statistics import bootstrap_intervals, compare, holm, pairwise_randomisation, wilcoxon


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_lowers_or_reorders_p_values(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(0 <= raw <= new <= 1 for raw, new in zip(p_values, adjusted, strict=True))
    for a, b in product(range(len(p_values)), repeat=2):
        assert p_values[a] >= p_values[b] or adjusted[a] <= adjusted[b]


def test_randomisation_comes_near_the_exact_p_value() -> None:
    first = np.array([[0.9], [0.8], [0.7], [1.0], [0.4], [0.9], [0.3], [0.8]])
    second = np.array([[0.5], [0.9], [0.2], [0.6], [0.3], [0.4], [0.5], [0.1]])
    differences = (first - second)[:, 0]
    sums = [abs(np.dot(signs, differences)) for signs in product((-1, 1), repeat=len(differences))]
    exact = np.mean([each >= abs(differences.sum()) - 1e-9 for each in sums])
    measured = pairwise_randomisation([first, second], rounds=20_000)[0, 0]
    assert measured == pytest.approx(exact, abs=0.01)
    assert pairwise_randomisation([second, first], rounds=20_000)[0, 0] == measured


def test_the_observed_values_are_one_of_the_rounds() -> None:
    """No random swap of forty queries reaches what was observed, and yet no p-value is 0."""
    clear = np.column_stack([np.full(40, 0.9), np.full(40, 0.5)])
    assert pairwise_randomisation([clear[:, :1], clear[:, 1:]], rounds=99).tolist() == [[1 / 100]]


def test_wilcoxon_is_exact_on_few_queries() -> None:
    differences = np.array([0.4, -0.1, 0.5, 0.6, 0.7, -0.2, 0.3, 0.8])
    first = np.stack([np.full(8, 0.9), np.full(8, 0.9)], axis=1)
    second = first - np.stack([differences, np.zeros(8)], axis=1)
    ranks = np.argsort(np.argsort(np.abs(differences))) + 1
    positive = [ranks[np.array(signs) > 0].sum() for signs in product((-1, 1), repeat=8)]
    observed = ranks[differences > 0].sum()
    exact = 2 * min(np.mean([each >= observed for each in positive]), np.mean([each <= observed for each in positive]))
    assert wilcoxon(first, second).tolist() == pytest.approx([exact, 1.0])
    assert wilcoxon(second, first).tolist() == pytest.approx([exact, 1.0])


def test_wilcoxon_leaves_out_queries_without_a_difference() -> None:
    random = np.random.default_rng(4)
    first, second = random.random((20, 1)), random.random((20, 1))
    same = np.full((30, 1), 0.3)
    # 0.1 + 0.2 is not 0.3 to the last digit, and must still count as equal.
    padded = wilcoxon(np.concatenate([first, same]), np.concatenate([second, np.full((30, 1), 0.1) + 0.2]))
    assert padded.tolist() == pytest.approx(wilcoxon(first, second).tolist())
    assert 0 < padded[0] < 1


def test_equal_models_have_p_one() -> None:
    values = np.random.default_rng(0).random((30, 2))
    assert pairwise_randomisation([values, values], rounds=200).tolist() == [[1.0, 1.0]]


def test_bootstrap_is_seeded_and_near_the_normal_interval() -> None:
    values = np.random.default_rng(1).random((400, 2))
    ends = bootstrap_intervals(values, seed=3)
    error = values.std(axis=0) / np.sqrt(len(values))
    np.testing.assert_allclose(ends[:, 0], values.mean(axis=0) - 1.96 * error, atol=0.004)
    np.testing.assert_allclose(ends[:, 1], values.mean(axis=0) + 1.96 * error, atol=0.004)
    assert (bootstrap_intervals(values, seed=3) == ends).all()
    assert (bootstrap_intervals(values, seed=4) != ends).any()
    assert bootstrap_intervals(np.ones((5, 1))).tolist() == [[1.0, 1.0]]


def test_compare_names_the_significantly_worse_models() -> None:
    random = np.random.default_rng(2)
    weak = random.random((60, 1)) * 0.5
    queries = tuple(f"q{n}" for n in range(60))

    def model(values: np.ndarray) -> QueryMeasures:
        return QueryMeasures(("AP",), queries, values)

    better = compare({"weak": model(weak), "same": model(weak.copy()), "strong": model(weak + 0.2)})
    assert better == {"weak": {"AP": []}, "same": {"AP": []}, "strong": {"AP": ["weak", "same"]}}


def test_compare_aligns_queries_by_id() -> None:
    values = np.random.default_rng(2).random((40, 1))
    queries = tuple(f"q{n}" for n in range(40))
    backwards = QueryMeasures(("AP",), queries[::-1], values[::-1])
    assert compare({"a": QueryMeasures(("AP",), queries, values), "b": backwards}) == {
        "a": {"AP": []},
        "b": {"AP": []},
    }


def test_different_queries_are_refused() -> None:
    one = QueryMeasures(("AP",), ("q1",), np.ones((1, 1)))
    other = QueryMeasures(("AP",), ("q2",), np.ones((1, 1)))
    with pytest.raises(ConfigError, match="same queries"):
        compare({"a": one, "b": other})
    with pytest.raises(ConfigError, match="same queries"):
        wilcoxon(np.ones((2, 1)), np.ones((3, 1)))
    with pytest.raises(ConfigError, match="level"):
        bootstrap_intervals(np.ones((2, 1)), level=1.0)
