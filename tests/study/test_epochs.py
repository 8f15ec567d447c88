"""Trainings of before batch samplers were told the epoch: which are marked, and what pages and files say."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult_lab.evaluation.records import read_records
from result_records import record
from study.commands.mark import mark
from study.epochs import EXPLAINED, FIELD, MARK, explained, mark_files, mark_of, with_mark
from study.pages.comparison import comparison_table
from study.pages.encoder_marks import EncoderMarks
from study.pages.papers import FURTHER, Comparison
from study.pages.reading import Filed

BEFORE, AFTER = "2026-11-21T08:42:48+00:00", "2026-11-21T08:42:49+00:00"


@pytest.mark.parametrize(
    ("made", "marked"),
    [
        ({"date": AFTER, "training": {"best_epoch": 3, "date": BEFORE}}, True),
        ({"date": AFTER, "training": {"best_epoch": 3, "date": AFTER}}, False),
        ({"date": BEFORE, "training": {"best_epoch": 3}}, True),
        ({"date": BEFORE, "training": {}}, False),
        ({"date": BEFORE}, False),
        ({"date": AFTER, "training": {"models": {"a": {"best_epoch": 0, "date": BEFORE}}}}, True),
    ],
    ids=["trained before", "trained after", "of the record's date", "learned nothing", "no training", "fused"],
)
def test_trainings_before_the_fix_are_marked(made: dict[str, object], marked: bool) -> None:
    training = with_mark(made).get("training", {})
    assert mark_of(training) == (MARK if marked else "")


def test_a_mark_that_does_not_hold_is_removed() -> None:
    assert (
        FIELD not in with_mark({"date": AFTER, "training": {"best_epoch": 1, "date": AFTER, FIELD: True}})["training"]
    )


def test_the_table_marks_the_row() -> None:
    shown = [record("CDV", "zero-shot", training={FIELD: True}), record("BM25", "untrained")]
    filed = [Filed("evaluation", each) for each in shown]
    comparison = Comparison("Zero-shot models", "zero-shot", ("medquad",))
    table = comparison_table(comparison, FURTHER, filed, EncoderMarks(shown))
    assert sorted(row[0] for row in table.rows) == ["BM25", f"CDV{MARK}"]


def test_files_are_marked_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "training-old.json"
    path.write_text(f'[{{"kind": "training", "best_epoch": 2, "date": "{BEFORE}"}}]', encoding="utf-8")
    mark(tmp_path)
    assert read_records(path)[0][FIELD] is True
    assert "training-old.json" in capsys.readouterr().out
    assert mark_files(tmp_path) == []


def test_a_page_with_marks_explains_them() -> None:
    assert explained(f"| CDV{MARK} |") == f"{EXPLAINED}\n"
    assert explained("| CDV |") == ""
