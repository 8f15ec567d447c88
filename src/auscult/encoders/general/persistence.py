"""A general encoder on disk.

model.json           kind, format, name, what reads, the weights of the evidence, digests, how it was trained
towers.safetensors   the learned layers, in half precision
tokenizer.json       as the `tokenizers` library has it
model.onnx           the transformer that reads
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from auscult.encoders.folder import (
    SETTINGS,
    digest_of_folders,
    fingerprint_of,
    opening,
    read_numbers,
    settings_of,
    write_numbers,
)
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.encoders.general.readers import Transformer, WindowReader, open_tokenizer
from auscult.encoders.general.towers import Towers
from auscult.encoders.onnx_runtime import open_session
from auscult.errors import ModelError
from auscult.files.writing import renewed_folder, write_json
from auscult.provenance import usable_cores

FORMAT = 2
KIND = "general"
_CENTRE = "centre"
_FILES = _TOWERS, _TOKENIZER, _TRANSFORMER = "towers.safetensors", "tokenizer.json", "model.onnx"


def save(
    folder: Path,
    towers: Mapping[str, Any],
    centre: Any,
    *,
    name: str,
    start_share: float,
    tokenizer: bytes,
    transformer: bytes,
    reader: Mapping[str, Any],
    fusion: Mapping[str, Any] | None = None,
    training: Mapping[str, object] | None = None,
) -> None:
    """Write a model folder, or replace the model in it.

    Args:
        folder: Where to.
        towers: Arrays by name (`towers.Towers`).
        centre: As `GeneralEncoder` takes it.
        name: As tables call it.
        start_share: As `GeneralEncoder` takes it.
        tokenizer: Content of its file.
        transformer: Content of its ONNX file.
        reader: Options of `WindowReader`.
        fusion: Weights of the evidence; none until they are fitted.
        training: How it was trained, for the record.

    Raises:
        DataError: The place cannot be written to.
    """
    with renewed_folder(folder, last=SETTINGS) as fresh:
        arrays = {**towers, _CENTRE: centre}
        write_numbers(fresh / _TOWERS, {key: np.asarray(array, np.float16) for key, array in arrays.items()})
        (fresh / _TOKENIZER).write_bytes(tokenizer)
        (fresh / _TRANSFORMER).write_bytes(transformer)
        settings = {
            "kind": KIND,
            "format": FORMAT,
            "name": name,
            "reader": dict(reader),
            "start_share": start_share,
            "fusion": dict(fusion or {}),
            "sha256": digest_of_folders(fresh, *_FILES),
        }
        write_json(fresh / SETTINGS, {**settings, "training": dict(training or {})})


def what_reads(folder: Path) -> dict[str, Any]:
    """What `save` takes of a saved model's files, so that another one reads as it does.

    Raises:
        ModelError: There is no such model.
    """
    settings = settings_of(folder, KIND, FORMAT)
    return {
        "start_share": float(settings["start_share"]),
        "tokenizer": (folder / _TOKENIZER).read_bytes(),
        "transformer": (folder / _TRANSFORMER).read_bytes(),
        "reader": settings["reader"],
    }


def set_fusion(folder: Path, fusion: Mapping[str, Any], training: Mapping[str, object]) -> None:
    """Give a saved model other weights of the evidence; its indexes stay as they are.

    Args:
        folder: Of the model.
        fusion: The weights.
        training: How they were fitted, for the record.

    Raises:
        ModelError: There is no such model.
    """
    settings = settings_of(folder, KIND, FORMAT)
    record = {**settings.get("training", {}), "fusion": dict(training)}
    write_json(folder / SETTINGS, {**settings, "fusion": dict(fusion), "training": record})


def load(folder: Path) -> GeneralEncoder:
    """Read a model folder.

    Raises:
        ModelError: A file is missing or damaged, or the format is another.
    """
    settings = settings_of(folder, KIND, FORMAT)
    with opening("a whole general encoder", folder):
        if digest_of_folders(folder, *_FILES) != settings["sha256"]:
            raise ModelError("files as they were saved", f"others in {folder}", "copy the model again")
        arrays = read_numbers(folder / _TOWERS)
        centre = arrays.pop(_CENTRE).astype(np.float32)
        return GeneralEncoder(
            # A batch a core: one batch on all cores leaves them waiting for each other.
            WindowReader(
                Transformer(open_session(folder / _TRANSFORMER, threads=1), usable_cores()),
                open_tokenizer(folder / _TOKENIZER),
                **settings["reader"],
            ),
            Towers(arrays),
            name=str(settings["name"]),
            centre=centre,
            start_share=float(settings["start_share"]),
            fusion=settings["fusion"],
            fingerprint=fingerprint_of({key: value for key, value in settings.items() if key != "fusion"}),
        )
