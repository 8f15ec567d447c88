"""Save and load general encoders, each in a folder.

model.json           kind, format, name, options of the reader, weights of the evidence, digests, training record
towers.safetensors   the learned layers, in half precision
asks.safetensors     the layer that reads what a question asks, if the model has one; no index depends on it
tokenizer.json       the tokenizer, in the format of the `tokenizers` library
model.onnx           the transformer that reads text
terms.onnx           the reader of weighted terms, if the model has one
terms-tokenizer.json   its tokenizer
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from auscult.encoders.general.terms import TermReader
from auscult.encoders.general.towers import Towers
from auscult.encoders.onnx_runtime import open_session
from auscult.errors import ModelError
from auscult.files.writing import renewed_folder, write_json
from auscult.provenance import usable_cores

FORMAT = 3
KIND = "general"
_CENTRE = "centre"
_NOT_INDEXED = frozenset({"fusion", "asks"})
"""Settings that no index depends on."""
_FILES = _TOWERS, _TOKENIZER, _TRANSFORMER = "towers.safetensors", "tokenizer.json", "model.onnx"
_ASKS = "asks.safetensors"
_TERM_FILES = _TERMS, _TERMS_TOKENIZER = "terms.onnx", "terms-tokenizer.json"


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
        training: The training record.

    Raises:
        DataError: The place cannot be written to.
    """
    with renewed_folder(folder, last=SETTINGS, without=() if terms else _TERM_FILES) as fresh:
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
            "aspects": list(aspects),
            "fusion": dict(fusion or {}),
            "sha256": digest_of_folders(fresh, *_FILES),
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
        "tokenizer": (folder / _TOKENIZER).read_bytes(),
        "transformer": (folder / _TRANSFORMER).read_bytes(),
        "reader": settings["reader"],
        "aspects": settings.get("aspects", ()),
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
    (folder / _TERMS).write_bytes(terms.transformer)
    (folder / _TERMS_TOKENIZER).write_bytes(terms.tokenizer)
    return {**terms.options, "sha256": digest_of_folders(folder, *_TERM_FILES)}


def _terms_of(folder: Path, settings: Mapping[str, Any]) -> TermFiles | None:
    if "terms" not in settings:
        return None
    options = {name: value for name, value in settings["terms"].items() if name != "sha256"}
    return TermFiles((folder / _TERMS).read_bytes(), (folder / _TERMS_TOKENIZER).read_bytes(), options)


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
        write_numbers(fresh / _ASKS, arrays)
        write_json(
            fresh / SETTINGS, {**settings, "asks": {"sha256": digest_of_folders(fresh, _ASKS)}, "training": record}
        )


def _check_files(folder: Path, names: Sequence[str], digest: str) -> None:
    if digest_of_folders(folder, *names) != digest:
        raise ModelError("files as they were saved", f"others in {folder}", "copy the model again")


def load(folder: Path) -> GeneralEncoder:
    """Read a model folder.

    Raises:
        ModelError: A file is missing or damaged, or of another format.
    """
    settings = settings_of(folder, KIND, FORMAT)
    with opening("a whole general encoder", folder):
        _check_files(folder, _FILES, settings["sha256"])
        arrays = read_numbers(folder / _TOWERS)
        centre = arrays.pop(_CENTRE).astype(np.float32)
        if "asks" in settings:
            _check_files(folder, (_ASKS,), settings["asks"]["sha256"])
            arrays |= read_numbers(folder / _ASKS)
        terms = None
        if "terms" in settings:
            options = dict(settings["terms"])
            _check_files(folder, _TERM_FILES, options.pop("sha256"))
            tokenizer = open_tokenizer(folder / _TERMS_TOKENIZER)
            terms = TermReader(open_session(folder / _TERMS, threads=1), tokenizer, usable_cores(), **options)
        return GeneralEncoder(
            # One batch per core, as cores that share a batch wait for each other.
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
            terms=terms,
            aspects=settings.get("aspects", ()),
            fingerprint=fingerprint_of({key: value for key, value in settings.items() if key not in _NOT_INDEXED}),
        )
