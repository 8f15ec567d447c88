"""Retrieve, then re-rank: an index finds candidates, a scorer that reads query and passage together orders them.

grundmann2021 (section 3.2): a cross-encoder is too slow to read a collection, and can order what a faster model found.
Each sees what the other misses, so that both together (`fuse`) may order better than either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from auscult.documents import Document, Passage, Sentence
from auscult.errors import QueryError
from auscult.index import GroupBy
from auscult.interfaces import Hit, Scorer
from auscult.models.fusion import fuse
from auscult.queries import Query
from auscult.search.searcher import Searcher


class Pipeline:
    """A searcher and a scorer that re-ranks what it finds.

    Args:
        searcher: Retrieves.
        scorer: Re-ranks; it is shown the candidates' passages only, so it must not need statistics of the collection.
        candidates: How many passages are retrieved for it, at least 1.
        fuse: Order by the mean of both scores, each standardised over the candidates (`models.fusion`), and not by the
            scorer's alone.

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

    def search(
        self, query: Query, k: int = 10, *, group_by: GroupBy = "passage", sources: Sequence[str] = ()
    ) -> list[Hit]:
        """The k best passages by the scorer.

        Args:
            query: As `Searcher.search` takes it.
            k: How many, at least 1; more than `candidates` retrieves as many.
            group_by: As `Searcher.search` takes it.
            sources: As `Searcher.search` takes it.

        Returns:
            Best first, ties in the order they were retrieved. `score` is the scorer's, or the mean of both; sentences
            keep the scores that the searcher's model gave them, and entity and aspect have no share.

        Raises:
            QueryError: The query is empty, or an option is out of range.
        """
        found = self.searcher.search(query, max(k, self.candidates), group_by=group_by, sources=sources)
        if not found:
            return []
        self.scorer.prepare([_as_document(hit) for hit in found])
        scores = self.scorer.score(query, [hit.passage_id for hit in found])
        if self.fuse:
            scores = fuse([np.array([hit.score for hit in found], dtype=np.float32), scores])
        order = sorted(range(len(found)), key=lambda row: -scores[row])[:k]
        return [
            replace(found[row], rank=rank, score=float(scores[row]), entity_score=0.0, aspect_score=0.0)
            for rank, row in enumerate(order, start=1)
        ]


def _as_document(hit: Hit) -> Document:
    """A hit's passage as a document of its own."""
    sentences = tuple(Sentence(each.start - hit.start, each.end - hit.start) for each in hit.sentences)
    passage = Passage(hit.passage_id, hit.heading, 0, len(hit.text), sentences)
    return Document(hit.doc_id, hit.title, hit.text, (passage,), source=hit.source, url=hit.url)


__all__ = ["Pipeline"]
