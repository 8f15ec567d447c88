"""What a ranker is trained for, and the validation that chooses its epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from auscult_lab.rankers.base import Ranker
from auscult_lab.rankers.data import HardNegatives, QueryPool, RankingBatch
from auscult_lab.rankers.experiment import RankingTraining
from auscult_lab.rankers.scorer import Lexicon, score_passages
from auscult_lab.training.candidates import place_measures, wrong_ahead
from auscult_lab.training.losses import hinge_loss, listwise_loss

_CANDIDATES = 20
# Where a query has many answers, there must be something left to tell them from.
_ANSWERS = _CANDIDATES // 4


@dataclass(frozen=True, slots=True)
class ValidationQuery:
    """A held-out query laid out, its candidates, and which of them answer."""

    query: Tensor
    passages: tuple[Tensor, ...]
    answers: tuple[bool, ...]


def validation_queries(
    pool: QueryPool, ranker: Ranker, lexicon: Lexicon, *, number: int, seed: int
) -> list[ValidationQuery]:
    """Held-out queries with 20 candidates each: answers, passages from around them, and what BM25 ranks highest.

    At most a quarter of them are answers. Passages from around are the title's others, or the document's.

    Args:
        pool: Queries of held-out documents, and passages: of these, or of others too.
        ranker: Lays them out.
        lexicon: Words to ids.
        number: At most so many, drawn at random.
        seed: Of the draw.
    """
    lexicon.learn(pool.words())
    hard = HardNegatives(pool, _CANDIDATES)
    order = np.random.default_rng(seed).permutation(len(pool.queries))[:number]
    passages = {}
    asked = []
    for row in sorted(order.tolist()):
        query = pool.queries[row]
        rows = list(dict.fromkeys((*query.answers[:_ANSWERS], *query.related, *hard.of(row))))[:_CANDIDATES]
        for each in rows:
            if each not in passages:
                passages[each] = ranker.lay_out_passage([lexicon.ids(sentence) for sentence in pool.passages[each]])
        asked.append(
            ValidationQuery(
                ranker.lay_out_query(lexicon.ids(query.words)),
                tuple(passages[each] for each in rows),
                tuple(each in query.answers for each in rows),
            )
        )
    return asked


class RankingObjective:
    """Optimises a ranker and measures it on held-out queries after each epoch.

    Args:
        network: The ranker.
        choice: Loss and optimiser.
        held_out: Validation queries.
    """

    def __init__(self, network: Ranker, choice: RankingTraining, held_out: Sequence[ValidationQuery]) -> None:
        self._ranker = network
        self._choice = choice
        self._held_out = held_out

    @property
    def network(self) -> nn.Module:
        """What is trained, in place."""
        return self._ranker

    def loss(self, batch: RankingBatch) -> tuple[Tensor, int]:
        """The loss over a batch's queries, and how many there are."""
        queries = len(batch.query.ids)
        device = next(self._ranker.parameters()).device
        rows = torch.arange(queries).repeat_interleave(1 + batch.negatives)
        scores = self._ranker(batch.query[rows].to(device), batch.passage.to(device)).view(queries, -1)
        if self._choice.loss == "hinge":
            return hinge_loss(scores, margin=self._choice.margin), queries
        return listwise_loss(scores), queries

    def measures(self) -> Mapping[str, float]:
        """R@1 and mean reciprocal rank over the held-out queries' candidates; ties count against the ranker."""
        self._ranker.eval()
        device = next(self._ranker.parameters()).device
        ahead = [
            wrong_ahead(score_passages(self._ranker, asked.query, asked.passages, device=device), asked.answers)
            for asked in self._held_out
        ]
        self._ranker.train()
        return place_measures(ahead)

    def optimizer(self) -> torch.optim.Optimizer:
        """Adam (decoupled weight decay), or Adadelta as zhu2019 (section 5.3)."""
        choice = self._choice
        trained = [parameter for parameter in self._ranker.parameters() if parameter.requires_grad]
        if choice.optimizer == "adadelta":
            return torch.optim.Adadelta(trained, lr=choice.learning_rate, weight_decay=choice.weight_decay)
        return torch.optim.AdamW(trained, lr=choice.learning_rate, weight_decay=choice.weight_decay)
