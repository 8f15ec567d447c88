"""Trainings of before the batch samplers were told the epoch, and how records and pages say so.

The training library tells the epoch to a batch sampler's `sampler` alone, which ours did not have until commit 0434e71.
Before it `set_epoch` was never called: each epoch repeated the first one's order, windows of documents and substituted
names. Figures of such trainings stay as measured; this module marks their records, and tables say so beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from auscult.files.writing import write_json
from auscult_lab.evaluation.records import read_records

MENDED = datetime.fromisoformat("2026-11-21T08:42:49+00:00")
"""When the commit was made. A training of just before it, with uncommitted changes, counts as one without it."""
FIELD = "epochs_alike"
"""Of a training's record; absent where epochs differ."""
MARK = "†"
EXPLAINED = f"{MARK}: trained before 21 November 2026, with a fault: all epochs had equal names, windows and order."


def with_mark(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record whose trainings carry `FIELD` where their epochs were alike, and nowhere else.

    Args:
        record: Of an evaluation, whose field "training" holds its model's, or of a training itself. A training without
            a date counts as of the record's.
    """
    date = str(record.get("date", ""))
    marked = _marked(record, date)
    if isinstance(training := record.get("training"), Mapping):
        marked["training"] = _marked(training, date)
        if isinstance(models := training.get("models"), Mapping):
            marked["training"]["models"] = {name: _marked(each, date) for name, each in models.items()}
    return marked


def _marked(training: Mapping[str, Any], date: str) -> dict[str, Any]:
    marked = {name: value for name, value in training.items() if name != FIELD}
    trained = str(training.get("date", date))
    if "best_epoch" in training and trained and datetime.fromisoformat(trained) < MENDED:
        marked[FIELD] = True
    return marked


def mark_of(training: Mapping[str, Any]) -> str:
    """Return what stands behind a model's name: `MARK`, or nothing where its epochs differ or it was not trained."""
    models = training.get("models")
    parts = models.values() if isinstance(models, Mapping) else ()
    return MARK if training.get(FIELD) or any(part.get(FIELD) for part in parts) else ""


def explained(text: str) -> str:
    """Return the paragraph about marks for a page's text; empty where nothing on it is marked."""
    return f"{EXPLAINED}\n" if MARK in text else ""


def mark_files(folder: Path) -> list[Path]:
    """Write the marks into a folder's files of records, and return the files that changed.

    Raises:
        DataError: A file is no record or list of records.
    """
    changed = []
    for path in sorted(folder.glob("*.json")):
        records = read_records(path)
        marked = [with_mark(record) for record in records]
        if marked != records:
            write_json(path, marked)
            changed.append(path)
    return changed
