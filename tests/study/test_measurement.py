"""Tables of measurements that have a page's columns, not all that a record tells."""

from __future__ import annotations

import json

from places import ROOT
from study.pages.measurement import COLUMNS, measurement
from study.pages.plain_values import flatten, is_table


def test_every_column_that_a_reader_asks_for_is_in_a_record() -> None:
    found: dict[str, set[str]] = {name: set() for name in COLUMNS}
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.json")):
        told = json.loads(path.read_text())
        for record in told if isinstance(told, list) else [told]:
            for name, rows in flatten(record):
                if name in found and is_table(rows):
                    found[name] |= {column for row in rows for column, _ in flatten(row)}
    assert {name: sorted({*asked} - found[name]) for name, asked in COLUMNS.items() if {*asked} - found[name]} == {}


def test_a_name_that_is_no_words_stays_as_it_is() -> None:
    rows = [{"others_for_each": 4, "CD_q": 0.5}]
    told = measurement("weighted-cosine-why", [{"kind": "weighted-cosine-why", "parts_of_it": rows}])
    assert "| others for each | CD_q |" in told
