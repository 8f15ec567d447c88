"""Any experiment whose model can be compared: its name, the corpora it is asked, and its training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from auscult.errors import ConfigError, naming_extra
from auscult.files.writing import file_name
from auscult_lab.corpora.opening import open_corpus


@dataclass(frozen=True, slots=True)
class Trainable:
    """An experiment whose model can be compared.

    Attributes:
        name: Its.
        title: What it calls its model; empty where that is called as its architecture is.
        path: Its file.
        given: The encoder and the graph that it names, by the option that gives them; empty where it needs none.
        learns_from: Each corpus, and the split of it, None for all.
        asked: Whether it learns from queries that these corpora bring with them.
        evaluate: Corpora whose test queries it is asked.
        train: Trains it in a folder, told what to say and whether to show progress; gives the model's folder.
        renew: Throws away what a folder holds of a training with other settings, and says whether it did.
        compare_with: Names of the experiments from whose results its own are to be told.
    """

    name: str
    title: str
    path: Path
    given: Mapping[str, str]
    learns_from: Sequence[tuple[str, str | None]]
    asked: bool
    evaluate: Sequence[str]
    train: Callable[[Path, Callable[[str], None], bool], Path]
    renew: Callable[[Path], bool]
    compare_with: Sequence[str] = ()


def open_experiment(path: Path) -> Trainable:
    """Read an experiment of whichever kind ranks passages.

    Args:
        path: A file, or FILE:VARIANT.

    Raises:
        ConfigError: Naming the file and every field that is wrong.
        MissingExtraError: What trains is not installed.
    """
    with naming_extra("lab", "torch", "lightning", "safetensors", "yaml"):
        from auscult_lab.encoders import experiment as capr
        from auscult_lab.families.table import train as train_model
        from auscult_lab.rankers import experiment as ranking
        from auscult_lab.training.experiment import DataExperiment
        from auscult_lab.training.experiment_files import read_compared, read_model_name
        from auscult_lab.training.folder import BegunOtherwiseError, is_another, restart

    def train(experiment: DataExperiment, folder: Path, say: Callable[[str], None], progress: bool) -> Path:
        try:
            return train_model(experiment, folder, say=say, progress=progress).model
        except BegunOtherwiseError as error:
            # Of many trainings there is no --restart.
            raise ConfigError(error.expected, error.got, f"choose another --out, or delete {folder}") from error

    def renew(experiment: DataExperiment, folder: Path) -> bool:
        if found := is_another(experiment, folder):
            restart(folder)
        return found

    given: Mapping[str, str] = {}
    found: capr.CaprExperiment | ranking.RankingExperiment
    if read_model_name(path) == "capr":
        found = asked = capr.read_capr_experiment(path)
        given = {"backbone": asked.backbone, "graph": str(asked.settings.get("knowledge", ""))}
    else:
        found = ranking.read_ranking_experiment(path)
    return Trainable(
        found.name,
        found.title,
        path,
        given,
        learns_from=[(choice.name, choice.split) for choice in found.corpora],
        asked=found.queries == "corpus",
        evaluate=found.evaluate,
        train=partial(train, found),
        renew=partial(renew, found),
        compare_with=read_compared(path),
    )


def open_all(given: Iterable[Path]) -> dict[Path, Trainable]:
    """Read all experiments of files and folders, of a file with variants all of these.

    Args:
        given: Files, FILE:VARIANT, and folders of files.

    Returns:
        By file, or FILE:VARIANT, in the order given.

    Raises:
        ConfigError: A file is wrong, or a folder has none.
        MissingExtraError: What trains is not installed.
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
        ConfigError: A file is wrong, or two have names that differ in case and punctuation at most.
        MissingExtraError: What trains is not installed.
    """
    opened: dict[str, Trainable] = {}
    for each in open_all(sorted(folder.glob("*.yaml"))).values():
        # Files are named after models, and these after experiments.
        other = opened.setdefault(file_name(each.name), each)
        if other is not each:
            found = f"'{each.name}' again, as in {other.path}"
            raise ConfigError("experiments of different names", found, f"rename the one in {each.path}")
    return list(opened.values())


def check_sources(experiment: Trainable, data: str, parts: Sequence[str]) -> None:
    """Whether there is what an experiment learns from, for asking before hours of training other models.

    Args:
        experiment: Its names of corpora are looked up.
        data: The workbench's own, which need not be written yet.
        parts: The splits of `data` that hold questions.

    Raises:
        ConfigError: A corpus has no such name, or the split has no queries.
        CorpusMissingError: A corpus is not on this machine, or has no such split.
        DataError: A corpus is damaged.
    """
    for name, split in experiment.learns_from:
        corpus = None if name == data else open_corpus(name)
        if not experiment.asked:
            continue
        found = False
        if split is not None:
            found = split in parts if corpus is None else bool(corpus.queries(split))
        if not found:
            expected = f"a split of {name} with questions, in {experiment.path}"
            remedy = "name such a one as 'split'" + (f": {' or '.join(parts)}" if corpus is None else "")
            raise ConfigError(expected, f"'{split}'" if split else "none", remedy)
