"""Bootstrap intervals, and paired tests (randomisation, signed ranks) with Holm's correction.

Queries are the sample. All methods use per-query values only, so they apply to any measure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from auscult.errors import ConfigError
from auscult.telemetry import naming_extra
from auscult_lab.evaluation.measures import QueryMeasures

Values = npt.NDArray[np.float64]

_CHUNK = 500
_LEVEL = 0.05
_SPARE = 4
"""How many times the rounds that the smallest p-value needs to be significant after Holm."""


def bootstrap_intervals(
    values: Values, *, seed: int = 0, resamples: int = 2000, level: float = 0.95
) -> npt.NDArray[np.float64]:
    """Compute percentile bootstrap intervals of means over queries (efron1979).

    Args:
        values: Shape (queries, measures).
        seed: Seed of the resampling.
        resamples: Number of samples of the same size, drawn with replacement.
        level: Coverage, in (0, 1).

    Returns:
        Shape (measures, 2): lower and upper ends.

    Raises:
        ConfigError: No queries, or a level outside (0, 1).
    """
    if len(values) == 0 or not 0.0 < level < 1.0:
        raise ConfigError("queries and a level in (0, 1)", f"{len(values)} queries, level {level}", "mend the call")
    random = np.random.default_rng(seed)
    queries = len(values)
    means = []
    for begin in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - begin)
        # The counts of drawn queries determine a resample, and turn its mean into a product.
        drawn = random.multinomial(queries, np.full(queries, 1.0 / queries), size=size)
        means.append(drawn @ values / queries)
    tail = (1.0 - level) / 2.0
    return np.quantile(np.concatenate(means), [tail, 1.0 - tail], axis=0).T


def pairwise_randomisation(values: Sequence[Values], *, seed: int = 0, rounds: int = 10_000) -> Values:
    """Test equal means of every pair of models by two-sided randomisation (fisher1935; smucker2007 for retrieval).

    Under the hypothesis that two models are equal, each query's two values can be swapped at random. All pairs use the
    same swaps.

    A sum of swapped differences is the difference of two swapped sums. The costly product with the swaps is therefore
    computed once per model instead of once per pair: O(rounds x queries x models), not x models². Each pair's p-value
    is the same as in a test of this pair alone.

    Args:
        values: A model's values each, shape (queries, measures), same queries in the same order.
        seed: Seed of the swaps.
        rounds: Number of random swaps; the smallest p-value is 1 / (rounds + 1).

    Returns:
        p-values in (0, 1], shape (pairs, measures), pairs in the order of `itertools.combinations`.
    """
    stacked = np.stack(values, axis=1)
    queries, models, measures = stacked.shape
    first, second = np.triu_indices(models, k=1)
    sums = stacked.sum(axis=0)
    observed = np.abs(sums[first] - sums[second])
    random = np.random.default_rng(seed)
    extreme = np.zeros(observed.shape)
    for begin in range(0, rounds, _CHUNK):
        size = min(_CHUNK, rounds - begin)
        signs = random.integers(0, 2, size=(size, queries), dtype=np.int8).astype(np.float64) * 2.0 - 1.0
        swapped = (signs @ stacked.reshape(queries, -1)).reshape(size, models, measures)
        # The tolerance counts sums that differ by rounding only as "as extreme".
        extreme += (np.abs(swapped[:, first] - swapped[:, second]) >= observed - 1e-9).sum(axis=0)
    p_values: Values = (extreme + 1.0) / (rounds + 1.0)
    return p_values


def wilcoxon(first: Values, second: Values) -> Values:
    """Test differences around zero by the two-sided Wilcoxon signed-rank test (wilcoxon1945).

    Queries on which both models have the same value are left out. Exact for at most 50 queries whose differences are
    all distinct, else by the normal approximation with its correction for ties.

    Args:
        first: Shape (queries, measures), one model's values.
        second: The other model's, same queries in the same order.

    Returns:
        p-values, shape (measures,), in (0, 1]; 1 where no query differs.

    Raises:
        ConfigError: The shapes differ.
    """
    if first.shape != second.shape:
        raise ConfigError("the same queries and measures", f"{first.shape} and {second.shape}", "align both first")
    # Imported here because it takes half a second, and most commands do not need it.
    with naming_extra("lab", "scipy"):
        from scipy import stats

    p_values = np.ones(first.shape[1])
    # Values that differ by rounding only must neither count nor break ties.
    differences = np.round(first - second, 12)
    for column in np.flatnonzero(differences.any(axis=0)).tolist():
        changed = differences[:, column]
        p_values[column] = stats.wilcoxon(changed[changed != 0.0], alternative="two-sided").pvalue
    return p_values


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of one model's measure from another's, over the same queries.

    Attributes:
        mean: Mean as a fraction; negative where the first model is worse.
        low: Lower end of the 95 % paired bootstrap interval.
        high: Upper end.
        p: p-value of the paired randomisation test, with Holm's correction over all such comparisons of the evaluation.
    """

    mean: float
    low: float
    high: float
    p: float


