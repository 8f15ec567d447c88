"""Re-rank the first hits of a search with a small transformer that reads question and passage together.

    [CLS] question [SEP] title > heading. passage [SEP]  →  transformer (ONNX, 8 bits)  →  token states h
    score = w · h_CLS + b + s · cos(mean of h over the question, mean of h over the passage)

sigmoid(score) is the probability that the passage answers. The cosine is how the pretrained sentence encoder compares
texts, so training starts from a good comparison. A question is cut after 48 tokens, title and heading after 24, and the
passage when the window is full.

Cost: one pass over some 200 tokens for each passage; no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from auscult.encoders.contract import FloatArray
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
from auscult.provenance import usable_cores

FORMAT = 1
KIND = "reranker"
_FILES = _HEAD, _TOKENIZER, _TRANSFORMER = "head.safetensors", "tokenizer.json", "model.onnx"
QUESTION_TOKENS, LABEL_TOKENS = 48, 24


class Pair(NamedTuple):
    """The tokens of a question and a passage, as the transformer reads them.

    Attributes:
        ids: All tokens, including special ones.
        asked: Number of tokens of the question, which follow the first special token.
    """

    ids: list[int]
    asked: int


def label(title: str, heading: str) -> str:
    """Return the title and heading that are read before a passage; empty if it has neither."""
    words = " > ".join(filter(None, (title.strip(), heading.strip())))
    return f"{words}." if words else ""


def pair(marks: tuple[int, int], question: list[int], label_tokens: list[int], text: list[int], window: int) -> Pair:
    """Join the tokens of a question and a passage.

    Args:
        marks: Special tokens: for the beginning, and for the ends of question and passage.
        question: Tokens of the question.
        label_tokens: Tokens of title and heading (`label`).
        text: Tokens of the passage, from the place where reading begins.
        window: Maximum number of tokens.
    """
    first, last = marks
    question = question[:QUESTION_TOKENS]
    before = [first, *question, last, *label_tokens[:LABEL_TOKENS]]
    return Pair([*before, *text[: window - len(before) - 1], last], len(question))


class Reranker:
    """Model that scores how well passages answer a question.

    Args:
        transformer: A BERT (`general.bert_onnx`).
        tokenizer: Tokenizer of the `tokenizers` library.
        head: Arrays "weight" (dim,), "bias" () and "scale" (), for w, b and s above.
        name: Name in tables.
        window: Maximum number of tokens of a question and a passage; the end of a longer passage is not read.
        weights: Weight of the probability beside the other evidence (`search.reranking`), by the kind of query.
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
        """Return the log odds that passages answer a question, (passages,).

        Args:
            question: The question in words.
            passages: The label of each passage (`label`), and its text from the place where reading begins.
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
        """Return the score of a pair from the states of its tokens, (tokens, dim)."""
        # Sums have the same cosine as means.
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
    """Write a re-ranker's folder, or replace the model in it. Its weights have to be fitted afterwards.

    Args:
        folder: The folder.
        head: The `head` of `Reranker`.
        name: Name in tables.
        window: The `window` of `Reranker`.
        tokenizer: Content of the tokenizer's file.
        transformer: Content of the ONNX file.
        training: The training record.

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
    """Set the weights of a saved re-ranker.

    Args:
        folder: Folder of the re-ranker.
        weights: The `weights` of `Reranker`.
        training: Record of how they were fitted.

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
