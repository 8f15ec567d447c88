"""A general encoder on disk.

model.json           kind, format, name, what reads, the weights of the evidence, digests, how it was trained
towers.safetensors   the learned layers, in half precision
tokenizer.json       as the `tokenizers` library has it
tokens.safetensors   a token table: `table` (int8), `scales`, `projection`      } one of
model.onnx           a transformer                                              } the two
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from auscult.errors import ModelError
from auscult.files.writing import renewed_folder, write_json
from auscult.models.folder import (
    SETTINGS,
    digest_of_folders,
    fingerprint_of,
    opening,
    read_numbers,
    settings_of,
    write_numbers,
)
from auscult.models.general.encoder import GeneralEncoder
from auscult.models.general.readers import Reader, TokenTable, WindowReader, open_session, open_tokenizer
from auscult.models.general.towers import Towers

FORMAT = 1
KIND = "general"
_TOWERS, _TOKENIZER, _TOKENS, _TRANSFORMER = "towers.safetensors", "tokenizer.json", "tokens.safetensors", "model.onnx"


def save(
    folder: Path,
    towers: Mapping[str, Any],
    *,
    name: str,
    start_share: float,
    fusion: Mapping[str, Any],
    tokenizer: bytes,
    table: Mapping[str, Any] | None = None,
    transformer: tuple[bytes, Mapping[str, Any]] | None = None,
    training: Mapping[str, object] | None = None,
) -> None:
    """Write a model folder, or replace the model in it.

    Args:
        folder: Where to.
        towers: Arrays by name (`towers.Towers`).
        name: As tables call it.
        start_share: As `GeneralEncoder` takes it.
        fusion: Weights of the evidence.
        tokenizer: Content of its file.
        table: Arrays of a `TokenTable`: `table`, `scales`, `projection`.
        transformer: In the place of a table: content of an ONNX file, and the options of a `WindowReader`.
        training: How it was trained, for the record.

    Raises:
        DataError: The place cannot be written to.
    """
    kept = [_TOWERS, _TOKENIZER]
    with renewed_folder(folder, last=SETTINGS, without=[_TOKENS, _TRANSFORMER]) as fresh:
        write_numbers(fresh / _TOWERS, {key: np.asarray(array, np.float16) for key, array in towers.items()})
        (fresh / _TOKENIZER).write_bytes(tokenizer)
        reader: dict[str, Any] = {"kind": "tokens"}
        if table is not None:
            write_numbers(fresh / _TOKENS, table)
            kept.append(_TOKENS)
        elif transformer is not None:
            (fresh / _TRANSFORMER).write_bytes(transformer[0])
            reader = {"kind": "transformer", **transformer[1]}
            kept.append(_TRANSFORMER)
        digest = digest_of_folders(fresh, *kept)
        settings = {
            "kind": KIND,
            "format": FORMAT,
            "name": name,
            "reader": reader,
            "start_share": start_share,
            "fusion": dict(fusion),
            "files": kept,
            "sha256": digest,
        }
        write_json(fresh / SETTINGS, {**settings, "training": dict(training or {})})


def load(folder: Path) -> GeneralEncoder:
    """Read a model folder.

    Raises:
        ModelError: A file is missing or damaged, or the format is another.
        MissingExtraError: A package that reads text is not installed.
    """
    settings = settings_of(folder, KIND, FORMAT)
    with opening("a whole general encoder", folder):
        if digest_of_folders(folder, *settings["files"]) != settings["sha256"]:
            raise ModelError("files as they were saved", f"others in {folder}", "copy the model again")
        return GeneralEncoder(
            _reader(folder, dict(settings["reader"])),
            Towers(read_numbers(folder / _TOWERS)),
            name=str(settings["name"]),
            start_share=float(settings["start_share"]),
            fusion=settings["fusion"],
            fingerprint=fingerprint_of(settings),
        )


def _reader(folder: Path, told: dict[str, Any]) -> Reader:
    tokenizer = open_tokenizer(folder / _TOKENIZER)
    if told.pop("kind") == "transformer":
        return WindowReader(open_session(folder / _TRANSFORMER), tokenizer, **told)
    arrays = read_numbers(folder / _TOKENS)
    scales, projection = (arrays[name].astype(np.float32) for name in ("scales", "projection"))
    return TokenTable(tokenizer, arrays["table"], scales, projection)
