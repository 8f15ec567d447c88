"""Comparing models: every model keeps its own figures, whatever the models are called."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from auscult.encoders.contract import FloatArray
from auscult.errors import ConfigError
from auscult.understanding import Query
from auscult_lab.evaluation.comparing import compare_models
from auscult_lab.evaluation.comparison import Contender
from auscult_lab.evaluation.tables import result_tables
from favourites import TASK, Favourite, contender


def test_one_title_on_two_tracks_is_two_models() -> None:
    comparison = compare_models(TASK, [contender("CDV", "zero-shot", "asthma-1"), contender("CDV", "adapted")])
    wrong, right = comparison.records
    assert (wrong.label, right.label) == ("CDV, zero-shot", "CDV, adapted")
    assert (wrong.measures["R@1"], right.measures["R@1"]) == (0.0, 1.0)
    assert right.better_than["R@1"] == ["CDV, zero-shot"]
    assert wrong.better_than == {}
    assert len({record.key for record in comparison.records}) == 2


def test_letters_refer_only_to_models_in_the_table() -> None:
    models = [
        contender("BM25", "untrained", "asthma-1"),
        contender("CDV", "zero-shot", "asthma-2"),
        contender("CDV", "adapted"),
    ]
    zero_shot, adapted = result_tables(compare_models(TASK, models).records)
    assert [row[1] for row in zero_shot.rows] == ["0.00", "0.00"]
    assert [row[1] for row in adapted.rows] == ["0.00", "100.00 a"], "only what stands in the same table has a letter"


def test_records_of_one_call_say_so() -> None:
    models = [contender("BM25", "untrained", "asthma-1"), contender("CDV", "zero-shot")]
    both, again, fewer = (compare_models(TASK, own).records for own in (models, models, models[:1]))
    assert len({record.comparison for record in both}) == 1
    assert both[0].comparison == again[0].comparison != ""
    assert fewer[0].comparison != both[0].comparison
    trained_anew = [models[0], contender("CDV", "zero-shot", "asthma-1")]
    assert compare_models(TASK, trained_anew).records[0].comparison != both[0].comparison


@pytest.mark.parametrize("other", ["CDV two", "cdv  two", "CDV_two"])
def test_models_with_clashing_file_names_are_refused(other: str) -> None:
    class Untouched(Favourite):
        def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
            raise AssertionError("refused before any work")

    first = Contender(scorer=Untouched("CDV two", ""), track="adapted")
    with pytest.raises(ConfigError, match="differ in name or track"):
        compare_models(TASK, [first, Contender(scorer=Untouched(other, ""), track="adapted")])
