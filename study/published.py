"""Published figures that only the pages show: grundmann2021 across domains, and what wang2021's variants cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from auscult_lab.evaluation.published_figures import PublishedTable, published_content, published_tables
from auscult_lab.evaluation.tracks import Trained


def cross_domain_table(trained: Trained, corpus: str) -> PublishedTable | None:
    """A part of grundmann2021's Table 3, on one corpus; None where it has no such corpus.

    Args:
        trained: What its models were trained on.
        corpus: What was tested on; "clinical-notes" gives the figures on MIMIC-III.
    """
    parts = (each for each in published_tables(corpus) if each.citation == "grundmann2021")
    return next((each for each in parts if each.trained_on == trained), None)


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
