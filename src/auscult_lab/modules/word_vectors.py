"""Word vectors, sentence vectors averaged from them (arnold2020, Eq. 8), and the structural flags of sentences.

A *subword table* (floret, an extension of fastText's skip-gram with subwords, bojanowski2017) has no vocabulary: a word
and each of its character n-grams hash to rows of one small table, and the word's vector is their mean. Any word,
misspelling or unknown disease name has a vector, and 40,000 rows suffice where fastText has millions. Ten times as
many rows did not improve CDV; 15 passes over the text instead of 5 did (`experiments/cdv-zero-shot-words.yaml`).

A *plain table* (GloVe, word2vec and fastText text files) has one row per word; other words have no vector and are left
out of averages, as in arnold2020's +avg-glove model.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Protocol

import mmh3
import numpy as np

from auscult.documents import Document
from auscult.documents.analysis import Analyzer
from auscult.encoders.contract import FloatArray
from auscult.errors import DataError

_FLORET_SEED = 2166136261
_CACHE_WORDS = 200_000


class WordVectors(Protocol):
    """Interface of word vectors for averaging encoders."""

    dim: int

    def lookup(self, words: Sequence[str]) -> FloatArray:
        """Return vectors of words, shape (words, dim); a word without a vector is a row of zeros."""
        ...

    def state(self) -> tuple[Mapping[str, FloatArray], Mapping[str, object]]:
        """Return arrays and settings from which `from_state` rebuilds the vectors."""
        ...


class SubwordTable:
    """Hashed subword vectors in floret's layout.

    Args:
        table: Shape (buckets, dim).
        min_n: Shortest character n-gram.
        max_n: Longest character n-gram.
        hash_count: Rows that each n-gram hashes to, 1 to 4.
    """

    kind = "floret"

    def __init__(self, table: FloatArray, *, min_n: int, max_n: int, hash_count: int) -> None:
        self._table = np.ascontiguousarray(table, dtype=np.float32)
        self.min_n, self.max_n, self.hash_count = min_n, max_n, hash_count
        self.dim = int(table.shape[1])
        self._rows: dict[str, int] = {}
        self._cache = np.empty((1024, self.dim), dtype=np.float32)

    def lookup(self, words: Sequence[str]) -> FloatArray:
        """Return vectors of words, shape (words, dim). Every word has one; the empty word is a row of zeros."""
        if len(self._rows) > _CACHE_WORDS:
            self._rows.clear()
        rows = self._rows
        for word in words:
            if word not in rows:
                row = rows[word] = len(rows)
                if row == len(self._cache):
                    self._cache = np.concatenate([self._cache, np.empty_like(self._cache)])
                self._cache[row] = self._table[self._buckets(word)].mean(axis=0) if word else 0.0
        return self._cache[np.fromiter((rows[word] for word in words), dtype=np.int64, count=len(words))]

    def _buckets(self, word: str) -> list[int]:
        marked = f"<{word}>"
        grams = [marked]
        for size in range(self.min_n, self.max_n + 1):
            # As in floret, a marked word no longer than max_n counts twice: as the word and as its own n-gram.
            grams += [marked[i : i + size] for i in range(len(marked) - size + 1)]
        buckets = []
        for gram in grams:
            low, high = mmh3.hash64(gram, _FLORET_SEED, x64arch=True, signed=False)
            hashes = (low & 0xFFFFFFFF, low >> 32, high & 0xFFFFFFFF, high >> 32)
            buckets += [value % len(self._table) for value in hashes[: self.hash_count]]
        return buckets

    def state(self) -> tuple[Mapping[str, FloatArray], Mapping[str, object]]:
        """Return the table, and the n-gram settings."""
        numbers = {"min_n": self.min_n, "max_n": self.max_n, "hash_count": self.hash_count}
        return {"table": self._table}, {"kind": self.kind, **numbers}


class PlainTable:
    """One vector per word."""

    kind = "plain"

    def __init__(self, words: Sequence[str], table: FloatArray) -> None:
        self._words = list(words)
        self._rows = {word: row for row, word in enumerate(self._words)}
        self._table = np.concatenate([np.asarray(table, dtype=np.float32), np.zeros((1, table.shape[1]), np.float32)])
        self.dim = int(table.shape[1])

    def __contains__(self, word: str) -> bool:
        return word in self._rows

    def __len__(self) -> int:
        return len(self._words)

    def lookup(self, words: Sequence[str]) -> FloatArray:
        """Return vectors of words, shape (words, dim); unknown words are rows of zeros."""
        unknown = len(self._words)
        return self._table[np.fromiter((self._rows.get(word, unknown) for word in words), np.int64, count=len(words))]

    def state(self) -> tuple[Mapping[str, FloatArray], Mapping[str, object]]:
        """Return the table, and the vocabulary."""
        return {"table": self._table[:-1]}, {"kind": self.kind, "words": self._words}


def from_state(arrays: Mapping[str, FloatArray], settings: Mapping[str, object]) -> SubwordTable | PlainTable:
    """Rebuild word vectors from the result of `state`.

    Raises:
        DataError: When the settings name no known kind.
    """
    if settings.get("kind") == SubwordTable.kind:
        numbers = {key: int(str(settings[key])) for key in ("min_n", "max_n", "hash_count")}
        return SubwordTable(arrays["table"], **numbers)
    if settings.get("kind") == PlainTable.kind:
        words = settings["words"]
        if isinstance(words, list):
            return PlainTable([str(word) for word in words], arrays["table"])
    raise DataError("word vectors of kind 'floret' or 'plain'", f"{settings.get('kind')!r}", "train the model again")


def read_word_vectors(path: Path, *, limit: int | None = None) -> SubwordTable | PlainTable:
    """Read word vectors from a GloVe, word2vec or fastText text file, or a floret `.floret` table, plain or `.gz`.

    Args:
        path: The file. GloVe files have no header; word2vec and fastText `.vec` files begin with "words dim"; floret
            tables begin with their eight settings.
        limit: Number of words to read (files are sorted by frequency).

    Raises:
        DataError: When a line is not a word and as many numbers as in the first line; names file and line.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="\n") as text:
            lines = enumerate(text, 1)
            head = next(lines, (1, ""))[1].rstrip().split(" ")
            if len(head) == 8 and head[0].isdigit():
                buckets, _, min_n, max_n, hash_count = (int(field) for field in head[:5])
                _, table = _read_rows(path, lines, None)
                if len(table) != buckets:
                    raise DataError(f"{buckets} rows", f"{len(table)} in {path}", "export the floret table again")
                return SubwordTable(table, min_n=min_n, max_n=max_n, hash_count=hash_count)
            first = [] if len(head) == 2 and all(field.isdigit() for field in head) else [(1, " ".join(head))]
            return PlainTable(*_read_rows(path, chain(first, lines), limit))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError("a readable word-vector text file", f"{path} ({error})", "check the path and format") from error


