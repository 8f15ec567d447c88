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
    (tmp_path / "splitting.json").write_text(
        json.dumps(
            {
                "kind": "sentence-splitting",
                "hardware": "2 cores",
                "date": "2026-01-02",
                "splitters": [
                    {
                        "splitter": "ours",
                        "default": True,
                        "framed": {"all": {"f1": 0.98, "exact": 0.95}},
                        "sentences_per_second": 21000.0,
                    }
                ],
            }
        )
    )
    (tmp_path / "speed.json").write_text(
        json.dumps([{"kind": "search", "p50_ms": 1.25, "corpus": {"passages": 16407}}])
    )
    pages = write_pages(tmp_path)
    assert set(pages) == {
        *("results.md", "results/arnold2020.md", "results/arnold2020-elements.md", "results/products.md")
    }
    for name, expected in (
        ("arnold2020", "## medquad, re-ranking, zero-shot models\n"),
        ("arnold2020", "## medquad, re-ranking, adapted models\n"),
        ("arnold2020", "| BM25 | 50.00 [48.0, 52.0] | 60.00 | 29.48 | 48.89 |  |  | 1.50 |"),
        ("arnold2020", "| CDV+avg-fasttext | 50.00 [48.0, 52.0] | 60.00 | 45.26 | 62.56 | not told apart |"),
        ("products", "## Search\n"),
        ("products", "| p50 ms | 1.25 |"),
        ("products", "| corpus: passages | 16,407 |"),
        ("products", "## Sentence splitting\n"),
        ("products", "| ours (default) | 98.0 | 95.0 | 21,000 |"),
    ):
        assert expected in pages[f"results/{name}.md"], expected
    products = pages["results/products.md"]
    assert products.index("## Search") < products.index("## Sentence splitting")
    assert write_pages(tmp_path) == pages
    assert all(f"(results/{name}.md)" in pages["results.md"] for name in ("arnold2020", "products"))
    with pytest.raises(DataError, match="none in"):
        write_pages(tmp_path / "empty")


def test_a_model_that_two_files_record_has_one_row_of_match_rates(tmp_path: Path) -> None:
    rates = {"entity": 0.9, "aspect": 0.8, "both": 0.7}
    for name in ("evaluation", "medquad-overlap"):
        models = [record("BM25", "untrained", match_rates=rates), record("CDV", match_rates=rates, training=PAGES)]
        write_records(tmp_path / f"{name}.json", models)
    page = write_pages(tmp_path)["results/arnold2020.md"]
    assert page.count("| BM25 | untrained | 90.00 | 80.00 | 70.00 |") == 1
    assert page.count("| CDV | zero-shot | 90.00 | 80.00 | 70.00 |") == 1


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
        "kind": "weighted-cosine",
        "title": "Sentences",
        "models": [{"model": "CD_q", "MAP": 0.123, "P@10": 0.2, "R@10": 0.3, "F1@10": 0.24}],
        "significant": {"CD_q": {"MAP": ["CD", "RND"]}},
    }
    (tmp_path / "cosine.json").write_text(json.dumps(odd))
    tables = write_tables(tmp_path)
    models = rows(tables["models.csv"])
    assert [(each["record"], each["model"]) for each in models] == [
        ("evaluation", "BM25"),
        ("evaluation", "CDV+avg-fasttext"),
        *(("rankers-zero-shot", name) for name in ("BM25", "KNRM", "HAR")),
    ]
    knrm = models[3]
    assert (knrm["R@1"], knrm["R@1 low"], knrm["R@1 high"], knrm["MAP"]) == ("50.00", "48.00", "52.00", "60.00")
    assert (knrm["better than, by MAP"], knrm["training, min"], knrm["parameters"]) == ("BM25", "1.5", "12,345")
    assert (knrm["µs per candidate"], knrm["date"], knrm["hardware"]) == ("100.0", "2026-01-02", "a processor, 2 cores")
    groups = rows(tables["groups.csv"])
    assert {each["model"] for each in groups if each["by"] == "source"} == {"CDV+avg-fasttext"}
    (why,) = [each for each in groups if each["model"] == "HAR" and each["group"] == "why"]
    assert (why["by"], why["queries"], why["RR"]) == ("question type", "20", "50.00")
    learned = rows(tables["learning.csv"])
    assert [tuple(each.values())[-6:] for each in learned] == [("3", "3,000", "1", "25.00", "50.00", "50.00")] * 2
    (cosine,) = rows(tables["weighted-cosine-others-models.csv"])
    assert (cosine["model"], cosine["MAP"], cosine["P@10"], cosine["F1@10"]) == ("CD_q", "0.123", "0.2", "0.24")
    assert rows(tables["weighted-cosine-others.csv"])[0]["significant: CD_q: MAP"] == "CD, RND"
    assert write_tables(tmp_path) == tables


