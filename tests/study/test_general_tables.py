"""Tables of what the general encoders do beyond the papers' tasks."""

from __future__ import annotations

from typing import Any

from study.pages.ablation import ablation_table
from study.pages.fitted_table import fitted_table
from study.pages.nothing_here_table import nothing_here_table
from study.pages.serving import load_table
from study.pages.spans_table import spans_table

WHENCE = {"date": "2026-11-24T10:00:00+00:00", "hardware": "a processor, two cores"}


def test_unanswerable_questions_table_has_one_column_per_model() -> None:
    def of(model: str, share: float) -> dict[str, Any]:
        return {
            "model": f"General encoder, {model}",
            "collection": "ours",
            "kinds": [{"kind": "off-topic", "questions": 500, "told_nothing": share}],
            "collections": [
                {
                    "collection": "covidqa",
                    "questions": 1380,
                    "told_nothing_without_answers": share / 2,
                    "told_nothing_where_right": share / 100,
                }
            ],
            **WHENCE,
        }

    table = nothing_here_table([of("fast", 0.9), of("best", 1.0)])
    assert table.columns == ("Questions", "how many", "fast", "best")
    assert table.rows == (
        ("ours: off-topic", "500", "90.0", "100.0"),
        ("covidqa: answers removed", "1,380", "45.0", "50.0"),
    )
    assert "at most 1.0 % are told so" in table.notes[0]


def test_spans_table_has_corpus_columns_and_widest_interval() -> None:
    def of(corpus: str, f1: float, half: float) -> dict[str, Any]:
        return {
            "corpus": corpus,
            "ways": [{"way": "span", "f1": f1, "f1_low": f1 - half, "f1_high": f1 + half}],
        } | WHENCE

    table = spans_table([of("nhs", 0.6, 0.02), of("medquad", 0.5, 0.03)])
    assert table.rows == (("span", "60.0", "50.0"),)
    assert "within ± 3.0 points" in table.notes[0]


def test_certainty_has_a_row_a_kind_of_questions() -> None:
    figures = {
        "calibration_error": 0.0512,
        "right_said_to_answer": 0.5,
        "right_said_uncertain": 0.01,
        "wrong_said_to_answer": 0.05,
        "wrong_said_uncertain": 0.4,
    }
    rows = [{"collection": name, "left_out": figures} for name in ("nhs", "pairs", "labels")]
    rows[2]["left_out"] = {**figures, "right_said_to_answer": 0.7}
    table = fitted_table([{"model": "General encoder, fast", "collections": rows, **WHENCE}])
    assert table.rows == (
        ("written", "fast", "0.051", "60.0", "1.0", "5.0", "40.0"),
        ("pairs", "fast", "0.051", "50.0", "1.0", "5.0", "40.0"),
    )


def test_ablation_shows_only_evidence_that_changes_a_corpus() -> None:
    def part(evidence: str, low: float, high: float) -> dict[str, Any]:
        return {"evidence": evidence, "change": (low + high) / 2, "low": low, "high": high}

    parts = [
        part("without vectors", -0.03, -0.01),
        part("without articles", -0.01, 0.01),
        part("without question_vector", -0.03, -0.01),
        part("vectors alone", -0.5, -0.4),
    ]
    record = {"model": "fast", "corpus": "nhs", "all": 0.8, "parts": parts}
    assert ablation_table([record]).rows == (("everything: nDCG@10", "80.0"), ("without vectors", "-2.0\\*"))


def test_newest_load_per_process_count_is_shown() -> None:
    def of(processes: int, day: str, searches: float) -> dict[str, Any]:
        return {
            "clients": 8,
            "seconds": 60,
            "processes": processes,
            "searches_per_second": searches,
            "ms": {"median": 1.0, "p95": 2.0},
            "processor_ms_a_search": {"service": 3.0},
            "memory_mb": {"last": 500},
            "own_growth_mb_per_minute": 0.5,
            "date": day,
            "hardware": "a processor, two cores",
        }

    table = load_table([of(2, "2026-11-25", 90.0), of(1, "2026-11-26", 50.0), of(2, "2026-11-26", 100.0)])
    assert table.rows[:2] == (("processes that search", "1", "2"), ("searches a second", "50", "100"))
