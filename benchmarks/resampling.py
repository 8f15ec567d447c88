"""Intervals over seeds and queries, for measures of models that were trained with several seeds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

RESAMPLES = 2000
Values = npt.NDArray[np.float64]


def drawn(random: np.random.Generator, number: int) -> Values:
    """Return the share of each of a number of seeds or queries in each resample, (RESAMPLES, number)."""
    return random.multinomial(number, np.full(number, 1 / number), RESAMPLES) / number


def with_interval(mean: float, means: Values) -> dict[str, float]:
    """Return a mean and the bounds of its 95 % interval, rounded; `means` are those of the resamples."""
    low, high = np.quantile(means, [0.025, 0.975])
    return {"mean": round(mean, 4), "low": round(float(low), 4), "high": round(float(high), 4)}


def rounded(values: Values) -> list[float]:
    """Return numbers as a record has them."""
    return [round(float(value), 4) for value in values]
