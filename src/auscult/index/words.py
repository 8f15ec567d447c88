"""Words at rest: which passage, heading, title and document holds which term, how often (docs/index-format.md).

A query's words are scored on an absolute scale, so that scores of different queries and collections compare:

    coverage(Q, d) = sum over terms t of Q of  idf(t) · tf / (tf + k1 · (1 - b + b · |d| / mean |d|))
                     divided by the sum of idf(t)

which is BM25 (robertson1995) as a share of the most that any text could reach: 0 where no term occurs, and below 1. A
term that the collection does not hold counts as its rarest would, so that a question about something else covers
little. Terms are stemmed, without stop words.

Costs, for P passages: some 8 bytes a distinct term of a passage, twice, since documents are counted too; a query reads
the postings of its terms alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.interfaces import FloatArray
from auscult.models.analysis import Analyzer

TERMS: Final = "terms.txt"
FIELDS: Final = ("text", "heading", "title", "document")
"""text and heading: of a passage; title: of a document; document: its title and the text of its passages."""
_PARTS: Final = (("starts", "<i8"), ("rows", "<i4"), ("counts", "<u2"), ("lengths", "<i4"))
_MOST: Final = np.iinfo(np.uint16).max
K1: Final = 1.2
"""Of BM25, as it is mostly set: a word that stands there again and again counts up to 2.2 times as much as once."""
# Headings and titles are short: their length says little.
_B: Final = {"text": 0.75, "document": 0.75, "heading": 0.3, "title": 0.3}

analyse = Analyzer(stop_words=True, stemming=True)
"""From text to terms, here and wherever a query is compared with what stands here."""


def file_names() -> tuple[str, ...]:
    """The files that hold the words of a generation."""
    return (TERMS, *(array_name(field, part) for field in FIELDS for part, _ in _PARTS))


def array_name(field: str, part: str) -> str:
    """The file of one array of one field."""
    return f"words_{field}_{part}.npy"


class WordCounter:
    """Counts the words of documents as they come.

    Memory: 4 bytes a word.
    """

    def __init__(self) -> None:
        self._terms: dict[str, int] = {}
        self._words: dict[str, list[npt.NDArray[np.int32]]] = {field: [] for field in FIELDS}

    def add(self, title: str, passages: Iterable[tuple[str, str]]) -> None:
        """Count a document.

        Args:
            title: Of it.
            passages: Heading and text of each of its passages, in order.
        """
        name = self._numbers(title)
        texts = [name]
        for heading, text in passages:
            numbers = self._numbers(text)
            self._words["text"].append(numbers)
            self._words["heading"].append(self._numbers(heading))
            texts.append(numbers)
        self._words["title"].append(name)
        self._words["document"].append(np.concatenate(texts))

    def files(self) -> Mapping[str, bytes | npt.NDArray[Any]]:
        """What is to be written, by file name."""
        terms = sorted(self._terms)
        order = np.empty(len(terms), np.int64)
        order[[self._terms[term] for term in terms]] = np.arange(len(terms))
        files: dict[str, bytes | npt.NDArray[Any]] = {TERMS: "\n".join(terms).encode("utf-8", "surrogatepass")}
        for field in FIELDS:
            arrays = _postings(self._words[field], order)
            for part, dtype in _PARTS:
                files[array_name(field, part)] = arrays[part].astype(dtype)
        return files

    def _numbers(self, text: str) -> npt.NDArray[np.int32]:
        terms = self._terms
        return np.array([terms.setdefault(term, len(terms)) for term in analyse(text)], np.int32)


def _postings(words: Sequence[npt.NDArray[np.int32]], order: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
    lengths = np.array([len(each) for each in words], np.int64)
    places = np.repeat(np.arange(len(words)), lengths)
    terms = order[np.concatenate(words)] if len(places) else places
    texts = max(len(words), 1)
    pairs, counts = np.unique(terms * texts + places, return_counts=True)
    held, rows = np.divmod(pairs, texts)
    starts = np.searchsorted(held, np.arange(len(order) + 1))
    return {"starts": starts, "rows": rows, "counts": np.minimum(counts, _MOST), "lengths": lengths}


@dataclass(frozen=True, slots=True)
class _Field:
    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint16]
    norms: FloatArray


class Words:
    """The words of a generation, memory-mapped.

    Args:
        array: Gives an array of the generation by file name.
        terms: The content of the file of terms.
    """

    def __init__(self, array: Callable[[str], npt.NDArray[Any]], terms: bytes) -> None:
        self._array = array
        self._raw = terms
        self._fields: dict[str, _Field] = {}
        self._weights: dict[str, FloatArray] = {}

    @cached_property
    def _terms(self) -> list[bytes]:
        return self._raw.split(b"\n") if self._raw else []

    def coverage(self, terms: Sequence[str], field: str, k1: float = K1) -> FloatArray:
        """The share of a query's words that each text of a field holds, shape (texts,), in [0, 1).

        Args:
            terms: Of the query, as `analyse` gives them; repeats count once.
            field: One of `FIELDS`.
            k1: How much it matters how often a word stands there; near 0, that it does says all.
        """
        found = self._field(field)
        scores = np.zeros(len(found.norms), np.float32)
        total = 0.0
        for idf, rows, counts in self._held(terms, found):
            total += idf
            scores[rows] += np.float32(idf) * counts / (counts + np.float32(k1) * found.norms[rows])
        return scores / np.float32(total) if total else scores

    def likeness(self, terms: Sequence[str], field: str) -> FloatArray:
        """How far a name and each short text are the same words, shape (texts,), in [0, 1].

        The idf of the words in common, divided by that of all words of both (a weighted Jaccard index).
        """
        found = self._field(field)
        common = np.zeros(len(found.norms), np.float32)
        total = 0.0
        for idf, rows, _ in self._held(terms, found):
            total += idf
            common[rows] += np.float32(idf)
        if not total:
            return common
        return common / (np.float32(total) + self._weight(field) - common)

    def shares(self, terms: Sequence[str]) -> dict[str, float]:
        """The share of each of a query's words in all of them, by their idf; together 1."""
        weights = {term: self._idf(self._number(term)) for term in terms}
        total = sum(weights.values())
        return {term: weight / total for term, weight in weights.items()}

    def holds(self, term: str) -> bool:
        """Whether any text holds a term."""
        return self._number(term) is not None

    def _held(self, terms: Sequence[str], found: _Field) -> Iterator[tuple[float, npt.NDArray[np.int32], FloatArray]]:
        """Of each term once: its idf, which texts of a field hold it, and how often; none for an unknown one."""
        for term in dict.fromkeys(terms):
            number = self._number(term)
            held = slice(0, 0) if number is None else slice(found.starts[number], found.starts[number + 1])
            yield self._idf(number), found.rows[held], found.counts[held].astype(np.float32)

    def _weight(self, field: str) -> FloatArray:
        """The idf of all distinct words of each text of a field."""
        if field not in self._weights:
            found = self._field(field)
            idf = self._all_idf[np.repeat(np.arange(len(found.starts) - 1), np.diff(found.starts))]
            self._weights[field] = np.bincount(found.rows, idf, len(found.norms)).astype(np.float32)
        return self._weights[field]

    @cached_property
    def _all_idf(self) -> npt.NDArray[np.float64]:
        documents = self._field("document")
        return _idf(np.diff(documents.starts), len(documents.norms))

    def _idf(self, number: int | None) -> float:
        """Of a term by the documents that hold it; of an unknown one, as of the rarest."""
        documents = self._field("document")
        holders = 0 if number is None else int(documents.starts[number + 1] - documents.starts[number])
        return float(_idf(np.array(holders), len(documents.norms)))

    def _number(self, term: str) -> int | None:
        raw = term.encode("utf-8", "surrogatepass")
        number = bisect_left(self._terms, raw)
        return number if number < len(self._terms) and self._terms[number] == raw else None

    def _field(self, name: str) -> _Field:
        if name not in self._fields:
            starts, rows, counts, lengths = (self._array(array_name(name, part)) for part, _ in _PARTS)
            mean = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
            norms = (1 - _B[name] + _B[name] * lengths / mean).astype(np.float32)
            self._fields[name] = _Field(starts, rows, counts, norms)
        return self._fields[name]


def _idf(holders: npt.NDArray[np.integer], size: int) -> npt.NDArray[np.float64]:
    """Lucene's: never negative; of a term that no document holds, as of one that a single one does."""
    known = np.maximum(holders, 1)
    found: npt.NDArray[np.float64] = np.log1p((np.maximum(size, 1) - known + 0.5) / (known + 0.5))
    return found
