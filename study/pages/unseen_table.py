"""Figures of all queries beside figures of those queries that share nothing with a model's training data."""

from __future__ import annotations

from collections.abc import Sequence

from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.evaluation.tables import TextTable, percent
from study.epochs import mark_of
from study.pages.reading import Filed
from study.unseen import is_unseen, unseen_parts


def unseen_table(filed: Sequence[Filed]) -> TextTable:
    """Build a row per model and set of such queries, with intervals; no rows if no model has both figures."""
    records = [part.record for part in filed]
    rows: dict[tuple[str, str], tuple[str, ...]] = {}
    for record in records:
        for part in records:
            if record.fingerprint and not record.query_subset and _is_part(part, record):
                figures = (_with_interval(shown, "R@1") for shown in (record, part))
                rows.setdefault(
                    (record.label, part.query_subset),
                    (record.model + mark_of(record.training), *unseen_parts(part.query_subset), *figures),
                )
    columns = ("Model", "queries", "that share nothing with", "R@1, all queries", "R@1, these")
    return TextTable("On queries that share nothing with the training", columns, tuple(rows.values()))


def _is_part(part: EvaluationRecord, whole: EvaluationRecord) -> bool:
    """Return whether a record is of the same model and task, on the queries that share nothing with the training."""
    if (part.fingerprint, part.label) != (whole.fingerprint, whole.label) or not is_unseen(part.query_subset):
        return False
    return part.asked._replace(queries=whole.queries, subset="") == whole.asked


def _with_interval(record: EvaluationRecord, name: str) -> str:
    low, high = record.intervals[name]
    return f"{percent(record.measures[name])} [{100 * low:.1f}, {100 * high:.1f}]"
