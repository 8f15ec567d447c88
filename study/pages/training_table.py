"""The table of CDV's trainings: one row each; every epoch's figures stay in the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.epochs import epoch_notes, mark_of
from study.pages.plain_values import plain


def training_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """One row a training; every epoch's figures stay in the record."""
    columns = (
        "Model", "track", "documents", "sentences", "parameters", "epochs", "best", "validation R@1", "validation RR",
        "training, min", "date", "hardware",
    )  # fmt: skip
    rows = tuple(
        (
            str(record["model"]) + mark_of(record),
            str(record["track"]),
            *(plain(record[name]) for name in ("documents", "sentences", "parameters", "epochs")),
            str(record["best_epoch"]),
            f"{100 * record['validation']['validation_R@1']:.2f}",
            f"{100 * record['validation']['validation_RR']:.2f}",
            f"{sum(epoch['seconds'] for epoch in record['history']) / 60:.0f}",
            str(record["date"])[:10],
            str(record["hardware"]),
        )
        for record in records
    )
    notes = (
        "Validation: retrieval among all passages of held-out training documents, percent; it chooses the epoch "
        "(counted from 0) and says nothing of the test. Time is that of the epochs, without word vectors.",
        *epoch_notes(records),
    )
    return TextTable("", columns, rows, notes)
