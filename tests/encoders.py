"""A small encoder without learning: signed hashed bags of words, so that tests behind a model are quick."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Sequence

import numpy as np

from auscult.documents import Document
from auscult.encoders.contract import Expansion, FloatArray
from auscult.understanding import Query

_WORD = re.compile(r"\w+")
TERMS = 500


class HashedEncoder:
    """The entity half holds words of title and sentence, the aspect half words of heading and sentence."""

    def __init__(self, dim: int = 64, seed: int = 0) -> None:
        self.name = f"hashed-{dim}"
        self.dim = dim
        self.seed = seed
        self.parts = {"entity": slice(0, dim // 2), "aspect": slice(dim // 2, dim)}
        self.fingerprint = hashlib.sha256(f"hashed {dim} {seed}".encode()).hexdigest()
        self.documents_encoded = 0

    def encode_documents(self, documents: Sequence[Document]) -> list[FloatArray]:
        self.documents_encoded += len(documents)
        return [self._encode_document(document) for document in documents]

    def encode_queries(self, queries: Sequence[Query]) -> FloatArray:
        rows = [np.r_[self._bag(q.entity), self._bag(" ".join(q.aspects))] for q in queries]
        return _unit(np.array(rows, np.float32).reshape(len(queries), self.dim))

    def _encode_document(self, document: Document) -> FloatArray:
        title = 2 * self._bag(document.title)
        rows = []
        for passage in document.passages:
            heading = 2 * self._bag(passage.heading)
            for sentence in passage.sentences:
                words = self._bag(document.slice(sentence))
                rows.append(np.r_[_unit(title + words), _unit(heading + words)])
        return _unit(np.array(rows, np.float32).reshape(len(rows), self.dim))

    def _bag(self, text: str) -> FloatArray:
        half = self.dim // 2
        bag = np.zeros(half, np.float32)
        for word in _words(text):
            number = zlib.crc32(f"{self.seed} {word}".encode("utf-8", "surrogatepass"))
            bag[number % half] += 1 if number & (1 << 31) else -1
        return bag


class TermEncoder(HashedEncoder):
    """Terms are hashed words; a window is a sentence, and a word's weight its length."""

    expands = True

    def expand_documents(self, documents: Sequence[Document]) -> list[Expansion]:
        return [self._expand(document) for document in documents]

    def expand_query(self, query: Query) -> tuple[np.ndarray, np.ndarray]:
        terms, weights = weighed(query.text or query.terms)
        return terms, weights / max(float(np.linalg.norm(weights)), 1e-9)

    def _expand(self, document: Document) -> Expansion:
        read = [[weighed(document.slice(each)) for each in passage.sentences] for passage in document.passages]
        windows = [each for passage in read for each in passage]
        return Expansion(
            np.array([len(passage) for passage in read], np.int64),
            np.cumsum([0, *(len(terms) for terms, _ in windows)]),
            np.concatenate([np.zeros(0, np.uint16), *(terms for terms, _ in windows)]),
            np.concatenate([np.zeros(0, np.float32), *(weights for _, weights in windows)]),
        )


def weighed(text: str) -> tuple[np.ndarray, np.ndarray]:
    found = {zlib.crc32(word.encode()) % TERMS: min(len(word), 12) / 4 for word in _WORD.findall(text.lower())}
    terms = np.array(sorted(found), np.uint16)
    return terms, np.array([found[term] for term in terms.tolist()], np.float32)


def _words(text: str) -> Iterable[str]:
    return (match.group().lower() for match in _WORD.finditer(text))


def _unit(rows: FloatArray) -> FloatArray:
    """Rows of length one; a row of zeros becomes the first axis."""
    rows = np.array(rows, np.float32)
    blank = ~rows.any(axis=-1)
    rows[..., 0] += blank
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)
