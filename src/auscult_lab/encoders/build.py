"""Training of bi-, poly- and cross-encoders and CK-HQA for `stages.train`: architecture, loss and validation.

FOLDER/passages.json    counts and a digest of the passages learned from; other documents are refused
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from auscult.documents.analysis import Analyzer
from auscult.errors import ConfigError
from auscult_lab.encoders.base import PassageRanker, PassageText
from auscult_lab.encoders.data import PairBatch, PairExamples, PassagePool, ask, words_of
from auscult_lab.encoders.experiment import CaprExperiment, PairTraining
from auscult_lab.encoders.gathering import Gathered, describe, gather_passages
from auscult_lab.encoders.persistence import save
from auscult_lab.encoders.registry import create
from auscult_lab.training.batches import BestPassages, place_measures, row_loader, rows_an_epoch, wrong_ahead
from auscult_lab.training.folder import PASSAGES, remember
from auscult_lab.training.loop import History
from auscult_lab.training.losses import hinge_loss, listwise_loss
from auscult_lab.training.schedule import Schedule, parameter_groups
from auscult_lab.training.stages import Build, Record, Run, trained_parameters

CANDIDATES = 64
"""Of a validation query, in grundmann2021 (section 4.2)."""

_analyse = Analyzer()


@dataclass(frozen=True, slots=True)
class AskedPassage:
    """A held-out query and its candidates.

    Attributes:
        query: As the architectures read it.
        rows: Candidates, as rows of the held-out passages; the answer first.
    """

    query: str
    rows: tuple[int, ...]


def held_out_queries(pool: PassagePool, *, number: int, seed: int, candidates: int = CANDIDATES) -> list[AskedPassage]:
    """Draw queries from held-out passages, or the questions that these answer, and their candidates.

    The passage of the draw is the answer. Others with its entity and aspect, or with its text, are no candidates. The
    rest are the passages that BM25 ranks highest and, where it finds too few, passages drawn at random.

    Args:
        pool: Held-out passages.
        number: Largest number of queries.
        seed: Seed of all draws.
        candidates: Number of candidates per query; fewer where there are not enough passages.
    """
    rng = random.Random(f"{seed}/validation")
    best = BestPassages(words_of(pool.passages))
    queries: list[AskedPassage] = []
    seen: set[tuple[str, str]] = set()
    for row in rng.sample(range(len(pool.passages)), len(pool.passages)):
        own = pool.passages[row]
        if not own.entities:
            continue
        entity, aspect = rng.choice(own.entities), rng.choice(own.aspects)
        if (entity.key, aspect) in seen:
            continue
        seen.add((entity.key, aspect))
        right = {
            other
            for other, item in enumerate(pool.passages)
            if item.answers(entity.key, aspect) or item.passage.text == own.passage.text
        }
        wrong = list(best.of(_analyse(f"{entity.name} {aspect}"), candidates - 1, without=right))[: candidates - 1]
        others = [other for other in range(len(pool.passages)) if other not in right and other not in set(wrong)]
        wrong += rng.sample(others, min(candidates - 1 - len(wrong), len(others)))
        if wrong:
            queries.append(AskedPassage(ask(entity.name, aspect), (row, *wrong)))
        if len(queries) == number:
            break
    return queries


class PairObjective:
    """Optimises an architecture and measures it on held-out queries after each epoch."""

    def __init__(
        self,
        ranker: PassageRanker,
        choice: PairTraining,
        passages: Sequence[PassageText],
        queries: Sequence[AskedPassage],
    ) -> None:
        self.network = ranker
        self._choice = choice
        self._queries = queries
        # Only candidates are read.
        rows = sorted({row for query in queries for row in query.rows})
        self._place = {row: number for number, row in enumerate(rows)}
        self._passages = [passages[row] for row in rows]
        ranker.train()

    def loss(self, batch: PairBatch) -> tuple[Tensor, int]:
        """Return the loss over a batch's queries, and how many there are.

        Cross entropy of each query's own passage among its negatives (grundmann2021, Eq. 1), or the mean hinge loss of
        each negative against it (wang2021, section 4.4; the paper sums). Spared passages add to neither.
        """
        scores = self.network.score_lists(batch.queries, batch.passages, batch.rows, chunk=self._choice.chunk)
        scores = scores.float().masked_fill(batch.spared.to(scores.device), -torch.inf)
        if self._choice.loss == "hinge":
            return hinge_loss(scores, margin=self._choice.margin), len(scores)
        return listwise_loss(scores), len(scores)

    def measures(self) -> Mapping[str, float]:
        """Return R@1 and mean reciprocal rank over the held-out queries' candidates; ties count against the ranker."""
        self.network.eval()
        kept = self.network.keep(self._passages)
        ahead = []
        for each in self._queries:
            rows = [self._place[row] for row in each.rows]
            chosen = kept[torch.tensor(rows)] if isinstance(kept, Tensor) else [kept[row] for row in rows]
            scores = self.network.score_kept(each.query, chosen).numpy()
            ahead.append(wrong_ahead(scores, [True] + [False] * (len(rows) - 1)))
        self.network.train()
        return place_measures(ahead)

    def optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW (grundmann2021, section 4.3); biases and gains are not decayed.

        Without decay it is Adam. Parameters outside the pre-trained encoders may have another learning rate (wang2021,
        section 5.1.5).
        """
        choice, decay = self._choice, self._choice.weight_decay
        trained = [parameter for parameter in self.network.parameters() if parameter.requires_grad]
        if choice.head_learning_rate is None:
            return torch.optim.AdamW(parameter_groups(trained, decay=decay, rate=choice.learning_rate))
        pre_trained = {
            id(parameter) for backbone in self.network.backbones().values() for parameter in backbone.parameters()
        }
        encoders = [parameter for parameter in trained if id(parameter) in pre_trained]
        head = [parameter for parameter in trained if id(parameter) not in pre_trained]
        return torch.optim.AdamW(
            parameter_groups(encoders, decay=decay, rate=choice.learning_rate)
            + parameter_groups(head, decay=decay, rate=choice.head_learning_rate)
        )


_MONITOR = "validation_RR"


def prepare(experiment: CaprExperiment, run: Run) -> PairBuild:
    """Open the backbone, read and label passages, and draw the queries to validate with."""
    torch.manual_seed(experiment.seed)
    ranker = create(experiment.architecture, experiment.backbone_name(), experiment.expanded_settings())
    # Poolers affect no score; distributed training fails on parameters without gradients.
    for name, parameter in ranker.named_parameters():
        if ".pooler." in name:
            parameter.requires_grad_(False)
    if experiment.training.dropout is not None:
        set_dropout(ranker, experiment.training.dropout)
    gathered = gather_passages(experiment, run.say, surroundings=ranker.surroundings)
    queries = held_out_queries(
        gathered.held_out,
        number=experiment.validation_queries,
        seed=experiment.seed,
        candidates=experiment.validation_candidates,
    )
    if not queries:
        raise ConfigError(
            "held-out passages of different questions, entities or aspects", "none", "hold out more documents"
        )
    counts = remember(describe(gathered), run.folder / PASSAGES)
    return PairBuild(experiment, run, gathered, queries, ranker, counts)


@dataclass
class PairBuild(Build[CaprExperiment]):
    """An architecture and what it is trained on; see `stages.Build`."""

    kind = "capr"
    gathered: Gathered
    queries: list[AskedPassage]
    ranker: PassageRanker
    counts: Record

    @property
    def untitled(self) -> str:
        """Title of the architecture."""
        return self.ranker.title

    @property
    def about(self) -> str:
        """Numbers of passages and of validation queries."""
        return f"{self.ranker.title}: {self.counts['passages']:,} passages, {len(self.queries):,} held-out queries"

    @property
    def learned_from(self) -> Iterator[str]:
        """Texts of the training passages and of those that chose the epoch."""
        both = (*self.gathered.training.passages, *self.gathered.held_out.passages)
        return (each.passage.text for each in both)

    def train(self) -> History:
        """Train in place, and leave the architecture with the weights of the best epoch."""
        experiment, choice, ranker = self.experiment, self.experiment.training, self.ranker
        whole = ranker.config
        if choice.max_passage_tokens is not None:
            shorter = min(choice.max_passage_tokens, whole.max_passage_tokens)
            ranker.config = dataclasses.replace(whole, max_passage_tokens=shorter)
        examples = PairExamples(self.gathered.training, experiment.negatives, seed=experiment.seed)
        per_epoch = rows_an_epoch(choice.pairs, len(examples))
        loader = row_loader(examples, per_epoch=per_epoch, size=choice.batch_pairs, seed=experiment.seed)
        held_out = [each.passage for each in self.gathered.held_out.passages]
        objective = PairObjective(ranker, choice, held_out, self.queries)
        history = self.run.fit(objective, loader, Schedule.of(choice, seed=experiment.seed, monitor=_MONITOR))
        ranker.config = whole
        return history

    def to_record(self, history: History) -> Record:
        """Return counts and a digest of passages, and the number of queries of each epoch."""
        rows = self.counts["questions" if "questions" in self.counts else "passages"]
        return {
            **self.counts,
            "held_out_queries": len(self.queries),
            "parameters": trained_parameters(self.ranker),
            "history": history.with_queries(rows_an_epoch(self.experiment.training.pairs, rows)),
            "seconds": history.seconds,
        }

    def save(self, folder: Path, record: Record) -> str:
        """Write the model's folder."""
        return save(self.ranker, folder, name=self.title, training=record)


def set_dropout(ranker: PassageRanker, share: float) -> None:
    """Set the dropout of a training; the configuration that is saved stays unchanged."""
    for module in ranker.modules():
        if isinstance(module, nn.Dropout):
            module.p = share
        elif isinstance(getattr(module, "dropout", None), float):
            # A Longformer's attention has its dropout as a number, not as a module.
            module.dropout = share  # type: ignore[assignment]
