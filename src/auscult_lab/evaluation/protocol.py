"""Ranking the queries of a task with a scorer: the re-ranking and the end-to-end protocol.

Only the model's scores may decide a rank. Candidates are sorted by id and then shuffled with a seed. A true answer
that ties with false ones is ranked below them, so that a model with constant scores gets the worst rank, not a lucky
one.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from auscult.encoders.contract import FloatArray, Scorer
from auscult.errors import DataError, ModelError
from auscult.provenance import now, origin, stamp
from auscult.search.hits import Ranking
from auscult_lab.evaluation.task import Task

Progress = Callable[[int, int], None]
"""Called with (queries done, queries in all)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Every query's ranking by one model, and its cost.

    Attributes:
        model: Name of the scorer.
        rankings: One per query, in the task's order.
        ms_per_query: Mean wall-clock milliseconds to score a query (encoding it included; preparing the
            collection not).
        prepare_seconds: Wall-clock seconds to read (or encode) the collection.
        provenance: Code and machine at its beginning, and date of its end (`provenance.stamp`).
    """

    model: str
    rankings: tuple[Ranking, ...]
    ms_per_query: float
    prepare_seconds: float
    provenance: Mapping[str, str] = field(default_factory=stamp)


def rank_against_ties(
    passage_ids: Sequence[str], scores: FloatArray, relevant: Collection[str], shuffle: np.random.Generator
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Sort passages by score; a true answer ranks below every false one it ties with.

    Args:
        passage_ids: In any order; the result does not depend on it.
        scores: Shape (passages,), finite.
        relevant: The true answers.
        shuffle: Orders false answers that tie with each other.

    Returns:
        Passage ids, best first, and their scores.
    """
    by_id = np.array(sorted(range(len(passage_ids)), key=passage_ids.__getitem__), dtype=np.int64)
    chance = np.empty(len(by_id), dtype=np.int64)
    chance[by_id] = shuffle.permutation(len(by_id))
    true = np.fromiter((each in relevant for each in passage_ids), dtype=bool, count=len(passage_ids))
    order = np.lexsort((chance, true, -scores))
    return tuple(passage_ids[row] for row in order), tuple(float(scores[row]) for row in order)


def chance_of(task: Task, query_id: str) -> np.random.Generator:
    """Return a query's random generator for the order of tied false answers; the same in every subset of queries."""
    return np.random.default_rng([task.seed, zlib.crc32(query_id.encode())])


def run_task(
    task: Task, scorer: Scorer, *, depth: int = 100, prepare: bool = True, progress: Progress | None = None
) -> Run:
    """Rank every query of a task.

    Args:
        task: The task.
        scorer: The model.
        depth: Number of passages of an end-to-end ranking to keep; re-ranking keeps all candidates.
        prepare: Let the scorer read the collection first; False when it has already.
        progress: Called after every query.

    Raises:
        DataError: A query has no candidates, or they lack one of its true answers.
        ModelError: The scorer returned scores of a wrong shape or that are not finite.
    """
    code_and_machine = origin()
    relevant = task.relevant
    candidates = _candidates(task, relevant)
    began = time.perf_counter()
    if prepare:
        scorer.prepare(task.documents)
    prepared = time.perf_counter() - began
    rankings = []
    seconds = 0.0
    for number, query in enumerate(task.queries, start=1):
        passage_ids = candidates(query.query_id)
        began = time.perf_counter()
        scores = scorer.score(query, passage_ids)
        seconds += time.perf_counter() - began
        _check_scores(scorer, scores, len(passage_ids))
        if task.protocol == "end-to-end" and len(passage_ids) > depth:
            # Passages that tie with the last kept score stay until ties are broken.
            threshold = np.partition(scores, len(scores) - depth)[len(scores) - depth]
            rows = np.flatnonzero(scores >= threshold).tolist()
            passage_ids, scores = [passage_ids[row] for row in rows], scores[rows]
        ids, values = rank_against_ties(passage_ids, scores, relevant[query.query_id], chance_of(task, query.query_id))
        if task.protocol == "end-to-end":
            ids, values = ids[:depth], values[:depth]
        rankings.append(Ranking(query.query_id, ids, values))
        if progress is not None:
            progress(number, len(task.queries))
    per_query = 1000.0 * seconds / max(len(task.queries), 1)
    return Run(
        model=scorer.name,
        rankings=tuple(rankings),
        ms_per_query=per_query,
        prepare_seconds=prepared,
        provenance={**code_and_machine, "date": now()},
    )


def _candidates(task: Task, relevant: dict[str, frozenset[str]]) -> Callable[[str], Sequence[str]]:
    if task.protocol == "end-to-end":
        everything = sorted(passage.passage_id for document in task.documents for passage in document.passages)
        return lambda query_id: everything
    given = task.candidates or {}
    for query in task.queries:
        if not given.get(query.query_id):
            raise DataError("candidates for every query", f"none for '{query.query_id}'", "draw candidates for it")
        missing = sorted(relevant[query.query_id].difference(given[query.query_id]))
        if missing:
            raise DataError(
                "candidates that hold every relevant passage",
                f"'{missing[0]}' missing for query '{query.query_id}'",
                "insert the true answers (auscult_lab.evaluation.task.insert_missing) before re-ranking",
            )
    return lambda query_id: given[query_id]


def _check_scores(scorer: Scorer, scores: FloatArray, expected: int) -> None:
    if scores.shape != (expected,) or not np.isfinite(scores).all():
        raise ModelError(
            f"{expected} finite scores",
            f"shape {scores.shape} from '{scorer.name}', finite: {bool(np.isfinite(scores).all())}",
            "mend the model; a score that is no number cannot be ranked",
        )
