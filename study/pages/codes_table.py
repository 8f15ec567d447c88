"""How well CDV's entity encoder learns the Bloom codes of entities, by how it is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import measured_on

_PAPER_EPOCHS = 5
_NOTE = """Percent of {held_out:,} held-out descriptions, of {concepts:,} entities, whose own code is the likeliest.
The paper trains {epochs} epochs. `benchmarks/bloom_codes.py`."""


def codes_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a setting: the share after the paper's epochs, and after the last one."""
    record = records[0]
    last = len(record["settings"][0]["code_R@1"])
    rows = tuple(
        (str(row["setting"]), *(f"{100 * row['code_R@1'][epoch - 1]:.1f}" for epoch in (_PAPER_EPOCHS, last)))
        for row in record["settings"]
    )
    heads = ("Trained", f"{_PAPER_EPOCHS} epochs", f"{last} epochs")
    note = " ".join(_NOTE.format(epochs=_PAPER_EPOCHS, **record).split())
    return TextTable("Codes of entities learnt", heads, rows, (f"{note} {measured_on(record)}",))
