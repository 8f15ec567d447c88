"""Two models' scores of the same passages as one.

Scores of different models are on different scales. Over a query's candidates each model's are shifted and stretched to
mean 0 and standard deviation 1 (montague2001's zero-mean unit-variance normalisation), and then averaged (CombSUM,
fox1994, but for a factor). All models count the same: nothing is tuned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auscult.interfaces import FloatArray


def fuse_scores(scores: Sequence[FloatArray]) -> FloatArray:
    """The mean of standardised scores, float32 (passages,).

    Args:
        scores: Of each model, (passages,), at least one model; higher is better. A model that scores all alike says
            nothing, and adds nothing.
    """
    rows = np.stack([np.asarray(each, dtype=np.float64) for each in scores])
    if not rows.size:
        return np.zeros(rows.shape[1], dtype=np.float32)
    spread = rows.std(axis=1, keepdims=True)
    standard = (rows - rows.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    fused: FloatArray = standard.mean(axis=0).astype(np.float32)
    return fused
