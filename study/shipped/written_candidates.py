"""Fit weights on written questions about passages, and on near misses, which their collection does not answer.

An encoder has learned from the questions about most documents. For these it finds the right passage too easily, so only
questions about held-out documents are asked (`written.is_held_out`). Near misses taught no encoder.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np

from auscult.documents import Document
from auscult.search.searcher import Searcher
from auscult.understanding import Query
from auscult_lab.fitting.fitting import Candidates, candidates
from auscult_lab.fitting.own_questions import OwnQuestion
from study.shipped.written import (
    NearMiss,
    WrittenQuestion,
    is_held_out,
    read_near_misses,
    read_questions,
    right_passages,
)

NEAR_MISSES: Final = 1 / 3
"""Near misses for each question, or fewer where a collection has fewer."""


def some_documents(
    collection: str, documents: Sequence[Document], most: int, folder: Path, seed: int
) -> list[Document]:
    """Return the documents that are asked about, and others drawn at random, in their order.

    Args:
        collection: Name of the collection.
        documents: All of its documents.
        most: Number of documents to return, if fewer are asked about.
        folder: Folder of the written questions.
        seed: Seed of the draw.
    """
    asked = {each.doc_id for each in _questions(collection, folder)}
    asked |= {each.doc_id for each in _near_misses(collection, folder, seed)}
    others = [each.doc_id for each in documents if each.doc_id not in asked]
    taken = asked.union(random.Random(seed).sample(others, min(max(0, most - len(asked)), len(others))))
    return [each for each in documents if each.doc_id in taken]


def small_candidates(
    searcher: Searcher, collection: str, documents: Sequence[Document], folder: Path, seed: int
) -> Iterator[Candidates]:
    """Return the candidates of the questions about a few documents, and of a third as many about others.

    Its arguments are those of `written_candidates`.
    """
    here, asked = {document.doc_id for document in documents}, _questions(collection, folder)
    about = [each for each in asked if each.doc_id in here]
    others = [each for each in asked if each.doc_id not in here]
    absent = random.Random(seed).sample(others, min(len(others), round(NEAR_MISSES * len(about))))
    return _candidates(searcher, about, documents, absent, seed)


def written_candidates(
    searcher: Searcher, collection: str, documents: Sequence[Document], folder: Path, seed: int
) -> Iterator[Candidates]:
    """Return the candidates of a collection's questions and near misses, with nothing hidden.

    Args:
        searcher: Searcher of an index of the documents.
        collection: Name of the collection.
        documents: The documents of the index.
        folder: Folder of the written questions.
        seed: Seed of all random draws.
    """
    asked, misses = _questions(collection, folder), _near_misses(collection, folder, seed)
    return _candidates(searcher, asked, documents, misses, seed)


def written_questions(
    searcher: Searcher, collection: str, documents: Sequence[Document], folder: Path, seed: int
) -> Iterator[OwnQuestion]:
    """Return a collection's questions and near misses, as a search understands them.

    Its arguments are those of `written_candidates`.
    """
    misses = (_unanswered(searcher, each) for each in _near_misses(collection, folder, seed))
    return chain(_answered(searcher, _questions(collection, folder), documents), misses)


def _candidates(
    searcher: Searcher,
    asked: Sequence[WrittenQuestion],
    documents: Sequence[Document],
    unanswered: Sequence[WrittenQuestion | NearMiss],
    seed: int,
) -> Iterator[Candidates]:
    chance = np.random.default_rng(seed)
    misses = (_unanswered(searcher, each) for each in unanswered)
    for question in chain(_answered(searcher, asked, documents), misses):
        yield candidates(searcher, question, chance, hides=False)


def _answered(
    searcher: Searcher, asked: Sequence[WrittenQuestion], documents: Sequence[Document]
) -> Iterator[OwnQuestion]:
    reader = searcher.index.reader
    rows = {reader.passage_id(row): row for row in range(len(reader.passage_documents))}
    by_id = {document.doc_id: document for document in documents}
    for each, right in zip(asked, right_passages(asked, documents), strict=True):
        ids = [by_id[doc_id].passages[number].passage_id for doc_id, number in right]
        # The index has only one of documents with the same text.
        relevant = np.array([rows[passage_id] for passage_id in ids if passage_id in rows], np.int64)
        related = np.flatnonzero(np.isin(reader.passage_documents, reader.passage_documents[relevant]))
        yield OwnQuestion(_understood(searcher, each.question), relevant, related)


def _unanswered(searcher: Searcher, asked: WrittenQuestion | NearMiss) -> OwnQuestion:
    return OwnQuestion(_understood(searcher, asked.question), np.zeros(0, np.int64), np.zeros(0, np.int64))


def _understood(searcher: Searcher, question: str) -> Query:
    return searcher.understand(Query("", "", text=question)).query


def _questions(collection: str, folder: Path) -> list[WrittenQuestion]:
    return [each for each in read_questions(folder) if each.collection == collection and is_held_out(each.doc_id)]


def _near_misses(collection: str, folder: Path, seed: int) -> list[NearMiss]:
    every = [each for each in read_near_misses(folder) if each.collection == collection]
    count = round(NEAR_MISSES * len(_questions(collection, folder)))
    return random.Random(seed).sample(every, min(count, len(every)))
