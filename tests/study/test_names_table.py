"""The table of names that training saw."""

from __future__ import annotations

from study.pages.names_table import names_table


def test_a_row_a_ranker_with_the_difference_of_the_two_renamings() -> None:
    record = {
        "model": "KNRM",
        "queries": 300,
        "date": "2026-11-24T10:00:00+00:00",
        "hardware": "two cores",
        "first is right": {"as they are": 0.5233, "never trained": 0.5933, "trained": 0.6333},
        "first has the entity": {"as they are": 0.69, "never trained": 0.78, "trained": 0.81},
        "trained against never trained": {"change": 0.04, "low": -0.0033, "high": 0.08},
    }
    table = names_table([record])
    assert table.rows == (("KNRM", "52.3", "59.3", "63.3", "69.0", "78.0", "81.0", "+4.0 [-0.3, 8.0]"),)
    assert len(table.columns) == len(table.rows[0])
    assert table.notes[-1] == "300 queries. Measured 2026-11-24, two cores."
