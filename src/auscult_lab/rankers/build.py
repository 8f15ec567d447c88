"""Training of neural rankers for `stages.train`: queries over passages, a vocabulary, a network, loss and validation.

SHARED/words-HASH/    word vectors, beside the training's folder, for all experiments with the same ones
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from auscult.concepts.opening import open_knowledge_base
from auscult.errors import ConfigError
from auscult_lab.cdv.word_vectors import given_word_vectors, word_vectors
from auscult_lab.modules.vocabulary import Vocabulary, build_vocabulary
from auscult_lab.rankers.base import Ranker
from auscult_lab.rankers.data import (
    HardNegatives,
    QueryPool,
    RankingBatch,
    RankingExamples,
    among_all,
    gather_asked,
    make_queries,
)
from auscult_lab.rankers.experiment import RankingExperiment, RankingTraining
from auscult_lab.rankers.registry import ranker_kind
from auscult_lab.rankers.scorer import Lexicon, save, score_passages
from auscult_lab.training.batches import place_measures, row_loader, wrong_ahead
from auscult_lab.training.data import TrainingData, gather, read
from auscult_lab.training.loop import History
from auscult_lab.training.losses import hinge_loss, listwise_loss
from auscult_lab.training.schedule import Schedule
from auscult_lab.training.stages import Build, Record, Run, trained_parameters

_CANDIDATES = 20
# A query with many answers needs wrong candidates, too.
_ANSWERS = _CANDIDATES // 4


@dataclass(frozen=True, slots=True)
class ValidationQuery:
    """A held-out query and its candidates, laid out, with a flag for each answer."""

    query: Tensor
    passages: tuple[Tensor, ...]
    answers: tuple[bool, ...]


def validation_queries(
    pool: QueryPool, ranker: Ranker, lexicon: Lexicon, *, number: int, seed: int
) -> list[ValidationQuery]:
    """Return held-out queries with 20 candidates each: answers, related passages, and those that BM25 ranks highest.

    At most a quarter of them are answers. Related passages are others of the title, or of the document.

    Args:
        pool: Queries of held-out documents, and passages of these documents, or also of others.
        ranker: Determines their layout.
        lexicon: Assigns ids to words.
        number: Largest number of queries, drawn at random.
        seed: Seed of the draw.
    """
    lexicon.learn(pool.words())
    hard = HardNegatives(pool, _CANDIDATES)
    order = np.random.default_rng(seed).permutation(len(pool.queries))[:number]
    passages = {}
    queries = []
    for row in sorted(order.tolist()):
        query = pool.queries[row]
        rows = list(dict.fromkeys((*query.answers[:_ANSWERS], *query.related, *hard.of(row))))[:_CANDIDATES]
        for passage in rows:
            if passage not in passages:
                passages[passage] = ranker.lay_out_passage(
                    [lexicon.ids(sentence) for sentence in pool.passages[passage]]
                )
        queries.append(
            ValidationQuery(
                ranker.lay_out_query(lexicon.ids(query.words)),
                tuple(passages[passage] for passage in rows),
                tuple(passage in query.answers for passage in rows),
            )
        )
    return queries


class RankingObjective:
    """Optimises a ranker and measures it on held-out queries after each epoch."""

    def __init__(self, network: Ranker, choice: RankingTraining, held_out: Sequence[ValidationQuery]) -> None:
        self.network = network
        self._choice = choice
        self._held_out = held_out

    def loss(self, batch: RankingBatch) -> tuple[Tensor, int]:
        """Return the loss over a batch's queries, and their number."""
        queries = len(batch.query.ids)
        device = self.network.device
        rows = torch.arange(queries).repeat_interleave(1 + batch.negatives)
        scores = self.network(batch.query[rows].to(device), batch.passage.to(device)).view(queries, -1)
        if self._choice.loss == "hinge":
            return hinge_loss(scores, margin=self._choice.margin), queries
        return listwise_loss(scores), queries

    def measures(self) -> Mapping[str, float]:
        """Return R@1 and mean reciprocal rank over the held-out queries' candidates; ties count against the ranker."""
        self.network.eval()
        ahead = [
            wrong_ahead(score_passages(self.network, asked.query, asked.passages), asked.answers)
            for asked in self._held_out
        ]
        self.network.train()
        return place_measures(ahead)

    def optimizer(self) -> torch.optim.Optimizer:
        """Return Adam with decoupled weight decay, or Adadelta as in zhu2019 (section 5.3)."""
        choice = self._choice
        trained = [parameter for parameter in self.network.parameters() if parameter.requires_grad]
        if choice.optimizer == "adadelta":
            return torch.optim.Adadelta(trained, lr=choice.learning_rate, weight_decay=choice.weight_decay)
        return torch.optim.AdamW(trained, lr=choice.learning_rate, weight_decay=choice.weight_decay)


