"""From a knowledge graph to vectors and their link-prediction figures, each stage kept so that a killed run goes on.

FOLDER/split/    vectors of the training triples, and how they predict the test triples

Beside it, what every training keeps (`training.folder`); the vectors are as `graphs.knowledge_vectors` writes them.
Triples are held out of the graph so that what is still trained on names every entity and every relation.
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
        training: Names every entity and relation of the graph.
        validation: Chooses epoch and settings.
        test: Measured once.
    """

    training: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]

    @property
    def seen_pairs(self) -> int:
        """How many test triples join two entities that a training triple joins too, in either direction."""
        # Both ends in one number, the smaller first.
        ends = [np.sort(part[:, [0, 2]], axis=1) for part in (self.training, self.test)]
        entities = 1 + max(int(part.max(initial=0)) for part in ends)
        joined, asked = (part[:, 0] * entities + part[:, 1] for part in ends)
        return int(np.isin(asked, joined).sum())


def split_triples(graph: KnowledgeGraph, *, seed: int, validation: float = 0.05, test: float = 0.1) -> Split:
    """Hold triples out at random, leaving out those that are an entity's or a relation's last.

    A triple is held out only while its subject, its object and its relation occur in others that are kept, so a tree's
    leaves are never asked for, and graphs with many leaves give fewer triples than were wanted.

    Args:
        graph: To split.
        seed: Of the draw.
        validation: Share of all triples, at most.
        test: Share of all triples, at most.

    Raises:
        DataError: Fewer than two triples can be held out.
    """
    triples = graph.triples
    wanted = max(2, round((validation + test) * len(triples)))
    entities = np.bincount(triples[:, [0, 2]].ravel(), minlength=len(graph.entities)).tolist()
    relations = np.bincount(triples[:, 1], minlength=len(graph.relations)).tolist()
    held: list[int] = []
    for row in np.random.default_rng(seed).permutation(len(triples)).tolist():
        if len(held) == wanted:
            break
        subject, relation, object_ = triples[row].tolist()
        ends = 2 if subject == object_ else 1
        if entities[subject] > ends and entities[object_] > ends and relations[relation] > 1:
            entities[subject] -= 1
            entities[object_] -= 1
            relations[relation] -= 1
            held.append(row)
    if len(held) < 2:
        got = f"{len(held)} of {len(triples)} triples whose entities and relation others name too"
        raise DataError("a graph of which triples can be held out", got, "give a larger graph")
    first = max(1, round(len(held) * validation / (validation + test)))
    return Split(np.delete(triples, held, axis=0), triples[held[:first]], triples[held[first:]])


_MONITOR = "validation_RR"
_VALIDATED = 1000


class KnowledgeExperiment(Settings):
    """What is trained.

    Attributes:
        graph: Name of the graph, for records.
        graph_sha256: `digest_of_graph`.
        seed: Of the split and of all draws.
        validation: Share of triples that chooses the epoch, at most.
        test: Share of triples that are held out to be measured on, at most.
        test_triples: So many of them are ranked, at most, drawn at random: each costs a score of every entity.
        all_triples: Train the vectors that are kept on all triples, for as many epochs as did best on the split.
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
    """Train vectors of a graph, or go on with a training that was interrupted in the same folder.

    Args:
        graph: To train on.
        experiment: Seed, shares, settings.
        folder: Where everything is kept.
        anew: Throw away what the folder holds of an earlier training; never for a graph that cannot be trained on.
        say: Told of each stage in a few words.
        progress: Show progress bars.

    Raises:
        ConfigError: The folder holds another graph's training, or other settings; or it is no training's, with `anew`.
        DataError: The graph is too small to hold triples out.
    """
    # Before the folder is touched: a graph that is too small leaves it as it is.
    split = split_triples(graph, seed=experiment.seed, validation=experiment.validation, test=experiment.test)
    if anew:
        restart(folder)
    return carry_out(
        experiment, folder, lambda run: _learned(graph, experiment, split, run), say=say, progress=progress
    )


def _learned(
    graph: KnowledgeGraph, experiment: KnowledgeExperiment, split: Split, run: Run
) -> tuple[Record, Callable[[Path], None]]:
    """Return the record, and what writes the vectors."""
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
    """Return vectors of the training triples and figures of the test triples: as kept, or trained now."""
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
    """Train in place; with validation triples the network ends with the vectors of the best epoch."""
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
    """Return what was learned, the entities in the order that linking wants; training has them in the graph's."""
    network.constrain()
    entities, relations = (table.weight.detach().cpu().numpy() for table in (network.entities, network.relations))
    order = by_degree(graph)
    ids, names = tuple(graph.entities[row] for row in order), tuple(graph.names[row] for row in order)
    return KnowledgeVectors(ids, names, entities[order], graph.relations, relations, record)