def test_rankers_are_told_from_bm25_and_have_a_page_of_their_own(tmp_path: Path) -> None:
    untrained = record("BM25", "untrained", better_than={"AP": ["HAR, zero-shot"]})
    few = record("CDV+avg-fasttext", "zero-shot", training=PAGES)
    write_records(tmp_path / "evaluation.json", [untrained, few])
    own = [untrained, record("KNRM", better_than={"AP": ["BM25"]}), record("HAR"), record("DUET", comparison="another")]
    write_records(tmp_path / "rankers-zero-shot.json", own)
    pages = write_pages(tmp_path)
    assert "KNRM" not in pages["results/arnold2020.md"].partition("## ")[2]
    page = pages["results/zhu2019.md"]
    verdicts = {
        line.split("|")[1].strip(): line.split("|")[6].strip() for line in page.splitlines() if "| 50.00" in line
    }
    assert verdicts == {"BM25": "", "KNRM": "better", "HAR": "worse", "DUET": ""}
    assert "1 of 3 rankers are significantly worse than BM25" in pages["results.md"]


def test_one_title_trained_twice_stands_twice_and_bm25_once(tmp_path: Path) -> None:
    for number, file in enumerate(("capr-one", "capr-two")):
        own = [record("BM25", "untrained"), record("CAPR-Bi", fingerprint=str(number))]
        write_records(tmp_path / f"{file}.json", own)
    page = write_pages(tmp_path)["results/grundmann2021.md"]
    assert [line.split("|")[1:3] for line in page.splitlines() if "| 50.00" in line] == [
        [" BM25 ", "  "],
        [" CAPR-Bi ", " capr-one "],
        [" CAPR-Bi ", " capr-two "],
    ]


def test_tracks_never_share_a_table_on_a_page(tmp_path: Path) -> None:
    rates = {"match_rates": {"entity": 0.9, "aspect": 0.6, "both": 0.55}, "training": PAGES}
    models = [record("one", "zero-shot", **rates), record("two", "adapted", **rates)]
    write_records(tmp_path / "evaluation.json", [record("BM25", "untrained"), *models])
    for page in write_pages(tmp_path).values():
        for table in page.split("\n\n"):
            assert not ("| one |" in table and "| two |" in table)


def test_figures_in_sentences_come_from_records(tmp_path: Path) -> None:
    rates = {"R@1": 0.1234, "MAP": 0.2, "AP": 0.2}
    untrained = record("BM25", "untrained", corpus="clinical-notes", measures=rates)
    adapted = record("CAPR-Bi", "adapted", corpus="clinical-notes", measures=rates | {"R@1": 0.5678})
    write_records(tmp_path / "capr-notes.json", [untrained, adapted])
    page = write_pages(tmp_path)["results.md"]
    assert "adapt a bi-encoder to them (`auscult train --notes`): R@1 56.78, BM25 12.34." in page
    assert page.count("- **") == 1, "a sentence without its records is left out"


def test_queries_that_share_nothing_stand_below_the_whole_test(tmp_path: Path) -> None:
    model = "CDV+avg-fasttext, average targets"
    whole = [record("BM25", "untrained"), record(model, "adapted", training=PAGES)]
    write_records(tmp_path / "evaluation.json", whole)
    subset = "9 queries that share nothing with any document"
    less = {"training": PAGES, "measures": MEASURES | {"R@1": 0.25}, "query_subset": subset, "queries": 9}
    write_records(tmp_path / "medquad-overlap.json", [record(model, "adapted", **less)])
    page = write_pages(tmp_path)["results.md"]
    assert f"| {model} | 50.00 | 60.00 | 45.26 | 62.56 |\n| {model}: 9 unseen queries | 25.00 | 60.00 |  |  |" in page


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
            "ms_per_query": 1.234,
            "hardware": "2 cores",
            "date": "2026-01-02T03:04:05",
        }

    rows = [of("CD_q", 0.4, better=["CD", "BM25"]), of("CD", 0.25), of("BM25", 0.3, better=["CD"])]
    (tmp_path / "cosine.json").write_text(json.dumps(rows))
    lines = write_pages(tmp_path)["results/galko2017.md"].splitlines()
    table = [line for line in lines if line.startswith("| ")]
    assert [line.split("|")[1].strip() for line in table] == (
        ["Model", "a  CD", "b  BM25", "c  CD_q", "RND", "MLP", "MP", "DRMM", "CD_idf"]
    )
    assert "| 40.00 ab | 20.00 | 30.00 | 23.00 | 24.00 | 37.7 | 37.4 | 51.9 | 43.4 | 1.23 |" in table[3]
    assert "| 30.00 a | 20.00 | 30.00 | 23.00 | 24.00 |  |  |  |  | 1.23 |" in table[2]
    assert any("255 queries, 15,428 passages" in line for line in lines)


