"""Published figures, kept as data with their citation, to stand beside measured ones."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One model's published figures on one corpus.

    Attributes:
        citation: Key in `references.bib`.
        group: The heading it stands under in the paper.
        track: "untrained" or "zero-shot".
        measures: As fractions: "R@1", "R@10", "MAP".
    """

    citation: str
    group: str
    model: str
    track: str
    measures: dict[str, float]


@cache
def published_rows(corpus: str) -> tuple[PublishedRow, ...]:
    """Rows of arnold2020, Table 3, for a corpus, in the paper's order; none for an unknown corpus."""
    table = _read("arnold2020_table3.json")
    return tuple(
        PublishedRow(
            table["citation"],
            row["group"],
            row["model"],
            row["track"],
            {name: value / 100.0 for name, value in row["measures"][corpus].items()},
        )
        for row in table["rows"]
        if corpus in row["measures"]
    )


def find_published(corpus: str, model: str) -> PublishedRow | None:
    """The published row that a model repeats: the longest published name that its name begins with.

    "CDV+avg-fasttext, mention labels" repeats "CDV+avg-fasttext"; a single-task variant "(entity only)"
    repeats none.
    """
    if "only)" in model:
        return None
    name = _plain(model)
    rows = [row for row in published_rows(corpus) if name.startswith(_plain(row.model))]
    return max(rows, key=lambda row: len(row.model), default=None)


@cache
def published_match_rates() -> tuple[tuple[str, float, float], ...]:
    """Which part, and its lowest and highest rate over three test sets in percent (arnold2020, Figure 5)."""
    return tuple((row["rate"], row["lowest"], row["highest"]) for row in _read("arnold2020_figure5.json")["rows"])


def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        resources.files("auscult.evaluation").joinpath("published", name).read_text(encoding="utf-8")
    )
    return content


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
