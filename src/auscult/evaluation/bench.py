"""Runs of trained models, kept beside each model, so that a bench that was interrupted ranks nothing twice.

FOLDER/CORPUS.run.gz     the ranking of every query (TREC)
FOLDER/CORPUS.json       what it cost, and of which model, queries and passages it is
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from auscult.evaluation.comparison import Contender
from auscult.evaluation.protocol import Progress, Run, run_task
from auscult.evaluation.task import Task
from auscult.evaluation.trec import read_run, write_run
from auscult.evaluation.writing import file_name, write_json


def kept_run(task: Task, contender: Contender, folder: Path, progress: Progress | None = None) -> Run:
    """A contender's run of a task: the one that is kept, or a new one, which is then kept.

    Args:
        task: What to rank.
        contender: The model.
        folder: Where its runs are kept.
        progress: Called after every query; not called when the run was kept.

    Raises:
        AuscultError: See `run_task`.
    """
    rankings, described = folder / f"{file_name(task.corpus)}.run.gz", folder / f"{file_name(task.corpus)}.json"
    identity = {
        "model": contender.label,
        "fingerprint": contender.fingerprint,
        "task": _digest(task),
        "precision": contender.precision,
    }
    if described.is_file() and rankings.is_file():
        kept = json.loads(described.read_text(encoding="utf-8"))
        # Runs of before there was a choice name no precision.
        if {"precision": "float32", **kept["identity"]} == identity:
            found = {ranking.query_id: ranking for ranking in read_run(rankings)}
            return Run(
                model=contender.scorer.name,
                rankings=tuple(found[query.query_id] for query in task.queries),
                ms_per_query=kept["ms_per_query"],
                prepare_seconds=kept["prepare_seconds"],
            )
    run = run_task(task, contender.scorer, prepare=contender.prepare, progress=progress)
    folder.mkdir(parents=True, exist_ok=True)
    described.unlink(missing_ok=True)
    write_run(rankings, run.rankings, contender.label)
    costs = {"identity": identity, "ms_per_query": run.ms_per_query, "prepare_seconds": run.prepare_seconds}
    write_json(described, costs)
    return run


def _digest(task: Task) -> str:
    """A hash of what is asked and what may be ranked; another data set of the same name has another."""
    digest = hashlib.sha256(f"{task.corpus}/{task.protocol}/{task.seed}".encode())
    for query in task.queries:
        candidates = task.candidates.get(query.query_id, ()) if task.candidates is not None else ()
        digest.update("\t".join((query.query_id, query.terms, query.text, *candidates)).encode())
    return digest.hexdigest()
