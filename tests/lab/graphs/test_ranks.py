"""Split and ranks of link prediction, against counts written out entity by entity."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray

from auscult.encoders.contract import FloatArray
from auscult.errors import DataError, ModelError
from auscult_lab.graphs.build import split_triples
from auscult_lab.graphs.evaluation import Side, frequency_scores, link_prediction, rank_triples, summarise
from auscult_lab.graphs.graph import make_graph
from knowledge_graphs import grid_graph

ENTITIES, RELATIONS = 12, 3


def drawn_triples(count: int, seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(size, size=count) for size in (ENTITIES, RELATIONS, ENTITIES)]
    return np.unique(np.stack(columns, axis=1), axis=0)


def looped_rank(score: dict[int, float], truth: int, left_out: set[int]) -> float:
    """Mean of the best and the worst place that the truth can have among what is not left out."""
    rivals = [value for entity, value in score.items() if entity != truth and entity not in left_out]
    best = 1 + sum(value > score[truth] for value in rivals)
    worst = 1 + sum(value >= score[truth] for value in rivals)
    return (best + worst) / 2


def test_ranks_by_loops() -> None:
    known = drawn_triples(90, seed=0)
    test = known[::4]
    # Few distinct scores: many ties.
    table = np.random.default_rng(1).integers(4, size=(2, ENTITIES, RELATIONS, ENTITIES)).astype(np.float32)

    def scores(triples: NDArray[np.int64], side: Side) -> FloatArray:
        given = triples[:, 2 if side == "head" else 0]
        chosen: FloatArray = table[int(side == "tail"), given, triples[:, 1]]
        return chosen

    ranks = rank_triples(scores, test, known)
    true = {tuple(triple) for triple in known.tolist()}
    for row, (subject, relation, object_) in enumerate(test.tolist()):
        head = dict(enumerate(table[0, object_, relation].tolist()))
        tail = dict(enumerate(table[1, subject, relation].tolist()))
        heads = {each for each in range(ENTITIES) if (each, relation, object_) in true}
        tails = {each for each in range(ENTITIES) if (subject, relation, each) in true}
        assert ranks.raw[row].tolist() == [looped_rank(head, subject, set()), looped_rank(tail, object_, set())]
        filtered = [looped_rank(head, subject, heads), looped_rank(tail, object_, tails)]
        assert ranks.filtered[row].tolist() == filtered


def test_one_score_for_all_is_in_the_middle() -> None:
    known = drawn_triples(20, seed=2)
    ranks = rank_triples(lambda triples, _: np.zeros((len(triples), ENTITIES), dtype=np.float32), known, known)
    assert set(ranks.raw.ravel().tolist()) == {(ENTITIES + 1) / 2}


def test_scores_that_are_no_numbers_are_not_ranked() -> None:
    """A diverged model's: each comparison with them is false, so that they would all come first."""
    known = drawn_triples(20, seed=2)
    broken = np.zeros(ENTITIES, dtype=np.float32)
    broken[3] = np.nan
    with pytest.raises(ModelError, match="finite scores of all entities, got 20 of 240 that are not"):
        rank_triples(lambda triples, _: np.tile(broken, (len(triples), 1)), known, known)


def test_figures_by_hand() -> None:
    figures = summarise(np.array([[1, 2], [4, 20]]))
    assert figures == pytest.approx(
        {"MRR": (1 + 1 / 2 + 1 / 4 + 1 / 20) / 4, "Hits@1": 0.25, "Hits@3": 0.5, "Hits@10": 0.75, "mean_rank": 6.75}
    )


def test_relations_are_told_apart() -> None:
    known = drawn_triples(60, seed=3)
    ranks = rank_triples(frequency_scores(known, ENTITIES), known, known)
    told = link_prediction(ranks, known, ("a", "b", "c"))
    relations = told["by_relation"]
    assert isinstance(relations, dict)
    assert sum(own["triples"] for own in relations.values()) == told["triples"] == len(known)
    assert relations["b"]["tail"] == summarise(ranks.filtered[known[:, 1] == 1, 1])


def test_frequency_counts_the_end_of_a_relation() -> None:
    training = np.array([[0, 0, 1], [2, 0, 1], [2, 0, 3], [1, 1, 0]])
    scores = frequency_scores(training, 4)
    asked = np.array([[3, 0, 0], [0, 1, 2]])
    assert scores(asked, "tail").tolist() == [[0, 2, 0, 1], [1, 0, 0, 0]]
    assert scores(asked, "head").tolist() == [[1, 0, 2, 0], [0, 1, 0, 0]]


def test_large_graph_is_ranked_in_little_memory() -> None:
    """As many relations and entities as dumps have: a table of both would take 80 GB, a block of scores 2 GB."""
    relations, entities = 10_000, 2_000_000
    rng = np.random.default_rng(5)
    sizes = (entities, relations, entities)
    known = np.unique(np.stack([rng.integers(size, size=2000) for size in sizes], axis=1), axis=0)
    known = np.concatenate([known, [[0, 0, entities - 1]]])
    scores, batch_sizes = frequency_scores(known, entities), []

    def watched(triples: NDArray[np.int64], side: Side) -> FloatArray:
        batch_sizes.append(len(triples))
        return scores(triples, side)

    tracemalloc.start()
    ranks = rank_triples(watched, known[-20:], known)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 400e6
    assert max(batch_sizes) * entities <= 1 << 25
    assert ranks.filtered.max() < 10, "what stood there has a count, and nearly nothing else has"


def test_split_keeps_every_entity_and_relation_in_training() -> None:
    graph = grid_graph()
    split = split_triples(graph, seed=4, validation=0.1, test=0.2)
    assert set(split.training[:, [0, 2]].ravel().tolist()) == set(range(len(graph.entities)))
    assert set(split.training[:, 1].tolist()) == set(range(len(graph.relations)))
    parts = [{tuple(row) for row in part.tolist()} for part in (split.training, split.validation, split.test)]
    assert set.union(*parts) == {tuple(row) for row in graph.triples.tolist()}
    assert sum(map(len, parts)) == len(graph.triples)
    assert len(parts[1]) == pytest.approx(0.1 * len(graph.triples), abs=1)
    assert len(parts[2]) == pytest.approx(0.2 * len(graph.triples), abs=1)


def test_split_follows_its_seed() -> None:
    graph = grid_graph()
    first, same, other = (split_triples(graph, seed=seed) for seed in (1, 1, 2))
    assert first.test.tolist() == same.test.tolist()
    assert first.test.tolist() != other.test.tolist()


def test_pairs_that_training_joins_are_counted() -> None:
    graph = make_graph([(s, r, o) for s in "abcd" for o in "abcd" for r in "xy" if s < o], {})
    split = split_triples(graph, seed=0, validation=0.1, test=0.3)
    joined = {frozenset((s, o)) for s, _, o in split.training.tolist()}
    expected = sum(frozenset((s, o)) in joined for s, _, o in split.test.tolist())
    assert 0 < split.seen_pairs == expected


def test_a_star_cannot_be_split() -> None:
    star = make_graph([(f"leaf {row}", "is_a", "root") for row in range(30)], {})
    with pytest.raises(DataError, match="held out"):
        split_triples(star, seed=1)