def test_another_split_stands_behind(tmp_path: Path) -> None:
    write_records(tmp_path / "records.json", [record("BM25", "untrained", split="train"), record("BM25", "untrained")])
    page = write_pages(tmp_path)["results/further.md"]
    assert page.index("## medquad, re-ranking") < page.index("## medquad (split train), re-ranking")


def test_figures_on_queries_that_share_nothing_with_the_training_stand_beside_those_of_all(tmp_path: Path) -> None:
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
        f"| CDV | {strict} | 50.00 [48.0, 52.0] | 40.00 [37.5, 42.5] | 60.00 [58.0, 62.0] | 60.00 [50.0, 70.0] |"
    ]


def test_documents_nobody_trained_on_open_the_results(tmp_path: Path) -> None:
    def of(model: str, first: float, track: Track = "untrained", **changes: object) -> EvaluationRecord:
        measures = MEASURES | {"nDCG@10": first, "P@1": first / 2}
        intervals = dict.fromkeys(measures, (0.25, 0.75))
        told = {"corpus": "asked", "protocol": "end-to-end", "queries": 72, "documents": 248, "names": "hidden"}
        return record(model, track, **told | {"measures": measures, "intervals": intervals, "training": {}} | changes)

    other = {"corpus": "answers", "names": "shown", "split": "development"}
    own = [
        of("BM25", 0.4, **other),
        of("BM25", 0.4),
        of("QL", 0.5),
        of("CDV", 0.6, "zero-shot", better_than={"nDCG@10": ["BM25"]}),
        of("CAPR", 0.7, "zero-shot", better_than={"nDCG@10": ["BM25", "QL"]}),
        of("CDV", 0.8, "adapted"),
        of("CDV", 0.2, "zero-shot", query_subset="24 given ids", queries=24),
    ]
    write_records(tmp_path / "unseen_documents.json", own)
    pages = write_pages(tmp_path)
    opening = pages["results.md"].split("\n## ")[1]
    assert opening.startswith("Documents nobody trained on\n")
    assert [line for line in opening.splitlines() if line.startswith("| ")] == [
        "| Corpus | queries | titles, headings | BM25 | QL | CDV | CAPR |",
        "| asked | 72 | hidden | 40.0 (50.0) | 50.0 (50.0) | 60.0 (50.0)\\* | 70.0 (50.0)\\*\\* |",
        "| answers (split development) | 72 | shown | 40.0 (50.0) |  |  |  |",
    ]
    tables = {each.partition("\n")[0]: each for each in pages["results/unseen-documents.md"].split("\n## ")[1:]}
    assert list(tables) == ["asked", "asked, adapted models", "asked, 24 given ids", "answers (split development)"]
    assert "| CDV | 60.00 [25.0, 75.0] | 30.00 [25.0, 75.0] |" in tables["asked"]
    assert "80.00" not in tables["asked"]
    assert "hidden from the models" in tables["asked"]
    assert "| CDV | 80.00 " in tables["asked, adapted models"]
    assert "results/unseen-documents.md" in pages["results.md"]


def test_the_adapted_track_of_medquad_says_that_it_had_labels(tmp_path: Path) -> None:
    records = [record("CDV", track, training={}, corpus=corpus) for track in TRACKS for corpus in ("medquad", "mine")]
    write_records(tmp_path / "evaluation.json", records)
    write_records(tmp_path / "rankers-adapted.json", [record("KNRM", "adapted")])
    told = [
        section.partition("\n")[0]
        for page in write_pages(tmp_path).values()
        for section in re.split(r"^##+ ", page, flags=re.MULTILINE)
        if SUPERVISED["medquad"] in section
    ]
    assert told == ["medquad, re-ranking, adapted models"] * 2


def test_models_are_marked_by_the_encoder_they_began_with_which_is_told_once_a_page(tmp_path: Path) -> None:
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
            record("CDV", corpus="mine", training={}),
            record("CAPR-Bi", corpus="mine", training=bi),
        ],
    )
    page = write_pages(tmp_path)["results/grundmann2021.md"]
    short = f"{known.name} {digest[:8]}"
    assert page.count(known.learned_from) == page.count(short) - 1 == 1
    assert f"¹ {short}; ² {short}, through CAPR-Bi." in page
    rows = [line.split(" |")[0] for line in page.splitlines() if line.startswith("| ") and "Model" not in line]
    assert {"| BM25", "| CAPR-Bi¹", "| CAPR-Cross²", "| Both¹²", "| CDV", "| As it is¹"} <= set(rows)
    assert "| Counted" not in rows
    assert "CAPR-Cross: Chosen late." in page
    titles = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert titles[:3] == [
        "medquad, re-ranking, zero-shot models, pre-trained retrievers",
        "medquad, re-ranking, adapted models",
        "mine, re-ranking, zero-shot models, pre-trained retrievers among them",
    ]
