"""`auscult train`: what it says while it trains."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.encoders import load_model, training_record
from auscult.errors import ConfigError, ModelError
from auscult.understanding import Query
from auscult_lab.training.folder import locked
from small_medquad import write_model


def test_what_is_said_is_printed_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from auscult_lab.families import table
    from auscult_lab.training.folder import Outcome

    def speaking(*_: object, say: Callable[[str], None], **__: object) -> Any:
        say("reading out/[old] [/dim] files")
        record = {"model": "e", "best_epoch": 0, "history": []}
        return Outcome(tmp_path / "model", record)

    monkeypatch.setattr(table, "train", speaking)
    experiment = tmp_path / "e.yaml"
    corpora = "corpora: [{name: nhs}]\nvalidation: {corpora: [nhs]}\n"
    experiment.write_text(f"name: e\ntrack: zero-shot\n{corpora}")
    done = CliRunner().invoke(app, ["train", str(experiment), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "reading out/[old] [/dim] files" in done.output


def test_variant_is_chosen_by_option_or_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from auscult_lab.families import table
    from auscult_lab.training.experiment import DataExperiment
    from auscult_lab.training.folder import Outcome

    trained: list[tuple[str, int, Path]] = []

    def train(experiment: DataExperiment, folder: Path, **_: object) -> Any:
        trained.append((experiment.name, experiment.seed, folder))
        return Outcome(folder / "model", {"model": "e", "best_epoch": 0, "history": []})

    monkeypatch.setattr(table, "train", train)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "paper.yaml"
    shared = "track: zero-shot\ncorpora: [{name: nhs}]\nvalidation: {corpora: [nhs]}\n"
    file.write_text(shared + "variants: {one: {}, two: {seed: 5}}\n")
    for given in ([str(file), "--variant", "two"], [f"{file}:two"]):
        done = CliRunner().invoke(app, ["train", *given])
        assert done.exit_code == 0, done.output
    assert trained == [("two", 5, Path("runs/two"))] * 2
    for given in (["--seed", "7"], ["--seed", "5", "--out", "mine"]):
        done = CliRunner().invoke(app, ["train", f"{file}:two", *given])
        assert done.exit_code == 0, done.output
    assert trained[2:] == [("two", 7, Path("runs/two-seed-7")), ("two", 5, Path("mine"))]


def test_second_training_in_a_folder_is_refused(tmp_path: Path) -> None:
    experiment = tmp_path / "e.yaml"
    experiment.write_text("name: e\ntrack: zero-shot\ncorpora: [{name: nhs}]\nvalidation: {corpora: [nhs]}\n")
    with locked(tmp_path / "out"):
        done = CliRunner().invoke(app, ["train", str(experiment), "--out", str(tmp_path / "out"), "--restart"])
    assert isinstance(done.exception, ConfigError)
    assert f"one by pid {os.getpid()} on host" in str(done.exception)
    assert not list(tmp_path.glob("*.lock"))


def test_what_would_change_nothing_is_refused(tmp_path: Path) -> None:
    for arguments, message in (
        (["e.yaml", "--set", "seed=2"], "--set"),
        (["e.yaml", "--skip-bad"], "--skip-bad"),
        (["model", "--convert", "half", "--seed", "2"], "--seed"),
        (["e.yaml", "--notes", "notes"], "EXPERIMENT"),
        (["model", "--convert", "half", "--restart"], "--restart"),
        (["model", "--convert", "half"], "--out"),
        ([], "--notes"),
        (["--notes", "notes", "--out", "m"], "--backbone"),
        (["--notes", "notes", "--out", "m", "--backbone", "b", "--set", "seed"], "KEY=VALUE"),
        (["--notes", "notes", "--out", "m", "--backbone", "b", "--set", "sead=2"], "sead"),
        (["--notes", "notes", "--out", "m", "--backbone", "b", "--read", "knowlege=x"], "knowlege="),
    ):
        done = CliRunner().invoke(app, ["train", *arguments])
        assert isinstance(done.exception, ConfigError), (arguments, done.output, done.exception)
        assert message in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_half_precision_model_is_smaller_with_own_fingerprint(tmp_path: Path) -> None:
    write_model(tmp_path / "tiny", {"track": "adapted"})
    done = CliRunner().invoke(app, ["train", str(tmp_path / "tiny"), "--convert", "half", "--out", str(tmp_path / "h")])
    assert done.exit_code == 0, done.exception
    whole, half = load_model(str(tmp_path / "tiny")), load_model(str(tmp_path / "h"))
    assert whole.fingerprint != half.fingerprint
    assert training_record(tmp_path / "h") == {"track": "adapted"}
    size, smaller = (sum(file.stat().st_size for file in (tmp_path / name).iterdir()) for name in ("tiny", "h"))
    assert smaller < size
    assert f"{smaller / 1e6:.1f} MB" in done.output


@pytest.mark.timeout(900)
@pytest.mark.slow
def test_converted_bi_encoder_gives_nearly_the_same_vectors(tmp_path: Path) -> None:
    """In one form; of every form the scores are compared in tests/lab/encoders/test_export.py."""
    import torch

    from auscult_lab.encoders.persistence import save
    from auscult_lab.encoders.registry import create
    from tiny_bert import save_tiny_bert

    torch.manual_seed(0)
    settings = {"shared": True, "pooling": "mean", "cosine": True}
    save(create("bi", str(save_tiny_bert(tmp_path / "bert")), settings), tmp_path / "bi")
    arguments = ["train", str(tmp_path / "bi"), "--convert", "onnx-int8", "--out", str(tmp_path / "other")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, (done.output, done.exception)
    before, after = load_model(str(tmp_path / "bi")), load_model(str(tmp_path / "other"))
    assert before.fingerprint != after.fingerprint
    queries = [Query("", "gout", ("signs",))]
    np.testing.assert_allclose(after.encode_queries(queries), before.encode_queries(queries), atol=0.3)
    assert isinstance(CliRunner().invoke(app, arguments).exception, ConfigError), "it is there already"
    half = CliRunner().invoke(app, ["train", str(tmp_path / "bi"), "--convert", "half", "--out", str(tmp_path / "h")])
    assert isinstance(half.exception, ModelError)
    (tmp_path / "other" / "onnx" / "form.json").write_text("{}")
    with pytest.raises(ModelError, match=r"form\.json"):
        load_model(str(tmp_path / "other"))
