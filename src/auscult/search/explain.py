"""Score curves: how every sentence of one document answers a query (arnold2020 Figure 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auscult.documents.document import Document
from auscult.errors import QueryError
from auscult.schema import CurvePassage
from auscult.search.searcher import Searcher
from auscult.understanding.query import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCurves:
    """Scores over the sentences of one document, in order.

    Attributes:
        query: The query the scores are for.
        document: The document, as stored in the index.
        entity: The entity half's share of each sentence's cosine.
        aspect: The aspect half's share.
        combined: The sentence's cosine, in [-1, 1]: their sum, where the model has an entity and an aspect half.
        passages: Every passage, in order, with its mean sentence cosine, which it is ranked by.
        best: Number of the best passage; None in a document without sentences.
    """

    query: Query
    document: Document
    entity: tuple[float, ...]
    aspect: tuple[float, ...]
    combined: tuple[float, ...]
    passages: tuple[CurvePassage, ...]
    best: int | None


def explain(searcher: Searcher, query: Query, doc_id: str = "") -> ScoreCurves:
    """Score every sentence of one document, from the index' stored vectors.

    Args:
        searcher: An opened index.
        query: As for `Searcher.search`.
        doc_id: The document; empty for that of the best hit.

    Raises:
        QueryError: The query is empty, the id unknown, or the index holds no passage.
    """
    vector = searcher.encode([query])[0]
    reader = searcher.index.reader
    row = reader.row_of(doc_id) if doc_id else None
    if doc_id and row is None:
        raise QueryError("a document id of this index", f"'{doc_id}'", "take one from the output of search")
    if row is None:
        found = searcher.find(query, 1)
        if not found:
            raise QueryError("an index with passages", "one without", "index some documents first")
        row = found.document(0)
    document = reader.document(row)
    passages = reader.passages_of(row)
    none = np.zeros((0, len(vector)), np.float16)
    sentence_vectors = np.concatenate([none, *(reader.stored(passage).vectors for passage in passages)])
    shares = searcher.shares(sentence_vectors, vector)
    means = searcher.shares(reader.passage_vectors[passages.start : passages.stop], vector)[:, 2]
    spans = []
    begin = 0
    for passage, score in zip(document.passages, means.tolist(), strict=True):
        end = begin + len(passage.sentences)
        spans.append(
            CurvePassage(passage_id=passage.passage_id, heading=passage.heading, first=begin, last=end, score=score)
        )
        begin = end
    worded = [number for number, span in enumerate(spans) if span.last > span.first]
    return ScoreCurves(
        query=query,
        document=document,
        entity=tuple(shares[:, 0].tolist()),
        aspect=tuple(shares[:, 1].tolist()),
        combined=tuple(shares[:, 2].tolist()),
        passages=tuple(spans),
        best=max(worded, key=lambda number: spans[number].score, default=None),
    )


def curves_to_json(curves: ScoreCurves) -> dict[str, object]:
    """Return curves as JSON: every sentence with its place in the document, in order."""
    sentences = [sentence for passage in curves.document.passages for sentence in passage.sentences]
    scores = zip(sentences, curves.entity, curves.aspect, curves.combined, strict=True)
    return {
        "document": curves.document.doc_id,
        "entity": curves.query.entity,
        "aspects": list(curves.query.aspects),
        "passages": [
            {"passage_id": each.passage_id, "heading": each.heading, "sentences": each.last - each.first,
             "score": each.score}
            for each in curves.passages
        ],
        "sentences": [
            {"start": at.start, "end": at.end, "entity": entity, "aspect": aspect, "combined": combined}
            for at, entity, aspect, combined in scores
        ],
    }  # fmt: skip
