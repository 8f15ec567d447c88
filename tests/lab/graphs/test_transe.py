"""TransE against arithmetic written out triple by triple, its constraint, and that it learns what it can hold."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from auscult import provenance
from auscult.errors import ConfigError
from auscult_lab.evaluation.graph_tables import figure_tables
from auscult_lab.graphs.build import KnowledgeExperiment, digest_of_graph, train
from auscult_lab.graphs.knowledge_vectors import load
from auscult_lab.graphs.transe import (
    AS_PUBLISHED,
    TransE,
    TransEConfig,
    TransEObjective,
    corrupt,
    margin_loss,
    softmax_loss,
)
from auscult_lab.training.folder import Outcome
from knowledge_graphs import grid_graph
from places import TESTS

ENTITIES, RELATIONS, DIM = 9, 3, 5
TRIPLES = torch.tensor([[0, 0, 1], [1, 1, 2], [3, 2, 3], [8, 0, 4]])


def network(norm: int) -> TransE:
    torch.manual_seed(1)
    return TransE(ENTITIES, RELATIONS, dim=DIM, norm=norm)


def looped_distance(model: TransE, subject: int, relation: int, object_: int) -> float:
    entities, relations = model.entities.weight.tolist(), model.relations.weight.tolist()
    parts = [abs(entities[subject][k] + relations[relation][k] - entities[object_][k]) for k in range(DIM)]
    return sum(parts) if model.norm == 1 else math.sqrt(sum(part**2 for part in parts))


@pytest.mark.parametrize("norm", [1, 2])
def test_distance_by_loops(norm: int) -> None:
    model = network(norm)
    expected = [looped_distance(model, *triple) for triple in TRIPLES.tolist()]
    torch.testing.assert_close(model.distance(TRIPLES), torch.tensor(expected))


@pytest.mark.parametrize("norm", [1, 2])
def test_scores_replace_each_end_by_every_entity(norm: int) -> None:
    model = network(norm)
    tails = [[-looped_distance(model, s, r, each) for each in range(ENTITIES)] for s, r, _ in TRIPLES.tolist()]
    heads = [[-looped_distance(model, each, r, o) for each in range(ENTITIES)] for _, r, o in TRIPLES.tolist()]
    np.testing.assert_allclose(model.scores(TRIPLES.numpy(), "tail"), tails, atol=1e-5)
    np.testing.assert_allclose(model.scores(TRIPLES.numpy(), "head"), heads, atol=1e-5)


def test_losses_by_loops() -> None:
    true, corrupted = [0.5, 2.0], [[1.0, 3.0, 0.2], [2.5, 9.0, 1.0]]
    margin = sum(max(0.0, 1.5 + d - distance) for d, row in zip(true, corrupted, strict=True) for distance in row) / 3
    assert margin_loss(torch.tensor(true), torch.tensor(corrupted), 1.5).item() == pytest.approx(margin)
    is_true = [[False, True, False], [False, False, False]]
    softmax = 0.0
    for d, row, left_out in zip(true, corrupted, is_true, strict=True):
        others = sum(math.exp(-4 * distance) for distance, out in zip(row, left_out, strict=True) if not out)
        softmax -= math.log(math.exp(-4 * d) / (math.exp(-4 * d) + others))
    loss = softmax_loss(torch.tensor(true), torch.tensor(corrupted), torch.tensor(is_true), 4.0)
    assert loss.item() == pytest.approx(softmax, rel=1e-5)


def test_a_published_step_by_loops() -> None:
    """One step of Algorithm 1: unit entities, a sum of hinges, plain descent on the rows it has read."""
    torch.manual_seed(3)
    config = TransEConfig(dim=DIM, norm=2, loss="margin", margin=2.0, negatives=1, optimizer="sgd", learning_rate=0.1)
    model = TransE(ENTITIES, RELATIONS, dim=DIM, norm=2)
    with torch.no_grad():
        model.entities.weight.mul_(3.0)
    entities = model.entities.weight.detach().double().numpy().copy()
    relations = model.relations.weight.detach().double().numpy().copy()
    objective = TransEObjective(model, config, None, TRIPLES.numpy())
    optimizer = objective.optimizer()
    torch.manual_seed(5)
    corrupted = corrupt(TRIPLES, ENTITIES, 1)[:, 0].tolist()
    torch.manual_seed(5)
    loss, rows = objective.loss(TRIPLES)
    loss.backward()
    optimizer.step()

    read = {row[end] for row in TRIPLES.tolist() + corrupted for end in (0, 2)}
    for row in read:
        entities[row] /= math.sqrt(sum(value**2 for value in entities[row]))
    moved, turned, total = entities.copy(), relations.copy(), 0.0
    for true, false in zip(TRIPLES.tolist(), corrupted, strict=True):
        near, far = (entities[s] + relations[r] - entities[o] for s, r, o in (true, false))
        hinge = 2.0 + np.linalg.norm(near) - np.linalg.norm(far)
        if hinge <= 0:
            continue
        total += hinge
        for (s, r, o), difference, sign in ((true, near, 1), (false, far, -1)):
            gradient = 0.1 * sign * difference / np.linalg.norm(difference)
            moved[s] -= gradient
            moved[o] += gradient
            turned[r] -= gradient
    assert total > 0
    assert rows == len(TRIPLES)
    assert loss.item() == pytest.approx(total, rel=1e-5)
    np.testing.assert_allclose(model.entities.weight.detach().numpy(), moved, atol=1e-5)
    np.testing.assert_allclose(model.relations.weight.detach().numpy(), turned, atol=1e-5)


def test_corruptions_exchange_one_end() -> None:
    torch.manual_seed(0)
    corrupted = corrupt(TRIPLES, ENTITIES, 500)
    same = corrupted == TRIPLES[:, None]
    assert bool(same[..., 1].all())
    assert bool((same[..., 0] | same[..., 2]).all())
    changed = (~same).float().mean((0, 1))
    assert changed[0].item() == pytest.approx(0.5 * (1 - 1 / ENTITIES), abs=0.05)
    assert changed[2].item() == pytest.approx(0.5 * (1 - 1 / ENTITIES), abs=0.05)
    assert set(corrupted[..., 0].unique().tolist()) == set(range(ENTITIES))


def test_vectors_begin_as_published() -> None:
    model = TransE(2000, 7, dim=20, norm=1)
    torch.testing.assert_close(model.entities.weight.norm(dim=1), torch.ones(2000))
    torch.testing.assert_close(model.relations.weight.norm(dim=1), torch.ones(7))
    assert (AS_PUBLISHED.loss, AS_PUBLISHED.negatives, AS_PUBLISHED.optimizer, AS_PUBLISHED.norm) == (
        "margin", 1, "sgd", 1,
    )  # fmt: skip


def test_true_entity_drawn_as_corruption_is_ignored() -> None:
    """Where every drawn entity is the true one, nothing is left to tell it from, and the loss is 0."""
    true = torch.tensor([1.0])
    assert softmax_loss(true, torch.tensor([[1.0]]), torch.tensor([[True]]), 10.0).item() == pytest.approx(0.0)


def test_settings_are_checked() -> None:
    with pytest.raises(ValidationError, match="margin"):
        TransEConfig(margin=0)


def trained(folder: Path, **settings: object) -> Outcome:
    graph = grid_graph()
    # Small vectors: a grid has few dimensions, and the held-out links follow from the others.
    values = {"dim": 16, "epochs": 60, "batch": 32, "negatives": 64, "patience": None, **settings}
    own = {key: values.pop(key) for key in ("all_triples", "test_triples") if key in values}
    described = {"graph": "grid", "graph_sha256": digest_of_graph(graph), "model": values, **own}
    return train(graph, KnowledgeExperiment.model_validate(described), folder)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return trained(tmp_path_factory.mktemp("trained") / "grid")


def test_learns_a_grid_and_beats_counting(grid: Outcome) -> None:
    record = grid.record
    assert record["figures"]["filtered"]["both"]["Hits@10"] >= 0.9
    assert record["relation_frequency"]["filtered"]["both"]["Hits@10"] <= 0.35
    assert record["triples"]["test"] >= 15


@pytest.mark.slow
def test_the_published_settings_learn_a_grid(tmp_path: Path) -> None:
    settings = AS_PUBLISHED.model_dump() | {"epochs": 150, "batch": 16, "dim": 20, "norm": 2}
    record = trained(tmp_path / "grid", **settings).record
    assert record["figures"]["filtered"]["both"]["Hits@10"] >= 0.6
    assert record["history"][-1]["loss"] < record["history"][0]["loss"] / 3


def test_vectors_have_unit_length_and_the_record(tmp_path: Path) -> None:
    outcome = trained(tmp_path / "grid", epochs=2)
    vectors = load(outcome.model)
    np.testing.assert_allclose(np.linalg.norm(vectors.vectors, axis=1), 1, atol=1e-5)
    assert set(vectors.entities) == set(grid_graph().entities)
    assert vectors.training["data_sha256"] == digest_of_graph(grid_graph())
    assert vectors.training["vectors_of"] == "training triples"
    assert {"version", "revision", "hardware", "date", "seed", "settings"} <= set(vectors.training)


@pytest.mark.parametrize("all_triples", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_rows_stay_with_their_entities(grid: Outcome, tmp_path: Path, all_triples: bool) -> None:
    """Triples are true of the vectors that their ids have, whichever order these are in."""
    graph = grid_graph()
    vectors = load((trained(tmp_path / "whole", all_triples=True) if all_triples else grid).model)
    rows = {entity: row for row, entity in enumerate(vectors.entities)}
    names = dict(zip(graph.entities, graph.names, strict=True))
    assert [names[entity] for entity in vectors.entities] == list(vectors.names)
    asked = [(rows[graph.entities[s]], r, rows[graph.entities[o]]) for s, r, o in graph.triples.tolist()]
    steps = np.array([vectors.vectors[s] + vectors.relation_vectors[r] - vectors.vectors[o] for s, r, o in asked])
    assert np.linalg.norm(steps, axis=1).mean() < 0.8


def test_training_on_all_triples_changes_only_the_vectors(tmp_path: Path) -> None:
    split, whole = trained(tmp_path / "split", epochs=3), trained(tmp_path / "whole", epochs=3, all_triples=True)
    assert whole.record["figures"] == split.record["figures"]
    assert whole.record["vectors_of"] == "all triples"
    assert load(whole.model).fingerprint != load(split.model).fingerprint


@pytest.mark.parametrize("all_triples", [False, True])
def test_record_names_the_revision_it_began_with(
    tmp_path: Path, all_triples: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    measures = TransEObjective.measures

    def meanwhile(self: TransEObjective) -> Mapping[str, float]:
        monkeypatch.setattr(provenance, "find_revision", lambda: "later")
        return measures(self)

    monkeypatch.setattr(provenance, "find_revision", lambda: "earlier")
    monkeypatch.setattr(TransEObjective, "measures", meanwhile)
    record = trained(tmp_path / "grid", epochs=1, all_triples=all_triples).record
    assert record["revision"] == "earlier"
    (tmp_path / "grid" / "training.json").unlink()
    again = trained(tmp_path / "grid", epochs=1, all_triples=all_triples).record
    assert again["revision"] == "earlier"
    assert [each["revision"] for each in again["continued_by"]] == ["later"]


def test_of_many_test_triples_some_are_ranked(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole", epochs=1).record
    few = trained(tmp_path / "few", epochs=1, test_triples=5).record
    assert whole["triples"]["test_ranked"] == whole["triples"]["test"] == few["triples"]["test"] > 5
    for figures in (few["figures"], few["relation_frequency"]):
        assert figures["triples"] == few["triples"]["test_ranked"] == 5
    table, _ = figure_tables(few)
    assert ", 5 of them ranked, " in table.notes[0]
    assert "ranked" not in figure_tables(whole)[0].notes[0]


def test_another_graph_in_the_folder_is_refused(tmp_path: Path) -> None:
    trained(tmp_path / "grid", epochs=1)
    with pytest.raises(ConfigError, match="--restart"):
        trained(tmp_path / "grid", epochs=2)


SCRIPT = """
import sys
import time
from pathlib import Path
sys.path[:0] = {tests!r}
from test_transe import trained
trained(Path(sys.argv[1]), epochs=12)
"""


def assert_alike(resumed: Outcome, straight: Outcome) -> None:
    assert load(resumed.model).fingerprint == load(straight.model).fingerprint
    assert resumed.record["figures"] == straight.record["figures"]
    losses = [[epoch["loss"] for epoch in each.record["history"]] for each in (straight, resumed)]
    assert losses[0] == losses[1]


def test_interrupted_training_ends_as_an_uninterrupted_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = trained(tmp_path / "straight", epochs=4)
    folder = tmp_path / "interrupted"
    measures = TransEObjective.measures

    def dies(self: TransEObjective) -> Mapping[str, float]:
        if (folder / "checkpoints" / "last.ckpt").is_file():
            raise KeyboardInterrupt
        return measures(self)

    with monkeypatch.context() as patched:
        patched.setattr(TransEObjective, "measures", dies)
        with pytest.raises(KeyboardInterrupt):
            trained(folder, epochs=4)
    assert not (folder / "training.json").exists()
    assert_alike(trained(folder, epochs=4), straight)


@pytest.mark.slow
def test_a_killed_training_ends_as_an_uninterrupted_one(tmp_path: Path) -> None:
    straight = trained(tmp_path / "straight", epochs=12)
    folder = tmp_path / "killed"
    script = SCRIPT.format(tests=[str(TESTS), str(Path(__file__).parent)])
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen([sys.executable, "-c", script, str(folder)], env=environment) as process:
        # Killed as soon as an epoch is kept; if it was too fast for that, the training would be finished.
        while process.poll() is None and not (folder / "checkpoints" / "last.ckpt").is_file():
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (folder / "training.json").exists()
    assert_alike(trained(folder, epochs=12), straight)
