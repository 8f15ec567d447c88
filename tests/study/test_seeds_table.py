"""The table of CK-HQA's variants over several seeds."""

from __future__ import annotations

from study.pages.seeds_table import seeds_tables


def _gap(mean: float, low: float, high: float) -> dict[str, float]:
    return {"mean": mean, "low": low, "high": high}


def test_means_with_each_seed_and_differences_that_the_interval_decides() -> None:
    record = {
        "queries": 500,
        "corpus": "medquad",
        "given": ["alone", "none", "u"],
        "seeds": [1, 2],
        "date": "2026-11-24T10:00:00+00:00",
        "hardware": "two cores",
        "variants": [{"model": "KNRM", "by_seed": {"MAP": [0.5, 0.6], "R@1": [0.4, 0.42]}}],
        "differences": [
            {"model": "KNRM-U", "than": "KNRM", "MAP": _gap(0.03, 0.01, 0.05), "R@1": _gap(0.01, -0.02, 0.04)},
            {"model": "KNRM-NONE", "than": "KNRM", "MAP": _gap(-0.03, -0.05, -0.01), "R@1": _gap(0.0, -0.02, 0.02)},
            {"model": "KNRM-U", "than": "KNRM-NONE", "MAP": _gap(0.01, -0.01, 0.03), "R@1": _gap(0.0, -0.02, 0.02)},
        ],
    }
    variants, differences = seeds_tables([record])
    assert variants.rows == (("KNRM", "55.00 (50.0, 60.0)", "41.00 (40.0, 42.0)"),)
    assert variants.notes == (
        "500 queries of medquad, 2 seeds, adapted models.",
        "Measured 2026-11-24, two cores.",
    )
    assert [row[-1] for row in differences.rows] == ["gain", "loss", "no difference shown"]
    assert differences.rows[0][:3] == ("KNRM-U", "KNRM", "+3.00 [+1.00, +5.00]")


def test_records_of_fewer_seeds_have_tables_of_their_own() -> None:
    of_two = {
        "given": ["alone"],
        "queries": 500,
        "corpus": "medquad",
        "seeds": [1, 2],
        "date": "2026-11-24",
        "hardware": "two cores",
        "variants": [{"model": "KNRM", "by_seed": {"MAP": [0.5, 0.6], "R@1": [0.4, 0.42]}}],
        "differences": [],
    }
    of_one = of_two | {
        "given": ["um"],
        "seeds": [1],
        "variants": [{"model": "KNRM-UM", "by_seed": {"MAP": [0.5], "R@1": [0.4]}}],
    }
    tables = seeds_tables([of_two, of_one])
    assert [table.title for table in tables] == [
        "Several seeds",
        "Several seeds: what each part adds",
        "One seed",
        "One seed: what each part adds",
    ]
    assert [row[0] for row in tables[2].rows] == ["KNRM-UM"]
    assert "matrix of their own" in tables[2].notes[1]
