"""Experiments whose models can be compared: name, corpora of the evaluation, and training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from auscult.errors import ConfigError
from auscult.files.writing import file_name
from auscult.telemetry import naming_extra
from auscult_lab.corpora.opening import open_corpus


@dataclass(frozen=True, slots=True)
class Trainable:
    """An experiment whose model can be compared.

    Attributes:
        name: Its name.
        title: Title of its model; empty for the architecture's title.
        path: Its file.
        given: The encoder and the graph that it names, by the option that gives them; empty where it needs none.
        learns_from: Corpora and their splits, None for whole corpora.
        learns_from_queries: Whether it learns from the corpora's own queries.
        evaluate: Corpora whose test queries evaluate it.
        train: Trains it in a folder, with a function for messages and whether to show progress; returns the model's
            folder.
        renew: Deletes the training in a folder if it has other settings; returns whether it did.
        compare_with: Names of the experiments for planned comparisons.
    """

    name: str
    title: str
    path: Path
    given: Mapping[str, str]
    learns_from: Sequence[tuple[str, str | None]]
    learns_from_queries: bool
    evaluate: Sequence[str]
    train: Callable[[Path, Callable[[str], None], bool], Path]
    renew: Callable[[Path], bool]
    compare_with: Sequence[str] = ()


def open_experiment(path: Path) -> Trainable:
    """Read an experiment of any kind that ranks passages.

    Args:
        path: A file, or FILE:VARIANT.

    Raises:
        ConfigError: Naming the file and every field that is wrong.
        MissingExtraError: The packages for training are not installed.
    """
    with naming_extra("lab", "torch", "lightning", "safetensors", "yaml"):
        from auscult_lab.encoders import experiment as capr
        from auscult_lab.families.table import train as train_model
        from auscult_lab.rankers import experiment as ranking
        from auscult_lab.training.experiment import DataExperiment
        from auscult_lab.training.experiment_files import check_experiment, read_compared, read_model_name
        from auscult_lab.training.folder import BegunOtherwiseError, is_another, restart

    def train(experiment: DataExperiment, folder: Path, say: Callable[[str], None], progress: bool) -> Path:
        try:
            return train_model(experiment, folder, say=say, progress=progress).model
        except BegunOtherwiseError as error:
            # There is no --restart for many trainings.
            raise ConfigError(error.expected, error.got, f"choose another --out, or delete {folder}") from error

    def renew(experiment: DataExperiment, folder: Path) -> bool:
        changed = is_another(experiment, folder)
        if changed:
            restart(folder)
        return changed

    given: Mapping[str, str] = {}
    opened: capr.CaprExperiment | ranking.RankingExperiment
    if read_model_name(path) == "capr":
        opened = capr_experiment = check_experiment(path, capr.CaprExperiment)
        given = {
            "backbone": capr_experiment.backbone,
            "graph": str(capr_experiment.settings.get("knowledge", "")),
        }
    else:
        opened = check_experiment(path, ranking.RankingExperiment)
    return Trainable(
        opened.name,
        opened.title,
        path,
        given,
        learns_from=[(choice.name, choice.split) for choice in opened.corpora],
        learns_from_queries=opened.queries == "corpus",
        evaluate=opened.evaluate,
        train=partial(train, opened),
        renew=partial(renew, opened),
        compare_with=read_compared(path),
    )


def open_all(given: Iterable[Path]) -> dict[Path, Trainable]:
    """Read all experiments of files and folders; of a file with variants, all of them.

    Args:
        given: Files, FILE:VARIANT, and folders of files.

    Returns:
        Experiments by file, or FILE:VARIANT, in the order given.

    Raises:
        ConfigError: A file is wrong, or a folder has none.
        MissingExtraError: The packages for training are not installed.
    """
    with naming_extra("lab", "torch", "lightning", "safetensors", "yaml"):
        from auscult_lab.training.experiment_files import experiments_in
    paths: list[Path] = []
    for each in given:
        found = experiments_in(each)
        if not found:
            raise ConfigError("a folder of experiment files (*.yaml)", f"{each} without any", "check the path")
        paths += found
    return {path: open_experiment(path) for path in paths}


def open_experiments(folder: Path) -> list[Trainable]:
    """Read all experiments of a folder, which need not exist.

    Raises:
        ConfigError: A file is wrong, or two names differ at most in case and punctuation.
        MissingExtraError: The packages for training are not installed.
    """
    opened: dict[str, Trainable] = {}
    for experiment in open_all(sorted(folder.glob("*.yaml"))).values():
        # Files are named after models, and models after experiments.
        other = opened.setdefault(file_name(experiment.name), experiment)
        if other is not experiment:
            got = f"'{experiment.name}' again, as in {other.path}"
            raise ConfigError("experiments of different names", got, f"rename the one in {experiment.path}")
    return list(opened.values())


def check_sources(experiment: Trainable, data: str, parts: Sequence[str]) -> None:
    """Check that an experiment's data exists, before hours of training other models.

    Args:
        experiment: The experiment with the names of corpora.
        data: The workbench's data, which need not be written yet.
        parts: The splits of `data` with questions.

    Raises:
        ConfigError: There is no corpus of the name, or the split has no queries.
        CorpusMissingError: A corpus is not on this machine, or has no such split.
        DataError: A corpus is damaged.
    """
    for name, split in experiment.learns_from:
        corpus = None if name == data else open_corpus(name)
        if not experiment.learns_from_queries:
            continue
        found = False
        if split is not None:
            found = split in parts if corpus is None else bool(corpus.queries(split))
        if not found:
            expected = f"a split of {name} with questions, in {experiment.path}"
            remedy = "name such a one as 'split'" + (f": {' or '.join(parts)}" if corpus is None else "")
            raise ConfigError(expected, f"'{split}'" if split else "none", remedy)
