"""`auscult evaluate --run --qrels`: measure a TREC run of any system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from auscult.errors import ConfigError, DataError
from auscult.evaluation.measures import measure
from auscult.evaluation.tables import TextTable
from auscult.evaluation.trec import read_qrels, read_run


def measure_run(console: Console, run: Path | None, qrels: Path | None, given: Sequence[str]) -> None:
    """Print the measures of a run, and how many queries it does not share with the qrels.

    Args:
        console: Where to.
        run: The run file.
        qrels: The judgements.
        given: Names of all options and arguments that were typed.

    Raises:
        ConfigError: One of the two is missing, or something else was given, which would change nothing.
        DataError: A file is malformed, or they have no query in common.
    """
    if run is None or qrels is None:
        missing, there = ("--run", "--qrels") if run is None else ("--qrels", "--run")
        raise ConfigError("--run and --qrels together", f"{there} without {missing}", f"give {missing} too")
    others = [name for name in given if name not in ("--run", "--qrels")]
    if others:
        raise ConfigError("--run and --qrels alone", f"{others[0]} beside them", f"leave {others[0]} out")
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
    TextTable(title, ("Measure", "mean"), rows, tuple(notes)).print_to(console)
