"""Measures of a run, computed by ir_measures.

`R@k` is recall at k in TREC's sense: the share of a query's relevant passages among its first k. The
paper's wording ("if the top-1 answer is correct or not") would also fit success at k; they differ for the
108 of MedQuAD's 3,293 queries with several relevant passages. Recall is what reproduces the published
figures: BM25 gives R@1 29.4 and R@10 86.1 (published 29.48 and 86.11), where success gives 30.0 and 87.0;
TF-IDF agrees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from auscult.errors import DataError, MissingExtraError
from auscult.ingest.corpus import Judgement
from auscult.search.hits import Ranking

CUTOFF_MEASURES = ("P@1", "P@3", "P@5", "R@3", "R@5", "nDCG@1", "nDCG@3", "nDCG@5")
"""What wang2021 measures beside MAP (section 5.1.2)."""
MEASURES = tuple(dict.fromkeys(("R@1", "R@5", "R@10", "AP", "RR", "nDCG@10", *CUTOFF_MEASURES)))
"""In ir_measures' notation; the mean of AP over queries is MAP."""


@dataclass(frozen=True, slots=True)
class QueryMeasures:
    """Every measure of every query.

    Attributes:
        names: Names of the columns, in ir_measures' notation.
        query_ids: Ids of the queries, one per row.
        values: Float64, shape (queries, measures), in [0, 1].
    """

    names: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: npt.NDArray[np.float64]

    def means(self) -> dict[str, float]:
        """Return means over queries as fractions; MAP is AP's mean under its usual name."""
        means = dict(zip(self.names, (float(mean) for mean in self.values.mean(axis=0)), strict=True))
        return means | ({"MAP": means["AP"]} if "AP" in means else {})

    def of(self, query_ids: Iterable[str]) -> QueryMeasures:
        """Return the rows of some queries, in the given order."""
        row = {query_id: index for index, query_id in enumerate(self.query_ids)}
        chosen = tuple(query_ids)
        return QueryMeasures(self.names, chosen, self.values[[row[query_id] for query_id in chosen]])


def measure(
    rankings: Iterable[Ranking], judgements: Sequence[Judgement], names: Sequence[str] = MEASURES
) -> QueryMeasures:
    """Measure rankings against judgements.

    Queries are those with a relevant passage; one without a ranking counts 0. Ties count against the run: relevant
    passages are moved behind others with the same score.

    Args:
        rankings: At most one per query.
        judgements: Relevance of passages; positive is relevant.
        names: Measures in ir_measures' notation.

    Raises:
        DataError: No query has a relevant passage, or a measure is unknown.
        MissingExtraError: ir_measures is not installed.
    """
    qrels: dict[str, dict[str, int]] = {}
    for judgement in judgements:
        qrels.setdefault(judgement.query_id, {})[judgement.passage_id] = judgement.relevance
    qrels = {query_id: row for query_id, row in qrels.items() if any(grade > 0 for grade in row.values())}
    if not qrels:
        raise DataError("judgements with relevant passages", "none", "check the qrels and the subset of queries")
    # Ranks replace scores: trec_eval reads scores in single precision and breaks ties by id.
    run = {
        ranking.query_id: {
            passage_id: -float(rank) for rank, passage_id in enumerate(_order_against_ties(ranking, qrels))
        }
        for ranking in rankings
        if ranking.query_id in qrels
    }
    query_ids = tuple(qrels)
    row_of = {query_id: index for index, query_id in enumerate(query_ids)}
    column_of = {name: index for index, name in enumerate(names)}
    values = np.zeros((len(query_ids), len(names)))
    for query_id, name, value in _calculate(names, qrels, run):
        values[row_of[query_id], column_of[name]] = value
    return QueryMeasures(tuple(names), query_ids, values)


def measure_at_cutoff(rankings: Iterable[Ranking], judgements: Sequence[Judgement], cutoff: int = 10) -> QueryMeasures:
    """Compute BioASQ's measures of the first passages of every query: "MAP@k", "P@k", "R@k" and "F1@k".

    A query's value of "MAP@k" is its average precision by BioASQ's definition since 2020: the sum of the precisions at
    each relevant passage among the first k, divided by k or by the number of relevant passages if that is lower. A
    perfect ranking thus always has 1. "F1@k" is the harmonic mean of the query's own precision and recall.

    Args:
        rankings: At most one per query; see `measure` for queries without one and for ties.
        judgements: Relevance of passages; positive is relevant.
        cutoff: k.

    Raises:
        DataError: No query has a relevant passage.
        MissingExtraError: ir_measures is not installed.
    """
    measured = measure(rankings, judgements, (f"AP@{cutoff}", f"P@{cutoff}", f"R@{cutoff}"))
    relevant = Counter(query_id for query_id, _ in {(j.query_id, j.passage_id) for j in judgements if j.relevance > 0})
    counts = np.array([relevant[query_id] for query_id in measured.query_ids], dtype=np.float64)
    average, precision, recall = measured.values.T
    # ir_measures divides by the number of relevant passages, even where it exceeds the cutoff.
    average = average * counts / np.minimum(counts, cutoff)
    both = precision + recall
    f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    names = tuple(f"{name}@{cutoff}" for name in ("MAP", "P", "R", "F1"))
    return QueryMeasures(names, measured.query_ids, np.stack([average, precision, recall, f1], axis=1))


def _order_against_ties(ranking: Ranking, qrels: dict[str, dict[str, int]]) -> list[str]:
    grades = qrels[ranking.query_id]
    rows = sorted(
        range(len(ranking.passage_ids)),
        key=lambda row: (-ranking.scores[row], grades.get(ranking.passage_ids[row], 0)),
    )
    return [ranking.passage_ids[row] for row in rows]


def _calculate(
    names: Sequence[str], qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> Iterable[tuple[str, str, float]]:
    try:
        import ir_measures
    except ImportError:
        raise MissingExtraError("ir_measures", "lab") from None
    try:
        parsed = {ir_measures.parse_measure(name): name for name in names}
    except (NameError, ValueError, SyntaxError) as error:
        raise DataError("measures in ir_measures' notation", str(error), "write for example R@10 or nDCG@10") from None
    for metric in ir_measures.evaluator(list(parsed), qrels).iter_calc(run):
        yield metric.query_id, parsed[metric.measure], metric.value
