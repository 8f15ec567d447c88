"""The first hits, read once more: what a re-ranker says of them is one more evidence.

    score + w · sigmoid(r)      r: the log odds that a passage answers, by `encoders.reranker`

w is 0 or more, so that what was read again never falls behind what was not. It comes with the re-ranker, one for
questions in words and one for entity and aspect, fitted as the other weights are (`fitting.fit_reranker`).

Of a passage that is longer than the re-ranker's window the beginning is read, where passages say what they are about.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.encoders.general.encoder import question_of
from auscult.encoders.reranker import Reranker, label
from auscult.errors import ModelError
from auscult.index import GenerationReader
from auscult.interfaces import FloatArray
from auscult.understanding import Query

FIRST: Final = 16
"""How many hits are read again where models are measured."""


def read_again(
    reranker: Reranker, reader: GenerationReader, query: Query, rows: Sequence[int]
) -> npt.NDArray[np.float64]:
    """What is added to the scores of passages, (rows,), none of it negative.

    Args:
        reranker: Reads.
        reader: Of the index.
        query: As it was understood.
        rows: Of passages.

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
    """Scores of passages, of which the best `FIRST` were read again, (rows,).

    Args:
        reranker: Reads.
        reader: Of the index.
        query: As it was understood.
        scores: Of the passages, (rows,).
        rows: Of passages with a sentence, each once.

    Raises:
        ModelError: The re-ranker's weights were never fitted.
    """
    first = np.argsort(-scores, kind="stable")[:FIRST]
    found = scores.astype(np.float32)
    found[first] += read_again(reranker, reader, query, rows[first].tolist())
    return found


def kind(query: Query) -> str:
    """Of a query, as the weights tell them apart: "words" where it was asked in words, else "parts"."""
    return "words" if query.text else "parts"


def probabilities(
    reranker: Reranker, reader: GenerationReader, query: Query, rows: Sequence[int], hidden: Collection[int] = ()
) -> npt.NDArray[np.float64]:
    """That passages answer, (rows,).

    Args:
        reranker: Reads.
        reader: Of the index.
        query: As it was understood.
        rows: Of passages.
        hidden: Those of which title and heading are not shown.
    """
    shown = []
    for row in rows:
        title = reader.document_record(reader.passage_documents[row]).title
        told = "" if row in hidden else label(title, reader.passage(row).heading)
        shown.append((told, reader.passage_text(row)))
    found: npt.NDArray[np.float64] = 1 / (1 + np.exp(-reranker.score(question_of(query), shown).astype(np.float64)))
    return found
