"""The commands of `python -m study`, on records and runs of `auscult evaluate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from auscult.cli.all_commands import app as commands
from auscult.errors import AuscultError, CorpusMissingError, DataError
from auscult_lab.evaluation.records import evaluation_records, read_records, write_records
from result_records import record
from small_medquad import write_data, write_model
from study.__main__ import app


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_data(tmp_path / "data")
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "data"))
    return tmp_path


def evaluate(*arguments: object) -> None:
    done = CliRunner().invoke(commands, ["evaluate", "medquad", *map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments], terminal_width=160)


def succeed(*arguments: object) -> str:
    done = run(*arguments)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def failure(kind: type[AuscultError], *arguments: object) -> str:
    result = run(*arguments)
    assert isinstance(result.exception, kind), result.exception
    return str(result.exception)


def test_errors_and_figures(data: Path) -> None:
    evaluate("-m", "bm25", "--json", data / "a.json")
    errors, figures = data / "errors.jsonl", data / "figures"
    succeed("errors", data / "a.json", "--out", errors)
    rows = [json.loads(line) for line in errors.read_text().splitlines()]
    assert rows
    assert {row["model"] for row in rows} == {"BM25"}
    assert {row["entity_class"] for row in rows} <= {"same", "unrelated", "not in taxonomy"}
    told = succeed("errors", data / "a.json", "--out", errors, "--classes", "grundmann2021")
    assert "Wrong top-1 passages by class" in told
    assert all("traits" in json.loads(line) for line in errors.read_text().splitlines())
    succeed("figures", data / "a.json", "--out", figures, "--errors", errors)
    (folder,) = figures.iterdir()
    assert {path.suffix for path in folder.iterdir()} == {".png", ".svg"}
    assert (folder / "errors_bm25.png").is_file()


def test_errors_of_one_title_on_two_tracks(data: Path) -> None:
    write_model(data / "one" / "tiny", {"corpora": [{"name": "nhs"}]}, seed=1)
    write_model(data / "two" / "tiny", {"corpora": [{"name": "medquad", "split": "train-disjoint"}]}, seed=2)
    out, errors = data / "t.json", data / "t.jsonl"
    evaluate("-m", data / "one" / "tiny", "-m", data / "two" / "tiny", "--queries", 7, "--json", out)
    succeed("errors", out, "--out", errors)
    succeed("figures", out, "--out", data / "figures")
    rows = [json.loads(line) for line in errors.read_text().splitlines()]
    (folder,) = (data / "figures").iterdir()
    for each in evaluation_records(read_records(out)):
        wrong = sum(row["model"] == each.label for row in rows)
        assert wrong == round((1 - each.measures["R@1"]) * each.queries)
        assert (folder / f"by_source_tiny_{each.track}.png").is_file()


def test_runs_of_other_queries_than_recorded_are_refused(data: Path) -> None:
    out = data / "a.json"
    evaluate("-m", "bm25", "--json", out)
    (row,) = json.loads(out.read_text())
    row["measures"]["R@1"] += 0.01
    out.write_text(json.dumps([row]))
    assert "where its record has" in failure(DataError, "errors", out, "--out", data / "x.jsonl")
    evaluate("-m", "bm25", "--queries", 4, "--json", out)
    assert "records of one task" in failure(DataError, "errors", out, "--out", data / "x.jsonl")
    assert "nowhere" in failure(
        CorpusMissingError, "errors", out, "--out", data / "x.jsonl", "--taxonomy", data / "nowhere"
    )
    assert not (data / "x.jsonl").exists()


def test_outputs_are_checked_before_the_work(data: Path) -> None:
    (data / "file").write_text("")
    (data / "folder").mkdir()
    evaluate("-m", "bm25", "--json", data / "a.json")
    under = data / "file" / "under" / "it"
    assert "which is a file" in failure(DataError, "figures", data / "a.json", "--out", under)
    assert "which is a folder" in failure(DataError, "errors", data / "a.json", "--out", data / "folder")


def test_tables_and_curves_of_a_bench(tmp_path: Path) -> None:
    write_records(tmp_path / "bench.json", [record("BM25", "untrained"), record("KNRM"), record("HAR")])
    told = succeed("tables", tmp_path / "bench.json")
    assert all(expected in told for expected in ("KNRM", "By question type", "Learning"))
    succeed("figures", tmp_path / "bench.json", "--out", tmp_path / "figures")
    drawn = [path for folder in (tmp_path / "figures").iterdir() for path in folder.glob("*_learning.*")]
    assert {path.suffix for path in drawn} == {".png", ".svg"}


def test_a_mistake_is_one_sentence_and_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from study.__main__ import main

    with pytest.raises(SystemExit) as end:
        main(["tables", str(tmp_path / "none.json")])
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith("study: expected a JSON file of result records")


def test_results_page(data: Path) -> None:
    evaluate("-m", "bm25", "--json", data / "bench" / "medquad.json")
    docs, tables = data / "docs", data / "bench" / "tables"
    run = ("results", data / "bench", "--docs", docs)
    succeed(*run)
    page = docs / "results" / "further.md"
    assert "| BM25 | 33.33 |" in page.read_text()
    assert {path.name for path in tables.iterdir()} == {"commands.csv", "elements.csv", "groups.csv", "models.csv"}
    succeed(*run, "--check")
    for path in (page, tables / "models.csv"):
        written = path.read_text()
        path.write_text(written.replace("2", "3"))
        assert "run: make results" in failure(DataError, *run, "--check")
        path.write_text(written)
    stale = docs / "results" / "older.md"
    stale.write_text("")
    assert "which no record makes" in failure(DataError, *run, "--check")
    succeed(*run)
    assert not stale.exists()
