"""Evaluation tasks: queries, judged passages, and candidate passages.

Where a corpus has no candidates, they are drawn by BM25 (arnold2020, section 5.1, and its published code).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import numpy as np

from auscult.documents import Document
from auscult.errors import ConfigError, DataError
from auscult.ingest.corpus import Corpus, Judgement
from auscult.understanding import Query
from auscult_lab.scorers.lexical import Bm25Scorer

MIN_CHARACTERS = 10
CANDIDATES = 64
"""How many the published protocol has for a query."""


def insert_missing(ranked: Sequence[str], relevant: Iterable[str], count: int) -> list[str]:
    """Return `count` candidates; missing true answers replace the lowest-ranked false ones.

    Args:
        ranked: Candidates, best first; repeats are skipped.
        relevant: True answers; all are candidates.
        count: Number of candidates (more only where there are more true answers).

    Returns:
        True answers first. The order must never reach a model: sort or shuffle before ranking.
    """
    candidates = dict.fromkeys(sorted(relevant))
    for passage_id in ranked:
        if len(candidates) >= count:
            break
        candidates.setdefault(passage_id)
    return list(candidates)


def draw_candidates(
    documents: Sequence[Document], queries: Sequence[Query], judgements: Sequence[Judgement], count: int = CANDIDATES
) -> dict[str, tuple[str, ...]]:
    """Draw a query's candidates with BM25, by the published rule.

    The `count` best passages are retrieved. All passages of the best one's document are inserted after rank 1. Missing
    true answers replace the lowest-ranked false ones. Passages under 10 characters, and those without any of the
    query's terms, are not retrieved. Equal scores are ordered as in the collection.

    Args:
        documents: The test collection.
        queries: The queries.
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


Protocol = Literal["rerank", "end-to-end"]
Names = Literal["shown", "hidden"]
"""Whether models see titles and headings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One evaluation task; every model that is compared gets the same one.

    Attributes:
        corpus: Name of the corpus.
        protocol: "rerank": rank a query's given candidates (arnold2020, section 5.1). "end-to-end": rank
            every passage of the collection.
        documents: The collection: source of the passages to rank and of their statistics.
        queries: In the corpus' order.
        judgements: Judgements of these queries only.
        split: Split of the queries.
        candidates: query_id -> passage ids, for "rerank"; sorted, so that no order can carry information.
        seed: Seed for shuffling candidates, and for the subset of queries where there is one.
        subset: Description of the subset of queries; empty for all.
        names: "hidden" where documents have neither titles nor headings (`without_names`).
    """

    corpus: str
    protocol: Protocol
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    judgements: tuple[Judgement, ...]
    split: str = "test"
    candidates: Mapping[str, tuple[str, ...]] | None = None
    seed: int = 0
    subset: str = ""
    names: Names = "shown"

    def without_names(self) -> Task:
        """Return the task with documents without titles and headings; offsets in texts stay.

        Queries that are made from the documents' own titles and headings would otherwise reveal the answer.
        """
        return replace(self, documents=tuple(each.without_names() for each in self.documents), names="hidden")

    @property
    def relevant(self) -> dict[str, frozenset[str]]:
        """query_id -> the passages judged relevant."""
        by_query: dict[str, set[str]] = {query.query_id: set() for query in self.queries}
        for judgement in self.judgements:
            if judgement.relevance > 0:
                by_query[judgement.query_id].add(judgement.passage_id)
        return {query_id: frozenset(passages) for query_id, passages in by_query.items()}


def select_queries(
    queries: Sequence[Query], *, number: int | None = None, ids: Sequence[str] | None = None, seed: int = 0
) -> list[Query]:
    """Return a random or given subset of queries, in their original order.

    Args:
        queries: All of them.
        number: Number to draw at random; None for all.
        ids: Ids of the queries to return; not together with `number`.
        seed: Seed of the draw.

    Raises:
        ConfigError: Both given, a number outside 1..len(queries), or an unknown id.
    """
    if ids is not None and number is not None:
        raise ConfigError("a number of queries or a list of them", "both", "give only one")
    if ids is not None:
        wanted = set(ids)
        unknown = sorted(wanted - {query.query_id for query in queries})
        if unknown or not wanted:
            got = f"'{unknown[0]}' ({len(unknown)} unknown)" if unknown else "none"
            raise ConfigError("query ids of the corpus", got, "check the file of query ids and the split")
        return [query for query in queries if query.query_id in wanted]
    if number is None:
        return list(queries)
    if not 1 <= number <= len(queries):
        raise ConfigError(f"between 1 and {len(queries)} queries", str(number), "choose a number in that range")
    chosen = np.sort(np.random.default_rng(seed).choice(len(queries), size=number, replace=False))
    return [queries[index] for index in chosen]


