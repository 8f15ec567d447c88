"""The k best rows, exactly and in an order that never depends on how the scores were computed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from auscult.interfaces import FloatArray

RowArray = npt.NDArray[np.int64]
ScoreArray = npt.NDArray[np.float64]


def exact_scores(vectors: FloatArray, query: FloatArray) -> ScoreArray:
    """Inner products in double precision, shape (rows,).

    Equal rows get equal scores wherever they stand, which a BLAS product in single precision doesn't promise:
    it treats the last rows of a block otherwise than the first.
    """
    scores: ScoreArray = np.multiply(vectors, query, dtype=np.float64).sum(axis=1)
    return scores


def select(
    vectors: FloatArray,
    query: FloatArray,
    rough: FloatArray,
    k: int,
    groups: npt.NDArray[np.integer] | None = None,
) -> tuple[RowArray, ScoreArray]:
    """The k best rows by exact score, ties in row order.

    A single-precision product finds the few rows that can be among the best; only those are scored exactly.

    Args:
        vectors: Shape (rows, dim).
        query: Shape (dim,), unit length.
        rough: Single-precision scores, shape (rows,); -inf for rows that are not to be returned.
        k: How many, at least 1.
        groups: Non-decreasing group number per row; when given, each group gives only its best row.

    Returns:
        Rows and their exact scores, best first; fewer than k where fewer are eligible.
    """
    heads = rough if groups is None else _best_of_groups(rough, groups)
    # Rounding of a dim-term sum of products of unit vectors, on both sides of the comparison.
    margin = 2 * len(query) * float(np.finfo(np.float32).eps)
    lowest = -np.inf if k >= len(heads) else float(np.partition(heads, len(heads) - k)[len(heads) - k])
    rows = np.flatnonzero((rough >= lowest - margin) & (rough > -np.inf))
    scores = exact_scores(vectors[rows], query)
    order = np.lexsort((rows, -scores))
    if groups is not None:
        _, first = np.unique(groups[rows[order]], return_index=True)
        order = order[np.sort(first)]
    order = order[:k]
    return rows[order], scores[order]


def _best_of_groups(scores: FloatArray, groups: npt.NDArray[np.integer]) -> FloatArray:
    if not len(scores):
        return scores
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    best: FloatArray = np.maximum.reduceat(scores, starts)
    return best