_MONITOR = "validation_RR"


@dataclass(frozen=True, slots=True)
class Materials:
    """The training data of any ranker."""

    training: QueryPool
    held_out: QueryPool
    vocabulary: Vocabulary


def prepare(experiment: RankingExperiment, run: Run) -> RankingBuild:
    """Read queries and passages, make word vectors and a vocabulary, and begin the ranker."""
    return begin(experiment, run, read_materials(experiment, run))


def begin(experiment: RankingExperiment, run: Run, materials: Materials) -> RankingBuild:
    """Create a ranker for the data."""
    torch.manual_seed(experiment.seed)
    ranker = ranker_kind(experiment.model).ranker(experiment.config(), materials.vocabulary)
    return RankingBuild(experiment, run, materials.training, materials.held_out, ranker, materials.vocabulary)


def read_materials(experiment: RankingExperiment, run: Run) -> Materials:
    """Read queries and passages, and make word vectors and a vocabulary, for any ranker."""
    given = given_word_vectors(experiment.word_vectors)
    # Fields that determine the word vectors: experiments with equal ones share them.
    decisive = {"corpora", "validation", "knowledge", "word_vectors", "seed"}
    if experiment.queries == "headings":
        data = gather(experiment, run.say)
        training, held_out = make_queries(data.documents), make_queries(data.held_out)
    else:
        decisive |= {"queries", "never_learn"}
        gathered = gather_asked(experiment, run.say)
        knowledge = open_knowledge_base(experiment.knowledge) if experiment.knowledge is not None else None
        further = [document for choice in experiment.word_vectors.texts for document in read(choice, run.say)[1]]
        texts = gathered.documents + further
        data = TrainingData(documents=[], held_out=[], knowledge=knowledge, pool=None, texts=texts)
        training, held_out = gathered.training, among_all(gathered)
    key = hashlib.sha256(experiment.model_dump_json(include=decisive).encode()).hexdigest()[:12]
    source, _ = word_vectors(experiment, data, given, run.folder.parent / f"words-{key}", run.say)
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
    """A ranker and its training data; see `stages.Build`."""

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
        """Numbers of queries and passages."""
        return (
            f"{self.ranker.title}: {len(self.training.queries):,} queries over {len(self.training.passages):,} passages"
        )

    @property
    def _per_epoch(self) -> int:
        return self.experiment.training.queries or len(self.training.queries)

    def train(self) -> History:
        """Train the ranker in place, and keep the weights of the best epoch."""
        experiment, choice, seed = self.experiment, self.experiment.training, self.experiment.seed
        lexicon = Lexicon(self.ranker, self.vocabulary)
        examples = RankingExamples(self.training, self.ranker, lexicon, experiment.negatives, seed=seed)
        asked = validation_queries(self.held_out, self.ranker, lexicon, number=experiment.validation_queries, seed=seed)
        loader = row_loader(examples, per_epoch=self._per_epoch, size=choice.batch_queries, seed=seed)
        objective = RankingObjective(self.ranker, choice, asked)
        return self.run.fit(objective, loader, Schedule.of(choice, seed=seed, monitor=_MONITOR))

    def to_record(self, history: History) -> Record:
        """Return counts of queries and passages, and the number of queries of each epoch."""
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
