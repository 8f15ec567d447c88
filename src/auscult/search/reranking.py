"""Re-ranking of the first hits: the re-ranker's probability is one more evidence.

    score + w · sigmoid(r)      r: the log odds that a passage answers, by `encoders.reranker`

w is 0 or more, so that a re-ranked passage never falls behind one that was not read. The re-ranker brings one w for
questions in words and one for entity and aspect, fitted as the other weights are (`fitting.fit_reranker`).

The re-ranker reads the beginning of a passage that is longer than its window: that is where passages name their topic.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import FloatArray
from auscult.encoders.general.encoder import question_of
from auscult.encoders.reranker import Reranker, label
from auscult.errors import ModelError
from auscult.index import GenerationReader
from auscult.understanding import Query

FIRST: Final = 16
"""How many hits are re-ranked where models are measured."""


def read_again(
    reranker: Reranker, reader: GenerationReader, query: Query, rows: Sequence[int]
) -> npt.NDArray[np.float64]:
    """Return what the re-ranker adds to the scores of passages, (rows,), never negative.

    Args:
        reranker: The re-ranker.
        reader: Reader of the index.
        query: The query, understood.
        rows: Rows of the passages.

    Raises:
        ModelError: The re-ranker's weights were never fitted.
    """
    if kind(query) not in reranker.weights:
        remedy = "fit them (benchmarks/fit_reranker.py), or copy the model again"
        raise ModelError("a re-ranker with weights", f"'{reranker.name}' without", remedy)
    return reranker.weights[kind(query)] * probabilities(reranker, reader, query, rows)


def with_first_read_again(
    reranker: Reranker, reader: GenerationReader, query: Query, scores: FloatArray, rows: npt.NDArray[np.int64]
) -> FloatArray:
    """Return the scores of passages after re-ranking the best `FIRST` of them, (rows,).

    Args:
        reranker: The re-ranker.
        reader: Reader of the index.
        query: The query, understood.
        scores: Scores of the passages, (rows,).
        rows: Rows of passages with a sentence, each once.

    Raises:
        ModelError: The re-ranker's weights were never fitted.
    """
    first = np.argsort(-scores, kind="stable")[:FIRST]
    reranked = scores.astype(np.float32)
    reranked[first] += read_again(reranker, reader, query, rows[first].tolist())
    return reranked


def kind(query: Query) -> str:
    """Return the kind of a query, which selects its weight: "words" for a question in words, else "parts"."""
    return "words" if query.text else "parts"


def probabilities(
    reranker: Reranker, reader: GenerationReader, query: Query, rows: Sequence[int], hidden: Collection[int] = ()
) -> npt.NDArray[np.float64]:
    """Return the re-ranker's probability that each passage answers, (rows,).

    Args:
        reranker: The re-ranker.
        reader: Reader of the index.
        query: The query, understood.
        rows: Rows of the passages.
        hidden: Rows whose title and heading the re-ranker does not read.
    """
    passages = []
    for row in rows:
        title = reader.document_record(reader.passage_documents[row]).title
        heading = "" if row in hidden else label(title, reader.passage(row).heading)
        passages.append((heading, reader.passage_text(row)))
    probability: npt.NDArray[np.float64] = 1 / (
        1 + np.exp(-reranker.score(question_of(query), passages).astype(np.float64))
    )
    return probability
