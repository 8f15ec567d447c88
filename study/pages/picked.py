"""Tables of a few columns of a list that a record has; all columns are in the tables for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auscult.errors import DataError
from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import measured_on, plain

KEY, ALL, BETWEEN = "=", "&", " / "


@dataclass(frozen=True, slots=True)
class Picked:
    """Which columns of which list make a table.

    Attributes:
        title: Its heading.
        rows: The record's field that holds the list.
        columns: Headings, and the fields of a row; " / " goes down into fields of fields.
        note: What a reader must know; may be empty.
    """

    title: str
    rows: str
    columns: Mapping[str, str]
    note: str = ""


PICKED: Mapping[str, tuple[Picked, ...]] = {
    "weighted-cosine-why": (
        Picked(
            "Cross-validated in pools where one snippet in five answers",
            "folds",
            {"model": "model", "MAP@10": "MAP@10", "95 % interval": "MAP@10, interval"},
            "Five folds of all questions, as in the paper.",
        ),
    ),
    "scans": (
        Picked(
            "Scanned pages",
            "ways",
            {
                "scan": "way",
                "words read": "recall",
                "worst page": "worst_recall",
                "of words read, right": "precision",
                "headings": "headings",
                "s a page": "seconds",
            },
        ),
    ),
    "boilerplate": (
        Picked(
            "Web pages",
            "halves",
            {
                "pages": "pages",
                "text kept": "text_kept",
                "kept of what is around it": "around_kept",
                "median ms": "median_milliseconds",
            },
            "Rules were chosen by the first half alone.",
        ),
    ),
    "words_kept": (
        Picked(
            "Words that another library reads",
            "formats",
            {
                "format": "format",
                "compared": "compared",
                "median": "median",
                "worst 5 percent": "worst_5_percent",
            },
            "Which words are lost, and why, is in the tables.",
        ),
    ),
    "writing_together": (
        Picked(
            "Writing to PostgreSQL from files",
            "writers",
            {
                "way": "way",
                "sentences a second": "sentences_per_second",
                "a second of a processor": "sentences_per_processor_second",
            },
        ),
    ),
}
"""Tables of each kind of records that has some."""


def picked_tables(kind: str, records: Sequence[Mapping[str, Any]]) -> list[TextTable]:
    """Build the tables of a kind, each from the one record that has its list.

    Raises:
        DataError: No record has the list, or a row lacks a column.
    """
    return [picked_table(picked, _record_with(picked.rows, kind, records)) for picked in PICKED[kind]]


def _record_with(field: str, kind: str, records: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    for record in records:
        if field in record:
            return record
    raise DataError(f"a record of kind '{kind}' with '{field}'", "none", "measure it again")


def picked_table(picked: Picked, record: Mapping[str, Any]) -> TextTable:
    """Build one table of a record's list."""
    rows = tuple(tuple(plain(value_at(row, field)) for field in picked.columns.values()) for row in record[picked.rows])
    note = f"{picked.note} {measured_on(record)}".strip()
    return TextTable(picked.title, tuple(picked.columns), rows, (note,))


def value_at(record: Mapping[str, Any], path: str) -> Any:
    """Return a value inside a record.

    Args:
        record: A record of any kind.
        path: Nested fields, divided by " / ". Inside a list, "model=KNRM" picks the first row whose field has this
            value, "model=bi&form=float32" the first row with both, and "0" the first entry.

    Raises:
        DataError: A field or row is not there.
    """
    value: Any = record
    for step in path.split(BETWEEN):
        try:
            value = _entry(value, step) if isinstance(value, list) else value[step]
        except (KeyError, IndexError, StopIteration):
            raise DataError(f"'{path}' in a record of {_name(record)}", f"no '{step}'", "measure it again") from None
    return value


def _entry(entries: Sequence[Any], step: str) -> Any:
    if KEY not in step:
        return entries[int(step)]
    wanted = [condition.split(KEY, 1) for condition in step.split(ALL)]
    return next(row for row in entries if all(str(row[key]) == value for key, value in wanted))


def _name(record: Mapping[str, Any]) -> str:
    return str(record.get("title") or record.get("kind") or "a list")
