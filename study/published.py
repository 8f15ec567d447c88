"""Published figures that stand beside measured ones, and what wang2021's variants cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from auscult_lab.evaluation.published_figures import (
    PublishedRow,
    PublishedTable,
    published_content,
    published_tables,
)
from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.evaluation.tables import repeated_row, tables_beside


def paper_tables(corpus: str, citation: str) -> list[PublishedTable]:
    """Return a paper's tables on a corpus; none where it has not measured on it."""
    return [table for table in published_tables(corpus) if table.citation == citation]


def paper_row(model: str, corpus: str, citation: str) -> PublishedRow | None:
    """Return the row that a model repeats of a paper's tables on a corpus that was not measured here."""
    found = (table.find(model) for table in paper_tables(corpus, citation))
    return next((row for row in found if row is not None), None)


def published_table(record: EvaluationRecord, citation: str | None) -> PublishedTable | None:
    """Return the published table of a paper that a record's model repeats; None where it repeats none.

    Args:
        record: Of any model.
        citation: Key of the paper; None for any.
    """
    return next(
        (
            table
            for table in tables_beside([record])
            if citation in (None, table.citation) and repeated_row(record, table) is not None
        ),
        None,
    )


def published_row(record: EvaluationRecord, citation: str) -> PublishedRow | None:
    """Return the row of `published_table` that a record's model repeats."""
    return repeated_row(record, published_table(record, citation))


@dataclass(frozen=True, slots=True)
class PublishedCost:
    """What a variant of DRMM-TKS cost and reached on one corpus (wang2021, Table 4).

    Attributes:
        training_minutes: Of training.
        query_ms: Milliseconds a query; the paper does not say over how many candidates.
        measure: MAP, as a fraction.
    """

    training_minutes: float
    query_ms: float
    measure: float


@cache
def published_costs(corpus: str) -> dict[str, PublishedCost]:
    """wang2021's Table 4 on a corpus ("healthqa" or "nfcorpus"), by model; empty for any other."""
    rows = [(row["model"], row["costs"].get(corpus)) for row in published_content("wang2021_table4.json")["rows"]]
    return {
        model: PublishedCost(cost["training_minutes"], cost["query_ms"], cost["MAP"] / 100.0)
        for model, cost in rows
        if cost
    }
