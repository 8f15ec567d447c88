"""Variants of CK-HQA: names, planned comparisons, the paper's questions, lengths and costs, from records alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.errors import DataError
from auscult_lab.evaluation.measures import CUTOFF_MEASURES
from auscult_lab.evaluation.records import EvaluationRecord, write_records
from auscult_lab.evaluation.tables import group_table
from auscult_lab.families.table import read_experiment
from auscult_lab.training.experiment_files import experiments_in, read_compared
from places import ROOT
from result_records import MEASURES, record, row_of
from study.figures.lengths import draw_lengths
from study.pages.context_knowledge import (
    context_knowledge_tables,
    cost_table,
    figure_records,
    length_table,
    measures_table,
    question_table,
    questions_table,
)
from study.pages.reading import Filed
from study.pages.report import report_figures, write_pages
from study.variants import QUESTIONS, Variant, planned_pairs, variant_of

ALL = {"MAP": 0.6, "AP": 0.6, "R@1": 0.5, "RR": 0.61} | dict.fromkeys(CUTOFF_MEASURES, 0.25)
LENGTH = [
    {"name": "4", "queries": 30, "measures": ALL | {"MAP": 0.125}},
    {"name": "over 12", "queries": 12, "measures": ALL | {"MAP": 0.75}},
]


def gap(mean: float, p: float) -> dict[str, object]:
    told = {"mean": mean, "low": mean - 0.01, "high": mean + 0.01, "p": p}
    return {"MAP": told, "AP": told, "R@1": told | {"mean": mean / 2}, "RR": told}


def variant(model: str, **changes: object) -> EvaluationRecord:
    return record(model, "adapted", **({"measures": MEASURES | ALL, "by_length": LENGTH} | changes))


@pytest.fixture
def bench() -> list[EvaluationRecord]:
    """Four variants of one head: context is a gain, knowledge a loss, both together no difference from context."""
    plain = "DRMM-TKS, adapted"
    return [
        variant("DRMM-TKS-BC-W", differences=[{"than": "DRMM-TKS-BC, adapted", "measures": gap(0.002, 0.4)}]),
        variant("DRMM-TKS"),
        variant("DRMM-TKS-BC", differences=[{"than": plain, "measures": gap(0.1, 0.0001)}]),
        variant("DRMM-TKS-W", differences=[{"than": plain, "measures": gap(-0.03, 0.02)}]),
        record("BM25", "untrained"),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("KNRM", Variant("KNRM")),
        ("DRMM-TKS", Variant("DRMM-TKS")),
        ("DRMMTKS-BC-W", Variant("DRMM-TKS", "BC-W")),
        ("pacrr-sc-u", Variant("PACRR", "SC-U")),
        ("KNRM-U (small graph)", Variant("KNRM", "U")),
        ("KNRM-NONE", Variant("KNRM", "NONE")),
        ("drmmtks-bc-none", Variant("DRMM-TKS", "BC-NONE")),
        ("KNRM-UM", Variant("KNRM", "UM")),
        ("CONV-KNRM", None),
        ("KNRM-BCW", None),
        ("KNRM-W-BC", None),
        ("CAPR-Bi", None),
    ],
)
def test_names_say_variants(name: str, expected: Variant | None) -> None:
    assert variant_of(name) == expected


def test_pairs_are_of_one_head_and_one_track() -> None:
    names = ["KNRM", "KNRM-BC", "PACRR-W", "KNRM-BC-W"]
    models = [(f"{name}, adapted", name, "adapted") for name in names] + [("KNRM-B, zero", "KNRM-B", "zero-shot")]
    assert planned_pairs(models) == [
        ("KNRM-BC, adapted", "KNRM, adapted"),
        ("KNRM-BC-W, adapted", "KNRM-BC, adapted"),
    ]


@pytest.mark.parametrize("file", sorted((ROOT / "experiments").glob("wang2021-*.yaml")), ids=lambda file: file.stem)
def test_experiments_are_compared_as_the_questions_ask(file: Path) -> None:
    own = {path.name.partition(":")[2]: path for path in experiments_in(file)}
    titles = [(name, read_experiment(path).title, "one track") for name, path in own.items()]
    told = {(name, other) for name, path in own.items() for other in read_compared(path)}
    assert told == set(planned_pairs(titles))
    assert told


def test_variants_stand_in_order_whatever_they_are_given() -> None:
    given = ["", "NONE", "W", "U", "B", "B-W", "BC", "BC-NONE", "BC-W", "BC-U", "SC", "SC-U"]
    named = [Variant("KNRM", each) for each in given] + [Variant("PACRR", "W")]
    assert sorted(set(named), key=lambda variant: variant.place) == named


def test_knowledge_is_compared_with_the_fusion_layer_alone() -> None:
    models = [(name, name, "adapted") for name in ("KNRM", "KNRM-U", "KNRM-NONE", "PACRR-BC-W", "PACRR-BC-NONE")]
    assert planned_pairs(models) == [
        ("KNRM-U", "KNRM"),
        ("KNRM-NONE", "KNRM"),
        ("KNRM-U", "KNRM-NONE"),
        ("PACRR-BC-W", "PACRR-BC-NONE"),
    ]


def test_all_models_of_one_variant_are_compared() -> None:
    graphs = ["KNRM-U (small graph)", "KNRM-U (large graph)"]
    names = ["KNRM", *graphs, "KNRM-W"]
    expected = [(graph, "KNRM") for graph in graphs] + [(graph, "KNRM-W") for graph in graphs]
    found = planned_pairs((name, name, "adapted") for name in names)
    assert found == [("KNRM-W", "KNRM"), *expected]
    differences = [{"than": "KNRM, adapted", "measures": gap(mean, 0.01)} for mean in (0.1, 0.2)]
    models = [
        variant("KNRM"),
        *(variant(graph, differences=[difference]) for graph, difference in zip(graphs, differences, strict=True)),
    ]
    for table in (
        question_table(models, QUESTIONS[1]),
        measures_table(models),
        length_table(models),
        cost_table(models),
    ):
        assert [row[0] for row in table.rows if row[0] != "KNRM"] == graphs
    assert [row[2][:6] for row in question_table(models, QUESTIONS[1]).rows] == ["+10.00", "+20.00"]
    assert [record.model for record in figure_records(models)] == ["KNRM", graphs[0]]
    models[0] = models[0].model_copy(update={"comparison": "another"})
    assert question_table(models, QUESTIONS[1]).rows == (), "none but those that were compared with each other"


def test_every_question_asks_for_something_better_than_something() -> None:
    pairs = [pair for question in QUESTIONS for pair in question.pairs]
    assert len(pairs) == len(set(pairs))
    for better, worse in pairs:
        assert variant_of("-".join(("KNRM", better))) == Variant("KNRM", better)
        assert better != worse


def test_questions_are_answered_from_the_records(bench: list[EvaluationRecord]) -> None:
    context, knowledge, graph, both, *_ = (question_table(bench, question) for question in QUESTIONS)
    row = row_of(context, "DRMM-TKS-BC")
    assert row["MAP"] == "+10.00 [+9.00, +11.00], p < 0.001"
    assert row["R@1"].startswith("+5.00 ")
    assert (row["against"], row["by MAP"]) == ("DRMM-TKS", "gain")
    assert (row["publ. MAP, healthqa"], row["publ. MAP, nfcorpus"]) == ("+17.45", "+0.75")
    assert context.notes[0].startswith("Of 1 comparisons by MAP: 1 significant gains, 0 significant losses, 0 without")
    assert row_of(knowledge, "DRMM-TKS-W")["by MAP"] == "loss"
    assert row_of(knowledge, "DRMM-TKS-W")["publ. MAP, nfcorpus"] == "-1.85"
    assert graph.rows == ()
    assert row_of(both, "DRMM-TKS-BC-W")["by MAP"] == "no difference shown"


def test_measures_lengths_and_costs_stand_head_by_head(bench: list[EvaluationRecord]) -> None:
    measures = measures_table(bench)
    assert [row[0] for row in measures.rows] == ["DRMM-TKS", "DRMM-TKS-W", "DRMM-TKS-BC", "DRMM-TKS-BC-W"]
    assert measures.columns == ("Model", "MAP", *CUTOFF_MEASURES)
    assert row_of(measures, "DRMM-TKS")["MAP"] == "60.00 [58.0, 62.0]"
    lengths = length_table(bench)
    assert lengths.columns == ("Model", "4 (30)", "over 12 (12*)", "all")
    assert row_of(lengths, "DRMM-TKS-BC")["over 12 (12*)"] == "75.00"
    assert "fewer than 30" in lengths.notes[0]
    groups = [{**each, "measures": MEASURES} for each in LENGTH]
    alone = group_table(variant("DRMM-TKS", by_length=groups), "length")
    assert [row[1] for row in alone.rows] == ["30", "12*"]
    assert alone.notes == ("Words of the question; *: fewer than 30 queries.",)
    cost = row_of(cost_table(bench), "DRMM-TKS-BC")
    assert (cost["training, min"], cost["ms per query"], cost["MAP"]) == ("1.5", "6.40", "60.00")
    assert (cost["publ. min, healthqa"], cost["publ. ms, nfcorpus"]) == ("98.92", "16.55")


def test_question_and_query_lengths_do_not_mix(bench: list[EvaluationRecord]) -> None:
    assert "words of the question as it was asked" in length_table(bench).notes[0]
    assert "Models read entity and aspects" in length_table(bench).notes[1]
    renewed = [bench[0].model_copy(update={"length_of": "query"}), *bench[1:]]
    table = length_table(renewed)
    assert [row[0] for row in table.rows] == ["DRMM-TKS-BC-W"]
    assert [note.partition(";")[0] for note in table.notes] == ["MAP in percent by words of the query as it is read"]


def test_heads_alone_are_no_variants() -> None:
    assert context_knowledge_tables([record("KNRM", "adapted"), record("PACRR", "adapted")]) == []
    assert figure_records([variant("KNRM"), variant("PACRR")]) == []


def test_records_from_before_there_were_lengths_are_read(bench: list[EvaluationRecord]) -> None:
    old = [EvaluationRecord.model_validate(each.model_dump(exclude={"by_length", "differences"})) for each in bench]
    titles = [table.title for table in context_knowledge_tables(old)]
    assert titles == ["Context and knowledge: measures", "Costs"]


def test_page_counts_the_answers_and_draws_the_figure(bench: list[EvaluationRecord], tmp_path: Path) -> None:
    write_records(tmp_path / "ck-medquad.json", bench)
    page = write_pages(tmp_path)["results/wang2021.md"]
    for question in QUESTIONS:
        assert (f"| {question.title} |" in page) == (question in (*QUESTIONS[:2], QUESTIONS[3]))
    assert "| What does context add? | 1 | 0 | 0 | +10.00 | +10.00 |" in page
    (figure,) = [each for each in report_figures(tmp_path) if each.name.endswith("_lengths.png")]
    assert f"(../figures/{figure.name})" in page
    assert figure.draw is not None
    for suffix in (".png", ".svg"):
        figure.draw((tmp_path / figure.name).with_suffix(suffix))
    drawn = (tmp_path / figure.name).with_suffix(".svg").read_text()
    models = ["DRMM-TKS", "DRMM-TKS-W", "DRMM-TKS-BC", "DRMM-TKS-BC-W"]
    assert [drawn.count(f">{model}</text>") for model in models] == [1] * 4
    assert sorted(models, key=lambda model: drawn.index(f">{model}</text>")) == models
    with pytest.raises(DataError, match="records by length"):
        draw_lengths(tmp_path / "none.svg", [record("BM25", "untrained")])


def test_questions_compared_by_seeds_skip_single_trainings(bench: list[EvaluationRecord]) -> None:
    filed = [Filed("ck-medquad", entry) for entry in bench]
    table = questions_table(filed)
    assert [row[0] for row in table.rows] == [question.title for question in (*QUESTIONS[:2], QUESTIONS[3])]
    assert row_of(table, "What does knowledge add?")["loss"] == "1"

    seeds = {"corpus": bench[0].corpus, "differences": [{"model": "DRMM-TKS-W", "than": "DRMM-TKS"}]}
    again = questions_table(filed, [seeds])
    assert [row[0] for row in again.rows] == [QUESTIONS[0].title, QUESTIONS[3].title]
