"""Training a ranker from an experiment file; a killed run goes on where its last epoch ended.

FOLDER/experiment.json     what is trained here; another experiment is refused
FOLDER/checkpoints/        the last epoch and the best one, as the training library writes them
FOLDER/model/              the ranker, in the format of `models.rankers.persistence`
FOLDER/training.json       how it went
SHARED/words-HASH/         word vectors, shared by all experiments that would train the same ones
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader

from auscult.corpora.knowledge import open_knowledge_base
from auscult.errors import ConfigError
from auscult.models.rankers.base import Ranker
from auscult.models.rankers.persistence import save
from auscult.models.rankers.registry import ranker_kind
from auscult.models.rankers.scorer import Lexicon
from auscult.models.vocabulary import Vocabulary, build_vocabulary
from auscult.training.batches import RowBatches
from auscult.training.data import TrainingData, gather, read
from auscult.training.encoder_history import corpora_read_before
from auscult.training.folder import Outcome, begin, describe, finish, teller
from auscult.training.loop import History, Schedule, fit
from auscult.training.ranking.asked import among_all, gather_asked
from auscult.training.ranking.examples import QueryPool, RankingExamples, make_queries
from auscult.training.ranking.experiment import RankingExperiment
from auscult.training.ranking.objective import RankingObjective, validation_queries
from auscult.training.run import word_vectors
from auscult.training.word_vectors import given_word_vectors

_MONITOR = "validation_RR"


def train(
    experiment: RankingExperiment,
    folder: Path,
    *,
    say: Callable[[str], None] | None = None,
    progress: bool = False,
) -> Outcome:
    """Train a ranker, or go on with a training that was interrupted in the same folder.

    Args:
        experiment: What to train.
        folder: Where everything is kept; word vectors are kept beside it.
        say: Told of each stage in a few words.
        progress: Show progress bars.

    Raises:
        ConfigError: The folder holds another experiment, or no query can be made of the documents.
        CorpusMissingError: A corpus of the experiment is not on this machine.
    """
    tell = teller(say)
    if (kept := begin(experiment, folder, tell)) is not None:
        return kept
    began = time.monotonic()
    # First, because a wrong name should fail before minutes of reading.
    given, begun_with = given_word_vectors(experiment.word_vectors), experiment.word_vectors.model
    read_before = corpora_read_before(begun_with) if begun_with is not None else {}
    data, training, held_out = _gather(experiment, tell)
    source, _ = word_vectors(experiment, data, given, folder.parent / f"words-{_words_key(experiment)}", tell)
    _check(training, held_out)
    vocabulary = build_vocabulary(
        (list(chain.from_iterable(passage)) for passage in training.passages),
        source,
        queries=(query.words for query in training.queries),
        min_count=experiment.min_count,
    )
    torch.manual_seed(experiment.seed)
    ranker = ranker_kind(experiment.model).ranker(experiment.config(), vocabulary)
    prepared = time.monotonic() - began
    tell(f"{ranker.title}: {len(training.queries):,} queries over {len(training.passages):,} passages")
    history = _optimise(experiment, training, held_out, ranker, vocabulary, folder, tell, progress)
    record = _record(experiment, ranker, training, held_out, history, prepared, folder) | read_before
    name = experiment.title or ranker.title
    return finish(folder, record, lambda model: save(ranker, vocabulary, model, name=name, training=record))


def _gather(experiment: RankingExperiment, tell: Callable[[str], None]) -> tuple[TrainingData, QueryPool, QueryPool]:
    """What word vectors learn from, training queries, and held-out queries."""
    if experiment.queries == "headings":
        data = gather(experiment, tell)
        return data, make_queries(data.documents), make_queries(data.held_out)
    asked = gather_asked(experiment, tell)
    knowledge = open_knowledge_base(experiment.knowledge) if experiment.knowledge is not None else None
    texts = asked.documents + [
        document for choice in experiment.word_vectors.texts for document in read(choice, tell)[1]
    ]
    data = TrainingData(documents=[], held_out=[], knowledge=knowledge, pool=None, texts=texts)
    return data, asked.training, among_all(asked)


def _check(training: QueryPool, held_out: QueryPool) -> None:
    for pool, which in ((training, "training"), (held_out, "held-out")):
        if not pool.queries:
            remedy = (
                "add documents whose sections have headings, or set 'queries: corpus' where the corpora have queries"
            )
            raise ConfigError(f"{which} queries", "none", remedy)
    everything = next((query for query in training.queries if len(set(query.answers)) == len(training.passages)), None)
    if everything is not None:
        got = f"one ('{' '.join(everything.words)}') that all {len(training.passages)} passages answer"
        raise ConfigError("queries with a wrong passage each to train on", got, "add documents of other entities")


def _words_key(experiment: RankingExperiment) -> str:
    """The same for experiments whose word vectors would be trained on the same texts in the same way."""
    said = {"corpora", "validation", "knowledge", "word_vectors", "seed"}
    if experiment.queries == "corpus":
        said |= {"queries", "never_learn"}
    content = experiment.model_dump_json(include=said)
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def _optimise(
    experiment: RankingExperiment,
    training: QueryPool,
    held_out: QueryPool,
    ranker: Ranker,
    vocabulary: Vocabulary,
    folder: Path,
    say: Callable[[str], None],
    progress: bool,
) -> History:
    """Train the ranker in place and leave it with the weights of the best epoch."""
    choice = experiment.training
    lexicon = Lexicon(ranker, vocabulary)
    examples = RankingExamples(training, ranker, lexicon, experiment.negatives, seed=experiment.seed)
    asked = validation_queries(held_out, ranker, lexicon, number=experiment.validation_queries, seed=experiment.seed)
    batches = RowBatches(
        len(examples), per_epoch=choice.queries or len(examples), size=choice.batch_queries, seed=experiment.seed
    )
    loader: DataLoader[Any] = DataLoader(examples, batch_sampler=batches, collate_fn=examples.collate)
    schedule = Schedule(
        epochs=choice.epochs,
        seed=experiment.seed,
        decay=choice.decay,
        monitor=_MONITOR,
        patience=choice.patience,
        gradient_clip=choice.gradient_clip,
        accelerator=choice.accelerator,
        devices=choice.devices,
    )
    objective = RankingObjective(ranker, choice, asked)
    return fit(objective, loader, schedule, folder=folder / "checkpoints", say=say, progress=progress)


def _record(
    experiment: RankingExperiment,
    ranker: Ranker,
    training: QueryPool,
    held_out: QueryPool,
    history: History,
    prepared: float,
    folder: Path,
) -> dict[str, Any]:
    choice = experiment.training
    per_epoch = choice.queries or len(training.queries)
    return {
        "kind": "ranker",
        "model": experiment.title or ranker.title,
        **describe(experiment, history, folder),
        "passages": len(training.passages),
        "queries": len(training.queries),
        "held_out_queries": min(len(held_out.queries), experiment.validation_queries),
        "parameters": sum(each.numel() for each in ranker.parameters() if each.requires_grad),
        "history": [{**epoch, "queries": (row + 1) * per_epoch} for row, epoch in enumerate(history.epochs)],
        "seconds": round(sum(epoch["seconds"] for epoch in history.epochs), 1),
        "preparation_seconds": round(prepared, 1),
    }
