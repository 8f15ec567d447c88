"""What each evidence adds: a row per evidence that is left out, a column per corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable


def ablation_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build the table of the model with most corpora: kinds of evidence whose lack changes a corpus.

    Args:
        records: One a model and corpus, each with the same parts.

    Returns:
        Changes of nDCG@10 in points, marked where their 95 % interval is on one side of 0.
    """
    by_model: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        by_model.setdefault(str(record["model"]), []).append(record)
    model, of_model = max(by_model.items(), key=lambda item: len(item[1]))
    rows = [("everything: nDCG@10", *(f"{100 * record['all']:.1f}" for record in of_model))]
    for place, part in enumerate(of_model[0]["parts"]):
        changes = [record["parts"][place] for record in of_model]
        is_kind = part["evidence"].startswith("without ") and "_" not in part["evidence"]
        if any(map(_is_sure, changes)) and is_kind:
            rows.append((part["evidence"], *map(_change, changes)))
    note = (
        "Below the first row: the change in points; \\*: its 95 % interval over questions is on one side of 0. "
        "More: [tables](../../benchmarks/results/tables/general-ablation-parts.csv)."
    )
    columns = ("", *(str(record["corpus"]) for record in of_model))
    return TextTable(f"What each evidence adds: {model}", columns, tuple(rows), (note,))


def _change(part: Mapping[str, Any]) -> str:
    mark = "\\*" if _is_sure(part) else ""
    return f"{100 * part['change']:+.1f}{mark}"


def _is_sure(part: Mapping[str, Any]) -> bool:
    return bool(part["low"] > 0 or part["high"] < 0)
