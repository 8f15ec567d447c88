"""How sure first hits are said to be, on collections whose questions the certainty was not fitted on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import measured_on

_COLUMNS = (
    "Collection", "Model", "calibration error", "right: answers", "right: uncertain", "wrong: answers",
    "wrong: uncertain",
)  # fmt: skip
_NOTE = """Percent of first hits by what is said of them, and the expected calibration error. A certainty fitted on the
other collections; each question also without its answers, counted a quarter. Only "pairs", by entity and aspect, were
fitted on."""


def fitted_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a collection and model."""
    collections = list(dict.fromkeys(row["collection"] for record in records for row in record["collections"]))
    rows = [
        _row(str(record["model"]).removeprefix("General encoder, "), row)
        for collection in collections
        for record in records
        for row in record["collections"]
        if row["collection"] == collection
    ]
    note = f"{' '.join(_NOTE.split())} {measured_on(records[0])}"
    return TextTable("Certainty of first hits, collections left out", _COLUMNS, tuple(rows), (note,))


def _row(model: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    figures = row["left_out"]
    shown = ("right_said_to_answer", "right_said_uncertain", "wrong_said_to_answer", "wrong_said_uncertain")
    return (
        row["collection"],
        model,
        f"{figures['calibration_error']:.3f}",
        *(f"{100 * figures[name]:.1f}" for name in shown),
    )
