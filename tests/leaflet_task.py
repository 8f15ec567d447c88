"""A small task over the leaflets: every query has the same candidates and the same answer."""

from __future__ import annotations

from collections.abc import Sequence

from auscult.ingest.corpus import Judgement
from auscult.understanding import Query
from auscult_lab.evaluation.task import Task
from leaflets import leaflets

PASSAGES = tuple(sorted(passage.passage_id for each in leaflets() for passage in each.passages))


def leaflet_task(number: int, answer: str, candidates: Sequence[str] = PASSAGES) -> Task:
    """So many queries about gout, each answered by one passage."""
    queries = tuple(Query(f"q{n}", "Gout", (f"aspect {n}",)) for n in range(number))
    return Task(
        corpus="leaflets",
        protocol="rerank",
        documents=tuple(leaflets()),
        queries=queries,
        judgements=tuple(Judgement(query.query_id, answer) for query in queries),
        candidates={query.query_id: tuple(candidates) for query in queries},
    )
