"""Result records as an evaluation writes them, for tests of tables, figures and pages."""

from __future__ import annotations

from auscult_lab.evaluation.records import EvaluationRecord, GroupRecord, Track
from auscult_lab.evaluation.tables import TextTable

MEASURES = {"R@1": 0.5, "R@3": 0.6, "R@5": 0.7, "R@10": 0.8, "AP": 0.6, "MAP": 0.6, "RR": 0.61}
TRAINING = {
    "kind": "ranker",
    "corpora": [{"name": "enwiki", "split": "train"}],
    "seconds": 90.0,
    "parameters": 12345,
    "hardware": "an accelerator",
    "history": [
        {"epoch": 0, "loss": 1.0, "validation_RR": 0.25, "validation_R@1": 0.1, "seconds": 30.0, "queries": 1000},
        {"epoch": 1, "loss": 0.5, "validation_RR": 0.5, "validation_R@1": 0.3, "seconds": 30.0, "queries": 2000},
        {"epoch": 2, "loss": 0.4, "validation_RR": 0.4, "validation_R@1": 0.2, "seconds": 30.0, "queries": 3000},
    ],
}
TYPES = [
    GroupRecord(name="what", queries=2418, measures={"RR": 0.75}),
    GroupRecord(name="why", queries=20, measures={"RR": 0.5}),
]


def record(model: str, track: Track = "zero-shot", **changes: object) -> EvaluationRecord:
    content: dict[str, object] = {
        "corpus": "medquad",
        "protocol": "rerank",
        "track": track,
        "model": model,
        "measures": MEASURES,
        "intervals": {"R@1": (0.48, 0.52), "MAP": (0.58, 0.62)},
        "queries": 3293,
        "candidates": 64.0,
        "by_source": [GroupRecord(name="GARD", queries=10, measures=MEASURES)],
        "by_question_type": TYPES,
        "ms_per_query": 6.4,
        "seed": 0,
        "version": "0.1.0",
        "revision": "abc",
        "hardware": "a processor, 2 cores",
        "date": "2026-01-02T03:04:05+00:00",
        "training": {} if track == "untrained" else TRAINING,
    }
    return EvaluationRecord.model_validate(content | changes)


def row_of(table: TextTable, model: str) -> dict[str, str]:
    (found,) = [row for row in table.rows if row[0].split("  ")[-1] == model]
    return dict(zip(table.columns, found, strict=True))
