"""Read the first hits of a question again, together with it: one more evidence, which also marks sentences.

    score + w · log(1 + exp(r))      r: the log odds that the passage answers, by `encoders.reranker`

What is added is never negative, so that a passage never falls behind one that was not read. How much it counts, and
what it says of the probability that a passage answers, is fitted with the other weights (`fusion.Rereading`). The
re-ranker learned from questions in words; other queries are not read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import FloatArray
from auscult.encoders.reranker import Excerpt, label
from auscult.index.reader import GenerationReader
from auscult.index.store import StoredPassage

FIRST: Final = 8
"""How many hits are read again at most, unless a search says how many."""
NEAR: Final = 3.0
"""How far below the best a hit's score may be: one further below hardly ever came first after reading all again."""


class Asked(NamedTuple):
    """What passages and their sentences are compared with.

    Attributes:
        question: The question in words.
        vector: Its vector, (dim,).
        words: Share of each of its words, by idf.
        holding: Returns which of these words a text holds.
    """

    question: str
    vector: FloatArray
    words: Mapping[str, float]
    holding: Callable[[str], frozenset[str]]

    def share_held(self, text: str) -> float:
        """Return the share of its words that a text holds."""
        return sum(self.words[term] for term in self.holding(text))

    def nearness(self, stored: StoredPassage) -> npt.NDArray[np.float64]:
        """Return how near the sentences of a passage are, (sentences,): cosine, and the share of words they hold."""
        near: npt.NDArray[np.float64] = stored.vectors.astype(np.float64) @ self.vector.astype(np.float64)
        for place, sentence in enumerate(stored.passage.sentences):
            near[place] += self.share_held(stored.text_of(sentence))
        return near


def count_near(scores: npt.NDArray[np.floating[Any]], most: int) -> int:
    """Return how many first hits are read again of those whose scores are given, best first."""
    return int(np.count_nonzero(scores[:most] >= scores[0] - NEAR)) if len(scores) else 0


def build_excerpt(reader: GenerationReader, asked: Asked, row: int) -> Excerpt:
    """Return what may be read of a passage.

    Args:
        reader: Reader of the index.
        asked: The question.
        row: Row of the passage.
    """
    stored = reader.stored(row)
    title = reader.document_record(reader.passage_documents[row]).title
    sentences = [stored.text_of(sentence) for sentence in stored.passage.sentences]
    told = label(title, stored.passage.heading)
    return Excerpt(told, sentences, asked.nearness(stored).tolist(), _context(reader, asked, row))


def _context(reader: GenerationReader, asked: Asked, row: int) -> str:
    """Return the nearest sentence of the passage of its document that is nearest but for itself, by its mean vector."""
    passages = reader.passages_of(reader.passage_documents[row])
    near = reader.passage_vectors[passages.start : passages.stop].astype(np.float32) @ asked.vector
    near[row - passages.start] = -np.inf
    other = passages[int(np.argmax(near))]
    if other == row:
        return ""
    stored = reader.stored(other)
    if not stored.passage.sentences:
        return ""
    return stored.text_of(stored.passage.sentences[int(np.argmax(asked.nearness(stored)))])
