"""Weigh the evidence of a query over the passages of an index, and find the best of them.

Evidence by words is known of all passages at once (`search.evidence`). To read the vectors of all would take long, so
an estimate from quantised vectors chooses `WEIGHED` candidates, whose evidence is computed. Where a server has the
vectors, the estimate is by words alone, and the candidates that the server proposes are added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np

from auscult.encoders.contract import FloatArray, Terms
from auscult.index.fields import Where
from auscult.index.passage_index import GroupBy, PassageIndex, RowArray, ScoreArray
from auscult.search.certainty import FIRST, Background
from auscult.search.evidence import READ_BY_SENTENCE, Reasons, best_sentences
from auscult.search.fusion import Fusion
from auscult.search.hits import SENTENCE
from auscult.understanding.query import Query

Best = Callable[[FloatArray, int], tuple[RowArray, ScoreArray]]
Sample = tuple[RowArray, FloatArray]
"""Rows of passages that stand for a collection, and their vectors, (sample, dim)."""
WEIGHED: Final = 500
"""Of how many passages, the best by an estimate, all evidence is weighed. The last of the first ten was at most the
248th by the estimate: 60 questions of MedQuAD of each of four kinds, of 16 thousand passages and of 70 thousand."""


class Weighing:
    """The evidence of one query over an index, with what it weighs.

    Args:
        index: An opened index.
        fusion: Weights of the evidence.
        query: The query, understood.
        vector: Vector of the query, (dim,).
        terms: Its weighted terms; None for a model without.
        sample: Passages that stand for the collection.

    Attributes:
        background: How the evidence is distributed over the collection.
        spread: What the evidence is divided by, (evidence,); 1 unless the query is a question in words.
        weights: Weight of each evidence, (evidence,).
    """

    def __init__(
        self, index: PassageIndex, fusion: Fusion, query: Query, vector: FloatArray, terms: Terms | None, sample: Sample
    ) -> None:
        self._index = index
        self._query = query
        self._vector = vector
        self._reasons = Reasons(index, query, vector, terms)
        self.background = Background.of(self._reasons.of(*sample)).with_usual(fusion.usual)
        if query.text:
            self._reasons.spread = self.background.spread
        self.spread = self._reasons.spread
        self.weights = fusion.weights(query)

    def best(
        self, k: int, *, group_by: GroupBy, where: Where, documents: Sequence[str]
    ) -> tuple[RowArray, ScoreArray, FloatArray, ScoreArray]:
        """Return the k best passages by all evidence: their rows, scores, and evidence, (k, evidence).

        Also return the scores of the first passages, however hits are grouped.

        Args:
            k: Number of passages.
            group_by: As `PassageIndex.search` takes it, like `where` and `documents`.
            where: Only documents with these values of fields.
            documents: Only documents of these ids; empty for all.
        """
        best = partial(self._index.best, where=where, documents=documents)
        most = max(WEIGHED, 2 * k)
        proposed = self._index.proposed(self._reasons.direction(self.weights), where, documents)
        if proposed is None:
            estimate = self._reasons.estimate(self.weights)
        else:
            estimate = self._reasons.estimate_by_words(self.weights)
        candidates = np.sort(best(estimate, most)[0])
        is_all = len(candidates) < most
        if proposed is not None:
            candidates = np.union1d(candidates, proposed)
        evidence = self.evidence(candidates, partial(best, rows=candidates))
        scores_of_all = evidence @ self.weights
        rows, scores = best(scores_of_all, k, group_by=group_by, rows=candidates)
        first = best(scores_of_all, FIRST, rows=candidates)[1]
        if len(rows) < k and not is_all:
            # A group may have no passage among the candidates, so that too few groups are found.
            evidence = self.evidence(None, best)
            rows, scores = best(evidence @ self.weights, k, group_by=group_by)
            return rows, scores, evidence[rows], first
        return rows, scores, evidence[np.searchsorted(candidates, rows)], first

    def evidence(self, rows: RowArray | None, best: Best) -> FloatArray:
        """Return the evidence of passages, (rows, evidence); "question_sentence" of the best by all other evidence.

        Args:
            rows: Rows of the passages, ascending; None for all.
            best: Returns rows and scores of the best of these passages by given scores.
        """
        evidence = self._reasons.of(rows)
        if self.weights[SENTENCE]:
            first, _ = best(evidence @ self.weights, READ_BY_SENTENCE)
            places = first if rows is None else np.searchsorted(rows, first)
            evidence[places, SENTENCE] = best_sentences(self._index, self._query, self._vector, first)
        return evidence
