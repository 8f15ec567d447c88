"""Save general encoders, each in a folder, as `auscult.encoders.general.persistence` loads them; change saved ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from auscult.encoders.folder import SETTINGS, digest_of_folders, settings_of, write_numbers
from auscult.encoders.general.persistence import (
    ASKS,
    CENTRE,
    FILES,
    FORMAT,
    KIND,
    TERM_FILES,
    TERMS,
    TERMS_TOKENIZER,
    TOKENIZER,
    TOWERS,
    TRANSFORMER,
)
from auscult.files.writing import renewed_folder, write_json


@dataclass(frozen=True, slots=True)
class TermFiles:
    """The saved form of a reader of weighted terms.

    Attributes:
        transformer: Content of its ONNX file.
        tokenizer: Content of its tokenizer's file.
        options: Options of `TermReader`.
    """

    transformer: bytes
    tokenizer: bytes
    options: Mapping[str, Any]


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
    terms: TermFiles | None = None,
    fusion: Mapping[str, Any] | None = None,
    aspects: Sequence[str] = (),
    languages: Sequence[str] = ("en",),
    training: Mapping[str, object] | None = None,
) -> None:
    """Write a model folder, or replace the model in it.

    Args:
        folder: The folder.
        towers: Arrays by name (`towers.Towers`).
        centre: The `centre` of `GeneralEncoder`.
        name: Name in tables.
        start_share: The `start_share` of `GeneralEncoder`.
        tokenizer: Content of the tokenizer's file.
        transformer: Content of the ONNX file.
        reader: Options of `WindowReader`.
        terms: The reader of weighted terms; None for a model without.
        fusion: Weights of the evidence; none until they are fitted.
        aspects: The `aspects` of `GeneralEncoder`.
        languages: Its `languages`.
        training: The training record.

    Raises:
        DataError: The place cannot be written to.
    """
    with renewed_folder(folder, last=SETTINGS, without=() if terms else TERM_FILES) as fresh:
        arrays = {**towers, CENTRE: centre}
        write_numbers(fresh / TOWERS, {key: np.asarray(array, np.float16) for key, array in arrays.items()})
        (fresh / TOKENIZER).write_bytes(tokenizer)
        (fresh / TRANSFORMER).write_bytes(transformer)
        settings = {
            "kind": KIND,
            "format": FORMAT,
            "name": name,
            "reader": dict(reader),
            "start_share": start_share,
            "aspects": list(aspects),
            **({} if list(languages) == ["en"] else {"languages": list(languages)}),
            "fusion": dict(fusion or {}),
            "sha256": digest_of_folders(fresh, *FILES),
        }
        if terms is not None:
            settings["terms"] = _write_terms(fresh, terms)
        write_json(fresh / SETTINGS, {**settings, "training": dict(training or {})})


def what_reads(folder: Path) -> dict[str, Any]:
    """Return the arguments of `save` that describe how a saved model reads, for another model that reads alike.

    Raises:
        ModelError: There is no such model.
    """
    settings = settings_of(folder, KIND, FORMAT)
    return {
        "start_share": float(settings["start_share"]),
        "tokenizer": (folder / TOKENIZER).read_bytes(),
        "transformer": (folder / TRANSFORMER).read_bytes(),
        "reader": settings["reader"],
        "aspects": settings.get("aspects", ()),
        "languages": settings.get("languages", ("en",)),
        "terms": _terms_of(folder, settings),
    }


def add_terms(folder: Path, terms: TermFiles) -> None:
    """Add a reader of weighted terms to a saved model; indexes made before no longer fit it.

    Raises:
        ModelError: There is no such model.
    """
    settings = settings_of(folder, KIND, FORMAT)
    with renewed_folder(folder, last=SETTINGS) as fresh:
        write_json(fresh / SETTINGS, {**settings, "terms": _write_terms(fresh, terms)})


def _write_terms(folder: Path, terms: TermFiles) -> dict[str, Any]:
    (folder / TERMS).write_bytes(terms.transformer)
    (folder / TERMS_TOKENIZER).write_bytes(terms.tokenizer)
    return {**terms.options, "sha256": digest_of_folders(folder, *TERM_FILES)}


def _terms_of(folder: Path, settings: Mapping[str, Any]) -> TermFiles | None:
    if "terms" not in settings:
        return None
    options = {name: value for name, value in settings["terms"].items() if name != "sha256"}
    return TermFiles((folder / TERMS).read_bytes(), (folder / TERMS_TOKENIZER).read_bytes(), options)


def set_fusion(folder: Path, fusion: Mapping[str, Any], training: Mapping[str, object]) -> None:
    """Change a saved model's weights of the evidence; its indexes stay valid.

    Args:
        folder: Folder of the model.
        fusion: The weights.
        training: Record of how they were fitted.

    Raises:
        ModelError: There is no such model.
    """
    settings = settings_of(folder, KIND, FORMAT)
    record = {**settings.get("training", {}), "fusion": dict(training)}
    write_json(folder / SETTINGS, {**settings, "fusion": dict(fusion), "training": record})


def set_asks(folder: Path, asks: Mapping[str, Any], training: Mapping[str, object]) -> None:
    """Add the layer that reads what a question asks to a saved model, or replace it; its indexes stay valid.

    Args:
        folder: Folder of the model.
        asks: `weight` (aspects, width) and `bias` (aspects,), as `towers.Towers` takes them.
        training: Record of how they were fitted.

    Raises:
        ModelError: There is no such model.
    """
    settings = settings_of(folder, KIND, FORMAT)
    record = {**settings.get("training", {}), "asks": dict(training)}
    with renewed_folder(folder, last=SETTINGS) as fresh:
        arrays = {f"asks.{name}": np.asarray(array, np.float16) for name, array in asks.items()}
        write_numbers(fresh / ASKS, arrays)
        write_json(
            fresh / SETTINGS, {**settings, "asks": {"sha256": digest_of_folders(fresh, ASKS)}, "training": record}
        )
