"""The table across domains, and published figures of grundmann2021 beside measured ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auscult_lab.evaluation.bench_tables import bench_table
from auscult_lab.evaluation.published_figures import published_tables
from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.evaluation.tables import main_table, result_tables
from auscult_lab.evaluation.tracks import trained_on
from study.pages.beside import beside_tables
from study.pages.comparison import comparison_table
from study.pages.encoder_marks import EncoderMarks
from study.pages.papers import GRUNDMANN
from study.pages.reading import Filed
from study.pages.report import write_pages
from study.published import published_row

CORPORA = ("medquad", "clinical-notes", "clinical-notes-bm25")
NOTES, PAGES = {"name": "clinical-notes", "split": "train"}, {"name": "enwiki", "split": "train"}


def record(model: str, corpus: str, first: float, corpora: list[dict[str, str]], **changes: object) -> EvaluationRecord:
    notes = corpus != "medquad"
    adapted = any((each["name"] == "clinical-notes") == notes and each["name"] != "enwiki" for each in corpora)
    measures = {"R@1": first, "R@5": 0.9, "R@10": 0.95, "AP": 0.6, "MAP": 0.6, "RR": 0.6}
    content: dict[str, object] = {
        "corpus": corpus,
        "protocol": "rerank",
        "track": ("adapted" if adapted else "zero-shot") if corpora else "untrained",
        "model": model,
        "measures": measures,
        "queries": 1000,
        "candidates": 64.0,
        "ms_per_query": 6.4,
        "seed": 0,
        "version": "0.1.0",
        "revision": "abc",
        "hardware": "a processor",
        "date": "2026-01-02T03:04:05+00:00",
        "fingerprint": f"{model}{corpora}",
        "training": {"kind": "capr", "corpora": corpora} if corpora else {},
    }
    return EvaluationRecord.model_validate(content | changes)


def records() -> list[EvaluationRecord]:
    rows = [record("BM25", corpus, 0.3, []) for corpus in CORPORA]
    for name, corpora, first in (("notes", [NOTES], 0.1), ("pages", [PAGES], 0.2), ("both", [NOTES, PAGES], 0.4)):
        rows += [record(f"CAPR-Bi, {name}", corpus, first + n / 10, corpora) for n, corpus in enumerate(CORPORA)]
    return rows


def test_what_a_model_was_trained_on() -> None:
    assert trained_on({"corpora": [NOTES]}) == "notes"
    assert trained_on({"corpora": [PAGES, {"name": "medquad"}]}) == "pages"
    assert trained_on({"corpora": [{"name": "mtsamples"}, PAGES]}) == "both"
    assert trained_on({"corpora": [NOTES], "backbone_corpora": [PAGES]}) == "both"
    own = {
        "corpora": [{"name": "wards/notes"}],
        "experiment": {"notes": "all wards", "clinical_notes": ["wards/notes"]},
    }
    assert trained_on(own) == "notes"
    assert trained_on({}) is None


def test_each_training_text_has_its_own_row() -> None:
    filed = [Filed("capr", entry) for entry in records()]
    table = comparison_table(GRUNDMANN.comparisons[0], GRUNDMANN, filed, EncoderMarks([]))
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert set(rows) == {"BM25", "CAPR-Bi, notes", "CAPR-Bi, pages", "CAPR-Bi, both"}
    assert rows["BM25"]["medquad: R@1"] == "30.00"
    assert rows["CAPR-Bi, notes"]["medquad: R@1"] == "10.00≈"
    assert rows["CAPR-Bi, pages"]["clinical-notes: R@1"] == "30.00≈"
    assert rows["CAPR-Bi, both"]["clinical-notes: R@1"] == "", "it is adapted there"


def test_published_rows_match_the_kind_of_training_text() -> None:
    """The paper's rows of its bi-encoder, R@1 of MedQuAD and then of MIMIC-III."""
    published = {}
    for entry in records():
        row = published_row(entry, "grundmann2021")
        published[entry.model, entry.corpus] = None if row is None else round(100 * row.measures["R@1"], 2)
    figures = [(published[model, "medquad"], published[model, "clinical-notes"]) for model, _ in list(published)[::3]]
    assert figures == [(31.98, 4.93), (27.03, 46.60), (64.40, 48.80), (64.44, 52.35)]


