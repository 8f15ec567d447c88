"""Every kind of model that can be trained, by the name that experiment files have for it, and its family.

A family is a folder of one plan: `experiment` (its settings), `data` (examples), `objective` (loss and validation) and
`build` (what `stages.train` asks for). It is imported when one of its experiments is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auscult_lab.training.experiment import DataExperiment
from auscult_lab.training.experiment_files import read_model_name

if TYPE_CHECKING:
    from auscult_lab.training.folder import Outcome
    from auscult_lab.training.stages import Build, Run, Say


@dataclass(frozen=True, slots=True)
class Family:
    """What a family gives.

    Attributes:
        read: Reads and checks an experiment, of a file or FILE:VARIANT.
        prepare: Gathers what an experiment learns from, and makes the model that it trains.
    """

    read: Callable[[Path], DataExperiment]
    prepare: Callable[[Any, Run], Build[Any]]


def _cdv() -> Family:
    from auscult_lab.cdv.build import prepare
    from auscult_lab.cdv.experiment import read_cdv_experiment

    return Family(read_cdv_experiment, prepare)


def _encoders() -> Family:
    from auscult_lab.encoders.build import prepare
    from auscult_lab.encoders.experiment import read_capr_experiment

    return Family(read_capr_experiment, prepare)


def _general() -> Family:
    from auscult_lab.general.build import prepare
    from auscult_lab.general.experiment import read_general_experiment

    return Family(read_general_experiment, prepare)


def _general_adapted() -> Family:
    from auscult_lab.general.adapting import prepare
    from auscult_lab.general.experiment import read_adapted_experiment

    return Family(read_adapted_experiment, prepare)


def _masked() -> Family:
    from auscult_lab.masked.build import prepare
    from auscult_lab.masked.experiment import read_masked_experiment

    return Family(read_masked_experiment, prepare)


def _rankers() -> Family:
    from auscult_lab.rankers.build import prepare
    from auscult_lab.rankers.experiment import read_ranking_experiment

    return Family(read_ranking_experiment, prepare)


def _reranker() -> Family:
    from auscult_lab.reranker.build import prepare
    from auscult_lab.reranker.experiment import read_reranker_experiment

    return Family(read_reranker_experiment, prepare)


KINDS: Mapping[str, Callable[[], Family]] = {
    "cdv": _cdv,
    "capr": _encoders,
    "general": _general,
    "general-adapted": _general_adapted,
    "mlm": _masked,
    "reranker": _reranker,
}
"""By an experiment's `model`; any other name is a ranker's, of which users may have their own."""


def family(model: str) -> Family:
    """The family of a kind of model."""
    return KINDS.get(model, _rankers)()


def read_experiment(path: Path) -> DataExperiment:
    """Read and check an experiment of whichever kind.

    Args:
        path: A file, or FILE:VARIANT.

    Raises:
        ConfigError: Naming the file and every field that is wrong.
    """
    return family(read_model_name(path)).read(path)


def train(experiment: DataExperiment, folder: Path, *, say: Say | None = None, progress: bool = False) -> Outcome:
    """Train a model of whichever family, or go on with a training that was interrupted in the same folder.

    Args:
        experiment: What to train.
        folder: Where everything is kept.
        say: Called with each stage in a few words.
        progress: Show progress bars.

    Raises:
        AuscultError: See `training.stages.train`.
    """
    # Reading an experiment takes no torch.
    from auscult_lab.training.stages import train as train_with

    return train_with(experiment, folder, family(experiment.kind).prepare, say=say, progress=progress)
