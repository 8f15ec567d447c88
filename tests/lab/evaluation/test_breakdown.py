"""Results are broken down by group, and the top-1 passages are told by what they are about."""

from __future__ import annotations

from auscult.understanding import Query
from auscult_lab.evaluation.breakdown import break_down, is_about, match_rates, same_name
from auscult_lab.evaluation.measures import measure
from headaches import PASSAGES, QUERY, TASK, first


def test_match_rates() -> None:
    rates = match_rates(TASK, [first("mig-treatment"), first("odd-treatment", "q2")], PASSAGES)
    assert (rates.entity, rates.aspect, rates.both) == (0.5, 0.5, 0.0)
    assert match_rates(TASK, [first("mig-symptoms")], PASSAGES).both == 0.5


def test_break_down_by_source_and_aspect() -> None:
    measured = measure([first("mig-symptoms"), first("odd-treatment", "q2")], TASK.judgements)
    by_source = {group.name: group for group in break_down(TASK, measured, PASSAGES, "source")}
    assert {name: (group.queries, group.measures["R@1"]) for name, group in by_source.items()} == {
        "GARD": (1, 1.0),
        "NIAMS": (1, 0.0),
    }
    assert [group.name for group in break_down(TASK, measured, PASSAGES, "aspect")] == ["symptoms", "treatment"]


def test_names_are_compared_without_case_and_punctuation() -> None:
    assert same_name("Tay-Sachs disease", "tay sachs  Disease")
    assert not same_name("", "")
    assert is_about(PASSAGES["mig-symptoms"], Query("q", "something else", entity_id="Q133823"))
    assert not is_about(PASSAGES["odd-symptoms"], QUERY)
