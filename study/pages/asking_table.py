"""Questions in people's words about sections, by collection and model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import measured_on

_COLUMNS = (
    "Collection, questions", "Model", "R@1", "R@10", "answer marked", "marks", "right, said uncertain",
    "near misses said to answer",
)  # fmt: skip
_NOTE = """Percent; R@1 with a 95 % interval. *Answer marked*: of right first hits, those whose marked sentences hold
the answer's. For choosing models: no training question is about these documents."""

_SHIPPED = "General encoder, "
_ELSEWHERE = (" 0.1.0", "BM25")
"""Ends of the names of models whose figures are only in the tables: replaced encoders, and the weakest."""


def asking_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a collection and model."""
    records = [record for record in records if not str(record["model"]).endswith(_ELSEWHERE)]
    # In one order, whichever was measured last: the shipped encoders, then the packaged readers they are compared with.
    records.sort(key=lambda record: (not str(record["model"]).startswith(_SHIPPED), len(str(record["model"]))))
    collections = list(dict.fromkeys(row["collection"] for record in records for row in record["collections"]))
    rows = [
        _row(str(record["model"]).removeprefix(_SHIPPED), row)
        for collection in collections
        for record in records
        for row in record["collections"]
        if row["collection"] == collection
    ]
    note = f"{' '.join(_NOTE.split())} {measured_on(records[0])}"
    return TextTable("Questions about sections", _COLUMNS, tuple(rows), (note,))


def _row(model: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    low, high = row["r1_interval"]
    return (
        f"{row['collection']}, {row['questions']:,}",
        model,
        f"{100 * row['r1']:.1f} [{100 * low:.1f}, {100 * high:.1f}]",
        f"{100 * row['r10']:.1f}",
        # Packaged models mark nothing and say nothing of certainty.
        *(
            (
                f"{100 * row['answer_marked']:.1f}",
                f"{row['marks']:.2f}",
                f"{100 * row['right_said_uncertain']:.1f}",
                f"{row['near_misses_said_to_answer']} of {row['near_misses']}",
            )
            if "marks" in row
            else ("",) * 4
        ),
    )
