"""Read text for the general encoder: from sentences to the sums of their tokens' vectors.

A sentence is represented by the sum of its tokens' vectors and their number. Any part of a text then has a vector: the
sum over its sentences, scaled to unit length. The transformer reads windows of whole sentences, and vectors are pooled
afterwards (late chunking, guenther2024), so each sentence is read in its context at no further cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from auscult.documents.word_forms import in_one_spelling
from auscult.encoders.contract import FloatArray
from auscult.errors import ModelError

_PIECE = "##"
_AT_ONCE = 8
MOST_CHARACTERS = 1 << 15
"""Maximum length of a text for a tokenizer, which would make millions of tokens of a longer one; a window needs few."""
_FEW = 8
Counts = npt.NDArray[np.int64]


def open_tokenizer(path: Path) -> Any:
    """Open a tokenizer of the `tokenizers` library, without truncation and padding.

    Raises:
        ModelError: The file is not a tokenizer.
    """
    # Imported here because few commands need it.
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        # The library raises instances of Exception itself.
        raise ModelError("a tokenizer", f"{path} ({error})", "copy the model again") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


# Larger batches do not fit into a core's cache, and need more padding.
_BATCH_TOKENS = 512


def batches_of(lengths: Sequence[int]) -> list[list[int]]:
    """Return batches of rows of similar length, shortest first, each small enough for a core's cache."""
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not batches or (len(batches[-1]) + 1) * lengths[row] > _BATCH_TOKENS:
            batches.append([])
        batches[-1].append(row)
    return batches


class Transformer:
    """A transformer that reads rows of token ids in batches of similar length.

    Args:
        session: ONNX session that takes `input_ids` and `attention_mask` (and `token_type_ids`, if it has that input)
            and returns the last hidden states.
        workers: Number of batches read in parallel, each on its own core if the session uses one.
    """

    def __init__(self, session: Any, workers: int = 1) -> None:
        self._session = session
        self._workers = workers
        self._inputs = [each.name for each in session.get_inputs()]

    def states(self, rows: Sequence[list[int]]) -> Iterator[tuple[int, FloatArray]]:
        """Yield the number of each row and the states of its tokens, (tokens, dim), shortest first."""
        lengths = [*map(len, rows)]
        batches = batches_of(lengths)
        inputs = [[*map(rows.__getitem__, batch)] for batch in batches]
        several = self._workers > 1 and len(batches) > 1
        read = self._in_parallel(inputs) if several else map(self._states, inputs)
        for batch, states in zip(batches, read, strict=True):
            for row, padded in zip(batch, states, strict=True):
                yield row, padded[: lengths[row]]

    def _in_parallel(self, batches: Sequence[Sequence[list[int]]]) -> Iterator[FloatArray]:
        """Yield the states of each batch, in order."""
        with ThreadPoolExecutor(self._workers) as pool:
            # A few at a time, as the states of all would need gigabytes.
            for first in range(0, len(batches), _AT_ONCE * self._workers):
                yield from pool.map(self._states, batches[first : first + _AT_ONCE * self._workers])

    def _states(self, rows: Sequence[list[int]]) -> FloatArray:
        """Return the states of the rows' tokens, (rows, longest, dim)."""
        lengths = np.array([*map(len, rows)])
        mask = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
        ids = np.zeros_like(mask)
        ids[mask > 0] = [*chain.from_iterable(rows)]
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(mask)}
        states: FloatArray = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        return states


