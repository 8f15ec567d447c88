"""The one command that makes each row of a table, and the minutes of its training."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from auscult_lab.evaluation.records import TEST, EvaluationRecord
from auscult_lab.training.experiment_files import check_experiment, experiments_in, variant_path

_ROOT = Path(__file__).parents[2]
_COMPARED = ("ranker", "capr")
"""Kinds of models that `auscult compare` trains and evaluates; others are trained, then evaluated."""
_UNTRAINED = {"BM25": "bm25", "TF-IDF": "tfidf", "QL": "ql"}
"""Names of term-based models on the command line."""
_TRAINED = re.compile(r"\$AUSCULT_TRAINED/([\w-]+)/")
_VARIABLE = re.compile(r"\$(AUSCULT_\w+)")
_DRAWN = re.compile(r"random (\d+), seed (\d+)")
COMMANDS = "commands"
"""Name of the table of all rows' commands."""


@dataclass(frozen=True, slots=True)
class Made:
    """How a row is made.

    Attributes:
        command: A line for a shell, in a checkout. It trains what the row's model begins with, too.
        needs: Environment variables that it reads; comments of the experiment's file say what they are.
        preparation: Minutes to read documents and make word vectors, which one row of a file does for all its others.
        training: Minutes of the epochs of the row's own model, or models; None where it learned nothing.
        trained_on: "GPU" where one of the models was trained on one, else "processor"; empty where it learned nothing.
    """

    command: str
    needs: tuple[str, ...] = ()
    preparation: float | None = None
    training: float | None = None
    trained_on: str = ""

    @property
    def minutes(self) -> float:
        """Minutes of preparation and training."""
        return (self.preparation or 0.0) + (self.training or 0.0)

    def to_row(self) -> dict[str, str]:
        """Return the cells of the table of commands."""
        return {
            "command": self.command,
            "needs": ", ".join(self.needs),
            "preparation, min": _cell(self.preparation),
            "training, min": _cell(self.training),
            "trained on": self.trained_on,
        }


def how_made(record: EvaluationRecord) -> Made | None:
    """Return how a record is made; None where no experiment file has its model."""
    trained = _trainings(record.training)
    if not trained:
        untrained = _untrained_model(record)
        if not untrained:
            return None
        command = _line("auscult evaluate", record.corpus, "-m", untrained, *_options(record))
        return Made(command, tuple(_variables(untrained)))
    names = [str((training.get("experiment") or {}).get("name", "")) for training in trained]
    if not all(name in _paths() for name in names):
        return None
    first = [*dict.fromkeys(_begins_with(names))]
    variables = {word for training in trained for word in _variables(training["experiment"])}
    variables |= {word for name in first for word in _variables(_setup(name).backbone)}
    return Made(
        " && ".join([*_trainings_of(first), *_last_steps(record, names)]),
        tuple(sorted(variables - {"AUSCULT_TRAINED"})),
        sum(map(_preparation_seconds, trained)) / 60,
        training_minutes(record.training),
        "GPU" if any("NVIDIA" in str(training.get("hardware")) for training in trained) else "processor",
    )


def commands_note(records: Iterable[EvaluationRecord], *, example: bool) -> str:
    """Return the note below a table: a link to what explains its rows' commands; empty where no row learned.

    Args:
        records: The table's, in the order of its rows.
        example: Also give the quickest command that needs no environment variable; the quickest one if all do.
    """
    made = [how for record in records if record.track != "untrained" and (how := how_made(record))]
    link = "[Commands](../explanation/evaluation.md#reproduce-a-row)"
    if not made:
        return ""
    if not example:
        return f"{link}."
    shown = min(made, key=lambda how: (bool(how.needs), how.minutes))
    needs = f"; needs {', '.join(shown.needs)}" if shown.needs else ""
    gpu = " of a GPU" if shown.trained_on == "GPU" else ""
    return f"{link}, such as `{shown.command}` ({minutes(shown.minutes)} min{gpu}{needs})."


def experiment_of(record: EvaluationRecord) -> str:
    """Return FILE:VARIANT of the experiment that a record's model is of; empty where no experiment file has it."""
    name = (record.training.get("experiment") or {}).get("name", "")
    return f"experiments/{_paths()[name].name.partition(':')[0]}:{name}" if name in _paths() else ""


def training_minutes(training: Mapping[str, Any]) -> float | None:
    """Return the minutes of a training without its preparation; None where they were not recorded."""
    seconds = float(training.get("seconds") or _epoch_seconds(training))
    # Stages of their own: a student of fewer layers, and CDV before its transformer is fine-tuned.
    seconds += sum(_epoch_seconds(training.get(stage) or {}) for stage in ("student", "frozen"))
    return seconds / 60 if seconds else None


