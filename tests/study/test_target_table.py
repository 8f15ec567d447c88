"""The table of CDV's target spaces."""

from __future__ import annotations

from typing import Any

from study.pages.target_table import target_table


def _record(model: str) -> dict[str, Any]:
    return {
        "model": model,
        "date": "2026-11-24T10:00:00+00:00",
        "hardware": "two cores",
        "entities": {
            "places": 27_817,
            "described": {"asked": 99, "R@1": 0.0202, "R@10": 0.0303},
            "by words alone": {"asked": 0},
            "nearest": {f"title {number}": ["near", "far"] for number in range(7)},
        },
        "aspects": {
            "places": 43,
            "passages": {"asked": 531, "R@1": 0.2411, "R@10": 0.8305},
            "nearest": {"staging": ["types"]},
        },
    }


def test_target_table_has_model_rows_and_task_columns() -> None:
    table = target_table([_record("one"), _record("other")])
    assert table.columns == ("Model", "entities, described", "entities, by words alone", "headings")
    assert table.rows == (("one", "2.0", "", "24.1"), ("other", "2.0", "", "24.1"))
    assert table.notes[-1].endswith("Measured 2026-11-24, two cores.")
