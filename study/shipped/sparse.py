"""Convert a published sparse encoder (SPLADE, formal2021) into a general encoder's reader of weighted terms.

Its file is for ONNX Runtime, with 8-bit weights, like those of the other readers. Its last layer has a row for each
word of the vocabulary, and computing all of them is most of the work. Two kinds of rows are left out:

- Rows of words that are terms of hardly any health text.
- For a text, rows that are not near one of its tokens. Near a token are the 24 terms with the largest logits at the
  mean of its states in health texts. About 730 of 17,921 rows remain for a window. On the answers to the development
  questions, the mean cosine to the weights from all rows is .997, and nDCG@10 and P@1 of the terms alone are unchanged
  (78.7 / 65.3; with 8 terms 78.2 / 63.9).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import FloatArray
from auscult.encoders.folder import read_numbers
from auscult.encoders.general.readers import open_tokenizer
from auscult.encoders.onnx_runtime import open_session
from auscult.errors import ModelError
from auscult.files.json_text import parse_json
from auscult.files.writing import renewed_folder
from auscult_lab.general.saving import TermFiles
from study.shipped.sparse_onnx import splade_as_onnx, splade_states_as_onnx

WINDOW: Final = 128
MOST: Final = 96
"""Terms kept of a window. With 64 the development questions lost a point, with 128 they won nothing."""
HELD_BY: Final = 2
"""Texts that have to bring a term up for its row to stay."""
NEAR: Final = 24
"""Terms that a token may bring up."""
_BY: Final = 0.1
_AT_ONCE: Final = 256
_OLD: Final = {".gamma": ".weight", ".beta": ".bias"}


def term_files(encoder: Path, texts: Iterable[str], scratch: Path) -> TermFiles:
    """Return the files of the reader made from a folder's masked language model.

    Args:
        encoder: Folder of a BERT with its language-model head, as `transformers` saves it.
        texts: Health texts, which decide the terms to keep.
        scratch: Folder for temporary files.

    Raises:
        ModelError: The folder has no such model.
    """
    weights, config = open_splade(encoder)
    words = weights["embeddings.word_embeddings.weight"]
    if len(words) > np.iinfo(np.uint16).max:
        raise ModelError("at most 65,535 terms", f"{len(words):,} in {encoder}", "take an encoder of one language")
    with renewed_folder(scratch) as fresh:
        (fresh / "states.onnx").write_bytes(splade_states_as_onnx(weights, config, WINDOW))
    session = open_session(scratch / "states.onnx", threads=1)
    tokenizer = open_tokenizer(encoder / "tokenizer.json")
    bias = weights["cls.predictions.bias"]
    kept, states = _read(session, tokenizer, texts, words, bias)
    near = _nearest(states, words[kept], bias[kept])
    return TermFiles(
        splade_as_onnx(weights, config, WINDOW, kept, near),
        (encoder / "tokenizer.json").read_bytes(),
        {"window": WINDOW, "most": MOST},
    )


def _read(
    session: Any, tokenizer: Any, texts: Iterable[str], words: FloatArray, bias: FloatArray
) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Return the terms of several texts, in order, and each token's mean state, (vocabulary, dim)."""
    held_by = np.zeros(len(words), np.int64)
    sums, counts = np.zeros_like(words), np.zeros(len(words), np.int64)

    def states_of(ids: Sequence[int]) -> FloatArray:
        states: FloatArray = session.run(["states"], {"input_ids": np.array([ids])})[0]
        return states

    first, last = tokenizer.encode("").ids
    room = WINDOW - 2
    source = iter(texts)
    while batch := list(islice(source, _AT_ONCE)):
        for encoding in tokenizer.encode_batch(batch, add_special_tokens=False):
            largest = np.zeros(len(words), np.float32)
            for begin in range(0, len(encoding.ids), room):
                ids = [first, *encoding.ids[begin : begin + room], last]
                states = states_of(ids)
                np.add.at(sums, ids, states)
                np.add.at(counts, ids, 1)
                np.maximum(largest, (states @ words.T).max(axis=0) + bias, out=largest)
            held_by += np.log1p(largest) > _BY
    for token in np.flatnonzero(counts == 0).tolist():
        # A token that is in no text is read alone.
        sums[token] = states_of([first, token, last])[1]
    means = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
    return np.flatnonzero(held_by >= HELD_BY).astype(np.int64), means


def _nearest(states: FloatArray, words: FloatArray, bias: FloatArray) -> npt.NDArray[np.uint16]:
    """Return the places of the terms with the largest logits at each state, (states, NEAR)."""
    near = np.zeros((len(states), min(NEAR, len(words))), np.uint16)
    for first in range(0, len(states), _AT_ONCE):
        rows = slice(first, first + _AT_ONCE)
        logits = states[rows] @ words.T + bias
        near[rows] = np.argpartition(-logits, near.shape[1] - 1, axis=1)[:, : near.shape[1]]
    return near


def open_splade(folder: Path) -> tuple[Mapping[str, npt.NDArray[np.float32]], dict[str, Any]]:
    """Open a masked language model's weights, by their names without "bert.", and its configuration.

    Raises:
        ModelError: The folder has no such model.
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
    """Return some random passages, and all questions."""
    chance = np.random.default_rng(seed)
    picked = chance.permutation(len(passages))[:most]
    return [*(passages[row] for row in np.sort(picked).tolist()), *questions]
