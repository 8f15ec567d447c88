"""Figures of results: drawn from records, and again alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.errors import DataError
from result_records import record
from study.figures.bench import draw_learning_curves, draw_question_types
from study.figures.breakdowns import draw_figures


def test_figures_are_drawn_and_repeat(tmp_path: Path) -> None:
    shown = {"match_rates": {"entity": 0.9, "aspect": 0.6, "both": 0.55}, "by_question_type": []}
    records = [
        record("BM25", "untrained", **shown),
        record("CDV+avg", "adapted", by_aspect=record("x", "adapted").by_source, **shown),
    ]
    written = draw_figures(tmp_path / "one", records, {})
    names = sorted(path.name for path in written)
    assert [name for name in names if name.endswith("png")] == [
        "by_aspect_cdv+avg_adapted.png",
        "by_source_bm25.png",
        "by_source_cdv+avg_adapted.png",
        "match_rates.png",
    ]
    assert all((tmp_path / "one" / name).stat().st_size > 1000 for name in names)
    assert "entity 90.0" in (tmp_path / "one" / "match_rates.svg").read_text()
    draw_figures(tmp_path / "two", records, {})
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_curves_and_bars_are_drawn_and_repeat(tmp_path: Path) -> None:
    records = [record("HAR"), record("KNRM"), record("BM25", "untrained")]
    for name in ("one", "two"):
        draw_learning_curves(tmp_path / name / "curves.svg", records)
        draw_question_types(tmp_path / name / "types.svg", records)
    for file in ("curves.svg", "types.svg"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    curves, types = ((tmp_path / "one" / file).read_text() for file in ("curves.svg", "types.svg"))
    for expected in ("HAR", "KNRM", "training queries seen", "RR on validation queries"):
        assert expected in curves
    assert "BM25" not in curves
    for expected in ("HAR", "BM25", "what (2,418)", "75.0", "why (20)"):
        assert expected in types
    with pytest.raises(DataError, match="validation_RR"):
        draw_learning_curves(tmp_path / "none.svg", records[2:])
    with pytest.raises(DataError, match="question type"):
        draw_question_types(tmp_path / "none.svg", [record("BM25", "untrained", by_question_type=[])])
    with pytest.raises(DataError, match=r"\.png"):
        draw_learning_curves(tmp_path / "curves.txt", records)
    assert not (tmp_path / "none.svg").exists()
    assert tmp_path / "all" / "by_question_type.png" in draw_figures(tmp_path / "all", records, {})


def test_many_learning_curves_have_a_panel_each(tmp_path: Path) -> None:
    models = [f"model {number:02}" for number in range(17)]
    draw_learning_curves(tmp_path / "many.svg", [record(model) for model in models])
    drawn = (tmp_path / "many.svg").read_text()
    assert all(drawn.count(f">{model}</text>") == 1 for model in models)
    assert drawn.count("50.0 after 1.0 min") == 17, "the best epoch is the second, of half a minute each"
