"""A run of any system, measured."""

from __future__ import annotations

from pathlib import Path

from auscult.errors import DataError
from auscult_lab.evaluation.measures import measure
from auscult_lab.evaluation.tables import TextTable
from auscult_lab.evaluation.trec import read_qrels, read_run


def run_table(run: Path, qrels: Path) -> TextTable:
    """The measures of a TREC run, and how many queries it does not share with the qrels.

    Raises:
        DataError: A file is malformed, or they have no query in common.
    """
    rankings = read_run(run)
    measured = measure(rankings, read_qrels(qrels))
    ranked, judged = {ranking.query_id for ranking in rankings}, set(measured.query_ids)
    if not ranked & judged:
        raise DataError(
            "a run and qrels of the same queries",
            f"no query in common between {run} ({min(ranked, default='empty')}, ...) and {qrels} ({min(judged)}, ...)",
            "check that the two belong together",
        )
    rows = tuple((name, f"{100 * value:.2f}") for name, value in measured.means().items() if name != "AP")
    title = f"{run.name} on {len(judged):,} queries of {qrels.name} (%)"
    notes = []
    if judged - ranked:
        notes.append(f"{len(judged - ranked):,} of {len(judged):,} judged queries are not in the run and count 0.")
    if ranked - judged:
        notes.append(f"{len(ranked - judged):,} of {len(ranked):,} queries of the run have no true answer: left out.")
    return TextTable(title, ("Measure", "mean"), rows, tuple(notes))
