"""Putting a record into a file of records: benchmarks measure a model, a part or a head at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auscult.files.writing import write_json


def merge_record(path: Path, record: Mapping[str, Any], *same: str) -> None:
    """Write a record behind a file's others, in the place of the one that it measures anew.

    Args:
        path: Of the records; made if it is not there.
        record: Newly measured.
        same: Keys by which a record is a measurement of the same thing.
    """
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    write_json(path, [*(each for each in kept if any(each[key] != record[key] for key in same)), record])
