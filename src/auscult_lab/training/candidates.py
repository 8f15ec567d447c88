"""Passages that look right: those BM25 ranks highest (robertson1995), and how many stand ahead of the answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from auscult.interfaces import FloatArray
from auscult_lab.scorers.lexical import Bm25Index


class BestPassages:
    """A collection of passages, searched with BM25.

    Args:
        passages: The words of each passage.
    """

    def __init__(self, passages: Sequence[Sequence[str]]) -> None:
        self._index = Bm25Index([list(words) for words in passages], k1=1.2, b=0.75)

    def of(self, words: Sequence[str], depth: int, *, without: Collection[int]) -> tuple[int, ...]:
        """Rows of passages that share a word with the query, best first.

        Args:
            words: Of the query.
            depth: At most so many, and as many more as `without` may have taken from them.
            without: Rows that are left out.
        """
        scores = self._index.score_all(words)
        fetched = min(depth + len(without), len(scores))
        best = np.argpartition(-scores, fetched - 1)[:fetched]
        best = best[np.lexsort((best, -scores[best]))]
        return tuple(int(row) for row in best if row not in without and scores[row] > 0)


def wrong_ahead(scores: FloatArray, answers: Sequence[bool]) -> int:
    """How many wrong candidates do not score below the best answer: ties count against the model.

    So do scores that are no numbers, which are neither above nor below anything: a diverged model has all ahead.

    Args:
        scores: (candidates,).
        answers: Which of them answer; at least one.
    """
    right = np.array(answers)
    return int((~(scores[~right] < scores[right].max())).sum())


def place_measures(ahead: Sequence[int]) -> dict[str, float]:
    """R@1 and RR (mean reciprocal rank) of queries with so many wrong candidates ahead of their best answer."""
    ranks = np.array(ahead, dtype=np.float64) + 1.0
    return {"R@1": float((ranks == 1).mean()), "RR": float((1.0 / ranks).mean())}