def test_the_report_has_a_table_a_track(tmp_path: Path) -> None:
    content = [each.model_dump(mode="json") for each in records()]
    (tmp_path / "capr.json").write_text(json.dumps(content))
    page = write_pages(tmp_path)["results/grundmann2021.md"]
    assert "## Across domains, zero-shot\n" in page
    assert "## Adapted to notes\n" in page
    assert "## Adapted to health pages\n" not in page


def test_published_figures_are_the_papers() -> None:
    tables = {
        (table.trained_on, corpus): table
        for corpus in ("medquad", "wikisection", "healthqa", "clinical-notes")
        for table in published_tables(corpus)
        if table.citation == "grundmann2021"
    }
    assert len(tables) == 12
    for (trained, _), table in tables.items():
        assert len(table.rows) == {"notes": 12, "pages": 13, "both": 7}[trained]
        assert all(row.measures["R@1"] <= row.measures["R@5"] for row in table.rows)
    on_notes = tables["notes", "clinical-notes"]
    assert (on_notes.track, on_notes.candidates, on_notes.measures) == ("adapted", 64, ("R@1", "R@5"))
    cross = on_notes.find("CAPR-Cross")
    assert cross is not None
    assert cross.model == "CAPR-BioBERT-Cross"
    assert cross.measures == pytest.approx({"R@1": 0.7196, "R@5": 0.8561})
    found = {each.trained_on: each.track for each in published_tables("clinical-notes")}
    assert found == {"pages": "zero-shot", "notes": "adapted", "both": "adapted"}


def test_the_table_that_repeats_most_models_stands_beside() -> None:
    mine = [record("CAPR-Bi", "medquad", 0.6, [PAGES]), record("CAPR-Poly", "medquad", 0.6, [PAGES])]
    main = main_table(mine, "zero-shot")
    assert main is not None
    assert main.title == "grundmann2021, Table 3, trained on Wikipedia"
    words = record("CDV+avg-fasttext", "medquad", 0.4, [PAGES])
    found = main_table([words], "zero-shot")
    assert found is not None
    assert found.citation == "arnold2020"
    on_notes = main_table([record("CAPR-Bi", "clinical-notes", 0.6, [NOTES])], "adapted")
    assert on_notes is not None
    assert on_notes.title == "grundmann2021, Table 3, trained on MIMIC-III"
    (table,) = result_tables(mine)
    assert {"R@1", "R@5", "publ.\nR@1", "publ.\nR@5"} <= set(table.columns)


def test_published_figures_appear_beside_equally_trained_models() -> None:
    """R@1 of the paper's bi-encoder on MedQuAD is 27.03, 64.40 or 64.44, by what it was trained on."""
    words = record("BM25", "medquad", 0.3, [])
    trainings: list[tuple[list[dict[str, str]], str]] = [
        ([NOTES], "27.03"),
        ([PAGES], "64.40"),
        ([NOTES, PAGES], "64.44"),
    ]
    for corpora, figure in trainings:
        own = [words, record("CAPR-Bi", "medquad", 0.6, corpora)]
        for table in (bench_table(own, "zero-shot"), *result_tables(own)):
            published = {row[0].split("  ")[-1]: row[5:] for row in table.rows}
            assert figure in published["CAPR-Bi"]
            assert "31.98" in published["BM25"]
    beside = [table.title for table in beside_tables([words, record("CAPR-Bi", "medquad", 0.6, [NOTES])], "zero-shot")]
    assert beside == [], "all others were trained on pages"
    unknown = record("CAPR-Bi", "medquad", 0.6, [PAGES], training={})
    assert main_table([words, unknown], "zero-shot") is None
    assert main_table([words], "untrained") is not None


def test_mixed_tables_show_published_figures_of_one_kind() -> None:
    own = [record(f"CAPR-Poly, {name}", "medquad", 0.6, corpora) for name, corpora in (("a", [PAGES]), ("b", [NOTES]))]
    own.append(record("CAPR-Bi", "medquad", 0.6, [NOTES]))
    (table,) = result_tables(own)
    published = {row[0].split("  ")[-1]: row[5] for row in table.rows}
    assert (published["CAPR-Poly, a"], published["CAPR-Poly, b"], published["CAPR-Bi"]) == ("", "5.95", "27.03")
