"""Models in places of their own: trained there, or written there in another form.

OUT               the model, once it is trained
OUT.training/     everything else (`training.folder`)

A converted model is a folder as any other, with a fingerprint of its own: an index made with the original refuses it.

- "half": a CDV model's weights in half precision: half the size, practically the same vectors.
- "onnx", "onnx-int8": what runs a bi-, poly- or cross-encoder is ONNX Runtime (`encoders.export`); the folder
  keeps the weights that it was made of, and is larger for it.
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
    """Return the folder of everything but the model.

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
    if outcome.model.is_dir():
        # Hours may have passed since it was looked at first.
        check_place(out, begun=True)
        put_folder(outcome.model, out)
    elif not out.is_dir():
        raise ConfigError(f"the model that was trained here in {out}", "none", "pass --restart to train it anew")
    shutil.rmtree(work_folder(out) / "checkpoints", ignore_errors=True)


def check_place(out: Path, *, begun: bool) -> None:
    """See that nothing is lost where the model goes.

    Args:
        out: The place.
        begun: Whether a model in this place may give way to one that is adapted anew, or goes on being adapted.

    Raises:
        ConfigError: Something else than a model that was adapted is there, or one that was not begun here.
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
    """Write a model in another form.

    Args:
        model: A folder, or a shipped model's name.
        out: The new folder; for ONNX nothing may be there yet.
        form: Which one.

    Raises:
        ModelError: There is no such model, or none of a kind that can be written so.
        ConfigError: Something is at `out` already.
        MissingExtraError: What exports or runs it is not installed.
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
