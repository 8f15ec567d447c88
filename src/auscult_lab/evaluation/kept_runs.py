"""Runs of trained models, kept beside each model, so that a comparison that was interrupted ranks nothing twice.

FOLDER/CORPUS.run.gz     the ranking of every query (TREC)
FOLDER/CORPUS.json       what it cost, where and when, and of which model, queries and passages it is
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from auscult import __version__
from auscult.errors import DataError
from auscult.files.json_text import parse_json
from auscult.files.writing import file_name, write_json
from auscult.provenance import find_revision
from auscult_lab.evaluation.comparison import Contender
from auscult_lab.evaluation.protocol import Progress, Run, run_task
from auscult_lab.evaluation.task import Task
from auscult_lab.evaluation.trec import read_run, write_run


def kept_run(
    task: Task, contender: Contender, folder: Path, progress: Progress | None = None, *, depth: int = 100
) -> Run:
    """A contender's run of a task: the one that is kept, or a new one, which is then kept.

    Args:
        task: What to rank.
        contender: The model.
        folder: Where its runs are kept.
        progress: Called after every query; not called when the run was kept.
        depth: How many passages an end-to-end ranking keeps.

    Raises:
        AuscultError: See `run_task`.
    """
    rankings, described = folder / f"{file_name(task.corpus)}.run.gz", folder / f"{file_name(task.corpus)}.json"
    identity = {
        "model": contender.label,
        "fingerprint": contender.fingerprint,
        "task": _digest(task),
        "precision": contender.precision,
        "version": __version__,
    }
    if not contender.fingerprint:
        # What has no weights is told apart by the code that it is.
        identity["revision"] = find_revision()
    if depth != 100:
        # Runs that are kept already are of the common depth, and say none.
        identity["depth"] = str(depth)
    if (kept := _kept(task, contender, rankings, described, identity)) is not None:
        return kept
    run = run_task(task, contender.scorer, depth=depth, prepare=contender.prepare, progress=progress)
    folder.mkdir(parents=True, exist_ok=True)
    described.unlink(missing_ok=True)
    write_run(rankings, run.rankings, contender.label)
    costs = {"ms_per_query": run.ms_per_query, "prepare_seconds": run.prepare_seconds}
    write_json(described, {"identity": identity, **costs, "made": dict(run.made)})
    return run


def _kept(task: Task, contender: Contender, rankings: Path, described: Path, identity: Mapping[str, str]) -> Run | None:
    """The run of this identity that is kept; None where there is none, or one that is damaged."""
    if not (described.is_file() and rankings.is_file()):
        return None
    try:
        kept = parse_json(described.read_text(encoding="utf-8"))
        if kept["identity"] != identity:
            return None
        found = {ranking.query_id: ranking for ranking in read_run(rankings)}
        return Run(
            model=contender.scorer.name,
            rankings=tuple(found[query.query_id] for query in task.queries),
            ms_per_query=kept["ms_per_query"],
            prepare_seconds=kept["prepare_seconds"],
            made=kept["made"],
        )
    except (OSError, ValueError, TypeError, KeyError, DataError):
        return None


def _digest(task: Task) -> str:
    """A hash of what is asked and of all documents; another data set of the same name has another."""
    digest = hashlib.sha256(f"{task.corpus}/{task.protocol}/{task.seed}".encode())
    for document in task.documents:
        digest.update("\t".join((document.doc_id, document.text)).encode())
        digest.update("\t".join(f"{each.passage_id} {each.start}" for each in document.passages).encode())
    for query in task.queries:
        candidates = task.candidates.get(query.query_id, ()) if task.candidates is not None else ()
        digest.update("\t".join((query.query_id, query.terms, query.text, *candidates)).encode())
    return digest.hexdigest()
