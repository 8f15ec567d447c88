"""Train a model into a folder of its own, or convert a model to another form.

OUT               the trained model
OUT.training/     everything else (`training.folder`)

A converted model is a folder like any other, with another fingerprint: an index made with the original refuses it.

- "half": a CDV model with weights in half precision: half the size, nearly the same vectors.
- "onnx", "onnx-int8": a bi-, poly- or cross-encoder that ONNX Runtime runs (`encoders.export`); the folder also keeps
  the original weights, and is larger.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

from auscult.encoders import kind_of, model_folder, training_record
from auscult.errors import ConfigError, ModelError
from auscult.files.writing import put_folder, whole_folder, write_json
from auscult_lab.families.table import train
from auscult_lab.training.experiment import DataExperiment
from auscult_lab.training.folder import Outcome
from auscult_lab.training.folder import restart as throw_away
from auscult_lab.training.learned_texts import write_learned
from auscult_lab.training.stages import Say

_KINDS = ("capr", "general")
"""What is adapted."""


def adapt(experiment: DataExperiment, out: Path, *, restart: bool = False, say: Say, progress: bool = False) -> Outcome:
    """Train a model into a folder, or resume its training.

    Args:
        experiment: What is trained.
        out: Folder of the model; an earlier model of this training is replaced.
        restart: Delete an earlier training.
        say: Called with a short message at each stage.
        progress: Show progress bars.

    Raises:
        ConfigError: The folder is not a model of this training, or the trained model was removed.
        AuscultError: See `stages.train`.
    """
    work = work_folder(out)
    check_place(out, begun=restart or (work / "experiment.json").is_file())
    if restart:
        throw_away(work)
    return train(experiment, work, say=say, progress=progress)


def work_folder(out: Path) -> Path:
    """Return the folder of everything but the model.

    Raises:
        ConfigError: The path has no name to which a suffix can be added.
    """
    if not out.name:
        raise ConfigError("a name for the model's folder in --out", str(out), "give --out a path that ends in a name")
    return out.with_name(f"{out.name}.training")


def keep_model(outcome: Outcome, out: Path) -> None:
    """Move a trained model to its folder, in place of an earlier one of this training, and delete the checkpoints.

    Raises:
        ConfigError: The training is finished, but its model was removed; or the folder is something else.
    """
    if outcome.model.is_dir():
        # Check again: hours may have passed since the first check.
        check_place(out, begun=True)
        put_folder(outcome.model, out)
    elif not out.is_dir():
        raise ConfigError(f"the model that was trained here in {out}", "none", "pass --restart to train it anew")
    shutil.rmtree(work_folder(out) / "checkpoints", ignore_errors=True)


def check_place(out: Path, *, begun: bool) -> None:
    """Check that the model will replace nothing but an earlier model of its training.

    Args:
        out: The folder.
        begun: Whether the training has begun, so that its earlier model may be replaced.

    Raises:
        ConfigError: The folder is not an adapted model, or its training was not begun here.
    """
    if not out.exists():
        return
    try:
        adapted = begun and kind_of(str(out)).name in _KINDS
    except ModelError:
        adapted = False
    if not adapted:
        raise ConfigError("a new folder for --out", f"{out}, which is there already", "choose another one")


ModelForm = Literal["half", "onnx", "onnx-int8"]


def convert_model(model: str, out: Path, form: ModelForm) -> None:
    """Convert a model to another form.

    Args:
        model: A folder, or a shipped model's name.
        out: The new folder; for ONNX it must not exist.
        form: Name of the form.

    Raises:
        ModelError: There is no such model, or its kind has no such form.
        ConfigError: `out` exists already.
        MissingExtraError: The package that exports or runs it is not installed.
    """
    folder = model_folder(model)
    if form == "half":
        from auscult_lab.cdv.persistence import load, save

        if kind_of(model).name != "cdv":
            only = "only CDV models can be stored in half precision"
            raise ModelError("a CDV model", f"{model}, which is none", only)
        save(load(folder), out, training=training_record(folder), half=True)
        write_learned(out, (), [folder])
        return
    from auscult_lab.encoders.export import CONVERTED, convert
    from auscult_lab.encoders.persistence import open_model

    if kind_of(model).name != "capr":
        raise ModelError("a bi-, poly- or cross-encoder that was trained here", model, "take another one, or half")
    if out.exists():
        raise ConfigError("a new folder for --out", f"{out}, which is there already", "choose another one")
    with whole_folder(out) as fresh:
        shutil.copytree(folder, fresh, dirs_exist_ok=True)
        shutil.rmtree(fresh / CONVERTED, ignore_errors=True)
        convert(open_model(fresh).ranker, form, fresh / CONVERTED)
        write_json(fresh / CONVERTED / "form.json", {"form": form})
