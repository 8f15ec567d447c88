"""Tables and lines that pick figures out of a record."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from auscult.errors import DataError
from places import ROOT
from study.pages.papers import KINDS
from study.pages.picked import PICKED, picked_tables, value_at
from study.pages.product_lines import LINES, product_table

RECORD: dict[str, Any] = {
    "kind": "capr-latency",
    "title": "Times",
    "date": "2026-11-24T10:00:00+00:00",
    "hardware": "a processor, two cores",
    "points": [
        {"model": "bi", "passages": 64, "median_ms": {"clock": 1.25}},
        {"model": "bi", "passages": 128, "median_ms": {"clock": 2.5}},
    ],
    "gain": [0.5, 0.25, 0.75],
}


def _recorded() -> dict[str, list[dict[str, Any]]]:
    records: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.json")):
        content = json.loads(path.read_text())
        for record in content if isinstance(content, list) else [content]:
            records.setdefault(record.get("kind", "evaluation"), []).append(record)
    return records


def test_rows_are_picked_by_field_values() -> None:
    assert value_at(RECORD, "points / model=bi / median_ms / clock") == 1.25
    assert value_at(RECORD, "points / model=bi&passages=128 / median_ms / clock") == 2.5
    assert value_at(RECORD, "gain / 1") == 0.25


@pytest.mark.parametrize("path", ["pints", "points / model=poly", "points / model=bi / ms", "gain / 3"])
def test_missing_record_value_error_names_the_path(path: str) -> None:
    with pytest.raises(DataError, match=re.escape(f"'{path}' in a record of Times")):
        value_at(RECORD, path)


def test_every_picked_figure_is_in_a_record() -> None:
    records = _recorded()
    for kind in PICKED:
        assert all(table.rows for table in picked_tables(kind, records[kind]))
    lines = product_table(records)
    assert len(lines.rows) == sum(len(records[kind]) for kind in LINES)
    assert "{" not in "".join(cell for row in lines.rows for cell in row)


def test_a_kind_is_on_one_page_alone() -> None:
    assert not set(LINES) & set(KINDS), "lines are of the page of products, tables of others"
    assert set(PICKED) <= set(KINDS)
