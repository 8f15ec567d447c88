"""Tables and figures of a bench: published figures of every corpus, intervals, letters, costs, learning curves."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from auscult_lab.evaluation.bench_tables import bench_table, compressed, learning_table, question_type_table
from auscult_lab.evaluation.measures import QueryMeasures
from auscult_lab.evaluation.published_figures import TABLES, published_measures, published_tables
from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.evaluation.statistics import compare, pairwise_randomisation
from auscult_lab.evaluation.tables import result_tables
from places import ROOT
from result_records import MEASURES, record, row_of
from study.pages.beside import beside_tables


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
    precisions, ranks = 0, 0
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
                        precisions += 1
                if {"RR", "R@1"} <= set(row.measures):
                    assert row.measures["R@1"] < row.measures["RR"]
                    ranks += 1
    assert precisions
    assert ranks


def test_every_table_file_is_cited() -> None:
    bibliography = (ROOT / "references.bib").read_text(encoding="utf-8")
    found = [t for c in ("healthqa", "nfcorpus", "medquad", "clinical-notes") for t in published_tables(c)]
    names = {f"{each.citation}_{each.table.partition(',')[0].lower().replace(' ', '')}" for each in found}
    assert names == {re.sub(r"_(wikipedia|mimic|both)?\.json$|\.json$", "", name) for name in TABLES}
    assert all(f"{{{each.citation}," in bibliography for each in found)


def test_only_results_of_like_pools_are_compared() -> None:
    assert [table.citation for table in published_tables("healthqa", 64)] == ["arnold2020", *["grundmann2021"] * 3]
    assert [table.citation for table in published_tables("healthqa", 10)] == ["zhu2019", "zhu2019", "wang2021"]
    assert len(published_tables("healthqa")) == 7
    # With no table of like pools, what there is stands beside, and says how many candidates it had.
    assert [table.candidates for table in published_tables("medquad", 10)] == [64] * 4
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
    found = published_tables("medquad")[0].find(model)
    assert (found.model if found else None) == published


def test_bench_shows_intervals_letters_costs_and_published_figures() -> None:
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
    assert not old.of_bench


def test_pairs_are_tested_as_if_alone() -> None:
    values = [np.random.default_rng(seed).random((50, 3)) for seed in range(4)]
    together = pairwise_randomisation(values, seed=5, rounds=700)
    alone = [pairwise_randomisation([a, b], seed=5, rounds=700)[0] for a, b in combinations(values, 2)]
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
