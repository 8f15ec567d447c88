"""The records that pages are made of, by file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auscult.errors import DataError
from auscult_lab.evaluation.records import EvaluationRecord, evaluation_records, read_records
from study.epochs import with_mark


@dataclass(frozen=True, slots=True)
class Filed:
    """An evaluation record and the file it lies in, without folder and ending."""

    file: str
    record: EvaluationRecord


@dataclass(frozen=True, slots=True)
class Results:
    """All that was recorded.

    Attributes:
        evaluations: Of every file, in the order of files.
        others: Records of other kinds, by kind.
    """

    evaluations: Sequence[Filed]
    others: Mapping[str, Sequence[Mapping[str, Any]]]


def read_results(folder: Path) -> Results:
    """Read a folder of JSON files, each a record or a list of records with a field "kind".

    Trainings are marked as `epochs.with_mark` does, whether the files have the marks or not.

    Raises:
        DataError: The folder holds no JSON file, or one is malformed.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise DataError("JSON files of results", f"none in {folder}", "run: make bench")
    by_file = {file.stem: [with_mark(record) for record in read_records(file)] for file in files}
    others: dict[str, list[dict[str, Any]]] = {}
    for records in by_file.values():
        for each in records:
            if each.get("kind", "evaluation") != "evaluation":
                others.setdefault(str(each["kind"]), []).append(each)
    evaluations = [Filed(name, each) for name, records in by_file.items() for each in evaluation_records(records)]
    return Results(evaluations, others)
