"""What `unseen_documents.py` compares: models that score every passage of a collection for each question.

A model is a name and `rank(queries)`, which gives an array of scores, float32 (queries, passages), higher is better,
columns in the order of `Collection.passages`. To compare another one, add a function that makes it to `models_of`.
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
from auscult.encoders.reranker import Reranker
from auscult.errors import ConfigError
from auscult.interfaces import DocumentEncoder, FloatArray
from auscult.search import Searcher, build_index
from auscult.search.reranking import with_first_read_again
from auscult.understanding import Query
from auscult_lab.evaluation.records import Track
from auscult_lab.evaluation.task import Task
from auscult_lab.evaluation.tracks import fitted_on_questions_of, track_on
from auscult_lab.fitting.fused_scorer import searched_with
from auscult_lab.scorers.lexical import Bm25Config, Bm25Index
from kept_vectors import KeptVectors
from packaged_readers import added, e5_scores, splade_scores

CONSTANT = 60
BEST = "best"
Rank = Callable[[Sequence[Query]], FloatArray]


@dataclass(frozen=True)
class Collection:
    """The passages of a task.

    Attributes:
        task: Its documents tell their names or not.
    """

    task: Task

    @cached_property
    def passages(self) -> tuple[tuple[Document, Passage], ...]:
        """All passages with their documents, in the order of the corpus."""
        return tuple((document, passage) for document in self.task.documents for passage in document.passages)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What a model reads of each passage: title, heading and text, where a document tells its names."""
        return tuple(
            "\n".join(filter(None, (document.title, passage.heading, document.slice(passage))))
            for document, passage in self.passages
        )


@dataclass(frozen=True, kw_only=True)
class OpenModel:
    """A model that has read a collection.

    Attributes:
        name: As tables call it; of one name in all corpora.
        rank: Scores of all passages for queries.
        track: What it was trained on.
        training: What it says about its training.
        fingerprint: Hash of its weights; empty for a model without.
    """

    name: str
    rank: Rank
    track: Track = "untrained"
    training: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""


def question_of(query: Query) -> str:
    """A query in words: as it was asked, or "symptoms of gout".

    Of six ways to say an entity and an aspect, this was the best for the encoder on NHS pages that are not for testing.
    """
    return query.text or " and ".join(query.aspects) + f" of {query.entity}"


def bm25(collection: Collection) -> OpenModel:
    """BM25 over title, heading and text, with all words of the question."""
    config, analyzer = Bm25Config(), Analyzer()
    index = Bm25Index([analyzer(text) for text in collection.texts], config.k1, config.b)

    def rank(queries: Sequence[Query]) -> FloatArray:
        return np.stack([index.score_all(analyzer(_words(query))) for query in queries])

    return OpenModel(name="BM25", rank=rank)


def _words(query: Query) -> str:
    return query.text or query.terms


def as_it_is(collection: Collection, vectors: KeptVectors, name: str, training: Mapping[str, Any]) -> OpenModel:
    """A sentence encoder by cosine: the passage as one text, cut to what it reads, and the question as one."""
    passages = vectors.of(collection.texts)

    def rank(queries: Sequence[Query]) -> FloatArray:
        asked: FloatArray = vectors.of([question_of(query) for query in queries])
        return asked @ passages.T

    return OpenModel(name=name, rank=rank, training=training)


def both(first: OpenModel, second: OpenModel) -> OpenModel:
    """Two models by reciprocal ranks (cormack2009): a passage scores the sum of 1 / (60 + rank) over both."""

    def rank(queries: Sequence[Query]) -> FloatArray:
        return reciprocal_ranks(first.rank(queries)) + reciprocal_ranks(second.rank(queries))

    training = {**first.training, **second.training}
    return OpenModel(name=f"{first.name} + {second.name}", rank=rank, training=training)


def searched(
    collection: Collection, model: str, encoder: DocumentEncoder, folder: Path, reranker: Reranker | None = None
) -> OpenModel | None:
    """`auscult search`: an index of the collection, questions understood, all evidence weighed.

    Args:
        collection: Its passages; documents whose names are hidden have none in the index, either.
        model: What the index is made with, as `load_model` takes it; None is returned where it has read the collection.
        encoder: The model, opened.
        folder: Where indexes are kept.
        reranker: Reads the first hits once more; it has read less than the model.
    """
    training = training_record(model_folder(model))
    try:
        track = track_on(encoder.name, training, collection.task.corpus, collection.task.split)
    except ConfigError:
        return None
    if track != "zero-shot":
        return None
    if fitted_on_questions_of(training, collection.task.corpus):
        track = "adapted"
    searcher = Searcher.open(kept_index(collection, encoder, folder), encoder)

    def rank(queries: Sequence[Query]) -> FloatArray:
        understood = [searcher.understand(query).query for query in queries]
        return np.stack([scores(query) for query in understood])

    def scores(query: Query) -> FloatArray:
        found = searcher.fusion.scores(query, searcher.gather(query)[1])
        return found if reranker is None else with_first_read_again(reranker, searcher.index.reader, query, found, rows)

    rows = np.arange(len(collection.passages))
    prints = " ".join(filter(None, (encoder.fingerprint, reranker and reranker.fingerprint)))
    name = searched_with(encoder, reranker)
    return OpenModel(name=name, rank=rank, track=track, training=training, fingerprint=prints)


def kept_index(collection: Collection, encoder: DocumentEncoder, folder: Path) -> Path:
    """An index of a collection, found in a folder or made there."""
    place = folder / hashlib.sha256("\n".join((encoder.fingerprint, *collection.texts)).encode()).hexdigest()[:16]
    if not (place / "CURRENT").is_file():
        build_index(collection.task.documents, encoder, place, knowledge_base=open_for_questions())
    return place


def three_readers(collection: Collection, encoder: OpenModel) -> OpenModel:
    """A sentence encoder, multilingual-e5-small and splade-tiny, standardised scores added: nothing is trained."""

    def rank(queries: Sequence[Query]) -> FloatArray:
        asked = [question_of(query) for query in queries]
        read = (scores(collection.texts, asked) for scores in (e5_scores, splade_scores))
        return added(encoder.rank(queries), *read)

    return OpenModel(name=f"{encoder.name} + e5-small + splade-tiny", rank=rank, training=encoder.training)


def reciprocal_ranks(scores: FloatArray) -> FloatArray:
    """1 / (60 + rank) of each passage, its rank counted from 1, a row a query.

    Passages that tie share the last of their ranks, so that having none of a question's words earns nothing by order.
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
    reranker: Reranker | None = None,
    *,
    readers: bool = False,
) -> list[OpenModel]:
    """The models to be compared, having read the collection.

    Args:
        collection: Its passages.
        vectors: Of the sentence encoder.
        name: Of that.
        training: What is known of how it was trained.
        searching: What `auscult search` is measured with, where it has not read the collection.
        folder: Where their indexes are kept.
        reranker: Also measured, behind the best of them.
        readers: Also measure three packaged readers, added.
    """
    words, encoder = bm25(collection), as_it_is(collection, vectors, name, training)
    ours = []
    for model, each in searching.items():
        ours.append(searched(collection, model, each, folder))
        if reranker is not None and model == BEST:
            ours.append(searched(collection, model, each, folder, reranker))
    third = [three_readers(collection, encoder)] if readers else []
    return [words, encoder, both(words, encoder), *third, *filter(None, ours)]
