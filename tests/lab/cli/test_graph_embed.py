"""`auscult concepts graph embed`: one command from an OBO file to vectors and figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from auscult.errors import ConfigError, DataError
from auscult_lab.cli.graph import embed
from auscult_lab.graphs.knowledge_vectors import load

SIDE = 5


@pytest.fixture
def ontology(tmp_path: Path) -> Path:
    """An OBO file of a grid: every place lies east of one and north of another."""
    lines = ["format-version: 1.2", "", "[Typedef]", "id: located_in", "name: located in", ""]
    for x in range(SIDE):
        for y in range(SIDE):
            lines += ["[Term]", f"id: G:{x}{y}", f"name: place {x} {y}"]
            lines += [f"is_a: G:{x - 1}{y} ! west"] if x else []
            lines += [f"relationship: located_in G:{x}{y - 1} ! south"] if y else []
            lines.append("")
    path = tmp_path / "grid.obo"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def run(*arguments: object) -> tuple[int, str, BaseException | None]:
    app = typer.Typer()
    app.command()(embed)
    settings = ("--set", "model.dim=8", "--set", "model.epochs=3", "--set", "model.batch=16", "--no-progress")
    done = CliRunner().invoke(app, [str(each) for each in (*arguments, *settings)])
    return done.exit_code, done.output, done.exception


def test_from_an_obo_file_to_vectors(ontology: Path, tmp_path: Path) -> None:
    out = tmp_path / "vectors"
    code, printed, error = run(ontology, "--out", out)
    assert (code, error) == (0, None)
    vectors = load(out)
    assert vectors.vectors.shape == (SIDE * SIDE, 8)
    assert set(vectors.relations) == {"is_a", "located_in"}
    assert dict(zip(vectors.entities, vectors.names, strict=True))["G:12"] == ("place 1 2",)
    record = json.loads((out / "link-prediction.json").read_text(encoding="utf-8"))
    assert record == vectors.training
    assert record["data"] == "grid.obo"
    assert record["seed"] == 1
    shown = f"{100 * record['figures']['filtered']['tail']['MRR']:.1f}"
    assert shown in printed
    for words in ("relation frequency, filtered", "located_in", "Hits@10"):
        assert words in printed
    assert not (tmp_path / "vectors.training" / "checkpoints").exists()


def test_the_same_command_again_trains_nothing(ontology: Path, tmp_path: Path) -> None:
    out = tmp_path / "vectors"
    run(ontology, "--out", out)
    before = load(out)
    code, printed, _ = run(ontology, "--out", out)
    assert code == 0
    assert "already trained" in printed
    assert load(out).training == before.training


def test_other_settings_are_refused_until_restart(ontology: Path, tmp_path: Path) -> None:
    out = tmp_path / "vectors"
    run(ontology, "--out", out)
    code, _, error = run(ontology, "--out", out, "--set", "seed=2")
    assert code != 0
    assert isinstance(error, ConfigError)
    code, _, error = run(ontology, "--out", out, "--set", "seed=2", "--restart")
    assert (code, error) == (0, None)
    assert load(out).training["seed"] == 2


def test_a_folder_of_something_else_is_refused(ontology: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    _, _, error = run(ontology, "--out", tmp_path / "mine")
    assert isinstance(error, ConfigError)
    assert list((tmp_path / "mine").iterdir()) == []


def test_a_mistake_with_restart_throws_nothing_away(ontology: Path, tmp_path: Path) -> None:
    out = tmp_path / "vectors"
    run(ontology, "--out", out)
    (tmp_path / "small.tsv").write_text("a\tis_a\tb\nb\tis_a\tc\n", encoding="utf-8")
    for mistake in (["nowhere"], [ontology, "--source", "MSH"], [tmp_path / "small.tsv"]):
        code, _, _ = run(*mistake, "--out", out, "--restart")
        assert code != 0
    code, printed, _ = run(ontology, "--out", out)
    assert code == 0
    assert "already trained" in printed


def test_too_small_graph_fails_and_leaves_no_files(tmp_path: Path) -> None:
    graph = tmp_path / "small.tsv"
    graph.write_text("a\tis_a\tb\nb\tis_a\tc\n", encoding="utf-8")
    _, _, error = run(graph, "--out", tmp_path / "vectors")
    assert isinstance(error, DataError)
    assert "0 of 2 triples" in str(error)
    assert list(tmp_path.iterdir()) == [graph]


def test_restart_writes_into_no_folder_of_something_else(ontology: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    _, _, error = run(ontology, "--out", tmp_path / "mine", "--restart")
    assert isinstance(error, ConfigError)
    assert list((tmp_path / "mine").iterdir()) == []


@pytest.mark.parametrize("out", [".", "..", "/"])
def test_a_folder_without_a_name_is_refused(
    ontology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    _, _, error = run(ontology, "--out", out)
    assert isinstance(error, ConfigError)
    assert "which is there already" in str(error)
