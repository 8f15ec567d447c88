"""Merge a record into a file of records, since benchmarks measure one model or part at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auscult.files.writing import write_json


def merge_record(path: Path, record: Mapping[str, Any], *same: str) -> None:
    """Append a record to a file, or replace an earlier one of the same measurement.

    Args:
        path: File of the records; created if missing.
        record: The new record.
        same: Keys whose values identify a measurement.
    """
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    write_json(path, [*(each for each in kept if any(each[key] != record[key] for key in same)), record])
