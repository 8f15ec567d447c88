"""A model's folder, whatever its kind: what is said of it in JSON, its arrays, and whether both are whole.

    model.json      "kind" (see `encoders.registry`), settings, a digest of all other files, and "training", the record
    *.safetensors   arrays, nothing pickled
    others          encoders as Hugging Face saves them

The JSON is written last (`files.writing.renewed_folder`): a kill in between leaves a folder that is refused, never
another model. A fingerprint is a SHA-256 of everything but the training record. This is the only file of the product
that imports `safetensors`; `auscult_lab.modules.arrays` is the lab's.
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
"""The kind of a bare sentence-transformers folder, which has no `model.json`."""
SHIPPED = ("fast", "best", "cdv")
RERANKER = "reranker"
"""The folder of the shipped re-ranker, beside the others."""
HUB = "hf:"
"""What stands before the name of a model of the Hugging Face hub: no mistyped folder is ever asked for there."""
_OF_HUB = ("*.json", "*.safetensors", "*.txt", "*.model", "*.onnx")


def model_folder(name_or_path: str | Path) -> Path:
    """The folder of a shipped model, of one of the Hugging Face hub ("hf:owner/name"), or the given path.

    A model of the hub is fetched where it is not kept yet, its weights as safetensors alone.

    Raises:
        ModelError: This installation lacks the shipped model, or the hub has none of that name, or cannot be reached.
    """
    name = str(name_or_path)
    if name.startswith(HUB):
        return _of_hub(name.removeprefix(HUB))
    if name not in (*SHIPPED, RERANKER):
        return Path(name)
    folder = Path(str(files("auscult.encoders") / "pretrained" / name))
    if not folder.is_dir():
        remedy = "reinstall auscult, or give a model folder"
        if name == RERANKER:
            remedy = "train one (auscult train experiments/reranker.yaml), and say where it is: --reranker FOLDER"
        raise ModelError(f"the shipped model '{name}'", "an installation without it", remedy)
    return folder


def _of_hub(name: str) -> Path:
    telemetry.switch_off()
    # Only here: it takes a quarter of a second to import.
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=[*_OF_HUB]))
    except (OSError, ValueError) as error:
        # Its errors are of these kinds: no such name, no network, not allowed.
        remedy = "correct the name, connect to the network, or give a folder"
        raise ModelError(
            f"a model of the Hugging Face hub for '{HUB}{name}'", str(error).split(". ")[0], remedy
        ) from error


def read_settings(folder: Path) -> dict[str, Any]:
    """What `model.json` says; of a bare sentence-transformers folder, only its kind.

    Raises:
        ModelError: The folder holds no readable model.
    """
    described = folder / SETTINGS
    if not described.is_file():
        if (folder / "modules.json").is_file():
            return {"kind": SENTENCE_TRANSFORMER}
        names = ", ".join(repr(name) for name in SHIPPED)
        remedy = f"give the folder that 'auscult train' wrote, a shipped name, or {HUB}owner/name for one of the hub"
        raise ModelError(f"{names} or a folder with a {SETTINGS}", repr(str(folder)), remedy)
    try:
        settings = parse_json(described.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"a readable {SETTINGS}", f"{described} ({error})", "copy the model again") from error
    if not isinstance(settings, dict):
        raise ModelError(f"a readable {SETTINGS}", f"{described} without fields", "copy the model again")
    return settings


def settings_of(folder: Path, kind: str, version: int) -> dict[str, Any]:
    """What `model.json` says of a model of one kind and format.

    Raises:
        ModelError: There is none, or it is of another kind or format.
    """
    settings = read_settings(folder)
    if settings.get("kind") != kind or settings.get("format") != version:
        found = f"kind {settings.get('kind')!r}, format {settings.get('format')!r} in {folder}"
        raise ModelError(f"kind '{kind}', format {version}", found, "update auscult or train the model again")
    return settings


def training_record(folder: Path) -> dict[str, object]:
    """What a model folder says about its training: track, data, seed, hardware, date; empty when it says nothing.

    Raises:
        ModelError: The folder holds no readable model.
    """
    record = read_settings(folder).get("training")
    return dict(record) if isinstance(record, dict) else {}


def fingerprint_of(settings: Mapping[str, Any]) -> str:
    """SHA-256 of what `model.json` says but the training record: the digests of all other files are in it."""
    told = {key: value for key, value in settings.items() if key != "training"}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def digest_of_folders(folder: Path, *names: str) -> str:
    """SHA-256 over the names and contents of files in a model's folder, and of all files in folders of it."""
    found: list[Path] = []
    for name in names:
        place = folder / name
        found += [each for each in place.rglob("*") if each.is_file()] if place.is_dir() else [place]
    return digest_of_files(sorted(found), folder)


@contextmanager
def opening(what: str, folder: Path, remedy: str = REMEDY, also: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Where a model is made of its files: what goes wrong there is the folder's fault.

    Args:
        what: Is opened.
        folder: Of it.
        remedy: What to do.
        also: Errors that are the folder's fault besides those of files and of missing or strange values.

    Raises:
        ModelError: A file is missing or damaged, or tells of a model that there is not.
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

    found: dict[str, npt.NDArray[Any]] = load_file(path)
    return found


def as_tuples(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as dataclasses have them: JSON knows no tuples."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()}
