"""The page of results is made of the records."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auscult.errors import DataError
from auscult_lab.evaluation.bench_tables import in_table_order
from auscult_lab.evaluation.records import EvaluationRecord, Track, write_records
from auscult_lab.evaluation.tables import SUPERVISED
from auscult_lab.evaluation.tracks import TRACKS
from auscult_lab.modules.encoder_identity import KNOWN
from result_records import MEASURES, record
from study.__main__ import app
from study.figures.bench import bench_figures, draw_question_types
from study.pages.report import report_figures, write_pages, write_tables
from study.unseen import unseen_subset

PAGES = {"corpora": [{"name": "enwiki", "split": "train"}]}


def test_the_report_is_made_of_the_records(tmp_path: Path) -> None:
    write_records(
        tmp_path / "evaluation.json",
        [
            record("BM25", "untrained", ms_per_query=1.5),
            record("CDV+avg-fasttext", "zero-shot", training=PAGES),
            record("CDV two", "adapted", training=PAGES),
        ],
    )
    part = {
        "kind": "adapting",
        "title": "From notes",
        "minutes": 50.5,
        "passages": 16407,
        "hardware": "a processor, 2 cores",
        "date": "2026-01-02",
    }
    (tmp_path / "adapting.json").write_text(json.dumps(part))
    (tmp_path / "speed.json").write_text(json.dumps([{"kind": "unheard_of", "p50_ms": 1.25}]))
    pages = write_pages(tmp_path)
    assert set(pages) == {"results.md", "results/arnold2020.md", "results/products.md"}
    for name, expected in (
        ("arnold2020", "## Zero-shot models\n"),
        ("arnold2020", "## Adapted models\n"),
        ("arnold2020", "| BM25 | 50.00 | 60.00 | 29.48 | 48.89 |\n"),
        ("arnold2020", "| CDV+avg-fasttext | 50.00≈ | 60.00 | 45.26 | 62.56 |\n"),
        ("arnold2020", "95 % intervals of R@1: ± 2.0 at most."),
        ("arnold2020", "## What departs from the paper\n"),
        (
            "products",
            "| `auscult train --notes` | 50.5 minutes for 16,407 passages of notes |\n",
        ),
        ("products", "Only as tables: [unheard-of](../../benchmarks/results/tables/unheard-of.csv)."),
    ):
        assert expected in pages[f"results/{name}.md"], expected
    assert write_pages(tmp_path) == pages
    assert all(f"(results/{name}.md)" in pages["results.md"] for name in ("arnold2020", "products"))
    with pytest.raises(DataError, match="none in"):
        write_pages(tmp_path / "empty")


def test_explanatory_variants_are_named_and_in_the_tables(tmp_path: Path) -> None:
    for file, model in (("capr-one", "CAPR-Bi"), ("capr-mixed", "CAPR-Cross, mixed")):
        write_records(tmp_path / f"{file}.json", [record("BM25", "untrained"), record(model)])
    write_records(tmp_path / "capr-two.json", [record("CAPR-Bi", corpus="mine")])
    page = write_pages(tmp_path)["results/grundmann2021.md"]
    assert "CAPR-Cross" not in page.partition("## What departs")[0]
    assert "(../../benchmarks/results/tables/models.csv) of capr-mixed, mine." in page
    assert "CAPR-Cross, mixed" in write_tables(tmp_path)["models.csv"]


def rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table)))


def test_tables_hold_every_figure(tmp_path: Path) -> None:
    better = {"AP": ["BM25"]}
    write_records(
        tmp_path / "evaluation.json",
        [record("BM25", "untrained"), record("CDV+avg-fasttext", "zero-shot", training=PAGES)],
    )
    rankers = [record("BM25", "untrained", ms_per_query=99.0), record("KNRM", better_than=better), record("HAR")]
    write_records(tmp_path / "rankers-zero-shot.json", rankers)
    odd = {
        "kind": "weighted-odd",
        "title": "Sentences",
        "models": [{"model": "CD_q", "MAP": 0.123, "P@10": 0.2, "R@10": 0.3, "F1@10": 0.24}],
        "significant": {"CD_q": {"MAP": ["CD", "RND"]}},
    }
    (tmp_path / "cosine.json").write_text(json.dumps(odd))
    tables = write_tables(tmp_path)
    models = rows(tables["models.csv"])
    assert [(row["record"], row["model"]) for row in models] == [
        ("evaluation", "BM25"),
        ("evaluation", "CDV+avg-fasttext"),
        *(("rankers-zero-shot", name) for name in ("BM25", "KNRM", "HAR")),
    ]
    knrm = models[3]
    assert (knrm["R@1"], knrm["R@1 low"], knrm["R@1 high"], knrm["MAP"]) == ("50.00", "48.00", "52.00", "60.00")
    assert (knrm["better than, by MAP"], knrm["training, min"], knrm["parameters"]) == ("BM25", "1.5", "12,345")
    assert (knrm["µs per candidate"], knrm["date"], knrm["hardware"]) == ("100.0", "2026-01-02", "a processor, 2 cores")
    assert (knrm["published in"], knrm["publ. R@1"]) == ("arnold2020, Table 3, zero-shot", "16.86")
    groups = rows(tables["groups.csv"])
    assert {row["model"] for row in groups if row["by"] == "source"} == {"CDV+avg-fasttext"}
    (why,) = [row for row in groups if row["model"] == "HAR" and row["group"] == "why"]
    assert (why["by"], why["queries"], why["RR"]) == ("question type", "20", "50.00")
    learned = rows(tables["learning.csv"])
    assert [tuple(row.values())[-6:] for row in learned] == [("3", "3,000", "1", "25.00", "50.00", "50.00")] * 2
    (cosine,) = rows(tables["weighted-odd-models.csv"])
    assert (cosine["model"], cosine["MAP"], cosine["P@10"], cosine["F1@10"]) == ("CD_q", "0.123", "0.2", "0.24")
    assert rows(tables["weighted-odd.csv"])[0]["significant: CD_q: MAP"] == "CD, RND"
    assert write_tables(tmp_path) == tables


def test_rankers_have_their_own_page_marked_against_bm25(tmp_path: Path) -> None:
    untrained = record("BM25", "untrained", better_than={"AP": ["HAR, 10,000 steps, zero-shot"]})
    few = record("CDV+avg-fasttext", "zero-shot", training=PAGES)
    write_records(tmp_path / "evaluation.json", [untrained, few])
    own = [
        untrained,
        record("KNRM", better_than={"AP": ["BM25"]}),
        record("HAR, 10,000 steps"),
        record("DUET", comparison="another"),
    ]
    write_records(tmp_path / "rankers-zero-shot.json", own)
    pages = write_pages(tmp_path)
    assert "KNRM" not in pages["results/arnold2020.md"].partition("## ")[2]
    page = pages["results/zhu2019.md"]
    figures = {line.split("|")[1].strip(): line.split("|")[2].strip() for line in page.splitlines() if "50.00" in line}
    assert figures == {"BM25": "50.00", "KNRM": "50.00↑", "HAR, 10,000 steps": "50.00↓", "DUET": "50.00"}
    assert "1 of 2 compared are significantly worse than BM25" in pages["results.md"]
    assert "Below print: HAR, 10,000 steps by 5." in pages["results.md"]


def test_retrained_title_has_two_rows_and_bm25_one(tmp_path: Path) -> None:
    for number, file in enumerate(("capr-one", "capr-two")):
        own = [record("BM25", "untrained"), record("CAPR-Bi", fingerprint=str(number))]
        write_records(tmp_path / f"{file}.json", own)
    page = write_pages(tmp_path)["results/grundmann2021.md"]
    assert [line.split("|")[1:3] for line in page.splitlines() if "50.00" in line] == [
        [" BM25 ", "  "],
        [" CAPR-Bi ", " pages "],
        [" CAPR-Bi ", " pages "],
    ]


def test_tracks_never_share_a_table_on_a_page(tmp_path: Path) -> None:
    rates = {"match_rates": {"entity": 0.9, "aspect": 0.6, "both": 0.55}, "training": PAGES}
    models = [record("one", "zero-shot", **rates), record("two", "adapted", **rates)]
    write_records(tmp_path / "evaluation.json", [record("BM25", "untrained"), *models])
    for page in write_pages(tmp_path).values():
        for table in page.split("\n\n"):
            assert not ("| one |" in table and "| two |" in table)


def test_unseen_queries_are_below_the_whole_test(tmp_path: Path) -> None:
    model = "CDV+avg-fasttext, average targets"
    whole = [record("BM25", "untrained"), record(model, "adapted", training=PAGES)]
    write_records(tmp_path / "evaluation.json", whole)
    subset = "9 queries that share nothing with any document"
    less = {"training": PAGES, "measures": MEASURES | {"R@1": 0.25}, "query_subset": subset, "queries": 9}
    write_records(tmp_path / "medquad-overlap.json", [record(model, "adapted", **less)])
    page = write_pages(tmp_path)["results.md"]
    assert f"| {model} | 50.00 | 45.26 |\n| {model}, 9 unseen queries | 25.00 |  |" in page


def test_records_within_records_are_told_in_words(tmp_path: Path) -> None:
    corpora = [{"corpus": "enwiki", "documents": 1021, "linked_share": 0.05505}, {"corpus": "nhs", "parts": {"a_b": 2}}]
    record = {"kind": "other", "title": "Linking", "graphs": [{"graph": "kb", "corpora": corpora, "none": []}]}
    (tmp_path / "other.json").write_text(json.dumps(record))
    told = "corpus enwiki, documents 1,021, linked share 0.05505; corpus nhs, parts: a b 2"
    assert rows(write_tables(tmp_path)["other-graphs.csv"]) == [
        {"of": "Linking", "graph": "kb", "corpora": told, "none": ""}
    ]


def test_pages_link_figures_and_they_are_drawn(tmp_path: Path) -> None:
    untrained = record("BM25", "untrained")
    write_records(tmp_path / "rankers-zero-shot.json", [untrained, record("KNRM"), record("HAR")])
    adapted = [record("KNRM", "adapted"), record("KNRM", "adapted", query_subset="random 9, seed 0")]
    write_records(tmp_path / "rankers-adapted.json", adapted)
    figures = report_figures(tmp_path)
    names = [figure.name for figure in figures]
    assert names == [
        "rankers-zero-shot_medquad_3293_zero-shot_learning.png",
        "rankers-adapted_medquad_3293_adapted_learning.png",
        "rankers-adapted_medquad_3293_adapted_question_types.png",
    ]
    assert re.findall(r"\(\.\./figures/(.*?)\)", write_pages(tmp_path)["results/zhu2019.md"]) == names
    docs = tmp_path / "docs"
    run = ["results", str(tmp_path), "--docs", str(docs)]
    done = CliRunner().invoke(app, run)
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (docs / "figures").iterdir()) == sorted(names)
    assert CliRunner().invoke(app, [*run, "--check"]).exit_code == 0
    (docs / "figures" / names[0]).unlink()
    gone = CliRunner().invoke(app, [*run, "--check"])
    assert isinstance(gone.exception, DataError)
    assert names[0] in str(gone.exception)


def test_bars_stand_in_the_order_of_the_table(tmp_path: Path) -> None:
    own = [record("KNRM", measures=MEASURES | {"MAP": 0.1}), record("HAR"), record("BM25", "untrained")]
    (types,) = [
        each for each in bench_figures("stem", "title", in_table_order(own)) if each.draw is draw_question_types
    ]
    assert [each.model for each in types.records] == ["BM25", "HAR", "KNRM"]


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
            "by_batch": {"first": {"queries": 100, "MAP@10": value - 0.1}, "last": {"queries": 155, "MAP@10": value}},
            "ms_per_query": 1.234,
            "hardware": "2 cores",
            "date": "2026-01-02T03:04:05",
        }

    rows = [of("CD_q", 0.4, better=["CD", "BM25"]), of("CD", 0.25), of("BM25", 0.3, better=["CD"])]
    (tmp_path / "cosine.json").write_text(json.dumps(rows))
    page = write_pages(tmp_path)["results/galko2017.md"].partition("## What departs")[0]
    table = [line for line in page.splitlines() if line.startswith("| ")]
    assert [line.split("|")[1].strip() for line in table] == (
        ["Model", "CD_q", "BM25", "CD", "RND", "MLP", "MP", "DRMM", "CD_idf"]
    )
    assert "| CD_q | 40.00 | 24.00 | 37.7 | 43.4 | 30.00 | 40.00 |" in table
    assert "| BM25 | 30.00 | 24.00 |  |  | 20.00 | 30.00 |" in table
    assert "255 queries, 15,428 passages" in page
    assert "CD; BM25" in write_tables(tmp_path)["weighted-cosine.csv"]


def test_the_test_split_is_the_first_column(tmp_path: Path) -> None:
    write_records(tmp_path / "records.json", [record("BM25", "untrained", split="train"), record("BM25", "untrained")])
    page = write_pages(tmp_path)["results/further.md"]
    assert "| Model | medquad: R@1 | medquad (split train): R@1 |" in page


def test_figures_on_unseen_queries_appear_beside_all_queries(tmp_path: Path) -> None:
    def of(subset: str, **changes: object) -> EvaluationRecord:
        return record("CDV", "adapted", training={}, fingerprint="f1", query_subset=subset, **changes)

    strict = unseen_subset(1_986, "all")
    lower = {"measures": MEASURES | {"R@1": 0.4}, "intervals": {"R@1": (0.375, 0.425), "MAP": (0.5, 0.7)}}
    write_records(
        tmp_path / "evaluation.json",
        [
            of(""),
            of(strict, queries=1_986, **lower),
            of("random 9, seed 0", queries=9),
            of(strict, queries=1_986, protocol="end-to-end"),
            record("BM25", "untrained", query_subset=strict, queries=1_986),
        ],
    )
    page = write_pages(tmp_path)["results/arnold2020.md"]
    assert strict == "1,986 queries that share nothing with all"
    _, title, section = page.partition("## On queries that share nothing with the training\n")
    assert title
    assert title not in section
    assert [line for line in section.partition("\n#")[0].splitlines() if line.startswith("| CDV")] == [
        "| CDV | 1,986 | all | 50.00 [48.0, 52.0] | 40.00 [37.5, 42.5] |"
    ]


def test_documents_nobody_trained_on_open_the_results(tmp_path: Path) -> None:
    def of(model: str, first: float, track: Track = "untrained", **changes: object) -> EvaluationRecord:
        measures = MEASURES | {"nDCG@10": first, "P@1": first / 2}
        intervals = dict.fromkeys(measures, (0.25, 0.75))
        told = {"corpus": "asked", "protocol": "end-to-end", "queries": 72, "documents": 248, "names": "hidden"}
        return record(model, track, **told | {"measures": measures, "intervals": intervals, "training": {}} | changes)

    other = {"corpus": "answers", "names": "shown", "split": "development"}
    fast = "auscult search, General encoder, fast"
    own = [
        of("BM25", 0.4, **other),
        of(fast, 0.45, "zero-shot", **other),
        of("BM25", 0.4),
        of("QL", 0.5),
        of("CDV", 0.6, "zero-shot", better_than={"nDCG@10": ["BM25"]}),
        of(fast, 0.7, "zero-shot", better_than={"nDCG@10": ["BM25", "QL"]}),
        of("BM25", 0.4, corpus="fitted"),
        of(fast, 0.8, "adapted", corpus="fitted"),
    ]
    write_records(tmp_path / "unseen_documents.json", own)
    pages = write_pages(tmp_path)
    opening = pages["results.md"].split("\n## ")[1]
    assert opening.startswith("Documents nobody trained on\n")
    assert [line for line in opening.splitlines() if line.startswith("| ")] == [
        "| Corpus | asked by | queries | BM25 | fast |",
        "| answers (split development) | questions | 72 | 40.0 (50.0) | 45.0 (50.0) |",
        "| asked | entity and aspect | 72 | 40.0 (50.0) | 70.0\\*\\* (50.0) |",
    ]
    assert "Not here: fitted, on whose training questions our weights were fitted." in opening
    tables = {
        section.partition("\n")[0]: section for section in pages["results/unseen-documents.md"].split("\n## ")[1:]
    }
    read, fitted = tables.values()
    assert "| Corpus | asked by | queries | BM25 | CDV | QL | fast |" in read
    assert "| asked | entity and aspect | 72 | 40.0 | 60.0\\* | 50.0 | 70.0\\*\\* |" in read
    assert "95 % intervals are within ± 25.0 points" in read
    assert "80.0" not in read
    assert "| fitted | entity and aspect | 72 | 40.0 | 80.0 |" in fitted
    assert "results/unseen-documents.md" in pages["results.md"]


def test_adapted_medquad_sections_say_labels_were_used(tmp_path: Path) -> None:
    records = [record("CDV", track, training={}, corpus=corpus) for track in TRACKS for corpus in ("medquad", "mine")]
    write_records(tmp_path / "evaluation.json", records)
    write_records(tmp_path / "rankers-adapted.json", [record("KNRM", "adapted")])
    headings = [
        section.partition("\n")[0]
        for page in write_pages(tmp_path).values()
        for section in re.split(r"^##+ ", page, flags=re.MULTILINE)
        if SUPERVISED["medquad"] in section
    ]
    assert headings == ["Adapted models"] * 2


def test_pages_explain_each_starting_encoder_mark_once(tmp_path: Path) -> None:
    ((digest, known),) = KNOWN.items()
    encoder = {"name": known.name, "sha256": digest, "training_known": False}
    passed_on = {**encoder, "through": ["CAPR-Bi"]}
    bi = {"kind": "capr", "encoder": encoder}
    write_records(
        tmp_path / "capr.json",
        [
            record("BM25", "untrained"),
            record("CAPR-Bi", training=bi),
            record("CAPR-Cross", training={"kind": "capr", "encoder": passed_on, "notes": "Chosen late."}),
            record("Both", training={"kind": "fusion", "models": {"a": bi, "b": {"encoder": passed_on}}}),
            record("CAPR-Bi", "adapted", training=bi),
            record("As it is", "untrained", training={"encoder": encoder}),
            record("Counted", "untrained"),
            record("CDV", corpus="clinical-notes", training={}),
            record("CAPR-Bi", corpus="clinical-notes", training=bi),
        ],
    )
    page = write_pages(tmp_path)["results/grundmann2021.md"]
    short = f"{known.name} {digest[:8]}"
    assert page.count(f"{known.name}'s training is not known in full") == page.count(short) - 1 == 1
    assert f"¹ {short}; ² {short}, through CAPR-Bi." in page
    rows = [line.split(" |")[0] for line in page.splitlines() if line.startswith("| ") and "Model" not in line]
    assert {"| BM25", "| CAPR-Bi¹", "| CAPR-Cross²", "| Both¹²", "| CDV", "| As it is¹"} <= set(rows)
    assert "| Counted" not in rows
    assert "CAPR-Cross: Chosen late." in page
    titles = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert titles[:2] == ["Across domains, zero-shot", "Adapted to health pages"]
