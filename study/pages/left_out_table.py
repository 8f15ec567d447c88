"""What weights of hits are worth on collections whose questions they were not fitted on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import measured_on

_NOTE = """nDCG@10 of `fast` in percent, means of three seeds. *Left out*: weights fitted on all collections but this
one; *self-made*: on questions made of titles and headings."""


def left_out_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a collection, a column what the weights were fitted on, from the one record."""
    (record,) = records
    collections = dict.fromkeys(row["collection"] for row in record["weights"])
    fitted_on = dict.fromkeys(row["fitted_on"] for row in record["weights"])
    figures = {(row["collection"], row["fitted_on"]): f"{100 * row['ndcg10']:.1f}" for row in record["weights"]}
    rows = tuple((name, *(figures[name, fit] for fit in fitted_on)) for name in collections)
    title = "Collections whose questions nobody fitted weights on"
    return TextTable(title, ("Collection", *fitted_on), rows, (f"{' '.join(_NOTE.split())} {measured_on(record)}",))
