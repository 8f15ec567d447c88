"""Neural rankers for `stages.train`: queries over passages, a vocabulary, a network, and the validation of it.

SHARED/words-HASH/    word vectors, beside a training's folder: for all experiments that would train the same ones
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import torch

from auscult.concepts.opening import open_knowledge_base
from auscult.errors import ConfigError
from auscult_lab.cdv.word_vectors import given_word_vectors, word_vectors
from auscult_lab.modules.vocabulary import Vocabulary, build_vocabulary
from auscult_lab.rankers.base import Ranker
from auscult_lab.rankers.data import QueryPool, RankingExamples, among_all, gather_asked, make_queries
from auscult_lab.rankers.experiment import RankingExperiment
from auscult_lab.rankers.objective import RankingObjective, validation_queries
from auscult_lab.rankers.persistence import save
from auscult_lab.rankers.registry import ranker_kind
from auscult_lab.rankers.scorer import Lexicon
from auscult_lab.training.batches import row_loader
from auscult_lab.training.data import TrainingData, gather, read
from auscult_lab.training.loop import History
from auscult_lab.training.schedule import Schedule
from auscult_lab.training.stages import Build, Record, Run, trained_parameters

_MONITOR = "validation_RR"


@dataclass(frozen=True, slots=True)
class Materials:
    """What a ranker is trained on, whichever it is."""

    training: QueryPool
    held_out: QueryPool
    vocabulary: Vocabulary


def prepare(experiment: RankingExperiment, run: Run) -> RankingBuild:
    """Read queries and passages, make word vectors and a vocabulary, and begin the ranker."""
    return begin(experiment, run, read_materials(experiment, run))


def begin(experiment: RankingExperiment, run: Run, materials: Materials) -> RankingBuild:
    """Begin a ranker on what was read."""
    torch.manual_seed(experiment.seed)
    ranker = ranker_kind(experiment.model).ranker(experiment.config(), materials.vocabulary)
    return RankingBuild(experiment, run, materials.training, materials.held_out, ranker, materials.vocabulary)


def read_materials(experiment: RankingExperiment, run: Run) -> Materials:
    """Read queries and passages, and make word vectors and a vocabulary: the same for every ranker of a bench."""
    given = given_word_vectors(experiment.word_vectors)
    data, training, held_out = _gather(experiment, run.say)
    words = run.folder.parent / f"words-{_words_key(experiment)}"
    source, _ = word_vectors(experiment, data, given, words, run.say)
    _check(training, held_out)
    vocabulary = build_vocabulary(
        (list(chain.from_iterable(passage)) for passage in training.passages),
        source,
        queries=(query.words for query in training.queries),
        min_count=experiment.min_count,
    )
    return Materials(training, held_out, vocabulary)


@dataclass
class RankingBuild(Build[RankingExperiment]):
    """A ranker and what it is trained on; see `stages.Build`."""

    kind = "ranker"
    training: QueryPool
    held_out: QueryPool
    ranker: Ranker
    vocabulary: Vocabulary

    @property
    def untitled(self) -> str:
        """Title of the ranker."""
        return self.ranker.title

    @property
    def about(self) -> str:
        """How many queries there are, over how many passages."""
        return (
            f"{self.ranker.title}: {len(self.training.queries):,} queries over {len(self.training.passages):,} passages"
        )

    @property
    def _per_epoch(self) -> int:
        return self.experiment.training.queries or len(self.training.queries)

    def train(self) -> History:
        """Train the ranker in place and leave it with the weights of the best epoch."""
        experiment, choice, seed = self.experiment, self.experiment.training, self.experiment.seed
        lexicon = Lexicon(self.ranker, self.vocabulary)
        examples = RankingExamples(self.training, self.ranker, lexicon, experiment.negatives, seed=seed)
        asked = validation_queries(self.held_out, self.ranker, lexicon, number=experiment.validation_queries, seed=seed)
        loader = row_loader(examples, per_epoch=self._per_epoch, size=choice.batch_queries, seed=seed)
        objective = RankingObjective(self.ranker, choice, asked)
        return self.run.fit(objective, loader, Schedule.of(choice, seed=seed, monitor=_MONITOR))

    def to_record(self, history: History) -> Record:
        """Return counts of queries and passages, and how many queries each epoch had shown."""
        return {
            "passages": len(self.training.passages),
            "queries": len(self.training.queries),
            "held_out_queries": min(len(self.held_out.queries), self.experiment.validation_queries),
            "parameters": trained_parameters(self.ranker),
            "history": history.with_queries(self._per_epoch),
            "seconds": history.seconds,
        }

    def save(self, folder: Path, record: Record) -> None:
        """Write the model's folder."""
        save(self.ranker, self.vocabulary, folder, name=self.title, training=record)


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
