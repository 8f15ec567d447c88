"""Training a general encoder: both forms come out whole, learn, go on after a kill, and read nothing kept apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.concepts.aspects import INFORMATION
from auscult.encoders import load_model, training_record
from auscult.errors import ConfigError
from auscult_lab.families.table import train
from auscult_lab.general.data import aspect_of
from auscult_lab.general.experiment import GeneralExperiment
from auscult_lab.general.student import Places
from auscult_lab.training.experiment_files import check_experiment
from tiny_bert import save_tiny_bert


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("bert") / "teacher", width=64)


def experiment(corpus: Path, teacher: Path, **fields: Any) -> GeneralExperiment:
    given = {
        "name": "general", "model": "general", "track": "zero-shot", "corpora": [{"name": str(corpus)}],
        "validation": {"corpora": [str(corpus)], "documents": 4}, "knowledge": None,
        "teachers": [{"encoder": str(teacher)}], "hidden": 16, "dim": 8,
        "training": {"epochs": 4, "batch_documents": 4, "learning_rate": 0.01},
    }  # fmt: skip
    return GeneralExperiment.model_validate(given | fields)


STUDENT = {"epochs": 3, "layers": [0], "skip_function_words": True, "window": 32, "batch_windows": 8, "batch_short": 8,
           "precision": "float32", "learning_rate": 0.001}  # fmt: skip


@pytest.mark.parametrize("student", [None, STUDENT])
def test_training_lowers_the_loss_and_the_model_opens(
    corpus: Path, teacher: Path, tmp_path: Path, student: dict[str, Any] | None
) -> None:
    teachers: list[dict[str, str]] = [{"encoder": str(teacher)}]
    if student is not None:
        second = save_tiny_bert(tmp_path / "second", width=32)
        teachers.append({"encoder": str(second), "asked": "query: ", "told": "passage: "})
    outcome = train(experiment(corpus, teacher, teachers=teachers, student=student), tmp_path / "run")
    losses = [epoch["loss"] for epoch in outcome.record["history"]]
    assert losses[-1] < losses[0]
    encoder = load_model(str(outcome.model))
    assert encoder.parts["question"] == slice(16, 16 + 64)
    assert training_record(outcome.model)["kind"] == "general"
    if student is not None:
        cosines = [epoch["validation_text_cosine"] for epoch in outcome.record["student"]["history"]]
        assert max(cosines) > cosines[0] or cosines[0] > 0.9


def test_a_killed_training_goes_on(corpus: Path, teacher: Path, tmp_path: Path) -> None:
    said: list[str] = []
    settings = experiment(corpus, teacher)
    whole = train(settings, tmp_path / "run", say=said.append)
    read = [line for line in said if "documents" in line and line.startswith("read")]
    assert read
    (tmp_path / "run" / "training.json").unlink()
    said.clear()
    again = train(settings, tmp_path / "run", say=said.append)
    assert not [line for line in said if line.startswith("read ")], "what the teacher has read is kept"
    assert load_model(str(again.model)).fingerprint == load_model(str(whole.model)).fingerprint


@pytest.mark.slow
def test_the_command_fits_the_evidence_too(corpus: Path, teacher: Path, tmp_path: Path) -> None:
    path = tmp_path / "general.yaml"
    path.write_text(json.dumps(experiment(corpus, teacher).model_dump(mode="json")), encoding="utf-8")
    result = CliRunner().invoke(app, ["train", str(path), "--out", str(tmp_path / "run"), "--no-progress"])
    assert result.exit_code == 0, result.output
    settings = json.loads((tmp_path / "run" / "model" / "model.json").read_text(encoding="utf-8"))
    assert set(settings["fusion"]) == {"parts", "words", "certainty", "certainty_of_parts", "background"}
    assert settings["training"]["fusion"]["corpora"][0]["name"] == str(corpus)
    again = CliRunner().invoke(app, ["train", str(path), "--out", str(tmp_path / "run"), "--no-progress"])
    assert again.exit_code == 0, again.output
    assert "fitting" not in again.output, "a finished training is left as it is"


def test_evaluation_texts_are_never_learned_from(corpus: Path, teacher: Path, tmp_path: Path) -> None:
    path = tmp_path / "e.yaml"
    fields = experiment(corpus, teacher).model_dump(mode="json")
    path.write_text(
        json.dumps(fields | {"corpora": [*fields["corpora"], {"name": "consumer-questions"}]}), encoding="utf-8"
    )
    with pytest.raises(ConfigError, match="measure models with"):
        check_experiment(path, GeneralExperiment)


def test_headings_that_name_the_entity_teach_no_aspect() -> None:
    assert aspect_of("Signs and symptoms", "Gout") == "signs"
    assert aspect_of("Types of diabetes", "Diabetes mellitus") == ""
    assert aspect_of("Abstract", "Gout") == INFORMATION
    assert aspect_of("References", "Gout") == aspect_of("", "Gout") == ""


def test_places_keep_teachers_distinctions_aligned_with_the_first() -> None:
    rng = np.random.default_rng(0)
    first, second = (
        rng.normal(size=(400, 6)) * lengths for lengths in ([9, 8, 5, 5, 4, 4], [0.1, 9, 0.1, 0.1, 0.1, 0.1])
    )
    places = Places.of([first, second], 6)
    np.testing.assert_allclose(places.directions.T @ places.directions, np.eye(6), atol=1e-5)
    placed = places([first, second]).astype(np.float32)
    cosines = (placed * first / np.linalg.norm(first, axis=1, keepdims=True)).sum(axis=1)
    assert cosines.mean() > 0.6
    same = (second[:, 1] > 0)[:, None] == (second[:, 1] > 0)
    alike = placed @ placed.T
    assert alike[same].mean() > alike[~same].mean() + 0.5, "the second teacher's halves are told apart"
