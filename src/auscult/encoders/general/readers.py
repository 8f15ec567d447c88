"""What reads text for the general encoder: from sentences to the sums of their tokens' vectors.

A sentence is kept as the sum of its tokens' vectors and their number, so that any stretch of text has a vector: the sum
over its sentences, scaled to unit length. What a transformer reads it reads in windows of whole sentences, and pools
afterwards (late chunking, guenther2024): each sentence is read in the context of those around it, at no further cost.
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
from auscult.errors import ModelError
from auscult.interfaces import FloatArray

_PIECE = "##"
_AT_ONCE = 8
MOST_CHARACTERS = 1 << 15
"""Of a text that a tokenizer is given: of a longer one it would make millions of tokens, of which a window is kept."""
_FEW = 8
Counts = npt.NDArray[np.int64]


def open_tokenizer(path: Path) -> Any:
    """A tokenizer of the `tokenizers` library, which cuts and pads nothing.

    Raises:
        ModelError: The file is none.
    """
    # Only here: few commands read a text for a transformer.
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        # The library raises plain exceptions.
        raise ModelError("a tokenizer", f"{path} ({error})", "copy the model again") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


# More do not stay in a core's cache, and are padded to the longest of them.
_BATCH_TOKENS = 512


def batches_of(lengths: Sequence[int]) -> list[list[int]]:
    """Return rows of like length together, shortest first, as few tokens a batch as stay in a core's cache."""
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not batches or (len(batches[-1]) + 1) * lengths[row] > _BATCH_TOKENS:
            batches.append([])
        batches[-1].append(row)
    return batches


class Transformer:
    """Rows of token ids, read in batches of like length.

    Args:
        session: Takes `input_ids` and `attention_mask` (and `token_type_ids` where it asks for them), gives the last
            hidden states.
        workers: How many batches are read at a time, each on a core of its own, as far as the session does.
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
            # A few at a time, as states of all would take gigabytes.
            for first in range(0, len(batches), _AT_ONCE * self._workers):
                yield from pool.map(self._states, batches[first : first + _AT_ONCE * self._workers])

    def _states(self, rows: Sequence[list[int]]) -> FloatArray:
        """Return states of the tokens of rows, (rows, longest, dim)."""
        lengths = np.array([*map(len, rows)])
        mask = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
        ids = np.zeros_like(mask)
        ids[mask > 0] = [*chain.from_iterable(rows)]
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(mask)}
        states: FloatArray = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        return states


class WindowReader:
    """A transformer in ONNX Runtime, which reads windows of a passage's sentences.

    Args:
        transformer: Reads.
        tokenizer: Of the `tokenizers` library.
        dim: Length of a vector.
        asked: Stands before what asks ("query: ").
        told: Stands before each window ("passage: ").
        window: Tokens that are read at once, all told. A longer sentence is cut, as one of 32,768 characters is.
        skipped: Words that are not read at all, as the tokenizer has them, where no further piece of a word follows.

    Attributes:
        room: How many tokens of sentences a window has.
    """

    def __init__(
        self, transformer: Transformer, tokenizer: Any, dim: int, *, asked: str = "", told: str = "",
        window: int = 256, skipped: Sequence[str] = (),
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
        vocabulary = tokenizer.get_vocab() if self._skipped else {}
        self._pieces = frozenset(number for token, number in vocabulary.items() if token.startswith(_PIECE))

    @property
    def around(self) -> tuple[list[int], list[int]]:
        """The tokens that stand before and after each window."""
        return self._told, self._last

    def read(self, passages: Sequence[Sequence[str]]) -> tuple[FloatArray, Counts]:
        """The sentences of passages, all in a row: sums of token vectors, (sentences, dim), and numbers of tokens.

        A sentence without tokens is zeros.
        """
        tokens, windows = self.cut(passages)
        return self._run(windows, tokens, self._told), np.fromiter(map(len, tokens), np.int64, len(tokens))

    def ask(self, texts: Sequence[str]) -> FloatArray:
        """Vectors of short texts that ask, (texts, dim), not of unit length."""
        tokens = self._tokens(texts)
        return self._run([[row] for row in range(len(tokens))], tokens, self._asked)

    def cut(self, passages: Sequence[Sequence[str]]) -> tuple[list[list[int]], list[list[int]]]:
        """The token ids of all sentences in a row, and the windows that they are read in, each the numbers of some."""
        tokens = self._tokens([sentence for passage in passages for sentence in passage])
        windows: list[list[int]] = []
        number = 0
        for passage in passages:
            # Each passage begins a window of its own.
            room = -1
            for _ in passage:
                if len(tokens[number]) > room:
                    windows.append([])
                    room = self.room
                windows[-1].append(number)
                room -= len(tokens[number])
                number += 1
        return tokens, windows

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        texts = [in_one_spelling(text[:MOST_CHARACTERS]) for text in texts]
        if len(texts) <= _FEW:
            # Waking the library's threads takes longer.
            encodings = [self._tokenizer.encode(text, add_special_tokens=False) for text in texts]
        else:
            encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        rows = []
        for ids in (encoding.ids for encoding in encodings):
            if self._skipped:
                pairs = zip_longest(ids, ids[1:])
                ids = [token for token, after in pairs if token not in self._skipped or after in self._pieces]
            rows.append(ids[: self.room])
        return rows

    def _run(self, windows: list[list[int]], tokens: list[list[int]], before: list[int]) -> FloatArray:
        """Read windows: the sum of each sentence's token states, (sentences, dim)."""
        sums = np.zeros((len(tokens), self.dim), np.float32)
        rows = [[*before, *(token for number in window for token in tokens[number]), *self._last] for window in windows]
        for row, states in self._transformer.states(rows):
            at = len(before)
            for number in windows[row]:
                sums[number] = states[at : at + len(tokens[number])].sum(axis=0)
                at += len(tokens[number])
        return sums
