"""A sparse encoder of somebody else made into the reader of weighted terms of a general encoder (SPLADE, formal2021).

Its file is written for ONNX Runtime with 8-bit weights, as the other readers' are. Most of its work is the last layer,
which has a row for each word of the vocabulary. Rows of words that hardly any health text brings up are left out:
with 12,092 of 30,522 the same passages came first on the development questions, and reading takes half as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.encoders.folder import read_numbers
from auscult.encoders.general.persistence import TermFiles
from auscult.encoders.general.readers import open_tokenizer
from auscult.encoders.general.terms import TermReader
from auscult.encoders.onnx_runtime import open_session
from auscult.errors import ModelError
from auscult.files.json_text import parse_json
from auscult.files.writing import renewed_folder
from auscult_lab.general.bert_onnx import splade_as_onnx

WINDOW: Final = 128
MOST: Final = 96
"""Terms kept of a window. With 64 the development questions lost a point, with 128 they won nothing."""
HELD_BY: Final = 2
"""Texts that have to bring a term up for its row to stay."""
_BY: Final = 0.1
_AT_ONCE: Final = 256
_OLD: Final = {".gamma": ".weight", ".beta": ".bias"}


def term_files(encoder: Path, texts: Iterable[str], scratch: Path) -> TermFiles:
    """Return the reader of terms that a folder's masked language model becomes.

    Args:
        encoder: Folder of a BERT with its language-model head, as `transformers` saves it.
        texts: Health texts, which say what terms are kept.
        scratch: Folder for files on the way.

    Raises:
        ModelError: The folder holds no such model.
    """
    weights, config = open_splade(encoder)
    tokenizer = (encoder / "tokenizer.json").read_bytes()
    whole = np.arange(len(weights["embeddings.word_embeddings.weight"]))
    if len(whole) > np.iinfo(np.uint16).max:
        raise ModelError("at most 65,535 terms", f"{len(whole):,} in {encoder}", "take an encoder of one language")
    with renewed_folder(scratch) as fresh:
        (fresh / "whole.onnx").write_bytes(splade_as_onnx(weights, config, WINDOW, whole))
    reader = TermReader(
        open_session(scratch / "whole.onnx", threads=1),
        open_tokenizer(encoder / "tokenizer.json"),
        window=WINDOW,
        most=len(whole),
    )
    kept = _brought_up(reader, texts, len(whole))
    return TermFiles(splade_as_onnx(weights, config, WINDOW, kept), tokenizer, {"window": WINDOW, "most": MOST})


def _brought_up(reader: TermReader, texts: Iterable[str], size: int) -> npt.NDArray[np.int64]:
    """Return the terms that several texts bring up, in order."""
    counts = np.zeros(size, np.int64)
    source = iter(texts)
    while batch := list(islice(source, _AT_ONCE)):
        read = reader.read(batch)
        counts += np.bincount(read.terms[read.weights > _BY], minlength=size)
    return np.flatnonzero(counts >= HELD_BY)


def open_splade(folder: Path) -> tuple[Mapping[str, npt.NDArray[np.float32]], dict[str, Any]]:
    """Open a masked language model's weights, by their names without "bert.", and its configuration.

    Raises:
        ModelError: The folder holds no such model.
    """
    try:
        config = parse_json((folder / "config.json").read_bytes())
        saved = read_numbers(folder / "model.safetensors")
    except (OSError, ValueError) as error:
        raise ModelError("a folder of a sparse encoder", f"{folder} ({error})", "name another folder") from error
    named = {}
    for name, array in saved.items():
        for old, new in _OLD.items():
            name = name.removesuffix(old) + new if name.endswith(old) else name
        named[name.removeprefix("bert.")] = array
    if "cls.predictions.bias" not in named:
        raise ModelError("a masked language model", f"{folder} without its head", "take a SPLADE encoder")
    return named, config


def texts_of(passages: Sequence[str], questions: Sequence[str], *, most: int, seed: int = 0) -> list[str]:
    """Return some passages by chance, and all questions."""
    chance = np.random.default_rng(seed)
    picked = chance.permutation(len(passages))[:most]
    return [*(passages[row] for row in np.sort(picked).tolist()), *questions]
