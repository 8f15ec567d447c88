"""Trained models in other forms: half as large, or faster on processors.

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
from auscult.files.writing import whole_folder, write_json

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
    if form == "half":
        _halve(model, out)
        return
    from auscult_lab.encoders.export import CONVERTED, convert
    from auscult_lab.encoders.opening import open_model

    if kind_of(model).name != "capr":
        raise ModelError("a bi-, poly- or cross-encoder that was trained here", model, "take another one, or half")
    if out.exists():
        raise ConfigError("a new folder for --out", f"{out}, which is there already", "choose another one")
    folder = model_folder(model)
    with whole_folder(out) as fresh:
        shutil.copytree(folder, fresh, dirs_exist_ok=True)
        shutil.rmtree(fresh / CONVERTED, ignore_errors=True)
        convert(open_model(fresh).ranker, form, fresh / CONVERTED)
        write_json(fresh / CONVERTED / "form.json", {"form": form})


def _halve(model: str, out: Path) -> None:
    from auscult_lab.cdv.encoder import CdvEncoder
    from auscult_lab.cdv.persistence import load, save

    if kind_of(model).name != "cdv":
        raise ModelError("a CDV model", f"{model}, which is none", "only CDV models can be stored in half precision")
    encoder = load(model_folder(model))
    if not isinstance(encoder, CdvEncoder):
        raise ModelError("a CDV model", type(encoder).__name__, "only CDV models can be stored in half precision")
    save(encoder, out, training=training_record(model_folder(model)), half=True)