def minutes(value: float) -> str:
    """Format minutes, with a digit behind the point where there are few."""
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _preparation_seconds(training: Mapping[str, Any]) -> float:
    """Return the seconds before a training's own epochs.

    A training that was interrupted recorded what its last process prepared. Its target encoders' epochs are known from
    before.
    """
    targets = sum(map(_epoch_seconds, (training.get("targets") or {}).values()))
    return max(float(training.get("preparation_seconds", 0)), targets)


def _epoch_seconds(training: Mapping[str, Any]) -> float:
    return sum(float(epoch.get("seconds", 0)) for epoch in training.get("history") or ())


def _trainings(training: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the training records of a model, or of the models of an ensemble."""
    if training.get("kind") == "fusion":
        return [*training["models"].values()]
    return [training] if training.get("kind") else []


def _untrained_model(record: EvaluationRecord) -> str:
    """Return the `-m` argument of `auscult evaluate` for a model that learned nothing here; empty if unknown."""
    return _UNTRAINED.get(record.model) or ("$AUSCULT_BACKBONE" if record.training.get("encoder") else "")


def _last_steps(record: EvaluationRecord, names: Sequence[str]) -> Iterator[str]:
    """Yield the command that trains and evaluates a record's models, or the two that do."""
    kinds = {training["kind"] for training in _trainings(record.training)}
    if kinds <= {*_COMPARED} and all(record.corpus in _setup(name).evaluate for name in names):
        fuse = ("--fuse", "+".join(names)) if len(names) > 1 else ()
        several = any(corpus != record.corpus for name in names for corpus in _setup(name).evaluate)
        only = ("--corpus", record.corpus) if several else ()
        yield _line("auscult compare", *map(_argument, names), *only, *fuse, *_options(record), above=names)
    else:
        yield from _trainings_of(names)
        models = (f"-m runs/{name}/model{':fused' if 'general' in kinds else ''}" for name in names)
        yield _line("auscult evaluate", record.corpus, *models, *_options(record))


def _trainings_of(names: Iterable[str]) -> list[str]:
    return [_line("auscult train", _argument(name), above=[name]) for name in names]


def _line(command: str, *arguments: str, above: Iterable[str] = ()) -> str:
    """Return a command; where an experiment begins with a model trained before, with the folder of that."""
    trained = ("AUSCULT_TRAINED=runs",) if any(_TRAINED.match(_setup(name).backbone) for name in above) else ()
    return " ".join((*trained, command, *arguments))


def _options(record: EvaluationRecord) -> list[str]:
    """Return the options of a record's task that are not at their defaults."""
    options = []
    if drawn := _DRAWN.fullmatch(record.query_subset):
        options += [f"--queries {drawn[1]}", *([f"--seed {drawn[2]}"] if drawn[2] != "0" else [])]
    options += [f"--split {record.split}"] if record.split != TEST else []
    options += [f"--protocol {record.protocol}"] if record.protocol != "rerank" else []
    return options + ([f"--precision {record.precision}"] if record.precision != "float32" else [])


def _begins_with(names: Iterable[str]) -> Iterator[str]:
    """Yield the experiments whose models others begin with, the first first."""
    for name in names:
        if trained := _TRAINED.match(_setup(name).backbone):
            yield from _begins_with([trained[1]])
            yield trained[1]


def _variables(value: object) -> Iterator[str]:
    """Yield the environment variables in the texts of a nested value."""
    if isinstance(value, str):
        yield from _VARIABLE.findall(value)
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _variables(inner)


class _Setup(BaseModel):
    """Fields of an experiment that decide its command; all others are ignored."""

    name: str
    backbone: str = ""
    evaluate: tuple[str, ...] = ()


@cache
def _setup(name: str) -> _Setup:
    return check_experiment(_paths()[name], _Setup)


def _argument(name: str) -> str:
    """Return an experiment as commands take it; the variant only where its file has several."""
    path = _paths()[name]
    file = path.with_name(path.name.partition(":")[0])
    return str((file if len(experiments_in(file)) == 1 else variant_path(file, name)).relative_to(_ROOT))


@cache
def _paths() -> dict[str, Path]:
    """Map each experiment's name to its file, or FILE:VARIANT."""
    paths = experiments_in(_ROOT / "experiments")
    return {path.name.partition(":")[2] or check_experiment(path, _Setup).name: path for path in paths}
