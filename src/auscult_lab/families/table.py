"""Families of trainable models, by the kind that experiment files name.

All families have the same layout: `experiment` (settings), `data` (examples), `objective` (loss and validation) and
`build` (the interface for `stages.train`). A family is imported when one of its experiments is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auscult_lab.training.experiment import DataExperiment
from auscult_lab.training.experiment_files import check_experiment, read_model_name

if TYPE_CHECKING:
    from auscult_lab.training.folder import Outcome
    from auscult_lab.training.stages import Build, Run, Say


@dataclass(frozen=True, slots=True)
class Family:
    """A family's experiments and training.

    Attributes:
        experiment: Class of its experiments.
        prepare: Gathers the training data of an experiment, and makes its model.
    """

    experiment: type[DataExperiment]
    prepare: Callable[[Any, Run], Build[Any]]


# For each `model` of an experiment file: the module and the name of the class of its experiments, and the module of the
# function that prepares its training.
KINDS: Mapping[str, tuple[str, str, str]] = {
    "cdv": ("cdv.experiment", "CdvExperiment", "cdv.build"),
    "capr": ("encoders.experiment", "CaprExperiment", "encoders.build"),
    "general": ("general.experiment", "GeneralExperiment", "general.build"),
    "general-adapted": ("general.experiment", "AdaptedExperiment", "general.adapting"),
    "mlm": ("masked.experiment", "MaskedExperiment", "masked.build"),
}
# Any other name is a ranker's; users may register rankers.
_RANKER = ("rankers.experiment", "RankingExperiment", "rankers.build")


def family(model: str) -> Family:
    """Return the family of a kind of model."""
    described, experiment, build = KINDS.get(model, _RANKER)
    describing, preparing = (import_module(f"auscult_lab.{name}") for name in (described, build))
    return Family(getattr(describing, experiment), preparing.prepare)


def read_experiment(path: Path) -> DataExperiment:
    """Read and check an experiment of any kind.

    Raises:
        ConfigError: Naming the file and every field that is wrong.
    """
    return check_experiment(path, family(read_model_name(path)).experiment)


def train(experiment: DataExperiment, folder: Path, *, say: Say | None = None, progress: bool = False) -> Outcome:
    """Train a model of any family, or resume its training in the same folder.

    Raises:
        AuscultError: See `training.stages.train`.
    """
    # Imported here: reading an experiment needs no torch.
    from auscult_lab.training.stages import train as train_with

    return train_with(experiment, folder, family(experiment.kind).prepare, say=say, progress=progress)
