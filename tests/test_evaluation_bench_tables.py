"""Tables and figures of a bench: published figures of every corpus, intervals, letters, costs, learning curves."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from auscult.cli.main import app
from auscult.errors import DataError
from auscult.evaluation.bench_figures import draw_learning_curves, draw_question_types
from auscult.evaluation.bench_tables import (
    bench_table,
    beside_tables,
    compressed,
    learning_table,
    question_type_table,
)
from auscult.evaluation.figures import draw_figures
from auscult.evaluation.measures import QueryMeasures
from auscult.evaluation.published_figures import TABLES, find_published, published_measures, published_tables
from auscult.evaluation.records import EvaluationRecord, GroupRecord, Track, write_records
from auscult.evaluation.report import report_figures, write_report
from auscult.evaluation.statistics import compare, paired_randomisation, pairwise_randomisation
from auscult.evaluation.tables import TextTable, result_tables

MEASURES = {"R@1": 0.5, "R@3": 0.6, "R@5": 0.7, "R@10": 0.8, "AP": 0.6, "MAP": 0.6, "RR": 0.61}
TRAINING = {
    "kind": "ranker",
    "corpora": [{"name": "enwiki", "split": "train"}],
    "seconds": 90.0,
    "parameters": 12345,
    "hardware": "an accelerator",
    "history": [
        {"epoch": 0, "loss": 1.0, "validation_RR": 0.25, "validation_R@1": 0.1, "seconds": 30.0, "queries": 1000},
        {"epoch": 1, "loss": 0.5, "validation_RR": 0.5, "validation_R@1": 0.3, "seconds": 30.0, "queries": 2000},
        {"epoch": 2, "loss": 0.4, "validation_RR": 0.4, "validation_R@1": 0.2, "seconds": 30.0, "queries": 3000},
    ],
}
TYPES = [
    GroupRecord(name="what", queries=2418, measures={"RR": 0.75}),
    GroupRecord(name="why", queries=20, measures={"RR": 0.5}),
]


def record(model: str, track: Track = "zero-shot", **changes: object) -> EvaluationRecord:
    content: dict[str, object] = {
        "corpus": "medquad",
        "protocol": "rerank",
        "track": track,
        "model": model,
        "measures": MEASURES,
        "intervals": {"R@1": (0.48, 0.52), "MAP": (0.58, 0.62)},
        "queries": 3293,
        "candidates": 64.0,
        "by_source": [GroupRecord(name="GARD", queries=10, measures=MEASURES)],
        "by_question_type": TYPES,
        "ms_per_query": 6.4,
        "seed": 0,
        "version": "0.1.0",
        "revision": "abc",
        "hardware": "a processor, 2 cores",
        "date": "2026-01-02T03:04:05+00:00",
        "training": {} if track == "untrained" else TRAINING,
    }
    return EvaluationRecord.model_validate(content | changes)


def row_of(table: TextTable, model: str) -> dict[str, str]:
    (found,) = [row for row in table.rows if row[0].split("  ")[-1] == model]
    return dict(zip(table.columns, found, strict=True))


def test_published_tables_are_the_papers() -> None:
    har2, har3, ck2 = published_tables("healthqa", 10)
    assert (har2.title, har2.measures, har2.queries) == ("zhu2019, Table 2", ("RR", "R@1", "R@3", "R@5"), 1134)
    har = har2.find("HAR")
    assert har is not None
    assert har.measures == pytest.approx({"RR": 0.87877, "R@1": 0.789, "R@3": 0.96844, "R@5": 0.99639})
    assert [row.model for row in har2.rows] == (
        ["TF-IDF", "CDSSM", "ARC-II", "MV-LSTM", "DRMM", "KNRM", "aNMM", "Duet", "MatchPyramid", "HAR"]
    )
    assert har3.rows[-1].measures == har.measures, "the paper repeats HAR's row"
    assert len(ck2.rows) == 33
    (ck3,) = published_tables("nfcorpus")
    anmm = ck3.find("aNMM")
    assert anmm is not None
    assert anmm.measures["nDCG@5"] == pytest.approx(0.2443)
    (original,) = [row for row in ck2.rows if row.model == "KNRM"]
    assert set(original.measures) == set(ck2.measures) - {"nDCG@5"}, "what cannot be read is left out"


def test_published_columns_agree_with_each_other() -> None:
    """Figures that were read from the wrong column would not: nested cut-offs, and one relevant passage."""
    for corpus in ("healthqa", "nfcorpus", "medquad", "wikisection", "clinical-notes"):
        for table in published_tables(corpus):
            for row in table.rows:
                assert set(row.measures) <= set(table.measures)
                assert all(0 < value <= 1 for value in row.measures.values())
                recalls = [row.measures[name] for name in ("R@1", "R@3", "R@5", "R@10") if name in row.measures]
                assert recalls == sorted(recalls), (table.title, row.model)
                for k in (3, 5):
                    if corpus == "healthqa" and f"P@{k}" in row.measures:
                        precision, recall = row.measures[f"P@{k}"], row.measures[f"R@{k}"]
                        assert precision * k == pytest.approx(recall, abs=0.003), (row.model, k)
                if {"RR", "R@1"} <= set(row.measures):
                    assert row.measures["R@1"] < row.measures["RR"]


def test_every_table_file_is_cited() -> None:
    bibliography = (Path(__file__).parent.parent / "references.bib").read_text(encoding="utf-8")
    found = [t for c in ("healthqa", "nfcorpus", "medquad", "clinical-notes") for t in published_tables(c)]
    names = {f"{each.citation}_{each.table.partition(',')[0].lower().replace(' ', '')}" for each in found}
    assert names == {re.sub(r"_(wikipedia|mimic|both)?\.json$|\.json$", "", name) for name in TABLES}
    assert all(f"{{{each.citation}," in bibliography for each in found)


def test_only_results_of_like_pools_are_compared() -> None:
    assert [each.citation for each in published_tables("healthqa", 64)] == ["arnold2020", *["grundmann2021"] * 3]
    assert [each.citation for each in published_tables("healthqa", 10)] == ["zhu2019", "zhu2019", "wang2021"]
    assert len(published_tables("healthqa")) == 7
    # With no table of like pools, what there is stands beside, and says how many candidates it had.
    assert [each.candidates for each in published_tables("medquad", 10)] == [64] * 4
    assert set(published_measures("healthqa")) >= {"AP", "RR", "R@3", "P@5", "nDCG@3"}
    assert published_measures("leaflets") == ()


@pytest.mark.parametrize(
    ("model", "published"),
    [
        ("MV-LSTM", "MVLSTM"),
        ("CDSSM", "C-DSSM"),
        ("DUET", "Duet"),
        ("HAR, in-batch negatives", "HAR"),
        ("HAR (small)", "HAR"),
        ("HAR-WCA", None),
        ("CAPR-Bi + CAPR-Cross", None),
        ("HAR-simple", None),
        ("DRMM-TKS", None),
        ("CONV-KNRM", "CONV-KNRM"),
        ("PACRR", None),
    ],
)
def test_a_variant_does_not_repeat_its_parent(model: str, published: str | None) -> None:
    found = find_published("medquad", model)
    assert (found.model if found else None) == published


def test_a_bench_has_intervals_letters_costs_and_published_figures() -> None:
    beaten = ["BM25", *(f"m{n}, zero-shot" for n in range(1, 29))]
    records = [record(f"m{n}", measures=MEASURES | {"MAP": 0.5 - n / 1000}) for n in range(1, 29)]
    records.append(record("HAR", better_than={"R@1": beaten, "AP": ["BM25", "m2, zero-shot"]}))
    records.append(record("BM25", "untrained"))
    table = bench_table(records, "zero-shot")
    labels = [row[0] for row in table.rows]
    assert labels[:2] == ["a  BM25", "b  HAR"], "term-based first, then by MAP"
    assert labels[25:30] == ["z  m24", "A  m25", "B  m26", "C  m27", "D  m28"]
    har = row_of(table, "HAR")
    assert har["R@1"] == "50.00 [48.0, 52.0] ac-D", "a run goes on from z to A"
    assert har["MAP"] == "60.00 [58.0, 62.0] ad"
    assert (har["publ. R@1"], har["publ. MAP"]) == ("55.65", "69.10")
    assert (har["training, min"], har["parameters"], har["µs per candidate"]) == ("1.5", "12,345", "100")
    bm25 = row_of(table, "BM25")
    assert (bm25["training, min"], bm25["parameters"], bm25["publ. R@1"]) == ("", "", "29.48")
    assert row_of(table, "CONV-KNRM")["publ. R@1"] == "42.70", "published and not measured"
    assert row_of(table, "CONV-KNRM")["R@1"] == ""
    assert any("an accelerator" in note for note in table.notes)


def test_letters_are_compressed() -> None:
    assert compressed([]) == ""
    assert compressed(list("ba")) == "ab"
    assert compressed(list("dcbafh")) == "a-dfh"


def test_other_tracks_get_no_rows_and_say_so() -> None:
    table = bench_table([record("HAR", "adapted")], "adapted")
    assert [row[0] for row in table.rows] == ["a  HAR"]
    assert any("saw more" in note for note in table.notes)
    unseen = bench_table([record("HAR", corpus="leaflets")], "zero-shot")
    assert not [column for column in unseen.columns if column.startswith("publ.")]


def test_healthqa_stands_beside_two_papers() -> None:
    own = [record("KNRM", "adapted", corpus="healthqa", candidates=10.0)]
    table = bench_table(own, "adapted")
    assert row_of(table, "KNRM")["publ. RR"] == "70.97"
    assert row_of(table, "KNRM")["R@3"] == "60.00"
    assert row_of(table, "HAR")["publ. R@3"] == "96.84"
    ablations, ck = beside_tables(own, "adapted")
    assert [row[0] for row in ablations.rows] == ["HAR-simple", "HAR-WCA", "HAR"]
    found = row_of(ck, "KNRM")
    assert (found["MAP"], found["publ. MAP"], found["publ. nDCG@5"]) == ("60.00", "75.29", "")
    (few,) = result_tables(own)
    assert few.columns[1:9] == ("RR", "R@1", "R@3", "R@5", "publ.\nRR", "publ.\nR@1", "publ.\nR@3", "publ.\nR@5")


def test_question_types_and_learning_are_tables() -> None:
    kinds = question_type_table([record("HAR"), record("BM25", "untrained", by_question_type=[])])
    assert kinds.columns == ("Model", "what (2,418)", "why (20)", "all")
    assert kinds.rows == (("HAR", "75.00", "50.00", "61.00"),)
    assert learning_table([record("HAR"), record("BM25", "untrained")]).rows == (
        ("HAR", "3", "3,000", "1", "25.00", "50.00", "50.00"),
    )


def test_old_records_parse() -> None:
    content = record("BM25", "untrained").model_dump(mode="json")
    for name in ("candidates", "by_question_type"):
        del content[name]
    old = EvaluationRecord.model_validate(content)
    assert old.microseconds_per_candidate is None
    assert old.by_question_type == []
    assert not old.is_ranker


def test_the_report_has_a_section_of_rankers(tmp_path: Path) -> None:
    write_records(
        tmp_path / "evaluation.json",
        [record("BM25", "untrained"), record("CDV+avg-fasttext", "zero-shot", training={})],
    )
    rankers = [record("BM25", "untrained", ms_per_query=99.0), record("KNRM"), record("HAR")]
    write_records(tmp_path / "bench-zero-shot.json", rankers)
    (tmp_path / "cosine.json").write_text(
        json.dumps(
            {
                "kind": "weighted-cosine",
                "title": "Sentences",
                "models": [{"model": "CD_q", "MAP": 0.123, "P@10": 0.2, "R@10": 0.3, "F1@10": 0.24}],
                "significant": {"CD_q": {"MAP": ["CD", "RND"]}},
            }
        )
    )
    page = write_report(tmp_path)
    few, _, bench = page.partition("## Rankers: medquad, re-ranking, zero-shot track")
    assert bench
    assert "KNRM | 50.00" not in few
    assert "By source: CDV+avg-fasttext" in few
    assert few.count("| a  BM25 |") == 1
    assert "By source" not in bench.partition("## Question-weighted cosine")[0]
    assert "| c  KNRM | 50.00 [48.0, 52.0] |" in bench
    assert "### By question type" in bench
    assert "| KNRM | 3 | 3,000 | 1 | 25.00 | 50.00 | 50.00 |" in bench
    assert "| CD_q | 0.123 | 0.2 | 0.3 | 0.24 |" in bench
    assert "| significant: CD q: MAP | CD, RND |" in bench
    assert write_report(tmp_path) == page


def test_records_within_records_are_told_in_words(tmp_path: Path) -> None:
    corpora = [{"corpus": "enwiki", "documents": 1021, "linked_share": 0.05505}, {"corpus": "nhs", "parts": {"a_b": 2}}]
    record = {"kind": "other", "title": "Linking", "graphs": [{"graph": "kb", "corpora": corpora, "none": []}]}
    (tmp_path / "other.json").write_text(json.dumps(record))
    row = "| kb | corpus enwiki, documents 1,021, linked share 0.05505; corpus nhs, parts: a b 2 |  |"
    assert row in write_report(tmp_path)


def test_a_file_of_rankers_alone_makes_no_other_section(tmp_path: Path) -> None:
    write_records(tmp_path / "bench.json", [record("BM25", "untrained"), record("HAR")])
    titles = re.findall(r"^## .*$", write_report(tmp_path), re.MULTILINE)
    assert titles == ["## Rankers: medquad, re-ranking, zero-shot track"]
    assert "From the record `bench.json`." in write_report(tmp_path)


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


def test_the_page_links_figures_of_each_bench_and_they_are_drawn(tmp_path: Path) -> None:
    untrained = record("BM25", "untrained")
    plain = {"by_question_type": []}
    write_records(tmp_path / "rankers-zero-shot.json", [untrained, record("KNRM"), record("HAR")])
    adapted = [record("KNRM", "adapted", **plain), record("KNRM", "adapted", **plain, query_subset="random 9, seed 0")]
    write_records(tmp_path / "rankers-adapted.json", adapted)
    write_records(tmp_path / "evaluation.json", [untrained, record("CDV", training={})])
    figures = report_figures(tmp_path)
    names = [figure.name for figure in figures]
    assert names == [
        "rankers-adapted_medquad_3293_adapted_learning.png",
        "rankers-zero-shot_medquad_3293_zero-shot_learning.png",
        "rankers-zero-shot_medquad_3293_zero-shot_question_types.png",
        "rankers-adapted_medquad_random_9_seed_0_adapted_learning.png",
    ]
    assert re.findall(r"\(figures/(.*?)\)", write_report(tmp_path)) == names
    page = tmp_path / "docs" / "results.md"
    run = ["results", str(tmp_path), "--output", str(page)]
    done = CliRunner().invoke(app, run)
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "docs" / "figures").iterdir()) == sorted(names)
    assert CliRunner().invoke(app, [*run, "--check"]).exit_code == 0
    (tmp_path / "docs" / "figures" / names[0]).unlink()
    gone = CliRunner().invoke(app, [*run, "--check"])
    assert isinstance(gone.exception, DataError)
    assert names[0] in str(gone.exception)


def test_bars_stand_in_the_order_of_the_table(tmp_path: Path) -> None:
    own = [record("KNRM", measures=MEASURES | {"MAP": 0.1}), record("HAR"), record("BM25", "untrained")]
    write_records(tmp_path / "rankers.json", own)
    (types,) = [figure for figure in report_figures(tmp_path) if figure.draw is draw_question_types]
    assert [each.model for each in types.records] == ["BM25", "HAR", "KNRM"]


def test_pairs_are_tested_as_if_alone() -> None:
    values = [np.random.default_rng(seed).random((50, 3)) for seed in range(4)]
    together = pairwise_randomisation(values, seed=5, rounds=700)
    alone = [paired_randomisation(a, b, seed=5, rounds=700) for a, b in combinations(values, 2)]
    np.testing.assert_array_equal(together, alone)


def test_many_models_can_still_differ_significantly() -> None:
    """40 models make 780 pairs: with 10,000 rounds, not even the clearest difference would pass Holm's correction."""
    random = np.random.default_rng(0)
    queries = tuple(f"q{n}" for n in range(80))
    models = {
        f"m{n}": QueryMeasures(("RR",), queries, random.random((80, 1)) * 0.1 + (0.8 if n == 7 else 0.0))
        for n in range(40)
    }
    better = compare(models)
    assert better["m7"]["RR"] == [name for name in models if name != "m7"]
    assert sum(len(each["RR"]) for name, each in better.items() if name != "m7") <= 1