class WindowReader:
    """Reader of passages in windows of whole sentences, with a transformer in ONNX Runtime.

    Args:
        transformer: The transformer.
        tokenizer: Tokenizer of the `tokenizers` library.
        dim: Length of a vector.
        asked: Text before a question ("query: ").
        told: Text before each window ("passage: ").
        window: Tokens of a window, including special ones and those of `told`. A longer sentence is cut, as is one of
            more than 32,768 characters.
        skipped: Tokens of words to skip, unless another piece of a word follows.
        asked_whole: Whether no word of a question is skipped: "how long can I" says what is asked.
        as_written: Whether texts are read as they are written. Others are first respelled as American English, which
            makes "analyze" of the German and French "analyse".

    Attributes:
        room: Number of tokens in a window that are left for sentences.
    """

    def __init__(
        self, transformer: Transformer, tokenizer: Any, dim: int, *, asked: str = "", told: str = "",
        window: int = 256, skipped: Sequence[str] = (), asked_whole: bool = False, as_written: bool = False,
    ) -> None:  # fmt: skip
        self.dim = dim
        self._transformer = transformer
        self._tokenizer = tokenizer
        marks = tokenizer.encode("").ids
        first, self._last = marks[: len(marks) // 2], marks[len(marks) // 2 :]
        before = [tokenizer.encode(text, add_special_tokens=False).ids for text in (asked, told)]
        self._asked, self._told = ([*first, *prefix] for prefix in before)
        self.room = window - len(marks) - max(map(len, before))
        self._skipped = frozenset(filter(None, map(tokenizer.token_to_id, skipped)))
        self._asked_whole = asked_whole
        self._as_written = as_written
        vocabulary = tokenizer.get_vocab() if self._skipped else {}
        self._pieces = frozenset(number for token, number in vocabulary.items() if token.startswith(_PIECE))

    @property
    def around(self) -> tuple[list[int], list[int]]:
        """Return the tokens before and after each window."""
        return self._told, self._last

    def read(self, passages: Sequence[Sequence[str]]) -> tuple[FloatArray, Counts]:
        """Return the sums of token vectors, (sentences, dim), and the token counts of all sentences of some passages.

        A sentence without tokens gets zeros.
        """
        tokens, windows = self.cut(passages)
        return self._run(windows, tokens, self._told), np.fromiter(map(len, tokens), np.int64, len(tokens))

    def ask(self, texts: Sequence[str]) -> FloatArray:
        """Return vectors of short questions, (texts, dim), not of unit length."""
        tokens = self._tokens(texts, whole=self._asked_whole)
        return self._run([[row] for row in range(len(tokens))], tokens, self._asked)

    def cut(self, passages: Sequence[Sequence[str]]) -> tuple[list[list[int]], list[list[int]]]:
        """Return the token ids of all sentences, and windows as lists of sentence numbers."""
        tokens = self._tokens([sentence for passage in passages for sentence in passage])
        windows: list[list[int]] = []
        number = 0
        for passage in passages:
            # Each passage begins a new window.
            room = -1
            for _ in passage:
                if len(tokens[number]) > room:
                    windows.append([])
                    room = self.room
                windows[-1].append(number)
                room -= len(tokens[number])
                number += 1
        return tokens, windows

    def _tokens(self, texts: Sequence[str], *, whole: bool = False) -> list[list[int]]:
        texts = [text[:MOST_CHARACTERS] for text in texts]
        if not self._as_written:
            texts = [*map(in_one_spelling, texts)]
        if len(texts) <= _FEW:
            # For so few, waking the library's threads would take longer.
            encodings = [self._tokenizer.encode(text, add_special_tokens=False) for text in texts]
        else:
            encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        rows = []
        for ids in (encoding.ids for encoding in encodings):
            if self._skipped and not whole:
                pairs = zip_longest(ids, ids[1:])
                ids = [token for token, after in pairs if token not in self._skipped or after in self._pieces]
            rows.append(ids[: self.room])
        return rows

    def _run(self, windows: list[list[int]], tokens: list[list[int]], before: list[int]) -> FloatArray:
        """Read windows and return the sum of each sentence's token states, (sentences, dim)."""
        sums = np.zeros((len(tokens), self.dim), np.float32)
        rows = [[*before, *(token for number in window for token in tokens[number]), *self._last] for window in windows]
        for row, states in self._transformer.states(rows):
            at = len(before)
            for number in windows[row]:
                sums[number] = states[at : at + len(tokens[number])].sum(axis=0)
                at += len(tokens[number])
        return sums
