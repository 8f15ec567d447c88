"""Retrieve, then re-rank: an index retrieves candidates, and a scorer that reads query and passage together ranks them.

grundmann2021 (section 3.2): a cross-encoder is too slow to read a collection, but can rank what a faster model
retrieved. Their errors differ, so that the mean of both scores (`fuse`) may rank better than either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from threading import Lock

import numpy as np

from auscult.documents.document import Document
from auscult.encoders.contract import ReadsDocuments, Scorer
from auscult.errors import QueryError
from auscult.search.fusion import fuse_scores
from auscult.search.hits import Hit
from auscult.search.searcher import DEFAULT_OPTIONS, Searcher, SearchOptions
from auscult.understanding.query import Query


class Pipeline:
    """A searcher and a scorer that re-ranks what it finds.

    Args:
        searcher: Retrieves.
        scorer: Re-ranks. It is shown the candidates' passages within the text of their documents, and all passages of
            these documents where it `ReadsDocuments`; it must not need statistics of the collection.
        candidates: How many passages are retrieved for it, at least 1.
        fuse: Order by the mean of both scores, each standardised over the candidates (`fusion.fuse_scores`), and not by
            the scorer's alone.

    Raises:
        QueryError: `candidates` is below 1.
    """

    def __init__(self, searcher: Searcher, scorer: Scorer, *, candidates: int = 64, fuse: bool = False) -> None:
        if candidates < 1:
            raise QueryError("a number of candidates of at least 1", str(candidates), "ask for more")
        self.searcher = searcher
        self.scorer = scorer
        self.candidates = candidates
        self.fuse = fuse
        # `prepare` changes the scorer's state, and several threads may search with one pipeline.
        self._scoring = Lock()

    def search(self, query: str | Query, k: int = 10, options: SearchOptions = DEFAULT_OPTIONS) -> list[Hit]:
        """Return the k best passages by the scorer.

        Args:
            query: As `Searcher.search` takes it.
            k: How many, at least 1; more than `candidates` retrieves as many.
            options: As `Searcher.search` takes them, for the candidates.

        Returns:
            Best first, ties in the order they were retrieved. `score` is the scorer's, or the mean of both; sentences,
            evidence and probability are what the searcher gave them, and entity and aspect have no share.

        Raises:
            QueryError: The query is empty, or an option is out of range.
        """
        if isinstance(query, str):
            query = self.searcher.understand(Query("", "", text=query.strip())).query
        retrieved = self.searcher.find(query, max(k, self.candidates), options)
        if not retrieved:
            return []
        hits = [*retrieved]
        rows = dict.fromkeys(map(retrieved.document, range(len(retrieved))))
        documents = self._documents(rows, {hit.passage_id for hit in hits})
        with self._scoring:
            self.scorer.prepare(documents)
            scores = self.scorer.score(query, [hit.passage_id for hit in hits])
        if self.fuse:
            scores = fuse_scores([np.array([hit.score for hit in hits], dtype=np.float32), scores])
        order = sorted(range(len(hits)), key=lambda row: -scores[row])[:k]
        return [
            replace(hits[row], rank=rank, score=float(scores[row]), entity_score=0.0, aspect_score=0.0)
            for rank, row in enumerate(order, start=1)
        ]

    def _documents(self, rows: Iterable[int], passage_ids: Collection[str]) -> Iterator[Document]:
        """Yield documents for the scorer: with all passages if it reads whole documents, else with the given ones."""
        whole = isinstance(self.scorer, ReadsDocuments) and self.scorer.reads_documents
        for row in rows:
            document = self.searcher.index.reader.document(row)
            passages = document.passages if whole else (p for p in document.passages if p.passage_id in passage_ids)
            yield replace(document, passages=tuple(passages))