def test_weighted_cosine_stands_beside_the_paper(tmp_path: Path) -> None:
    def of(model: str, value: float, **better: list[str]) -> dict[str, object]:
        measures = {"MAP@10": value, "P@10": 0.2, "R@10": 0.3, "F1@10": 0.23, "F1 of means": 0.24}
        return {
            "kind": "weighted-cosine",
            "model": model,
            "corpus": "bioasq",
            "queries": 255,
            "passages": 15428,
            "measures": measures,
            "better_than": {"MAP@10": better.get("better", []), "P@10": []},
            "ms_per_query": 1.234,
            "hardware": "2 cores",
            "date": "2026-01-02T03:04:05",
        }

    rows = [of("CD_q", 0.4, better=["CD", "BM25"]), of("CD", 0.25), of("BM25", 0.3, better=["CD"])]
    (tmp_path / "cosine.json").write_text(json.dumps(rows))
    lines = write_report(tmp_path).splitlines()
    table = [line for line in lines if line.startswith("| ")]
    assert [line.split("|")[1].strip() for line in table] == (
        ["Model", "a  CD", "b  BM25", "c  CD_q", "RND", "MLP", "MP", "DRMM", "CD_idf"]
    )
    assert "| 40.00 ab | 20.00 | 30.00 | 23.00 | 24.00 | 37.7 | 37.4 | 51.9 | 43.4 | 1.23 |" in table[3]
    assert "| 30.00 a | 20.00 | 30.00 | 23.00 | 24.00 |  |  |  |  | 1.23 |" in table[2]
    assert any("255 queries, 15,428 passages" in line for line in lines)
