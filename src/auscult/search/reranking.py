"""Read the first hits of a question again, together with it: one more evidence, which also marks sentences.

    score + w · log(1 + exp(r))      r: the log odds that the passage answers, by `encoders.reranker`

What is added is never negative, so that a passage never falls behind one that was not read. How much it counts, and
what it says of the probability that a passage answers, is fitted with the other weights (`fusion.Rereading`). The
re-ranker learned from questions in words; other queries are not read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import FloatArray
from auscult.encoders.reranker import Excerpt, Read, Reranker, label
from auscult.index.reader import GenerationReader
from auscult.index.store import StoredPassage

FIRST: Final = 8
"""How many hits are read again at most, unless a search says how many."""


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


def read_again(reranker: Reranker, reader: GenerationReader, asked: Asked, rows: Sequence[int]) -> list[Read]:
    """Return what a re-ranker says of passages.

    Args:
        reranker: The re-ranker.
        reader: Reader of the index.
        asked: The question.
        rows: Rows of the passages.
    """
    excerpts = []
    for row in rows:
        stored = reader.stored(row)
        title = reader.document_record(reader.passage_documents[row]).title
        sentences = [stored.text_of(sentence) for sentence in stored.passage.sentences]
        told = label(title, stored.passage.heading)
        excerpts.append(Excerpt(told, sentences, asked.nearness(stored).tolist()))
    return reranker.read(asked.question, excerpts)
