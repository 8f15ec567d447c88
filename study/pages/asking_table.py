"""What is marked in sections that answer questions in people's words, and what is said of near misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import measured_on

_COLUMNS = (
    "Collection", "Model", "R@10", "answer marked", "marks", "right, said uncertain", "near misses said to answer",
)  # fmt: skip
_NOTE = """Percent. *Answer marked*: of right first hits, those whose marked sentences hold the answer's. For choosing
models: no training question is about these documents."""
_SHIPPED, _REPLACED = "General encoder, ", " 0.1.0"


def asking_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a collection and shipped encoder."""
    shipped = [each for each in records if each["model"].startswith(_SHIPPED) and not each["model"].endswith(_REPLACED)]
    # In one order, whichever was measured last.
    shipped.sort(key=lambda record: -len(record["collections"]))
    collections = list(dict.fromkeys(row["collection"] for record in shipped for row in record["collections"]))
    rows = [
        _row(str(record["model"]).removeprefix(_SHIPPED), row)
        for collection in collections
        for record in shipped
        for row in record["collections"]
        if row["collection"] == collection and "near_misses" in row
    ]
    return TextTable(
        "Marks and near misses", _COLUMNS, tuple(rows), (f"{' '.join(_NOTE.split())} {measured_on(*shipped)}",)
    )


def _row(model: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["collection"],
        model,
        f"{100 * row['r10']:.1f}",
        f"{100 * row['answer_marked']:.1f}",
        f"{row['marks']:.2f}",
        f"{100 * row['right_said_uncertain']:.1f}",
        f"{row['near_misses_said_to_answer']} of {row['near_misses']}",
    )
