"""A training whose model is put in a place of its own.

OUT               the model, once it is trained
OUT.training/     everything else (`training.folder`)
"""

from __future__ import annotations

import shutil
from pathlib import Path

from auscult.encoders import kind_of
from auscult.errors import ConfigError, ModelError
from auscult.files.writing import put_folder
from auscult_lab.families.table import train
from auscult_lab.training.experiment import DataExperiment
from auscult_lab.training.folder import Outcome
from auscult_lab.training.folder import restart as throw_away
from auscult_lab.training.stages import Say

_KINDS = ("capr", "general")
"""What is adapted."""


def adapt(experiment: DataExperiment, out: Path, *, restart: bool = False, say: Say, progress: bool = False) -> Outcome:
    """Train a model and put it in a place of its own, or go on with a training of it that was killed.

    Args:
        experiment: What is trained.
        out: Where the model goes; an earlier one of this training gives way.
        restart: Throw away what an earlier training left.
        say: Told of each stage in a few words.
        progress: Show progress bars.

    Raises:
        ConfigError: Something else than a model of this training is in the place, or the model was taken away.
        AuscultError: See `stages.train`.
    """
    work = work_folder(out)
    check_place(out, begun=restart or (work / "experiment.json").is_file())
    if restart:
        throw_away(work)
    return train(experiment, work, say=say, progress=progress)


def work_folder(out: Path) -> Path:
    """Where everything but the model is kept.

    Raises:
        ConfigError: The place has no name to put a suffix to.
    """
    if not out.name:
        raise ConfigError("a name for the model's folder in --out", str(out), "give --out a path that ends in a name")
    return out.with_name(f"{out.name}.training")


def keep_model(outcome: Outcome, out: Path) -> None:
    """Put a trained model in its place, and drop the checkpoints; an earlier model of this training gives way.

    Raises:
        ConfigError: The training is finished, and its model has been taken away; or something else is in its place.
    """
    _move(outcome.model, out)
    shutil.rmtree(work_folder(out) / "checkpoints", ignore_errors=True)


def check_place(out: Path, *, begun: bool) -> None:
    """See that nothing is lost where the model goes.

    Args:
        out: The place.
        begun: Whether a model in this place may give way to one that is adapted anew, or goes on being adapted.

    Raises:
        ConfigError: Something else than a model that was adapted is there, or one that was not begun here.
    """
    if out.exists() and not (begun and _is_adapted(out)):
        raise ConfigError("a new folder for --out", f"{out}, which is there already", "choose another one")


def _is_adapted(folder: Path) -> bool:
    try:
        return kind_of(str(folder)).name in _KINDS
    except ModelError:
        return False


def _move(trained: Path, out: Path) -> None:
    """Put the model where it was asked for; one of an earlier adaptation in this place gives way.

    Raises:
        ConfigError: The training is finished, and its model has been taken away; or something else is in its place.
    """
    if not trained.is_dir():
        if not out.is_dir():
            raise ConfigError(f"the model that was trained here in {out}", "none", "pass --restart to train it anew")
        return
    # Hours may have passed since it was looked at first.
    check_place(out, begun=True)
    put_folder(trained, out)
