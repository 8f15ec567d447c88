"""The table of CDV's target spaces."""

from __future__ import annotations

from typing import Any

from study.pages.target_table import target_tables


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


def test_a_row_for_each_thing_that_was_asked() -> None:
    table, _ = target_tables([_record("one"), _record("other")])
    assert [row[:2] for row in table.rows] == [
        ("one", "entity, described"),
        ("one", "heading"),
        ("other", "entity, described"),
        ("other", "heading"),
    ]
    assert table.rows[0][2:] == ("99", "27,817", "2.0", "3.0")
    assert table.rows[1][2:] == ("531", "43", "24.1", "83.0")
    assert table.notes[-1] == "Measured 2026-11-24, two cores."


def test_neighbours_are_the_last_few_of_the_first_model() -> None:
    _, nearest = target_tables([_record("one"), _record("other")])
    assert "one" in nearest.title
    assert nearest.rows[0] == ("title", "title 5", "near, far")
    assert nearest.rows[-1] == ("aspect", "staging", "types")
    assert len(nearest.rows) == 3
