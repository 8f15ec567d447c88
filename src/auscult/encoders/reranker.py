"""Read first hits of a search again with a small transformer that reads question and passage together.

    [CLS] question [SEP] context [SEP] title > heading. sentences [SEP]  →  transformer (ONNX, 8 bits)  →  states h
    score = w · h_CLS + b + s · cos(mean of h over the question, mean of h over title, heading and sentences)
    m_i   = v · mean of h over sentence i + t · cos(mean of h over the question, mean of h over sentence i)

score is the log odds that the passage answers; exp(m_i) is in proportion to the probability that its sentence i holds
the answer. The cosines are how the pretrained sentence encoder compares texts, so training starts from a good
comparison.

The context is a sentence of the document outside the passage, near the question: a note says whom it is about in one
section, and what was found in another. Without one, it and its [SEP] are left out.

A question is cut after 48 tokens, the context after 32, title and heading after 24. Of the passage, the sentences are
read that fit into `most` tokens: the best one by the scores that come with them, the first, which names the topic, then
the others, best first. They are read in their order in the passage.

Cost: one pass over some 150 tokens for each passage; no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
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

FORMAT = 3
KIND = "reranker"
_FILES = _HEAD, _TOKENIZER, _TRANSFORMER = "head.safetensors", "tokenizer.json", "model.onnx"
QUESTION_TOKENS, CONTEXT_TOKENS, LABEL_TOKENS = 48, 32, 24


class Excerpt(NamedTuple):
    """What may be read of a passage.

    Attributes:
        label: Title and heading (`label`).
        sentences: Its sentences, in order.
        scores: How near each is to the question; the nearest are read.
        context: A sentence of its document outside the passage, near the question.
    """

    label: str
    sentences: Sequence[str]
    scores: Sequence[float]
    context: str = ""


class Pair(NamedTuple):
    """The tokens of a question and a passage, as the transformer reads them.

    Attributes:
        ids: All tokens, including special ones.
        asked: Number of tokens of the question, which follow the first special token.
        told: The first token of title, heading and sentences.
        sentences: The first token of each sentence that is read, and one past its last, by the sentence's number.
    """

    ids: list[int]
    asked: int
    told: int
    sentences: dict[int, tuple[int, int]]


class Read(NamedTuple):
    """What a re-ranker says of a passage.

    Attributes:
        log_odds: Log odds that the passage answers.
        sentences: Scores of the sentences that were read, by number; differences are log odds.
    """

    log_odds: float
    sentences: dict[int, float]


def label(title: str, heading: str) -> str:
    """Return the title and heading that are read before a passage; empty if it has neither."""
    words = " > ".join(filter(None, (title.strip(), heading.strip())))
    return f"{words}." if words else ""


def chosen(sentences: Sequence[list[int]], scores: Sequence[float], most: int) -> dict[int, list[int]]:
    """Return the tokens of the sentences that are read, by number, in order; the last may be cut.

    Args:
        sentences: Tokens of all sentences.
        scores: How near each is to the question.
        most: Largest number of tokens.
    """
    nearest = sorted(range(len(sentences)), key=lambda number: -scores[number])
    left, taken = most, []
    for number in dict.fromkeys([*nearest[:1], *range(min(1, len(sentences))), *nearest]):
        if left <= 0:
            break
        taken.append(number)
        left -= len(sentences[number])
    read: dict[int, list[int]] = {}
    left = most
    for number in sorted(taken):
        read[number] = sentences[number][:left]
        left -= len(read[number])
    return {number: tokens for number, tokens in read.items() if tokens}


def pair(
    marks: tuple[int, int],
    question: list[int],
    context: list[int],
    label_tokens: list[int],
    sentences: Mapping[int, list[int]],
) -> Pair:
    """Join the tokens of a question and of what is read of a passage.

    Args:
        marks: Special tokens: for the beginning, and for the ends of question, context and passage.
        question: Tokens of the question.
        context: Tokens of the context.
        label_tokens: Tokens of title and heading (`label`).
        sentences: Result of `chosen`.
    """
    first, last = marks
    question = question[:QUESTION_TOKENS]
    ids = [first, *question, last]
    if context:
        ids += [*context[:CONTEXT_TOKENS], last]
    told = len(ids)
    ids += label_tokens[:LABEL_TOKENS]
    places = {}
    for number, tokens in sentences.items():
        places[number] = len(ids), len(ids) + len(tokens)
        ids += tokens
    return Pair([*ids, last], len(question), told, places)


class Reranker:
    """Model that says how well passages answer a question, and which of their sentences do.

    Args:
        transformer: A BERT (`general.bert_onnx`).
        tokenizer: Tokenizer of the `tokenizers` library.
        head: Arrays "weight" (dim,), "bias" (), "scale" (), "sentence_weight" (dim,) and "sentence_scale" (), for w, b,
            s, v and t above.
        name: Name in tables.
        most: Maximum number of tokens of a passage; other sentences are not read.
        fingerprint: Hash of weights and configuration.
    """

    def __init__(
        self,
        transformer: Transformer,
        tokenizer: Any,
        head: Mapping[str, FloatArray],
        *,
        name: str,
        most: int,
        fingerprint: str = "",
    ) -> None:
        self.name = name
        self.most = most
        self.fingerprint = fingerprint
        self._transformer = transformer
        self._tokenizer = tokenizer
        self._head = head
        self._marks: tuple[int, int] = tuple(tokenizer.encode("").ids)

    def read(self, question: str, passages: Sequence[Excerpt]) -> list[Read]:
        """Read passages together with a question.

        Args:
            question: The question in words.
            passages: What may be read of each.
        """
        texts = [question, *(text for each in passages for text in (each.context, each.label, *each.sentences))]
        texts = [text[:MOST_CHARACTERS] for text in texts]
        tokens = (each.ids for each in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False))
        asked = next(tokens)
        pairs = []
        for passage in passages:
            context, told, own = next(tokens), next(tokens), [*islice(tokens, len(passage.sentences))]
            pairs.append(pair(self._marks, asked, context, told, chosen(own, passage.scores, self.most)))
        found: list[Read | None] = [None] * len(pairs)
        for row, states in self._transformer.states([each.ids for each in pairs]):
            found[row] = self._read(states, pairs[row])
        return [each for each in found if each is not None]

    def _read(self, states: FloatArray, pair: Pair) -> Read:
        """Return what the states of a pair's tokens say, (tokens, dim)."""
        # Sums have the same cosine as means.
        ranges = [(1, 1 + pair.asked), (pair.told, len(states)), *pair.sentences.values()]
        question, passage, *sentences = unit(np.stack([states[begin:end].sum(axis=0) for begin, end in ranges]))
        log_odds = states[0] @ self._head["weight"] + self._head["bias"] + self._head["scale"] * (question @ passage)
        weight, scale = self._head["sentence_weight"], self._head["sentence_scale"]
        marks = {
            number: float((states[begin:end].mean(axis=0) @ weight + scale * (question @ own)).item())
            for (number, (begin, end)), own in zip(pair.sentences.items(), sentences, strict=True)
        }
        return Read(float(log_odds.item()), marks)


def save(
    folder: Path,
    head: Mapping[str, Any],
    *,
    name: str,
    most: int,
    tokenizer: bytes,
    transformer: bytes,
    training: Mapping[str, object] | None = None,
) -> None:
    """Write a re-ranker's folder, or replace the model in it.

    Args:
        folder: The folder.
        head: The `head` of `Reranker`.
        name: Name in tables.
        most: The `most` of `Reranker`.
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
        settings = {"kind": KIND, "format": FORMAT, "name": name, "most": most,
                    "sha256": digest_of_folders(fresh, *_FILES)}  # fmt: skip
        write_json(fresh / SETTINGS, {**settings, "training": dict(training or {})})


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
            most=int(settings["most"]),
            fingerprint=fingerprint_of(settings),
        )
