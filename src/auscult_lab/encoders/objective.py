"""What bi-, poly- and cross-encoders are trained for, and the validation that chooses their epoch."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from auscult.documents.analysis import Analyzer
from auscult_lab.encoders.base import PassageRanker, PassageText
from auscult_lab.encoders.data import PairBatch, PassagePool, ask, words_of
from auscult_lab.encoders.experiment import PairTraining
from auscult_lab.training.candidates import BestPassages, place_measures, wrong_ahead
from auscult_lab.training.losses import hinge_loss, listwise_loss
from auscult_lab.training.schedule import parameter_groups

CANDIDATES = 64
"""Of a validation query, in grundmann2021 (section 4.2)."""

_analyse = Analyzer()


@dataclass(frozen=True, slots=True)
class AskedPassage:
    """A held-out query and its candidates.

    Attributes:
        query: As the architectures read it.
        rows: Of the candidates among the held-out passages, the answer first.
    """

    query: str
    rows: tuple[int, ...]


def held_out_queries(pool: PassagePool, *, number: int, seed: int, candidates: int = CANDIDATES) -> list[AskedPassage]:
    """Queries drawn from held-out passages, or the questions that these answer, with their candidates.

    One passage is asked for; others with the same entity and aspect, or the same text, are no candidates. The rest
    are those BM25 ranks highest, and where it finds fewer, passages drawn at random.

    Args:
        pool: Held-out passages.
        number: At most so many queries, of passages drawn at random.
        seed: Of all draws.
        candidates: Of each query, where there are so many.
    """
    rng = random.Random(f"{seed}/validation")
    best = BestPassages(words_of(pool.passages))
    asked: list[AskedPassage] = []
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
            asked.append(AskedPassage(ask(entity.name, aspect), (row, *wrong)))
        if len(asked) == number:
            break
    return asked


class PairObjective:
    """Optimises an architecture and measures it on held-out queries after each epoch.

    Args:
        ranker: The architecture.
        choice: Optimiser and budget.
        passages: Held-out passages.
        asked: Held-out queries.
    """

    def __init__(
        self,
        ranker: PassageRanker,
        choice: PairTraining,
        passages: Sequence[PassageText],
        asked: Sequence[AskedPassage],
    ) -> None:
        self._ranker = ranker
        self._choice = choice
        self._asked = asked
        # Only what is a candidate is read.
        rows = sorted({row for each in asked for row in each.rows})
        self._place = {row: number for number, row in enumerate(rows)}
        self._passages = [passages[row] for row in rows]
        ranker.train()

    @property
    def network(self) -> nn.Module:
        """What is trained, in place."""
        return self._ranker

    def loss(self, batch: PairBatch) -> tuple[Tensor, int]:
        """The loss over a batch's queries, and how many there are.

        Cross entropy of each query's own passage among its negatives (grundmann2021, Eq. 1), or the hinge of each of
        them against it (wang2021, section 4.4; the mean, where the paper sums). To neither a spared passage adds.
        """
        scores = self._ranker.score_lists(batch.queries, batch.passages, batch.rows, chunk=self._choice.chunk)
        scores = scores.float().masked_fill(batch.spared.to(scores.device), -torch.inf)
        if self._choice.loss == "hinge":
            return hinge_loss(scores, margin=self._choice.margin), len(scores)
        return listwise_loss(scores), len(scores)

    def measures(self) -> Mapping[str, float]:
        """R@1 and mean reciprocal rank over the held-out queries' candidates; ties count against the ranker."""
        self._ranker.eval()
        kept = self._ranker.keep(self._passages)
        ahead = []
        for each in self._asked:
            rows = [self._place[row] for row in each.rows]
            scores = self._ranker.score_kept(each.query, _chosen(kept, rows)).numpy()
            ahead.append(wrong_ahead(scores, [True] + [False] * (len(rows) - 1)))
        self._ranker.train()
        return place_measures(ahead)

    def optimizer(self) -> torch.optim.Optimizer:
        """AdamW (grundmann2021, section 4.3); biases and gains are not decayed.

        Without decay it is Adam. What is no pre-trained encoder's may have a rate of its own (wang2021, section 5.1.5).
        """
        choice = self._choice
        trained = [each for each in self._ranker.parameters() if each.requires_grad]
        if choice.head_learning_rate is None:
            return torch.optim.AdamW(parameter_groups(trained, decay=choice.weight_decay, rate=choice.learning_rate))
        told = {id(each) for backbone in self._ranker.backbones().values() for each in backbone.parameters()}
        encoders = [each for each in trained if id(each) in told]
        head = [each for each in trained if id(each) not in told]
        return torch.optim.AdamW(
            parameter_groups(encoders, decay=choice.weight_decay, rate=choice.learning_rate)
            + parameter_groups(head, decay=choice.weight_decay, rate=choice.head_learning_rate)
        )


def _chosen(kept: Tensor | Sequence[Tensor | PassageText], rows: list[int]) -> Any:
    """Some of the kept passages, in whichever form the architecture keeps them."""
    return kept[torch.tensor(rows)] if isinstance(kept, Tensor) else [kept[row] for row in rows]