def differences(
    models: Mapping[str, QueryMeasures],
    pairs: Sequence[tuple[str, str]],
    names: Sequence[str],
    *,
    seed: int = 0,
    rounds: int = 10_000,
) -> dict[tuple[str, str], dict[str, Difference]]:
    """Compute differences of planned pairs of models, with a paired bootstrap interval and a paired test each.

    The pairs form one family per measure, with Holm's correction: planned comparisons are fewer than all, so the
    correction is smaller. Each interval is for one difference, uncorrected.

    Args:
        models: Name to per-query measures, over the same queries and measures.
        pairs: Two names each.
        names: The measures.
        seed: Seed of resampling and test.
        rounds: Least number of rounds of the randomisation test.

    Returns:
        pair -> measure -> difference.

    Raises:
        ConfigError: The models were measured on different queries.
    """
    if not pairs:
        return {}
    compared = list(dict.fromkeys(name for pair in pairs for name in pair))
    ids = models[compared[0]].query_ids
    if any(set(models[name].query_ids) != set(ids) for name in compared):
        raise ConfigError("models measured on the same queries", "different ones", "evaluate them on one task")
    columns = [models[compared[0]].names.index(name) for name in names]
    values = [models[name].of(ids).values[:, columns] for name in compared]
    rounds = max(rounds, math.ceil(_SPARE * len(pairs) / _LEVEL))
    place = {pair: row for row, pair in enumerate(combinations(range(len(compared)), 2))}
    rows = [(compared.index(a), compared.index(b)) for a, b in pairs]
    tested = pairwise_randomisation(values, seed=seed, rounds=rounds)[[place[min(r), max(r)] for r in rows]]
    p_values = [holm(tested[:, column].tolist()) for column in range(len(names))]
    by_pair: dict[tuple[str, str], dict[str, Difference]] = {}
    for number, (pair, (a, b)) in enumerate(zip(pairs, rows, strict=True)):
        changed = values[a] - values[b]
        ends = bootstrap_intervals(changed, seed=seed)
        by_pair[pair] = {
            name: Difference(
                float(changed[:, column].mean()),
                float(ends[column, 0]),
                float(ends[column, 1]),
                p_values[column][number],
            )
            for column, name in enumerate(names)
        }
    return by_pair


def holm(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values of one family of tests (holm1979), which keep the family-wise error rate at the level.

    Args:
        p_values: In any order.

    Returns:
        Adjusted p-values in the same order, at most 1.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for step, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - step) * p_values[index]))
        adjusted[index] = running
    return adjusted


def compare(
    models: Mapping[str, QueryMeasures], *, seed: int = 0, rounds: int = 10_000, level: float = 0.05
) -> dict[str, dict[str, list[str]]]:
    """Find significant differences between all pairs of models, by every measure.

    All pairs of models form one family per measure, with Holm's correction. A test of n rounds has no p-value below
    1 / (n + 1), and Holm multiplies the smallest by the number of pairs. With many models rounds are added, so that
    the clearest possible difference stays significant.

    Args:
        models: Name to per-query measures, over the same queries and measures.
        seed: Seed of the randomisation test.
        rounds: Least number of rounds of the randomisation test.
        level: Largest adjusted p-value that counts.

    Returns:
        model -> measure -> the models that it beats significantly.

    Raises:
        ConfigError: The models were measured on different queries or measures.
    """
    if not models:
        return {}
    reference = next(iter(models.values()))
    if any(
        set(measured.query_ids) != set(reference.query_ids) or measured.names != reference.names
        for measured in models.values()
    ):
        raise ConfigError("models measured on the same queries", "different ones", "evaluate them on one task")
    values = {name: measured.of(reference.query_ids).values for name, measured in models.items()}
    pairs = list(combinations(models, 2))
    rounds = max(rounds, math.ceil(_SPARE * len(pairs) / level))
    p_values = pairwise_randomisation(list(values.values()), seed=seed, rounds=rounds)
    better: dict[str, dict[str, list[str]]] = {name: {measure: [] for measure in reference.names} for name in models}
    for column, measure in enumerate(reference.names):
        adjusted = holm([float(row[column]) for row in p_values])
        for (a, b), p_value in zip(pairs, adjusted, strict=True):
            gap = float(values[a][:, column].mean() - values[b][:, column].mean())
            if p_value < level and gap != 0.0:
                winner, loser = (a, b) if gap > 0 else (b, a)
                better[winner][measure].append(loser)
    return better
