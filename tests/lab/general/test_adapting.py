"""A general encoder goes on learning: what reads stays, towers and weights of the evidence are of the documents."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.encoders import load_model, training_record
from auscult.encoders.folder import read_settings
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.errors import ConfigError
from auscult_lab.evaluation.tracks import track_on
from auscult_lab.families.table import train
from auscult_lab.fitting import weighing
from auscult_lab.general.adapting import documents_experiment
from auscult_lab.general.saving import set_fusion
from small_general import save_general

FEW = [("training.epochs", "3"), ("training.learning_rate", "0.01"), ("training.batch_documents", "4")]
WEIGHTS = {"parts": {"question_text": 1.0}, "words": {"question_text": 1.0}, "certainty": {"bias": -1.0}}


@pytest.fixture
def start(tmp_path: Path) -> Path:
    folder = tmp_path / "start"
    save_general(folder, training={"corpora": [{"name": "enwiki", "split": "train"}]})
    set_fusion(folder, WEIGHTS, {})
    return folder


def opened(folder: Path) -> GeneralEncoder:
    encoder = load_model(str(folder))
    assert isinstance(encoder, GeneralEncoder)
    return encoder


def towers(folder: Path) -> dict[str, np.ndarray]:
    return dict(opened(folder).towers.weights)


def adapt(corpus: Path, start: Path, out: Path, *more: tuple[str, str]) -> Path:
    said = [*FEW, ("knowledge", "null"), *more]
    return train(documents_experiment([{"name": str(corpus)}], str(start), said=said), out).model


def test_the_towers_learn_and_the_encoder_stays(corpus: Path, start: Path, tmp_path: Path) -> None:
    model = adapt(corpus, start, tmp_path / "run")
    for name in ("model.onnx", "tokenizer.json"):
        assert (model / name).read_bytes() == (start / name).read_bytes()
    record = training_record(model)
    assert record["history"][-1]["loss"] < record["history"][0]["loss"]  # type: ignore[index]
    kept = all(np.array_equal(array, towers(start)[name]) for name, array in towers(model).items())
    assert kept is record["kept"]
    if not kept:
        assert record["validation"]["validation_both"] > record["validation_before"]["both"]  # type: ignore[index]
    # It has read what it began with had read, too.
    assert track_on("it", record, "enwiki", "test") == "adapted"


def test_renamed_copies_of_training_texts_count_as_adapted(corpus: Path, start: Path, tmp_path: Path) -> None:
    model = adapt(corpus, start, tmp_path / "run")
    beir = tmp_path / "beir"
    beir.mkdir()
    records = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines()]
    passages = [part["text"] for record in records for part in record["sections"]]

    def write(texts: list[str]) -> None:
        lines = [json.dumps({"_id": f"p{row}", "title": f"Page {row}", "text": text}) for row, text in enumerate(texts)]
        (beir / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")

    record = training_record(model)
    write(passages)
    assert track_on("it", record, str(beir), "test", folder=model) == "adapted"
    with pytest.raises(ConfigError, match="track 'adapted'"):
        track_on("it", record, str(beir), "test", user_track="zero-shot", folder=model)
    write([" ".join(reversed(passage.split())) for passage in passages])
    assert track_on("it", record, str(beir), "test", folder=model) == "zero-shot"


def test_a_stronger_pull_moves_the_towers_less(corpus: Path, start: Path, tmp_path: Path) -> None:
    def moved(pull: str) -> float:
        model = adapt(corpus, start, tmp_path / pull, ("training.pull", pull), ("training.patience", "null"))
        last = load_towers(tmp_path / pull)
        began = towers(start)
        assert model.is_dir()
        return float(sum(np.square(array - began[name]).sum() for name, array in last.items()))

    assert moved("10.0") < 0.5 * moved("0.0")


def load_towers(run: Path) -> dict[str, np.ndarray]:
    """Those of the last epoch, which the model need not have."""
    import torch

    (checkpoint,) = (run / "checkpoints").glob("last*.ckpt")
    state = torch.load(checkpoint, weights_only=False)["state_dict"]
    arrays = {}
    for name, array in state.items():
        layer, *inner, part = name.removeprefix("network.").split(".")
        key = {"sides": inner[0] if inner else "", "body": "body"}.get(layer, f"{inner[0] if inner else ''}.{layer}")
        arrays[f"{key}.{part}"] = array.numpy()
    return arrays


def run(*arguments: object) -> tuple[int, str, BaseException | None]:
    result = CliRunner().invoke(app, [*map(str, ("train", *arguments)), "--no-progress"])
    return result.exit_code, result.output, result.exception


def test_command_saves_the_model_with_fitted_weights(
    corpus: Path, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weighing, "FEWEST", 1)
    said = [part for name, value in [*FEW, ("knowledge", "null")] for part in ("--set", f"{name}={value}")]
    options = ("--documents", corpus, "--backbone", start, "--out", tmp_path / "mine", *said)
    code, output, _ = run(*options)
    assert code == 0, output
    settings = read_settings(tmp_path / "mine")
    assert settings["fusion"] != WEIGHTS
    assert set(settings["fusion"]) == {"parts", "words", "certainty", "certainty_of_parts", "background"}
    assert settings["training"]["fusion"]["corpora"][0]["name"] == str(corpus)
    code, again, _ = run(*options)
    assert code == 0, again
    assert "fitting" not in again, "what is finished is not done again"
    assert isinstance(run("--documents", corpus, "--out", tmp_path / "x")[2], ConfigError)
    assert isinstance(run("--documents", corpus, "--notes", corpus, "--backbone", start, "--out", "x")[2], ConfigError)


@pytest.mark.slow
def test_without_a_knowledge_base_names_go_by_words(
    corpus: Path, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(weighing, "FEWEST", 1)
    said = [part for name, value in FEW for part in ("--set", f"{name}={value}")]
    code, output, _ = run("--documents", corpus, "--backbone", start, "--out", tmp_path / "mine", *said)
    assert code == 0, output
    assert "no knowledge base on this machine" in output


def test_documents_without_titles_teach_aspects_alone(corpus: Path, start: Path, tmp_path: Path) -> None:
    records = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines()]
    untitled = tmp_path / "untitled.jsonl"
    untitled.write_text("".join(json.dumps(each | {"title": ""}) + "\n" for each in records), encoding="utf-8")
    said = [part for name, value in [*FEW, ("knowledge", "null")] for part in ("--set", f"{name}={value}")]
    code, output, _ = run("--documents", untitled, "--backbone", start, "--out", tmp_path / "mine", *said)
    assert code == 0, output
    assert "nothing is learned of entities" in " ".join(output.split())
    assert read_settings(tmp_path / "mine")["fusion"] == WEIGHTS


def test_documents_without_titles_and_headings_are_refused(corpus: Path, start: Path, tmp_path: Path) -> None:
    records = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines()]
    plain = tmp_path / "plain.jsonl"
    plain.write_text(
        "".join(
            json.dumps({"id": each["id"], "sections": [{"text": part["text"]} for part in each["sections"]]}) + "\n"
            for each in records
        ),
        encoding="utf-8",
    )
    with pytest.raises(ConfigError, match="titles, which teach entities, or headings"):
        adapt(plain, start, tmp_path / "run")
