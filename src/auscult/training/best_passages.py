"""Negatives that look right: the passages that BM25 ranks highest for a query's words (robertson1995)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from auscult.models.lexical import Bm25Index


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