def build_task(
    corpus: Corpus,
    protocol: Protocol = "rerank",
    *,
    split: str = "test",
    number: int | None = None,
    ids: Sequence[str] | None = None,
    seed: int = 0,
) -> Task:
    """Read a corpus and set up a task.

    Re-ranking uses the split's documents only, as published. Without candidates in the corpus, they are drawn by the
    published rule. End to end uses every document of the corpus.

    Args:
        corpus: The corpus.
        protocol: "rerank" or "end-to-end".
        split: Split of the queries.
        number: Evaluate a random subset of this size.
        ids: Evaluate exactly these queries.
        seed: For the subset and for shuffling.

    Raises:
        DataError: The corpus has no queries or no judgements for this split, two queries with one id, or not every
            passage that is judged relevant.
        ConfigError: An impossible subset.
    """
    whole = _require(corpus, corpus.queries(split), "queries", split)
    _check_distinct(corpus, whole)
    queries = select_queries(whole, number=number, ids=ids, seed=seed)
    query_ids = {query.query_id for query in queries}
    judgements = tuple(judgement for judgement in corpus.judgements(split) if judgement.query_id in query_ids)
    _require(corpus, judgements, "judgements", split)
    documents = tuple(corpus.documents(split if protocol == "rerank" else None))
    _check_judged(corpus, documents, judgements)
    candidates: Mapping[str, Sequence[str]] | None = None
    if protocol == "rerank":
        given = corpus.candidates(split)
        candidates = given if given else draw_candidates(documents, queries, judgements)
    return Task(
        corpus=corpus.name,
        protocol=protocol,
        split=split,
        documents=documents,
        queries=tuple(queries),
        judgements=judgements,
        candidates=None
        if candidates is None
        else {query_id: tuple(sorted(candidates[query_id])) for query_id in query_ids if query_id in candidates},
        seed=seed,
        subset=_describe_subset(number, ids, seed),
    )


def _check_distinct(corpus: Corpus, queries: Sequence[Query]) -> None:
    """Check that ids of queries differ: figures are stored by id, and a repeated one would be lost unnoticed."""
    query_id, times = Counter(query.query_id for query in queries).most_common(1)[0]
    if times > 1:
        raise DataError(
            "an id of its own for each query",
            f"'{query_id}' {times} times in corpus '{corpus.name}'",
            "rename or remove the repeats",
        )


def _check_judged(corpus: Corpus, documents: Sequence[Document], judgements: Sequence[Judgement]) -> None:
    """Check that judged passages exist: a missing answer would count against every model, unnoticed."""
    known = {passage.passage_id for document in documents for passage in document.passages}
    lost = [each for each in judgements if each.relevance > 0 and each.passage_id not in known]
    if lost:
        raise DataError(
            f"every passage judged relevant among those of '{corpus.name}'",
            f"'{lost[0].passage_id}' of query '{lost[0].query_id}' ({len(lost):,} of {len(judgements):,} unknown)",
            "correct the judgements, or add the passages",
        )


def _describe_subset(number: int | None, ids: Sequence[str] | None, seed: int) -> str:
    if ids is not None:
        distinct = sorted(set(ids))
        digest = hashlib.sha256("\n".join(distinct).encode()).hexdigest()
        return f"{len(distinct)} given ids, sha256 {digest[:12]}"
    return f"random {number}, seed {seed}" if number is not None else ""


_Row = TypeVar("_Row")


def _require(corpus: Corpus, rows: Sequence[_Row], what: str, split: str) -> Sequence[_Row]:
    if not rows:
        raise DataError(
            f"{what} of split '{split}'", f"none in corpus '{corpus.name}'", "choose a corpus that has them"
        )
    return rows
