"""The table of question-weighted cosine: records of kind "weighted-cosine" beside galko2017, Table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from auscult_lab.evaluation.published_figures import published_content
from auscult_lab.evaluation.tables import TextTable, percent
from study.epochs import mark_of
from study.pages.how_made import COMMANDS, Made, training_minutes
from study.pages.papers import TABLES
from study.pages.plain_values import measured_on

_MAP = "MAP@10"
_SHOWN = (_MAP, "F1 of means")
_PAPERS_NAMES = {"MatchPyramid": "MP"}
_TABLE = "galko2017_table1.json"
_COMMAND = "python benchmarks/weighted_cosine.py"
"""Makes all rows, and trains the rankers among them."""


def cosine_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a model, the best MAP first, then the published models that no record repeats.

    Args:
        records: Of one corpus and one comparison, each with "model", "measures" (fractions) and "by_batch", each
            batch's measures.
    """
    ordered = sorted(records, key=lambda record: (-record["measures"].get(_MAP, 0.0), record["model"]))
    measures = [name for name in _SHOWN if any(name in record["measures"] for record in ordered)]
    batches = sorted(ordered[0]["by_batch"])
    repeated = {_published_name(record) for record in ordered}
    rows = [
        (
            f"{record['model']}{mark_of(_training(record))}",
            *(percent(record["measures"][name]) if name in record["measures"] else "" for name in measures),
            *(_published(_published_name(record), name) for name in measures),
            *(percent(record["by_batch"][batch][_MAP]) for batch in batches),
        )
        for record in ordered
    ]
    rows += [
        (model, *[""] * len(measures), *(_published(model, name) for name in measures), *[""] * len(batches))
        for model in _paper_figures()
        if model not in repeated
    ]
    first, paper = ordered[0], published_content(_TABLE)
    note = " ".join(
        (
            f"{first['queries']:,} queries, {first['passages']:,} passages. Last columns: {_MAP} by batch.",
            f"Published: {paper['citation']}, {paper['table']}, another test set and other candidates.",
            measured_on(first),
            f"[Minutes of trainings]({TABLES}/{COMMANDS}.csv).",
        )
    )
    columns = ("Model", *measures, *(f"publ. {name}" for name in measures), *batches)
    return TextTable(_title(first), columns, tuple(rows), (note,))


def cosine_commands(page: str, records: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the command and the minutes of each row that learned."""
    return [
        {
            "page": page,
            "table": _title(record),
            "model": record["model"],
            "learned from": "",
            "task": record["corpus"],
        }
        | Made(_COMMAND, training=training_minutes(_training(record)), trained_on="processor").to_row()
        for record in records
        if _training(record)
    ]


def _title(record: Mapping[str, Any]) -> str:
    return f"{record['corpus']}, all snippets ranked"


def published_cosine(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the published figures that a record's model repeats, by measure; empty where it repeats none."""
    name = _published_name(record)
    return {f"publ. {measure}": _published(name, measure) for measure in _paper_figures().get(name, {})}


@cache
def _paper_figures() -> Mapping[str, Mapping[str, float]]:
    return {row["model"]: row["measures"]["bioasq"] for row in published_content(_TABLE)["rows"]}


def _published_name(record: Mapping[str, Any]) -> str:
    return _PAPERS_NAMES.get(record["model"], str(record["model"]))


def _published(model: str, measure: str) -> str:
    figures = _paper_figures().get(model, {})
    return f"{100 * figures[measure]:.1f}" if measure in figures else ""


def _training(record: Mapping[str, Any]) -> Mapping[str, Any]:
    training: Mapping[str, Any] = record.get("training") or {}
    return training
