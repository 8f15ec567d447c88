"""The table of CK-HQA's variants over several seeds."""

from __future__ import annotations

from typing import Any

from study.pages.seeds_table import seeds_tables


def _gap(mean: float, low: float, high: float) -> dict[str, float]:
    return {"mean": mean, "low": low, "high": high}


def _record(**changes: Any) -> dict[str, Any]:
    return {
        "queries": 500,
        "corpus": "medquad",
        "given": ["alone", "none", "u"],
        "seeds": [1, 2],
        "date": "2026-11-24T10:00:00+00:00",
        "hardware": "two cores",
        "differences": [
            {"model": "KNRM-U", "than": "KNRM", "MAP": _gap(0.03, 0.01, 0.05)},
            {"model": "KNRM-NONE", "than": "KNRM", "MAP": _gap(-0.03, -0.05, -0.01)},
            {"model": "KNRM-U", "than": "KNRM-NONE", "MAP": _gap(0.01, -0.01, 0.03)},
        ],
        **changes,
    }


def test_each_ranker_has_a_column_of_differences() -> None:
    pacrr = [{"model": "PACRR-U", "than": "PACRR", "MAP": _gap(0.02, -0.01, 0.05)}]
    (table,) = seeds_tables([_record(), _record(differences=pacrr)])
    assert table.columns == ("", "KNRM", "PACRR")
    assert table.rows[0] == ("U against words alone", "+3.00 [+1.00, +5.00]", "+2.00 [-1.00, +5.00]")
    assert table.rows[1] == ("NONE against words alone", "-3.00 [-5.00, -1.00]", "")
    assert table.notes[0].endswith("500 queries of medquad, 2 seeds, adapted. Measured 2026-11-24, two cores.")


def test_records_of_fewer_seeds_have_their_own_table() -> None:
    several, one = seeds_tables([_record(), _record(seeds=[1], given=["um"])])
    assert (several.title, one.title) == ("Several seeds: what each part adds", "One seed: what each part adds")
    assert (len(several.rows), len(one.rows)) == (3, 3)
    assert "matrix of their own" in one.notes[0]


def test_the_later_of_two_equal_differences_is_shown() -> None:
    again = _record(
        given=["alone", "u"], differences=[{"model": "KNRM-U", "than": "KNRM", "MAP": _gap(0.0, -0.1, 0.1)}]
    )
    (table,) = seeds_tables([_record(), again])
    assert [row[-1].split()[0] for row in table.rows] == ["+0.00", "-3.00", "+1.00"]
