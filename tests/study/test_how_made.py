"""The table of commands: each row that learned has one, of experiments and options that exist."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import typer

from auscult.cli.all_commands import app
from auscult.encoders import SHIPPED
from auscult_lab.evaluation.contenders import LEXICAL
from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.training.experiment_files import experiments_in
from places import ROOT
from study.pages.how_made import commands_note, how_made

TABLE = ROOT / "benchmarks" / "results" / "tables" / "commands.csv"


def commands() -> Iterator[list[str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        lines = {row["command"] for row in csv.DictReader(file)}
    for line in lines:
        for step in line.split(" && "):
            words = shlex.split(step)
            yield words[1:] if "=" in words[0] else words


def test_experiments_and_options_of_commands_exist() -> None:
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    checked = 0
    for program, name, *arguments in commands():
        if program == "auscult":
            options = {option for param in known[name].params for option in param.opts}
            assert {word for word in arguments if word.startswith("-")} <= options
            models = {value for option, value in pairwise(arguments) if option == "-m"}
            assert all(value in (*LEXICAL, *SHIPPED) or value.startswith(("runs/", "$")) for value in models)
            for path in (Path(word) for word in arguments if word.startswith("experiments/")):
                assert len(experiments_in(ROOT / path)) == 1
            checked += 1
        else:
            assert (ROOT / name).is_file()
    assert checked > 100


def record(corpus: str, training: dict[str, object], **fields: object) -> EvaluationRecord:
    stamp = {"version": "", "revision": "", "hardware": "", "date": "", "seed": 0, "ms_per_query": 1.0}
    task = {"corpus": corpus, "protocol": "rerank", "track": "adapted", "model": "M", "measures": {}, "queries": 500}
    return EvaluationRecord.model_validate({**stamp, **task, "training": training, **fields})


def trained(kind: str, name: str, **experiment: object) -> dict[str, object]:
    return {"kind": kind, "experiment": {"name": name, **experiment}, "preparation_seconds": 60, "seconds": 120}


@pytest.mark.parametrize(
    ("made", "command"),
    [
        (
            record("medquad", trained("ranker", "adapted-knrm"), query_subset="random 500, seed 0"),
            "auscult compare experiments/arnold2020-rankers-adapted.yaml:adapted-knrm --queries 500",
        ),
        # A corpus that the experiment does not list under `evaluate`.
        (
            record("nhs", trained("ranker", "adapted-knrm"), query_subset="random 9, seed 2", precision="bf16"),
            "auscult train experiments/arnold2020-rankers-adapted.yaml:adapted-knrm && "
            "auscult evaluate nhs -m runs/adapted-knrm/model --queries 9 --seed 2 --precision bf16",
        ),
        (
            record("medquad", trained("training", "cdv-adapted"), protocol="end-to-end"),
            "auscult train experiments/cdv-adapted.yaml && "
            "auscult evaluate medquad -m runs/cdv-adapted/model --protocol end-to-end",
        ),
        (record("nhs", {}, model="TF-IDF", track="untrained"), "auscult evaluate nhs -m tfidf"),
        (
            record("nhs", {"encoder": {"name": "MiniLM"}}, track="untrained"),
            "auscult evaluate nhs -m $AUSCULT_BACKBONE",
        ),
    ],
)
def test_a_command_repeats_its_task(made: EvaluationRecord, command: str) -> None:
    how = how_made(made)
    assert how is not None
    assert how.command == command
    assert how.minutes == (3.0 if "kind" in made.training else 0.0)
    assert how.needs == (("AUSCULT_BACKBONE",) if "encoder" in made.training else ())


@pytest.mark.parametrize(("hardware", "device"), [("2 cores", "processor"), ("2 cores, NVIDIA H100 80GB HBM3", "GPU")])
def test_minutes_name_the_device(hardware: str, device: str) -> None:
    made = record("medquad", trained("ranker", "adapted-knrm") | {"hardware": hardware})
    how = how_made(made)
    assert how is not None
    assert how.to_row()["trained on"] == device
    assert ("(3.0 min of a GPU)." in commands_note([made], example=True)) == (device == "GPU")


def test_target_encoders_of_an_interrupted_training_count() -> None:
    training = trained("training", "arnold2020-codes")
    targets = {task: {"history": [{"seconds": 300}] * 2} for task in ("entity", "aspect")}
    how = how_made(record("medquad", training | {"targets": targets}))
    assert how is not None
    assert how.preparation == 20.0


def test_backbones_of_a_row_are_trained_first() -> None:
    how = how_made(
        record("clinical-notes", trained("capr", "capr-notes-long-poly", backbone="$AUSCULT_TRAINED/x/model"))
    )
    assert how is not None
    steps = [step.rpartition(":")[2] for step in how.command.split(" && ")]
    assert steps == ["capr-notes-bi", "capr-notes-long-bi", "capr-notes-long-poly --corpus clinical-notes"]
    assert how.command.count("AUSCULT_TRAINED=runs ") == 2
    assert how.needs == ("AUSCULT_BACKBONE",)


def test_an_ensemble_adds_its_models() -> None:
    models = {name: trained("capr", f"capr-adapted-{name}") for name in ("bi", "cross")}
    how = how_made(record("medquad", {"kind": "fusion", "models": models, "seconds": 240}))
    assert how is not None
    assert "capr-adapted-bi experiments/" in how.command
    assert how.command.endswith("--fuse capr-adapted-bi+capr-adapted-cross")
    assert (how.preparation, how.training) == (2.0, 4.0)


def test_other_models_have_no_command() -> None:
    assert how_made(record("medquad", trained("ranker", "of-somebody"))) is None


@pytest.mark.parametrize(
    ("family", "name", "stage"),
    [("general", "general-fast", "student"), ("cdv", "capr-zero-shot-cdv-fine-tuned", "frozen")],
)
def test_minutes_include_those_of_another_stage(family: str, name: str, stage: str) -> None:
    other = {"history": [{"seconds": 60.0}, {"seconds": 60.0}]}
    how = how_made(record("medquad", trained(family, name) | {stage: other}))
    assert how is not None
    assert how.training == 4.0
