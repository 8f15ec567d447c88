"""How often the first passage answers a question in words: a row a collection, a column a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.evaluation.tables import TextTable

_SEARCH, _GENERAL = "auscult search, ", "General encoder, "
_MODELS = {
    "BM25": "BM25",
    "all-MiniLM-L6-v2": "all-MiniLM-L6-v2",
    "all-MiniLM-L6-v2 + e5-small + splade-tiny": "three readers",
    f"{_GENERAL}fast": "fast",
    f"{_GENERAL}best": "best",
    f"{_GENERAL}multilingual": "multilingual",
}
"""Columns by the names that models have in records."""
_FITTED, _REPLACED = "°", "§"
_NOTE = f"""Percent, with the largest 95 % interval of a row. *Three readers*: the sum of all-MiniLM-L6-v2, e5-small and
splade-tiny. "Worded": 300 test questions in MedQuAD's words; "named": the same by name and heading. {_FITTED}: read
documents or questions of the collection's training part. {_REPLACED}: of 0.1.0, not yet measured anew."""


class _Share(NamedTuple):
    """The share of questions whose first passage answers, the width of its interval, and marks of the model."""

    right: float
    width: float
    marks: str = ""


def first_hits_table(asked: Sequence[Mapping[str, Any]], judged: Sequence[EvaluationRecord]) -> TextTable:
    """Build the table.

    Args:
        asked: Records of `benchmarks/asking.py`.
        judged: Evaluation records of corpora whose questions are in words.
    """
    shares: dict[tuple[str, int], dict[str, _Share]] = {}
    for record in asked:
        for row in record["collections"]:
            low, high = row["r1_interval"]
            share = _Share(row["r1"], high - low)
            shares.setdefault((row["collection"], row["questions"]), {})[str(record["model"])] = share
    fingerprints = {str(record["model"]): record["fingerprint"] for record in asked}
    for judgement in judged:
        low, high = judgement.intervals["P@1"]
        model = judgement.model.removeprefix(_SEARCH)
        is_replaced = fingerprints.get(model) not in (None, "", judgement.fingerprint)
        marks = _FITTED * (judgement.track == "adapted") + _REPLACED * is_replaced
        share = _Share(judgement.measures["P@1"], high - low, marks)
        shares.setdefault((judgement.corpus, judgement.queries), {})[model] = share
    rows = [_row(f"{name}, {questions:,}", by_model) for (name, questions), by_model in shares.items()]
    columns = ("Collection, questions", *_MODELS.values(), "±")
    return TextTable("Right passage first", columns, tuple(rows), (" ".join(_NOTE.split()),))


def _row(title: str, shares: Mapping[str, _Share]) -> tuple[str, ...]:
    found = [shares.get(model) for model in _MODELS]
    cells = [f"{100 * each.right:.1f}{each.marks}" if each else "" for each in found]
    widest = max(each.width for each in found if each)
    return (title, *cells, f"{50 * widest:.1f}")
