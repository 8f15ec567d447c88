"""Read and write model folders of any kind: settings in JSON, arrays, and digests that detect damage.

    model.json      "kind" (see `encoders.registry`), settings, a digest of all other files, and the "training" record
    *.safetensors   arrays, nothing pickled
    others          encoders as Hugging Face saves them

The JSON is written last (`files.writing.renewed_folder`), so a killed process leaves a folder that is rejected, never
a mixture of two models. A fingerprint is a SHA-256 of everything but the training record. No other file of the product
imports `safetensors`; the lab has `auscult_lab.modules.arrays`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from auscult import telemetry
from auscult.errors import ModelError
from auscult.files.json_text import parse_json
from auscult.files.reading import digest_of_files

SETTINGS = "model.json"
REMEDY = "train or copy the model again"
SENTENCE_TRANSFORMER = "sentence-transformer"
"""The kind of a plain sentence-transformers folder, which has no `model.json`."""
SHIPPED = ("fast", "best", "multilingual", "cdv")
RERANKER = "reranker"
"""Name of the shipped re-ranker's folder."""
HUB = "hf:"
"""Prefix for models of the Hugging Face hub, so that a mistyped folder is never requested there."""
_OF_HUB = ("*.json", "*.safetensors", "*.txt", "*.model", "*.onnx")


def model_folder(name_or_path: str | Path) -> Path:
    """Return the folder of a shipped model or of a model of the Hugging Face hub ("hf:owner/name"), or the given path.

    A model of the hub is downloaded unless it is in the cache; its weights have to be safetensors.

    Raises:
        ModelError: This installation lacks the shipped model, or the hub has no such model or cannot be reached.
    """
    name = str(name_or_path)
    if name.startswith(HUB):
        return _download_from_hub(name.removeprefix(HUB))
    if name not in (*SHIPPED, RERANKER):
        return Path(name)
    folder = Path(str(files("auscult.encoders") / "pretrained" / name))
    if not folder.is_dir():
        remedy = "reinstall auscult, or give a model folder"
        if name == RERANKER:
            remedy = "train one (benchmarks/train_reranker.py), and say where it is: --reranker FOLDER"
        raise ModelError(f"the shipped model '{name}'", "an installation without it", remedy)
    return folder


def _download_from_hub(name: str) -> Path:
    telemetry.switch_off()
    # Imported here because it takes a quarter of a second.
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=[*_OF_HUB]))
    except (OSError, ValueError) as error:
        # The library's errors for unknown names, a missing network and missing permission.
        remedy = "correct the name, connect to the network, or give a folder"
        raise ModelError(
            f"a model of the Hugging Face hub for '{HUB}{name}'", str(error).split(". ")[0], remedy
        ) from error


def read_settings(folder: Path) -> dict[str, Any]:
    """Return the content of `model.json`; for a plain sentence-transformers folder, only its kind.

    Raises:
        ModelError: The folder has no readable model.
    """
    described = folder / SETTINGS
    if not described.is_file():
        if (folder / "modules.json").is_file():
            return {"kind": SENTENCE_TRANSFORMER}
        names = ", ".join(repr(name) for name in SHIPPED)
        remedy = f"name one of these, or {HUB}OWNER/NAME for a model of the hub"
        raise ModelError(f"{names} or a folder with a {SETTINGS}", repr(str(folder)), remedy)
    try:
        settings = parse_json(described.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"a readable {SETTINGS}", f"{described} ({error})", "copy the model again") from error
    if not isinstance(settings, dict):
        raise ModelError(f"a readable {SETTINGS}", f"{described} without fields", "copy the model again")
    return settings


def settings_of(folder: Path, kind: str, version: int) -> dict[str, Any]:
    """Return the content of `model.json` for a model of a given kind and format.

    Raises:
        ModelError: There is no model, or it has another kind or format.
    """
    settings = read_settings(folder)
    if settings.get("kind") != kind or settings.get("format") != version:
        got = f"kind {settings.get('kind')!r}, format {settings.get('format')!r} in {folder}"
        raise ModelError(f"kind '{kind}', format {version}", got, "update auscult or train the model again")
    return settings


def training_record(folder: Path) -> dict[str, object]:
    """Return the training record of a model: track, data, seed, hardware, date; empty if it has none.

    Raises:
        ModelError: The folder has no readable model.
    """
    record = read_settings(folder).get("training")
    return dict(record) if isinstance(record, dict) else {}


def fingerprint_of(settings: Mapping[str, Any]) -> str:
    """Return the SHA-256 of `model.json` without the training record; it includes the digests of all other files."""
    hashed = {key: value for key, value in settings.items() if key != "training"}
    return hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()


def digest_of_folders(folder: Path, *names: str) -> str:
    """Return the SHA-256 of the names and contents of files in a model's folder, and of all files in its subfolders."""
    files: list[Path] = []
    for name in names:
        place = folder / name
        files += [each for each in place.rglob("*") if each.is_file()] if place.is_dir() else [place]
    return digest_of_files(sorted(files), folder)


@contextmanager
def opening(what: str, folder: Path, remedy: str = REMEDY, also: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Context that turns errors while a model is opened into a `ModelError` about its folder.

    Args:
        what: What is opened.
        folder: Folder of the model.
        remedy: What to do about an error.
        also: Further classes of errors, besides those of files and of missing or invalid values.

    Raises:
        ModelError: A file is missing or damaged, or describes an impossible model.
    """
    from safetensors import SafetensorError

    faults: tuple[type[Exception], ...] = (
        OSError, LookupError, AttributeError, TypeError, ValueError, RuntimeError, SafetensorError, *also,
    )  # fmt: skip
    try:
        yield
    except faults as error:
        raise ModelError(what, f"{folder} ({error})", remedy) from error


def write_numbers(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write named arrays."""
    from safetensors.numpy import save

    # The library's own files can be read by their owner alone, and a service is often another user.
    path.write_bytes(save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))


def read_numbers(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a file by their names."""
    from safetensors.numpy import load_file

    arrays: dict[str, npt.NDArray[Any]] = load_file(path)
    return arrays


def as_tuples(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with tuples for lists, as dataclasses need them."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()}
