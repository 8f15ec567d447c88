"""Every re-ranking table that the five papers published, for the page; each on each of its corpora."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from auscult.evaluation.published_figures import PublishedRow, PublishedTable, published_tables

_CORPORA = ("medquad", "wikisection", "healthqa", "nfcorpus", "mimic-iii")


@cache
def every_published_table() -> tuple[PublishedTable, ...]:
    """The tables, in the order of corpora; each once."""
    return (*(table for corpus in _CORPORA for table in published_tables(corpus)), _weighted_cosine())


def _weighted_cosine() -> PublishedTable:
    """galko2017's, whose figures are fractions as they stand."""
    place = resources.files("auscult.evaluation").joinpath("published", "galko2017_table1.json")
    content = json.loads(place.read_text(encoding="utf-8"))
    rows = [
        PublishedRow(content["citation"], row["group"], row["model"], row["track"], row["measures"]["bioasq"])
        for row in content["rows"]
    ]
    return PublishedTable(
        citation=content["citation"],
        table=content["table"],
        corpus="bioasq",
        track="adapted",
        trained_on="pages",
        queries=content["queries"]["bioasq"],
        measures=tuple(dict.fromkeys(name for row in rows for name in row.measures)),
        rows=tuple(rows),
        note=content["note"],
    )


__all__ = ["every_published_table"]
