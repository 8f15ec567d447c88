"""The tables of a paper's page: rows are models, columns tasks."""

from __future__ import annotations

from auscult_lab.evaluation.records import EvaluationRecord
from result_records import MEASURES, record
from study.pages.comparison import comparison_table
from study.pages.encoder_marks import EncoderMarks
from study.pages.papers import Comparison, Page
from study.pages.reading import Filed

PAGE = Page(name="zhu2019", title="Rankers", opening="", published="arnold2020")
BOTH = Comparison("Adapted models", "adapted", ("medquad", "wikisection"), elsewhere=(("healthqa", "R@1"),))


def table_of(*records: EvaluationRecord) -> list[dict[str, str]]:
    filed = [Filed("rankers", entry) for entry in records]
    table = comparison_table(BOTH, PAGE, filed, EncoderMarks(records))
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def at(first: float) -> dict[str, object]:
    return {"measures": MEASURES | {"R@1": first}}


def test_one_row_joins_corpora_and_published_figures() -> None:
    subset = {"query_subset": "random 500, seed 0", "queries": 500}
    rows = table_of(
        record("KNRM", "adapted", fingerprint="a", **at(0.4)),
        record("KNRM", "adapted", fingerprint="a", **at(0.41), **subset),
        record("KNRM", "adapted", fingerprint="b", corpus="wikisection", **at(0.3)),
    )
    assert rows == [
        {
            "Model": "KNRM",
            "medquad: R@1": "40.00",
            "medquad, 500 queries: R@1": "41.00",
            "publ. R@1": "16.96",
            "wikisection: R@1": "30.00",
            "publ. R@1, healthqa": "54.91",
        }
    ]


def test_what_learned_nothing_is_first_then_the_best() -> None:
    rows = table_of(
        record("KNRM", "adapted", **at(0.4)), record("DRMM", "adapted", **at(0.6)), record("BM25", "untrained")
    )
    assert [row["Model"] for row in rows] == ["BM25", "DRMM", "KNRM"]


def test_other_tracks_and_parts_of_models_are_omitted() -> None:
    rows = table_of(record("KNRM", "adapted"), record("HAR", "zero-shot"), record("CDV (entity only)", "adapted"))
    assert [row["Model"] for row in rows] == ["KNRM"]


def test_page_without_a_paper_has_no_published_column() -> None:
    page = Page(name="further", title="", opening="")
    filed = [Filed("records", record("KNRM", "adapted"))]
    table = comparison_table(Comparison("", "adapted", ("medquad",)), page, filed, EncoderMarks([]))
    assert table.columns == ("Model", "medquad: R@1")
    assert "Published" not in " ".join(table.notes)


def test_nothing_measured_is_a_table_without_rows() -> None:
    assert table_of(record("HAR", "zero-shot")) == []
