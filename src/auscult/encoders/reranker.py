"""The re-ranker: a small transformer that reads a question and a passage together, for the first hits of a search.

    [CLS] question [SEP] title > heading. passage [SEP]  →  transformer (ONNX, 8 bits)  →  token states h
    score = w · h_CLS + b + s · cos(mean of h over the question, mean of h over the passage)

sigmoid(score) is how probable it is that the passage answers. The cosine is how a sentence encoder compares two texts:
training begins with it and has little to unlearn. A question is cut after 48 tokens, title and heading after 24,
and the passage where the window is full.

Cost: a reading of some 200 tokens for each passage; no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

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
from auscult.encoders.general.readers import MOST_CHARACTERS, Transformer, open_tokenizer
from auscult.encoders.general.towers import unit
from auscult.encoders.onnx_runtime import open_session
from auscult.errors import ModelError
from auscult.files.writing import renewed_folder, write_json
from auscult.interfaces import FloatArray
from auscult.provenance import usable_cores

FORMAT = 1
KIND = "reranker"
_FILES = _HEAD, _TOKENIZER, _TRANSFORMER = "head.safetensors", "tokenizer.json", "model.onnx"
QUESTION_TOKENS, LABEL_TOKENS = 48, 24


class Pair(NamedTuple):
    """Tokens of a question and a passage, as they are read.

    Attributes:
        ids: All, with marks.
        asked: How many are the question's; they follow the first mark.
    """

    ids: list[int]
    asked: int


def label(title: str, heading: str) -> str:
    """What is shown of a passage's place before its text; empty where it has neither."""
    words = " > ".join(filter(None, (title.strip(), heading.strip())))
    return f"{words}." if words else ""


def pair(marks: tuple[int, int], question: list[int], label_tokens: list[int], text: list[int], window: int) -> Pair:
    """Put a question and a passage together.

    Args:
        marks: Tokens at the beginning, and after the question and at the end.
        question: Its tokens.
        label_tokens: Tokens of title and heading (`label`).
        text: Tokens of the passage, from where it is to be read.
        window: How many tokens there may be.
    """
    first, last = marks
    question = question[:QUESTION_TOKENS]
    before = [first, *question, last, *label_tokens[:LABEL_TOKENS]]
    return Pair([*before, *text[: window - len(before) - 1], last], len(question))


class Reranker:
    """Reads pairs.

    Args:
        transformer: A BERT (`general.bert_onnx`).
        tokenizer: Of the `tokenizers` library.
        head: "weight" (dim,), "bias" () and "scale" (), as above.
        name: Shown in tables.
        window: Tokens of a question and a passage that are read; of a longer passage, the first.
        weights: How much the probability counts beside the other evidence (`search.reranking`), by the kind of query.
        fingerprint: Hash of weights and configuration.
    """

    def __init__(
        self,
        transformer: Transformer,
        tokenizer: Any,
        head: Mapping[str, FloatArray],
        *,
        name: str,
        window: int,
        weights: Mapping[str, float],
        fingerprint: str = "",
    ) -> None:
        self.name = name
        self.window = window
        self.weights = weights
        self.fingerprint = fingerprint
        self._transformer = transformer
        self._tokenizer = tokenizer
        self._head = head
        self._marks: tuple[int, int] = tuple(tokenizer.encode("").ids)

    def score(self, question: str, passages: Sequence[tuple[str, str]]) -> FloatArray:
        """How well passages answer, (passages,): log odds.

        Args:
            question: In words.
            passages: What is shown before each (`label`), and its text from where it is to be read.
        """
        question_tokens, *passage_tokens = self._tokens([question, *(text for passage in passages for text in passage)])
        pairs = [
            pair(self._marks, question_tokens, *texts, self.window)
            for texts in zip(passage_tokens[::2], passage_tokens[1::2], strict=True)
        ]
        scores = np.zeros(len(pairs), np.float32)
        for row, states in self._transformer.states([tokens.ids for tokens in pairs]):
            scores[row] = self._score(states, pairs[row].asked)
        return scores

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        texts = [text[:MOST_CHARACTERS] for text in texts]
        return [each.ids for each in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def _score(self, states: FloatArray, question_tokens: int) -> float:
        """Of one pair, by the states of its tokens, (tokens, dim)."""
        # Directions of sums are those of means.
        sums = np.stack([states[1 : 1 + question_tokens].sum(axis=0), states[1 + question_tokens :].sum(axis=0)])
        question, passage = unit(sums)
        score = states[0] @ self._head["weight"] + self._head["bias"] + self._head["scale"] * (question @ passage)
        return float(score.item())


def save(
    folder: Path,
    head: Mapping[str, Any],
    *,
    name: str,
    window: int,
    tokenizer: bytes,
    transformer: bytes,
    training: Mapping[str, object] | None = None,
) -> None:
    """Write a re-ranker's folder, or replace the one in it; its weights are not fitted yet.

    Args:
        folder: Where to.
        head: As `Reranker` takes it.
        name: As tables call it.
        window: As `Reranker` takes it.
        tokenizer: Content of its file.
        transformer: Content of its ONNX file.
        training: How it was trained, for the record.

    Raises:
        DataError: The place cannot be written to.
    """
    with renewed_folder(folder, last=SETTINGS) as fresh:
        write_numbers(fresh / _HEAD, {key: np.asarray(array, np.float32) for key, array in head.items()})
        (fresh / _TOKENIZER).write_bytes(tokenizer)
        (fresh / _TRANSFORMER).write_bytes(transformer)
        settings = {"kind": KIND, "format": FORMAT, "name": name, "window": window, "weights": {},
                    "sha256": digest_of_folders(fresh, *_FILES)}  # fmt: skip
        write_json(fresh / SETTINGS, {**settings, "training": dict(training or {})})


def set_weights(folder: Path, weights: Mapping[str, float], training: Mapping[str, object]) -> None:
    """Give a saved re-ranker its weights.

    Args:
        folder: Of the re-ranker.
        weights: As `Reranker` takes them.
        training: How they were fitted, for the record.

    Raises:
        ModelError: There is no such model.
    """
    settings = settings_of(folder, KIND, FORMAT)
    record = {**settings.get("training", {}), "weights": dict(training)}
    write_json(folder / SETTINGS, {**settings, "weights": dict(weights), "training": record})


def load(folder: Path) -> Reranker:
    """Read a re-ranker's folder.

    Raises:
        ModelError: A file is missing or damaged, or the format is another.
    """
    settings = settings_of(folder, KIND, FORMAT)
    with opening("a whole re-ranker", folder):
        if digest_of_folders(folder, *_FILES) != settings["sha256"]:
            raise ModelError("files as they were saved", f"others in {folder}", "copy the model again")
        return Reranker(
            Transformer(open_session(folder / _TRANSFORMER, threads=1), usable_cores()),
            open_tokenizer(folder / _TOKENIZER),
            read_numbers(folder / _HEAD),
            name=str(settings["name"]),
            window=int(settings["window"]),
            weights={str(key): float(value) for key, value in settings["weights"].items()},
            fingerprint=fingerprint_of(settings),
        )
