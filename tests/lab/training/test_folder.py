"""A training's folder: what an experiment's environment variables stand for belongs to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult import provenance
from auscult.errors import ConfigError, DataError
from auscult_lab.encoders.experiment import CaprExperiment
from auscult_lab.training.folder import (
    BegunOtherwiseError,
    begin,
    claim,
    describe,
    is_another,
    what_variables_stand_for,
)
from auscult_lab.training.loop import History

FIELDS = {
    "name": "one", "model": "capr", "architecture": "ck", "track": "adapted", "backbone": "$ENCODER",
    "corpora": [{"name": "here", "split": "train"}],
    "validation": {"corpora": ["here"], "documents": 1}, "settings": {"knowledge": "$GRAPH", "head": "knrm"},
}  # fmt: skip
HISTORY = History(epochs=[{"epoch": 0}], best=0)


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CaprExperiment:
    for name in ("encoder", "graph"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weights").write_text(name)
        monkeypatch.setenv(name.upper(), str(tmp_path / name))
    return CaprExperiment.model_validate(FIELDS)


def test_another_encoder_or_graph_is_another_training(
    experiment: CaprExperiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run = tmp_path / "run"
    claim(experiment, run)
    (run / "checkpoints").mkdir()
    claim(experiment, run)
    assert not is_another(experiment, run)
    (tmp_path / "graph").rename(tmp_path / "elsewhere")
    monkeypatch.setenv("GRAPH", str(tmp_path / "elsewhere"))
    claim(experiment, run)
    (tmp_path / "elsewhere" / "weights").write_text("others")
    with pytest.raises(ConfigError, match=r"what '\$GRAPH' stood for"):
        claim(experiment, run)
    monkeypatch.delenv("GRAPH")
    claim(experiment, run)
    monkeypatch.setenv("ENCODER", "a-name/of-the-hub")
    with pytest.raises(ConfigError, match=r"what '\$ENCODER' stood for"):
        claim(experiment, run)


def test_training_without_a_checkpoint_may_start_over(
    experiment: CaprExperiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run, mended = tmp_path / "run", experiment.model_copy(update={"seed": 2})
    claim(experiment, run)
    (run / "passages.json").write_text("{}")
    (run / "origins.json.part").write_text("[")
    monkeypatch.setattr(provenance, "find_revision", lambda: "later")
    claim(mended, run)
    assert not is_another(mended, run)
    assert sorted(file.name for file in run.iterdir()) == ["experiment.json", "origins.json", "stands_for.json"]
    assert describe(mended, HISTORY, run)["revision"] == "later"
    (tmp_path / "graph" / "weights").write_text("the right ones")
    claim(mended, run)
    assert describe(mended, HISTORY, run)["stands_for"] == what_variables_stand_for(mended)
    for kept in ("checkpoints", "training.json", "model", "mine.txt"):
        (run / kept).mkdir()
        with pytest.raises(BegunOtherwiseError, match="other settings"):
            claim(experiment, run)
        (run / kept).rmdir()


@pytest.mark.parametrize("place", ["letter.txt", "letter.txt/run"])
def test_output_path_that_is_no_folder_is_named(place: str, experiment: CaprExperiment, tmp_path: Path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(DataError, match=rf"a folder to train in, got .*{place}: .*; choose another --out"):
        claim(experiment, tmp_path / place)
    assert (tmp_path / "letter.txt").read_text() == "mine"


def test_a_record_names_variables_and_no_paths(experiment: CaprExperiment, tmp_path: Path):
    meant = what_variables_stand_for(experiment)
    assert list(meant) == ["$ENCODER", "$GRAPH"]
    assert all(digest.startswith("sha256:") for digest in meant.values())
    assert str(tmp_path) not in "".join(meant.values())
    assert len(set(meant.values())) == 2


def test_a_record_tells_what_the_training_began_with(experiment: CaprExperiment, tmp_path: Path):
    began = what_variables_stand_for(experiment)
    claim(experiment, tmp_path / "run")
    (tmp_path / "encoder" / "weights").write_text("changed while it trained")
    assert what_variables_stand_for(experiment) != began
    assert describe(experiment, HISTORY, tmp_path / "run")["stands_for"] == began


def test_an_older_folder_without_origins_is_taken(experiment: CaprExperiment, tmp_path: Path):
    claim(experiment, tmp_path / "run")
    for name in ("stands_for.json", "origins.json"):
        (tmp_path / "run" / name).unlink()
    assert begin(experiment, tmp_path / "run", print) is None
    told = describe(experiment, HISTORY, tmp_path / "run")
    assert "stands_for" not in told
    assert (told["revision"], told["hardware"]) == ("", ""), "nobody knows what it began with"
    assert told["continued_by"] == [provenance.origin()]


def test_record_names_starting_and_continuing_revisions(
    experiment: CaprExperiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def record_at(revision: str) -> dict[str, object]:
        monkeypatch.setattr(provenance, "find_revision", lambda: revision)
        assert begin(experiment, tmp_path / "run", print) is None
        monkeypatch.setattr(provenance, "find_revision", lambda: "committed while it trained")
        return describe(experiment, HISTORY, tmp_path / "run")

    first = record_at("one")
    assert first["revision"] == "one"
    assert first["hardware"] == provenance.describe_hardware()
    assert "continued_by" not in first
    assert "continued_by" not in record_at("one")
    for revision in ("two", "two", "three"):
        last = record_at(revision)
    assert last["revision"] == "one"
    assert [each["revision"] for each in last["continued_by"]] == ["two", "three"]  # type: ignore[attr-defined]
