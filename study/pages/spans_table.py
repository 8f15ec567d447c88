"""Answers whose boundaries nobody marked: ways to choose them, by corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import measured_on

_NOTE = """F1 of characters in percent. Settings were chosen on NHS pages. *Author's section* is
the best of the true sections: what could be reached if their boundaries were known."""


def spans_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a way, a column a corpus."""
    first = records[0]
    rows = tuple(
        (str(way["way"]), *(f"{100 * record['ways'][place]['f1']:.1f}" for record in records))
        for place, way in enumerate(first["ways"])
    )
    columns = ("Way", *(str(record["corpus"]) for record in records))
    ways = [way for record in records for way in record["ways"]]
    widest = max(way["f1_high"] - way["f1_low"] for way in ways) / 2
    note = f"{' '.join(_NOTE.split())} 95 % intervals are within ± {100 * widest:.1f} points. {measured_on(first)}"
    return TextTable("Answers whose boundaries nobody marked", columns, rows, (note,))
