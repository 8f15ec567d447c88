"""How sure first hits are said to be, on collections whose questions the certainty was not fitted on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import measured_on

_COLUMNS = (
    "Questions", "Model", "calibration error", "right: answers", "right: uncertain", "wrong: answers",
    "wrong: uncertain",
)  # fmt: skip
_SHOWN = ("calibration_error", "right_said_to_answer", "right_said_uncertain", "wrong_said_to_answer",
          "wrong_said_uncertain")  # fmt: skip
_PEOPLES = frozenset({"bioasq-7b-11b", "pubmedqa", "cpgqa"})
_ALONE = frozenset({"small", "pairs"})
_NOTE = """Percent of first hits by what is said of them; means over collections, each left out of the fitting but for
"pairs", by entity and aspect. "Small": over twelve documents."""


def fitted_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a kind of questions and model."""
    kinds = list(dict.fromkeys(_kind(row["collection"]) for record in records for row in record["collections"]))
    rows = []
    for kind in kinds:
        for record in records:
            figures = [row["left_out"] for row in record["collections"] if _kind(row["collection"]) == kind]
            error, *shares = (float(np.mean([each[name] for each in figures])) for name in _SHOWN)
            model = str(record["model"]).removeprefix("General encoder, ")
            rows.append((kind, model, f"{error:.3f}", *(f"{100 * share:.1f}" for share in shares)))
    note = f"{' '.join(_NOTE.split())} {measured_on(records[0])}"
    return TextTable("Certainty of first hits", _COLUMNS, tuple(rows), (note,))


def _kind(collection: str) -> str:
    return collection if collection in _ALONE else "people's" if collection in _PEOPLES else "written"
