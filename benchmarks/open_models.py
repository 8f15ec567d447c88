"""The models of `unseen_documents.py`, which score every passage of a collection for each question.

A model is a name and `rank(queries)`, which returns scores, float32 (queries, passages), higher is better, columns in
the order of `Collection.passages`. To compare another model, add a function that makes it to `models_of`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from auscult.concepts.opening import open_for_questions
from auscult.documents import Document, Passage
from auscult.documents.analysis import Analyzer
from auscult.encoders import model_folder, training_record
from auscult.encoders.contract import DocumentEncoder, FloatArray
from auscult.errors import ConfigError
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.understanding import Query
from auscult_lab.evaluation.records import Track
from auscult_lab.evaluation.task import Task
from auscult_lab.evaluation.tracks import fitted_on_questions_of, track_on
from auscult_lab.fitting.fused_scorer import searched_with
from auscult_lab.scorers.lexical import Bm25Config, Bm25Index
from kept_vectors import KeptVectors
from packaged_readers import added, e5_scores, splade_scores

CONSTANT = 60
Rank = Callable[[Sequence[Query]], FloatArray]


class Passages:
    """The passages of documents, as models read them.

    Args:
        documents: The documents, with the titles and headings that models may see.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents

    @cached_property
    def passages(self) -> tuple[tuple[Document, Passage], ...]:
        """All passages with their documents, in order."""
        return tuple((document, passage) for document in self.documents for passage in document.passages)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Text of each passage for a model: title and heading, unless hidden, and text."""
        return tuple(
            "\n".join(filter(None, (document.title, passage.heading, document.slice(passage))))
            for document, passage in self.passages
        )


class Collection(Passages):
    """The passages of a task.

    Args:
        task: The task, whose documents have names or not.
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task.documents)
        self.task = task


@dataclass(frozen=True, kw_only=True)
class OpenModel:
    """A model that has read a collection.

    Attributes:
        name: Its name in tables, the same for all corpora.
        rank: Returns scores of all passages for queries.
        track: "untrained", "zero-shot" or "adapted".
        training: Its training record.
        fingerprint: Hash of its weights; empty for a model without.
    """

    name: str
    rank: Rank
    track: Track = "untrained"
    training: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""


def question_of(query: Query) -> str:
    """Return a query in words: its text, or "symptoms of gout".

    Of six wordings of an entity and an aspect, this was the best for the encoder on NHS pages outside the test.
    """
    return query.text or " and ".join(query.aspects) + f" of {query.entity}"


def bm25(collection: Passages) -> OpenModel:
    """Return BM25 over title, heading and text, with all words of the question."""
    config, analyzer = Bm25Config(), Analyzer()
    index = Bm25Index([analyzer(text) for text in collection.texts], config.k1, config.b)

    def rank(queries: Sequence[Query]) -> FloatArray:
        return np.stack([index.score_all(analyzer(_words(query))) for query in queries])

    return OpenModel(name="BM25", rank=rank)


def _words(query: Query) -> str:
    return query.text or query.terms


def as_it_is(collection: Passages, vectors: KeptVectors, name: str, training: Mapping[str, Any]) -> OpenModel:
    """Return a sentence encoder by cosine: a passage is one text, cut at the encoder's limit, and so is a question."""
    passages = vectors.of(collection.texts)

    def rank(queries: Sequence[Query]) -> FloatArray:
        asked: FloatArray = vectors.of([question_of(query) for query in queries])
        return asked @ passages.T

    return OpenModel(name=name, rank=rank, training=training)


def both(first: OpenModel, second: OpenModel) -> OpenModel:
    """Return the fusion of two models by reciprocal ranks (cormack2009): the sum of 1 / (60 + rank) over both."""

    def rank(queries: Sequence[Query]) -> FloatArray:
        return reciprocal_ranks(first.rank(queries)) + reciprocal_ranks(second.rank(queries))

    training = {**first.training, **second.training}
    return OpenModel(name=f"{first.name} + {second.name}", rank=rank, training=training)


def searched(collection: Collection, model: str, encoder: DocumentEncoder, folder: Path) -> OpenModel | None:
    """Return `auscult search` with an index of the collection, understanding of questions, and all evidence.

    Args:
        collection: The collection; hidden names are not in the index.
        model: Name of the model of the index, for `load_model`; a model that has read the test documents gives None.
        encoder: The opened model.
        folder: Folder of saved indexes.
    """
    training = training_record(model_folder(model))
    try:
        track = track_on(encoder.name, training, collection.task.corpus, collection.task.split)
    except ConfigError:
        return None
    if fitted_on_questions_of(training, collection.task.corpus):
        track = "adapted"
    searcher = Searcher.open(kept_index(collection, encoder, folder), encoder)

    def rank(queries: Sequence[Query]) -> FloatArray:
        understood = [searcher.understand(query).query for query in queries]
        return np.stack([scores(query) for query in understood])

    def scores(query: Query) -> FloatArray:
        vector, evidence, _ = searcher.gather(query)
        return searcher.with_first_read_again(query, vector, searcher.fusion.scores(query, evidence), rows)

    rows = np.arange(len(collection.passages))
    return OpenModel(
        name=searched_with(encoder), rank=rank, track=track, training=training, fingerprint=encoder.fingerprint
    )


def kept_index(collection: Collection, encoder: DocumentEncoder, folder: Path) -> Path:
    """Return the path of a collection's index, saved in a folder or built there."""
    place = folder / hashlib.sha256("\n".join((encoder.fingerprint, *collection.texts)).encode()).hexdigest()[:16]
    if not (place / "CURRENT").is_file():
        build_index(collection.task.documents, encoder, place, knowledge_base=open_for_questions())
    return place


def three_readers(collection: Passages, encoder: OpenModel) -> OpenModel:
    """Return the untrained sum of standardised scores of a sentence encoder, multilingual-e5-small and splade-tiny."""

    def rank(queries: Sequence[Query]) -> FloatArray:
        asked = [question_of(query) for query in queries]
        read = (scores(collection.texts, asked) for scores in (e5_scores, splade_scores))
        return added(encoder.rank(queries), *read)

    return OpenModel(name=f"{encoder.name} + e5-small + splade-tiny", rank=rank, training=encoder.training)


def reciprocal_ranks(scores: FloatArray) -> FloatArray:
    """Return 1 / (60 + rank) of each passage, with ranks from 1, one row per query.

    Ties share the last of their ranks, so that passages without a word of the question gain nothing from their order.
    """
    ranks: npt.NDArray[np.float64] = rankdata(-scores, method="max", axis=1)
    return (1.0 / (CONSTANT + ranks)).astype(np.float32)


def models_of(
    collection: Collection,
    vectors: KeptVectors,
    name: str,
    training: Mapping[str, Any],
    searching: Mapping[str, DocumentEncoder] = MappingProxyType({}),
    folder: Path = Path(),
    *,
    readers: bool = False,
) -> list[OpenModel]:
    """Return the models to compare, after they have read the collection.

    Args:
        collection: The collection.
        vectors: Vectors of the sentence encoder.
        name: Name of the sentence encoder.
        training: Training record of the sentence encoder.
        searching: Models for `auscult search`; those that have read the test documents are left out.
        folder: Folder of saved indexes.
        readers: Also measure the sum of three packaged readers.
    """
    words, encoder = bm25(collection), as_it_is(collection, vectors, name, training)
    ours = [searched(collection, model, each, folder) for model, each in searching.items()]
    third = [three_readers(collection, encoder)] if readers else []
    return [words, encoder, both(words, encoder), *third, *filter(None, ours)]
