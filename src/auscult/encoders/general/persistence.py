"""Load general encoders, each from a folder.

model.json           kind, format, name, options of the reader, weights of the evidence, digests, training record
towers.safetensors   the learned layers, in half precision
asks.safetensors     the layer that reads what a question asks, if the model has one; no index depends on it
tokenizer.json       the tokenizer, in the format of the `tokenizers` library
model.onnx           the transformer that reads text
terms.onnx           the reader of weighted terms, if the model has one
terms-tokenizer.json   its tokenizer
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from auscult.encoders.folder import (
    digest_of_folders,
    fingerprint_of,
    opening,
    read_numbers,
    settings_of,
)
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.encoders.general.readers import Transformer, WindowReader, open_tokenizer
from auscult.encoders.general.terms import TermReader
from auscult.encoders.general.towers import Towers
from auscult.encoders.onnx_runtime import open_session
from auscult.errors import ModelError
from auscult.provenance import usable_cores

FORMAT = 3
KIND = "general"
CENTRE = "centre"
_NOT_INDEXED = frozenset({"fusion", "asks", "languages"})
"""Settings that no index depends on."""
FILES = TOWERS, TOKENIZER, TRANSFORMER = "towers.safetensors", "tokenizer.json", "model.onnx"
ASKS = "asks.safetensors"
TERM_FILES = TERMS, TERMS_TOKENIZER = "terms.onnx", "terms-tokenizer.json"


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
        _check_files(folder, FILES, settings["sha256"])
        arrays = read_numbers(folder / TOWERS)
        centre = arrays.pop(CENTRE).astype(np.float32)
        if "asks" in settings:
            _check_files(folder, (ASKS,), settings["asks"]["sha256"])
            arrays |= read_numbers(folder / ASKS)
        terms = None
        if "terms" in settings:
            options = dict(settings["terms"])
            _check_files(folder, TERM_FILES, options.pop("sha256"))
            tokenizer = open_tokenizer(folder / TERMS_TOKENIZER)
            terms = TermReader(open_session(folder / TERMS, threads=1), tokenizer, usable_cores(), **options)
        return GeneralEncoder(
            # One batch per core, as cores that share a batch wait for each other.
            WindowReader(
                Transformer(open_session(folder / TRANSFORMER, threads=1), usable_cores()),
                open_tokenizer(folder / TOKENIZER),
                **settings["reader"],
            ),
            Towers(arrays),
            name=str(settings["name"]),
            centre=centre,
            start_share=float(settings["start_share"]),
            fusion=settings["fusion"],
            terms=terms,
            aspects=settings.get("aspects", ()),
            languages=settings.get("languages", ("en",)),
            fingerprint=fingerprint_of({key: value for key, value in settings.items() if key not in _NOT_INDEXED}),
        )
