"""Train vectors of a knowledge graph and measure link prediction; interrupted trainings resume.

FOLDER/split/    vectors of the training triples, and their figures on the test triples

`training.folder` describes what every training writes beside it; `graphs.knowledge_vectors` writes the vectors. The
training triples that remain have every entity and every relation.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from auscult.errors import DataError
from auscult.files.writing import whole_folder
from auscult_lab.graphs.evaluation import frequency_scores, link_prediction, rank_triples
from auscult_lab.graphs.graph import KnowledgeGraph, by_degree
from auscult_lab.graphs.knowledge_vectors import KnowledgeVectors, load, save
from auscult_lab.graphs.transe import TransE, TransEConfig, TransEObjective, batches
from auscult_lab.training.experiment import Settings
from auscult_lab.training.folder import Outcome, made_by, restart
from auscult_lab.training.loop import History, is_main_process
from auscult_lab.training.schedule import Schedule
from auscult_lab.training.stages import Record, Run, carry_out


@dataclass(frozen=True, slots=True)
class Split:
    """A graph's triples in three parts that share none: int64, (triples, 3) each.

    Attributes:
        training: Triples with every entity and relation of the graph.
        validation: Triples that choose epoch and settings.
        test: Triples for a single final measurement.
    """

    training: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]

    @property
    def seen_pairs(self) -> int:
        """Number of test triples whose two entities are also in one training triple, in either direction."""
        # Both entities as one number, the smaller first.
        ends = [np.sort(part[:, [0, 2]], axis=1) for part in (self.training, self.test)]
        entities = 1 + max(int(part.max(initial=0)) for part in ends)
        joined, asked = (part[:, 0] * entities + part[:, 1] for part in ends)
        return int(np.isin(asked, joined).sum())


def split_triples(graph: KnowledgeGraph, *, seed: int, validation: float = 0.05, test: float = 0.1) -> Split:
    """Hold triples out at random, except for the last triple of an entity or a relation.

    A triple is held out only if other training triples have its subject, its object and its relation. Leaves of a tree
    are therefore never tested, and graphs with many leaves give fewer triples than wanted.

    Args:
        graph: The graph.
        seed: Seed of the draw.
        validation: Largest share of all triples.
        test: Largest share of all triples.

    Raises:
        DataError: Fewer than two triples can be held out.
    """
    triples = graph.triples
    wanted = max(2, round((validation + test) * len(triples)))
    entities = np.bincount(triples[:, [0, 2]].ravel(), minlength=len(graph.entities)).tolist()
    relations = np.bincount(triples[:, 1], minlength=len(graph.relations)).tolist()
    held_out: list[int] = []
    for row in np.random.default_rng(seed).permutation(len(triples)).tolist():
        if len(held_out) == wanted:
            break
        subject, relation, object_ = triples[row].tolist()
        ends = 2 if subject == object_ else 1
        if entities[subject] > ends and entities[object_] > ends and relations[relation] > 1:
            entities[subject] -= 1
            entities[object_] -= 1
            relations[relation] -= 1
            held_out.append(row)
    if len(held_out) < 2:
        got = f"{len(held_out)} of {len(triples)} triples whose entities and relation others name too"
        raise DataError("a graph of which triples can be held out", got, "give a larger graph")
    first = max(1, round(len(held_out) * validation / (validation + test)))
    return Split(np.delete(triples, held_out, axis=0), triples[held_out[:first]], triples[held_out[first:]])


_MONITOR = "validation_RR"
_VALIDATED = 1000


class KnowledgeExperiment(Settings):
    """Settings of a training of knowledge vectors.

    Attributes:
        graph: Name of the graph, for records.
        graph_sha256: Result of `digest_of_graph`.
        seed: Seed of the split and of all random draws.
        validation: Largest share of triples for choosing the epoch.
        test: Largest share of triples to measure on.
        test_triples: Largest number of them to rank, drawn at random: each needs a score of every entity.
        all_triples: Train the final vectors on all triples, for the number of epochs that was best on the split.
        model: Settings of TransE.
    """

    graph: str
    graph_sha256: str
    seed: int = 1
    validation: float = Field(default=0.05, gt=0, lt=0.5)
    test: float = Field(default=0.1, gt=0, lt=0.5)
    test_triples: int = Field(default=10_000, ge=1)
    all_triples: bool = False
    model: TransEConfig = TransEConfig()


def digest_of_graph(graph: KnowledgeGraph) -> str:
    """Return the SHA-256 of ids, relations and triples in their order, the same whatever the format of the graph."""
    digest = hashlib.sha256(json.dumps([graph.entities, graph.relations], ensure_ascii=False).encode())
    digest.update(np.ascontiguousarray(graph.triples, dtype="<i8").tobytes())
    return digest.hexdigest()


def train(
    graph: KnowledgeGraph,
    experiment: KnowledgeExperiment,
    folder: Path,
    *,
    anew: bool = False,
    say: Callable[[str], None] | None = None,
    progress: bool = False,
) -> Outcome:
    """Train vectors of a graph, or resume their training in the same folder.

    Args:
        graph: The graph.
        experiment: Seed, shares, settings.
        folder: Folder of the training.
        anew: Delete an earlier training in the folder, unless the graph cannot be trained on.
        say: Called with a short message at each stage.
        progress: Show progress bars.

    Raises:
        ConfigError: The folder is the training of another graph or other settings; with `anew`, it is no training.
        DataError: The graph is too small to hold triples out.
    """
    # Before the folder is changed, in case the graph is too small.
    split = split_triples(graph, seed=experiment.seed, validation=experiment.validation, test=experiment.test)
    if anew:
        restart(folder)
    return carry_out(
        experiment, folder, lambda run: _learned(graph, experiment, split, run), say=say, progress=progress
    )


def _learned(
    graph: KnowledgeGraph, experiment: KnowledgeExperiment, split: Split, run: Run
) -> tuple[Record, Callable[[Path], None]]:
    """Return the record, and a function that writes the vectors."""
    parts = {"to train on": split.training, "to validate": split.validation, "to test": split.test}
    run.say("triples " + ", ".join(f"{what}: {len(part):,}" for what, part in parts.items()))
    vectors = _on_split(graph, experiment, split, run)
    record = dict(vectors.training)
    if experiment.all_triples:
        epochs = int(record["best_epoch"]) + 1
        run.say(f"training on all {len(graph.triples):,} triples for {epochs} epochs")
        network = _network(graph, experiment)
        _optimise(graph.triples, None, graph, experiment, network, epochs, run)
        vectors = _vectors(graph, network, {})
    record["vectors_of"] = "all triples" if experiment.all_triples else "training triples"
    record |= made_by(run.folder)
    kept = replace(vectors, training=record)
    return record, lambda folder: save(kept, folder)


def _on_split(graph: KnowledgeGraph, experiment: KnowledgeExperiment, split: Split, run: Run) -> KnowledgeVectors:
    """Return vectors of the training triples and figures of the test triples, saved or computed now."""
    place = run.folder / "split"
    if place.is_dir():
        return load(place)
    network = _network(graph, experiment)
    validation = split.validation[:_VALIDATED]
    epochs = experiment.model.epochs
    history = _optimise(split.training, validation, graph, experiment, network, epochs, run)
    run.say("ranking all entities for the test triples")
    began = time.monotonic()
    network.constrain()
    # In random order, as they were held out.
    test = split.test[: experiment.test_triples]
    figures, baseline = (
        link_prediction(rank_triples(scores, test, graph.triples), test, graph.relations)
        for scores in (network.scores, frequency_scores(split.training, len(graph.entities)))
    )
    record = {
        "kind": "link-prediction",
        "model": "TransE",
        "data": experiment.graph,
        "data_sha256": experiment.graph_sha256,
        "entities": len(graph.entities),
        "relations": len(graph.relations),
        "triples": {
            "all": len(graph.triples),
            "training": len(split.training),
            "validation": len(split.validation),
            "test": len(split.test),
            "test_ranked": len(test),
            "test_joined_in_training": split.seen_pairs,
        },
        "seed": experiment.seed,
        "settings": experiment.model.model_dump(mode="json"),
        **made_by(run.folder),
        "figures": figures,
        "relation_frequency": baseline,
        "epochs": len(history.epochs),
        "best_epoch": history.best,
        "validation": history.epochs[history.best],
        "history": history.epochs,
        "seconds": {"training": history.seconds, "measuring": round(time.monotonic() - began, 1)},
    }
    vectors = _vectors(graph, network, record)
    if is_main_process():
        with whole_folder(place) as partial:
            save(vectors, partial)
    return vectors


def _network(graph: KnowledgeGraph, experiment: KnowledgeExperiment) -> TransE:
    torch.manual_seed(experiment.seed)
    choice = experiment.model
    return TransE(len(graph.entities), len(graph.relations), dim=choice.dim, norm=choice.norm)


def _optimise(
    triples: NDArray[np.int64],
    validation: NDArray[np.int64] | None,
    graph: KnowledgeGraph,
    experiment: KnowledgeExperiment,
    network: TransE,
    epochs: int,
    run: Run,
) -> History:
    """Train in place; with validation triples, the network keeps the vectors of the best epoch."""
    choice = experiment.model
    schedule = Schedule(
        epochs=epochs,
        seed=experiment.seed,
        monitor=None if validation is None else _MONITOR,
        patience=choice.patience,
        devices=1,
    )
    objective = TransEObjective(network, choice, validation, graph.triples)
    loader = batches(triples, choice.batch_of(len(triples)), experiment.seed)
    return run.fit(objective, loader, schedule)


def _vectors(graph: KnowledgeGraph, network: TransE, record: dict[str, Any]) -> KnowledgeVectors:
    """Return the vectors with entities in the order for linking; in training they have the graph's order."""
    network.constrain()
    entities, relations = (table.weight.detach().cpu().numpy() for table in (network.entities, network.relations))
    order = by_degree(graph)
    ids, names = tuple(graph.entities[row] for row in order), tuple(graph.names[row] for row in order)
    return KnowledgeVectors(ids, names, entities[order], graph.relations, relations, record)
