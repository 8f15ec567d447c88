"""What each evidence adds: a table a model, a row what is left out, a column a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable


def ablation_tables(records: Sequence[Mapping[str, Any]]) -> list[TextTable]:
    """Changes of nDCG@10 in points, marked where their 95 % interval is on one side of 0."""
    tables = []
    for model in dict.fromkeys(str(each["model"]) for each in records):
        own = {str(each["corpus"]): each for each in records if each["model"] == model}
        rows = [("everything: nDCG@10", *(f"{100 * each['all']:.1f}" for each in own.values()))]
        for place, part in enumerate(next(iter(own.values()))["parts"]):
            cells = (_change(each["parts"][place]) for each in own.values())
            rows.append((str(part["evidence"]).replace("_", " "), *cells))
        note = "Below the first row: the change, in points; \\* its 95 % interval over questions is on one side of 0."
        tables.append(TextTable(f"What each evidence adds: {model}", ("", *own), tuple(rows), (note,)))
    return tables


def _change(part: Mapping[str, Any]) -> str:
    sure = "\\*" * (part["low"] > 0 or part["high"] < 0)
    return f"{100 * part['change']:+.1f}{sure}"
