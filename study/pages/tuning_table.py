"""How rankers were tuned: the same choices for each, on held-out queries of training documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable

_NEGATIVES = {"bench": "2 + 2 + 1", "zhu2019": "1 + 2 + 6", "one": "0 + 1 + 0"}
_TRAINED = {True: "trained", False: "frozen", None: "none"}
_NOTE = """Choices were made one after the other by the mean reciprocal rank of 150 held-out queries of 20 candidates:
four rates, three kinds of wrong passages, word vectors frozen or trained; each learned from 1,500 queries. Test queries
and test documents took no part. Wrong passages: of the same title + of those BM25 ranks high + at random."""


def tuning_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """A row a ranker: what was best, and how far the best is from the worst."""
    rows = []
    for record in sorted(records, key=lambda each: -float(each["best"]["validation_RR"])):
        best = record["best"]
        worst = min(float(each["validation_RR"]) for each in record["choices"])
        rows.append(
            (
                str(record["ranker"]),
                f"{best['learning_rate']:g}",
                _NEGATIVES[best["negatives"]],
                _TRAINED[best["train_words"]],
                f"{100 * best['validation_R@1']:.1f}",
                f"{100 * best['validation_RR']:.1f}",
                f"{100 * worst:.1f}",
                f"{len(record['choices'])}" + ("" if record["complete"] else ", the others took too long"),
            )
        )
    columns = ("Ranker", "rate", "wrong passages", "words", "R@1", "RR", "RR of the worst", "choices")
    dates = sorted({str(record["date"])[:10] for record in records})
    whence = f"Measured {', '.join(dates)}, {records[0]['hardware']}."
    return TextTable("Tuning on held-out queries", columns, tuple(rows), (" ".join(_NOTE.split()), whence))