def _read_rows(path: Path, lines: Iterable[tuple[int, str]], limit: int | None) -> tuple[list[str], FloatArray]:
    words: list[str] = []
    rows: list[FloatArray] = []
    for number, line in lines:
        if limit is not None and len(words) >= limit:
            break
        word, _, rest = line.rstrip().partition(" ")
        try:
            row = np.array(rest.split(" "), dtype=np.float32)
        except ValueError:
            row = np.empty(0, dtype=np.float32)
        if not row.size or (rows and row.size != rows[0].size):
            wanted = f"a word and {rows[0].size if rows else 'some'} numbers"
            raise DataError(wanted, f"{line[:40]!r} at {path}:{number}", "repair or re-download the file")
        words.append(word)
        rows.append(row)
    if not rows:
        raise DataError("word vectors", f"none in {path}", "check that the file is complete")
    return words, np.stack(rows)


FLAGS = 5
tokenize = Analyzer()
"""Return the words of a text as the word vectors know them: folded to lower case without accents."""


class SentenceEncoder(Protocol):
    """Encodes each sentence of a document as a vector, without its neighbours."""

    dim: int

    def encode(self, document: Document, *, max_tokens: int | None = None) -> FloatArray:
        """Return sentence vectors, shape (sentences, dim).

        Args:
            document: The document.
            max_tokens: Read only the first words of each sentence (training uses 96); None reads all.
        """
        ...


def sentence_tokens(document: Document, max_tokens: int | None = None) -> list[list[str]]:
    """Return the words of every sentence of a document, in order, at most `max_tokens` each."""
    return [tokenize(document.slice(sentence))[:max_tokens] for sentence in document.sentences]


def structural_flags(document: Document) -> FloatArray:
    """Return flags for begin/end of document, begin/end of paragraph, list item: (sentences, 5), 0 or 1."""
    sentences = document.sentences
    flags = np.zeros((len(sentences), FLAGS), dtype=np.float32)
    for row, sentence in enumerate(sentences):
        flags[row, 2:] = sentence.begins_paragraph, sentence.ends_paragraph, sentence.list_item
    if sentences:
        flags[0, 0] = flags[-1, 1] = 1.0
    return flags


class AveragedWords:
    """Mean of the word vectors of a sentence (arnold2020, Eq. 8), +avg-glove and +avg-fasttext.

    Departure, only with `frequencies`: a second mean in which a word counts a / (a + p(word)), so that rare words
    (names of diseases) outweigh common ones, is appended (the smooth inverse frequency of arora2017, a = 1e-3).

    Args:
        vectors: Word vectors of dimension d.
        frequencies: Relative frequency p of words in the training text, or None for the paper's encoder.
    """

    kind = "average"
    _smoothing = 1e-3

    def __init__(self, vectors: WordVectors, frequencies: Mapping[str, float] | None = None) -> None:
        self.vectors = vectors
        self.frequencies = frequencies
        self.dim = vectors.dim * (1 if frequencies is None else 2)
        self._rarest = min(frequencies.values(), default=0.0) if frequencies else 0.0

    def encode(self, document: Document, *, max_tokens: int | None = None) -> FloatArray:
        """Return sentence vectors, shape (sentences, dim); a sentence without known words is a row of zeros."""
        return self.encode_tokens(sentence_tokens(document, max_tokens))

    def encode_tokens(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """Return vectors of tokenised sentences, shape (sentences, dim)."""
        words = [word for sentence in sentences for word in sentence]
        vectors = self.vectors.lookup(words)
        known = vectors.any(axis=1).astype(np.float32)
        owners = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])
        counts = np.maximum(np.bincount(owners, weights=known, minlength=len(sentences)), 1.0)[:, None]
        means = [_sum_by_owner(vectors, owners, len(sentences)) / counts]
        if self.frequencies is not None:
            rarest = (self.frequencies.get(word, self._rarest) for word in words)
            share = np.fromiter(rarest, np.float32, count=len(words))
            weighted = vectors * (self._smoothing / (self._smoothing + share))[:, None]
            means.append(_sum_by_owner(weighted, owners, len(sentences)) / counts)
        return np.concatenate(means, axis=1).astype(np.float32)


def _sum_by_owner(vectors: FloatArray, owners: np.ndarray, size: int) -> FloatArray:
    """Sum rows by their owner; owners ascend, and an owner without rows sums to zero."""
    sums = np.zeros((size, vectors.shape[1]), dtype=np.float32)
    if len(owners):
        starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
        sums[owners[starts]] = np.add.reduceat(vectors, starts, axis=0)
    return sums
