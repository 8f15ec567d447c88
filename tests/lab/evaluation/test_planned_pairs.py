"""Pairs of models that were planned to be compared: differences with intervals and tests, and none by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from auscult.errors import ConfigError
from auscult_lab.evaluation.comparing import compare_models
from auscult_lab.evaluation.measures import CUTOFF_MEASURES, QueryMeasures
from auscult_lab.evaluation.records import evaluation_records, read_records, write_records
from auscult_lab.evaluation.statistics import differences, holm, pairwise_randomisation
from favourites import TASK, contender


def test_differences_are_paired_and_corrected() -> None:
    random = np.random.default_rng(0)
    base = random.random((200, 1)) * 0.5
    noise = random.normal(0, 0.01, (200, 1))
    ids = tuple(f"q{row}" for row in range(200))
    models = {
        "base": QueryMeasures(("AP",), ids, base),
        "better": QueryMeasures(("AP",), ids, base + 0.02 + noise),
        "same": QueryMeasures(("AP",), ids[::-1], (base + noise)[::-1]),
    }
    found = differences(models, [("better", "base"), ("base", "same")], ("AP",))
    better, same = found["better", "base"]["AP"], found["base", "same"]["AP"]
    assert better.mean == pytest.approx(0.02 + noise.mean())
    assert better.low < better.mean < better.high
    assert better.high - better.low < 0.01, "queries differ far more from each other than the models do"
    assert better.p < 0.05 < same.p
    assert same.mean == pytest.approx(-noise.mean())
    pairs = ((base + 0.02 + noise, base), (base, base + noise))
    alone = [float(pairwise_randomisation(pair)[0, 0]) for pair in pairs]
    assert [better.p, same.p] == pytest.approx(holm(alone), abs=0.02)


def test_an_evaluation_carries_its_planned_differences(tmp_path: Path) -> None:
    models = [contender("KNRM", "adapted", "asthma-1"), contender("KNRM-BC", "adapted"), contender("HAR", "adapted")]
    records = compare_models(TASK, models, pairs=[("KNRM-BC, adapted", "KNRM, adapted")]).records
    assert [record.differences for record in (records[0], records[2])] == [[], []]
    (difference,) = records[1].differences
    assert difference.than == "KNRM, adapted"
    assert difference.measures["R@1"].mean == 1.0
    assert (difference.measures["R@1"].low, difference.measures["R@1"].high) == (1.0, 1.0)
    assert difference.measures["MAP"].mean == pytest.approx(records[1].measures["MAP"] - records[0].measures["MAP"])
    assert difference.measures["MAP"].p < 0.05
    write_records(tmp_path / "bench.json", records)
    assert evaluation_records(read_records(tmp_path / "bench.json"))[1].differences == [difference]
    assert set(CUTOFF_MEASURES) <= set(records[0].measures)
    assert [(group.name, group.queries) for group in records[0].by_length] == [("3", 40)]
    assert records[0].length_of == "query"


def test_a_name_plans_no_comparison() -> None:
    models = [contender("KNRM", "adapted", "asthma-1"), contender("KNRM-BC", "adapted")]
    assert [each.differences for each in compare_models(TASK, models).records] == [[], []]
    with pytest.raises(ConfigError, match="'PACRR, adapted', which is none"):
        compare_models(TASK, models, pairs=[("KNRM-BC, adapted", "PACRR, adapted")])
