"""Tables of measured figures beside every further published table, with all its measures."""

from __future__ import annotations

from collections.abc import Sequence

from auscult_lab.evaluation.published_figures import PublishedTable
from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.evaluation.tables import (
    TextTable,
    main_table,
    percent,
    published_cells,
    published_notes,
    repeated_row,
    tables_beside,
    unmatched_rows,
)


def beside_tables(records: Sequence[EvaluationRecord], track: str) -> list[TextTable]:
    """Build a table for each published table except the main one: all its measures, measured and published.

    Args:
        records: Of one task.
        track: Their track.
    """
    main = main_table(records, track)
    tables = (_beside(records, published, track) for published in tables_beside(records) if published is not main)
    return [table for table in tables if table.rows]


def _beside(records: Sequence[EvaluationRecord], published: PublishedTable, track: str) -> TextTable:
    rows = []
    for record in records:
        row = repeated_row(record, published)
        if row is not None:
            own = record.measures
            measured = [percent(own[name]) if name in own else "" for name in published.measures]
            rows.append((record.model, *_alternate(measured, published_cells(row, published.measures))))
    for model, *figures in unmatched_rows(published, records, track, published.measures, blanks=0):
        rows.append((model, *_alternate([""] * len(figures), figures)))
    columns = _alternate(published.measures, [f"publ. {name}" for name in published.measures])
    notes = (*published_notes(records[0], track, published), *([published.note] if published.note else []))
    return TextTable(f"Beside {published.title}", ("Model", *columns), tuple(rows), notes)


def _alternate(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    return tuple(each for pair in zip(first, second, strict=True) for each in pair)
