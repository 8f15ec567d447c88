"""Beside the figures of all queries, those of the queries that share nothing with what a model was trained on."""

from __future__ import annotations

from collections.abc import Sequence

from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.evaluation.tables import TextTable, percent
from study.epochs import epoch_notes, mark_of
from study.pages.reading import Filed
from study.unseen import is_unseen, unseen_parts


def unseen_table(filed: Sequence[Filed]) -> TextTable:
    """A row a model and set of such queries, with intervals; without rows where no model was asked both."""
    records = [each.record for each in filed]
    rows: dict[tuple[str, str], tuple[str, ...]] = {}
    shown_trainings = []
    for record in records:
        for each in records:
            if record.fingerprint and not record.query_subset and _is_part(each, record):
                figures = (_with_interval(shown, "R@1") for shown in (record, each))
                rows.setdefault(
                    (record.label, each.query_subset),
                    (record.model + mark_of(record.training), *unseen_parts(each.query_subset), *figures),
                )
                shown_trainings.append(record.training)
    columns = ("Model", "queries", "that share nothing with", "R@1, all queries", "R@1, these")
    return TextTable(
        "On queries that share nothing with the training",
        columns,
        tuple(rows.values()),
        tuple(epoch_notes(shown_trainings)),
    )


def _is_part(each: EvaluationRecord, whole: EvaluationRecord) -> bool:
    """Whether a record is of the same model, asked those queries of the same task that nothing touches."""
    if (each.fingerprint, each.label) != (whole.fingerprint, whole.label) or not is_unseen(each.query_subset):
        return False
    return each.asked._replace(queries=whole.queries, subset="") == whole.asked


def _with_interval(record: EvaluationRecord, name: str) -> str:
    low, high = record.intervals[name]
    return f"{percent(record.measures[name])} [{100 * low:.1f}, {100 * high:.1f}]"
