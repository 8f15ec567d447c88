"""The re-ranking and end-to-end protocols: nothing but scores decides a rank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auscult import provenance
from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.errors import ConfigError, DataError, ModelError
from auscult.ingest.corpus import Judgement
from auscult.understanding import Query
from auscult_lab.evaluation.measures import measure
from auscult_lab.evaluation.protocol import rank_against_ties, run_task
from auscult_lab.evaluation.task import Task, build_task, select_queries
from auscult_lab.scorers.lexical import Bm25Scorer
from leaflets import leaflets

QUERIES = (
    Query("q1", "Migraine", ("symptoms",)),
    Query("q2", "Gout", ("treatment",)),
    Query("q3", "Asthma", ("information",)),
)
JUDGEMENTS = (
    Judgement("q1", "migraine-2"),
    Judgement("q2", "gout-3"),
    Judgement("q3", "asthma-1"),
    Judgement("q3", "asthma-2", 0),
)
PASSAGES = tuple(sorted(passage.passage_id for each in leaflets() for passage in each.passages))


class Constant:
    """Finds every passage equally good."""

    name = "constant"

    def prepare(self, documents: Iterable[Document]) -> None:
        pass

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        return np.zeros(len(passage_ids), dtype=np.float32)


class NotANumber(Constant):
    """Returns what no model may."""

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        return np.full(len(passage_ids), np.nan, dtype=np.float32)


def task(candidates: dict[str, tuple[str, ...]] | None = None, seed: int = 0) -> Task:
    given = candidates if candidates is not None else {query.query_id: PASSAGES for query in QUERIES}
    return Task(
        corpus="leaflets",
        protocol="rerank",
        documents=tuple(leaflets()),
        queries=QUERIES,
        judgements=JUDGEMENTS,
        candidates=given,
        seed=seed,
    )


END_TO_END = replace(task(), protocol="end-to-end", candidates=None)


def test_bm25_ranks_the_leaflets() -> None:
    run = run_task(task(), Bm25Scorer())
    assert [each.query_id for each in run.rankings] == ["q1", "q2", "q3"]
    assert run.rankings[1].passage_ids[0] == "gout-1"  # the only passage that says "gout"
    for ranking in run.rankings:
        assert set(ranking.passage_ids) == set(PASSAGES)
        assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
    assert run.ms_per_query > 0


def test_constant_scores_rank_the_answers_last() -> None:
    for protocol in (task(), END_TO_END):
        run = run_task(protocol, Constant())
        assert [ranking.passage_ids[-1] for ranking in run.rankings] == ["migraine-2", "gout-3", "asthma-1"]
        assert measure(run.rankings, JUDGEMENTS).means()["RR"] == pytest.approx(1 / len(PASSAGES))


@given(st.permutations(list(PASSAGES)), st.integers(0, 5))
@settings(max_examples=30)
def test_the_order_of_candidates_changes_nothing(order: list[str], seed: int) -> None:
    given_order = {query.query_id: tuple(order) for query in QUERIES}
    for scorer in (Bm25Scorer(), Constant()):
        expected = run_task(task(seed=seed), scorer).rankings
        assert run_task(task(given_order, seed=seed), scorer).rankings == expected


@given(
    st.lists(
        st.tuples(st.text("abcdefgh", min_size=1), st.sampled_from([0.0, 0.5, 1.0])),
        unique_by=lambda row: row[0],
    ),
    st.sets(st.text("abcdefgh", min_size=1, max_size=2)),
    st.randoms(use_true_random=False),
)
def test_ties_are_broken_against_true_answers(
    rows: list[tuple[str, float]], relevant: set[str], random: object
) -> None:
    ids = [row[0] for row in rows]
    scores = np.array([row[1] for row in rows], dtype=np.float32)
    ranked, values = rank_against_ties(ids, scores, relevant, np.random.default_rng(0))
    assert sorted(ranked) == sorted(ids)
    assert list(values) == sorted(values, reverse=True)
    for before, after in zip(range(len(ranked)), range(1, len(ranked)), strict=False):
        if values[before] == values[after]:
            assert not (ranked[before] in relevant and ranked[after] not in relevant)
    backwards = rank_against_ties(ids[::-1], scores[::-1], relevant, np.random.default_rng(0))
    assert backwards == (ranked, values)


def test_the_seed_orders_false_answers_only() -> None:
    orders = {run_task(task(seed=seed), Constant()).rankings[0].passage_ids for seed in range(5)}
    assert len(orders) > 1
    assert {order[-1] for order in orders} == {"migraine-2"}


def test_a_subset_gets_the_ranks_of_the_whole() -> None:
    whole = run_task(task(), Constant()).rankings
    part = run_task(replace(task(), queries=QUERIES[1:2], judgements=JUDGEMENTS[1:2]), Constant()).rankings
    assert part == whole[1:2]


def test_missing_true_answers_are_refused() -> None:
    candidates = {query.query_id: PASSAGES for query in QUERIES}
    candidates["q2"] = tuple(each for each in PASSAGES if each != "gout-3")
    with pytest.raises(DataError, match=r"'gout-3' missing for query 'q2'"):
        run_task(task(candidates), Bm25Scorer())
    del candidates["q2"]
    with pytest.raises(DataError, match="none for 'q2'"):
        run_task(task(candidates), Bm25Scorer())


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ModelError, match="finite"):
        run_task(task(), NotANumber())


def test_run_records_the_revision_it_began_with(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Constant):
        def prepare(self, documents: Iterable[Document]) -> None:
            monkeypatch.setattr(provenance, "find_revision", lambda: "later")

    monkeypatch.setattr(provenance, "find_revision", lambda: "earlier")
    made = run_task(task(), Slow()).provenance
    assert set(made) == {"version", "revision", "hardware", "date"}
    assert made["revision"] == "earlier"


def test_end_to_end_runs_keep_the_top_passages() -> None:
    run = run_task(END_TO_END, Bm25Scorer(), depth=3)
    whole = run_task(END_TO_END, Bm25Scorer())
    assert [len(each.passage_ids) for each in run.rankings] == [3, 3, 3]
    assert {len(each.passage_ids) for each in whole.rankings} == {len(PASSAGES)}
    assert [each.passage_ids for each in run.rankings] == [each.passage_ids[:3] for each in whole.rankings]


def test_ties_at_the_depth_limit_count_against_models() -> None:
    run = run_task(END_TO_END, Constant(), depth=len(PASSAGES) - 1)
    assert all(set(each.passage_ids).isdisjoint({"migraine-2"}) for each in run.rankings[:1])


class Repeating:
    """A corpus two of whose queries have one id."""

    name = "repeating"

    def documents(self, split: str | None = None) -> Iterator[Document]:
        yield from leaflets()

    def queries(self, split: str) -> Sequence[Query]:
        return (*QUERIES, Query("q2", "Gout", ("causes",)))

    def judgements(self, split: str) -> Sequence[Judgement]:
        return JUDGEMENTS

    def candidates(self, split: str) -> dict[str, Sequence[str]]:
        return {}


def test_a_repeated_query_id_is_refused() -> None:
    with pytest.raises(DataError, match="'q2' 2 times in corpus 'repeating'"):
        build_task(Repeating())


def test_subsets_of_queries() -> None:
    many = [Query(f"q{n}", "e") for n in range(50)]
    drawn = select_queries(many, number=10, seed=4)
    assert len(drawn) == 10
    assert drawn == select_queries(many, number=10, seed=4) != select_queries(many, number=10, seed=5)
    assert drawn == sorted(drawn, key=many.index)
    assert [each.query_id for each in select_queries(many, ids=["q9", "q3"])] == ["q3", "q9"]
    assert select_queries(many) == many
    for wrong in (
        {"number": 0},
        {"number": 51},
        {"ids": ["nope"]},
        {"ids": []},
        {"ids": ["q1"], "number": 1},
    ):
        with pytest.raises(ConfigError):
            select_queries(many, **wrong)  # type: ignore[arg-type]
