"""Tables of many models of one track, with intervals, costs and published figures.

They have more columns than tables of a few models (`tables`) and are for documents: they are too wide for a terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from auscult_lab.evaluation.breakdown import QUESTION_TYPES
from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.evaluation.tables import (
    LETTERS,
    SHOWN,
    TextTable,
    beaten_by,
    compared_letters,
    has_letters,
    main_table,
    model_letters,
    notes_of,
    percent,
    published_cells,
    repeated_row,
    unmatched_rows,
    with_encoders,
)

INTERVALS = ("R@1", "MAP")
"""Measures that are shown with their interval."""
_SHORTEST_RUN = 3


def bench_table(records: Sequence[EvaluationRecord], track: str) -> TextTable:
    """Build a table of models beside published figures, term-based models first, then best MAP first.

    Args:
        records: Records of one task, of this track and untrained.
        track: "zero-shot" or "adapted".
    """
    ordered = in_table_order(records)
    letters = model_letters(ordered)
    published = main_table(ordered, track)
    compared = published.measures if published else ()
    names = tuple(dict.fromkeys((*SHOWN, "RR", *(name for name in compared if name in ordered[0].measures))))
    rows = []
    for record in ordered:
        cells = [f"{letters.get(record.label, '')}  {record.model}".strip()]
        marks = compared_letters(record, ordered)
        cells += [_cell(record, name, marks) for name in names]
        cells += published_cells(repeated_row(record, published), compared)
        rows.append((*cells, *_costs(record)))
    rows += [(*row, "", "", "") for row in unmatched_rows(published, ordered, track, compared, blanks=len(names))]
    columns = (
        "Model", *names, *(f"publ. {name}" for name in compared), "training, min", "parameters", "µs per candidate"
    )  # fmt: skip
    title = f"{ordered[0].asked.title}, {track} track: {ordered[0].queries:,} queries"
    notes = (*notes_of(ordered, track, published), *_cost_notes(ordered))
    return with_encoders(TextTable(title, columns, tuple(rows), notes), ordered)


def in_table_order(records: Sequence[EvaluationRecord]) -> list[EvaluationRecord]:
    """Sort records: term-based models first, then best MAP first."""
    return sorted(records, key=lambda each: (each.track != "untrained", -each.measures["MAP"], each.model))


def question_type_table(records: Sequence[EvaluationRecord], measure: str = "RR") -> TextTable:
    """Build a table of models by kinds of questions (zhu2019, Figure 5); without rows where queries are no questions.

    Args:
        records: Records of one task.
        measure: Name of the measure; the paper has RR, which it calls MRR.
    """
    typed = [record for record in records if record.by_question_type]
    queries = {group.name: group.queries for record in typed for group in record.by_question_type}
    kinds = [kind for kind in QUESTION_TYPES if kind in queries]
    rows = []
    for record in typed:
        own = {group.name: group.measures for group in record.by_question_type}
        figures = [percent(own[kind][measure]) if kind in own else "" for kind in kinds]
        rows.append((record.model, *figures, percent(record.measures[measure])))
    columns = ("Model", *(f"{kind} ({queries[kind]:,})" for kind in kinds), "all")
    notes = (f"{measure} in percent; in brackets, how many queries. A question's first words decide its kind.",)
    return TextTable("By question type", columns, tuple(rows), notes)


def learning_table(records: Sequence[EvaluationRecord]) -> TextTable:
    """Build a table of each ranker's validation measure in the course of its training."""
    rows = []
    for record in records:
        history = [epoch for epoch in record.training.get("history", []) if "validation_RR" in epoch]
        values = [epoch["validation_RR"] for epoch in history]
        if values:
            best = values.index(max(values))
            chosen = (values[0], values[(len(values) - 1) // 2], values[best])
            seen = history[-1].get("queries")
            cells = (str(len(values)), _number(seen), str(history[best].get("epoch", best)))
            rows.append((record.model, *cells, *(percent(value) for value in chosen)))
    columns = ("Model", "epochs", "queries seen", "best epoch", "first RR", "halfway RR", "best RR")
    notes = ("RR on validation queries, percent; epochs counted from 0. Queries count once each time they are seen.",)
    return TextTable("Learning", columns, tuple(rows), notes)


def compressed(marks: Sequence[str]) -> str:
    """Join letters in order; write runs of three and more as "a-f"."""
    places = sorted(LETTERS.index(mark) for mark in marks)
    parts = []
    for _, run in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        letters = [LETTERS[place] for _, place in run]
        parts.append(f"{letters[0]}-{letters[-1]}" if len(letters) >= _SHORTEST_RUN else "".join(letters))
    return "".join(parts)


def _cell(record: EvaluationRecord, name: str, letters: Mapping[str, str]) -> str:
    if name not in record.measures:
        return ""
    parts = [percent(record.measures[name])]
    if name in INTERVALS and name in record.intervals:
        low, high = record.intervals[name]
        parts.append(f"[{100 * low:.1f}, {100 * high:.1f}]")
    marks = compressed([letters[model] for model in beaten_by(record, name) if model in letters])
    return " ".join((*parts, *([marks] if marks else [])))


def _costs(record: EvaluationRecord) -> tuple[str, str, str]:
    seconds, microseconds = record.training.get("seconds"), record.microseconds_per_candidate
    return (
        f"{seconds / 60:.1f}" if isinstance(seconds, int | float) else "",
        _number(record.training.get("parameters")),
        "" if microseconds is None else f"{microseconds:,.0f}" if microseconds >= 10 else f"{microseconds:.1f}",
    )


def _cost_notes(records: Sequence[EvaluationRecord]) -> tuple[str, ...]:
    notes = []
    if has_letters(records):
        notes.append("Letters a-f stand for all from a to f; A follows z.")
    where = sorted({record.hardware for record in records if record.hardware})
    notes.append(f"Scored on: {'; '.join(where)}; one query at a time.")
    trained = sorted({str(each) for record in records if (each := record.training.get("hardware"))})
    return (*notes, f"Trained on: {'; '.join(trained)}.") if trained else tuple(notes)


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else ""
