"""Drawing the candidates of the re-ranking protocol (arnold2020, section 5.1, and its published code)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from auscult.documents import Document
from auscult.interfaces import Judgement
from auscult.understanding import Query
from auscult_lab.scorers.lexical import Bm25Scorer

MIN_CHARACTERS = 10
CANDIDATES = 64
"""How many the published protocol has for a query."""


def insert_missing(ranked: Sequence[str], relevant: Iterable[str], count: int) -> list[str]:
    """Keep `count` candidates, missing true answers overwriting the lowest-ranked false ones.

    Args:
        ranked: Candidates, best first; repeats are skipped.
        relevant: True answers, all of which stay in.
        count: How many candidates in all (more only where there are more true answers).

    Returns:
        True answers first. The order must never reach a model: sort or shuffle before ranking.
    """
    kept = dict.fromkeys(sorted(relevant))
    for passage_id in ranked:
        if len(kept) >= count:
            break
        kept.setdefault(passage_id)
    return list(kept)


def draw_candidates(
    documents: Sequence[Document], queries: Sequence[Query], judgements: Sequence[Judgement], count: int = CANDIDATES
) -> dict[str, tuple[str, ...]]:
    """Draw a query's candidates with BM25, by the published rule.

    The `count` best passages are fetched; every passage of the best one's document is put in after rank 1;
    true answers that were not fetched overwrite the lowest-ranked false ones. Passages under 10 characters, and
    those without any of the query's terms, are not fetched; equal scores go by the collection's order.

    Args:
        documents: The test collection.
        queries: What to draw for.
        judgements: True answers.
        count: Candidates per query; fewer where fewer passages have a term of it.

    Returns:
        query_id -> passage ids, sorted by id.
    """
    scorer = Bm25Scorer()
    scorer.prepare(documents)
    siblings: list[list[str]] = []
    passage_ids: list[str] = []
    home: list[int] = []
    for document in documents:
        long_enough = [
            passage.passage_id
            for passage in document.passages
            if len(document.slice(passage).strip()) >= MIN_CHARACTERS
        ]
        home += [len(siblings)] * len(long_enough)
        siblings.append(long_enough)
        passage_ids += long_enough
    relevant: dict[str, set[str]] = {query.query_id: set() for query in queries}
    for judgement in judgements:
        if judgement.relevance > 0 and judgement.query_id in relevant:
            relevant[judgement.query_id].add(judgement.passage_id)
    drawn: dict[str, tuple[str, ...]] = {}
    for query in queries:
        scores = scorer.score(query, passage_ids)
        order = [int(row) for row in np.argsort(-scores, kind="stable")[:count] if scores[row] > 0]
        ranked = [passage_ids[row] for row in order]
        if order:
            ranked = ranked[:1] + siblings[home[order[0]]] + ranked[1:]
        drawn[query.query_id] = tuple(sorted(insert_missing(ranked, relevant[query.query_id], count)))
    return drawn
