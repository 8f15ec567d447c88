"""Which command makes the rows of a table, and how long its trainings took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from auscult_lab.evaluation.records import EvaluationRecord

_EXPERIMENTS = Path(__file__).parents[2] / "experiments"
_COMPARED = ("ranker", "capr")
"""Kinds of models that `auscult compare` trains and evaluates; others take two commands."""


def made_by(records: Iterable[EvaluationRecord]) -> str:
    """Name the commands that make these records, with the minutes of their trainings; empty where none is known."""
    by_file: dict[str, dict[str, EvaluationRecord]] = {}
    for record in records:
        if file := _file_of(record):
            by_file.setdefault(file, {})[_experiment(record)["name"]] = record
    commands = []
    for file, trained in sorted(by_file.items()):
        spent = sum(_spent_seconds(record.training) for record in trained.values())
        compared = all(record.training.get("kind") in _COMPARED for record in trained.values())
        variant = "" if compared or len(_names(file)) == 1 else f":{'VARIANT' if len(trained) > 1 else min(trained)}"
        command = f"auscult {'compare' if compared else 'train'} experiments/{file}{variant}"
        commands.append(f"`{command}` ({minutes(spent / 60)} min)")
    evaluated = any("auscult train" in command for command in commands)
    then = ", then `auscult evaluate CORPUS -m runs/NAME/model`" if evaluated else ""
    return f"Made by {'; '.join(commands)}{then}." if commands else ""


def experiment_of(record: EvaluationRecord) -> str:
    """Return FILE:VARIANT of the experiment that a record's model is of; empty where no experiment file has it."""
    file = _file_of(record)
    return f"experiments/{file}:{_experiment(record)['name']}" if file else ""


def training_minutes(training: Mapping[str, Any]) -> float | None:
    """Return the minutes of a training without its preparation; None where they were not recorded."""
    seconds = training.get("seconds") or _epoch_seconds(training)
    return float(seconds) / 60 if seconds else None


def _spent_seconds(training: Mapping[str, Any]) -> float:
    return float(training.get("preparation_seconds", 0)) + _epoch_seconds(training)


def _epoch_seconds(training: Mapping[str, Any]) -> float:
    return sum(float(epoch.get("seconds", 0)) for epoch in training.get("history") or ())


def minutes(value: float) -> str:
    """Format minutes, with a digit behind the point where there are few."""
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def _experiment(record: EvaluationRecord) -> Mapping[str, Any]:
    return record.training.get("experiment") or {}


def _file_of(record: EvaluationRecord) -> str:
    return _files().get(_experiment(record).get("name", ""), "")


@lru_cache(maxsize=1)
def _files() -> dict[str, str]:
    """Map each experiment's name to its file."""
    return {name: path.name for path in sorted(_EXPERIMENTS.glob("*.yaml")) for name in _names(path.name)}


def _names(file: str) -> list[str]:
    content = yaml.safe_load((_EXPERIMENTS / file).read_text(encoding="utf-8"))
    return [*content.get("variants", {})] or [content["name"]]
