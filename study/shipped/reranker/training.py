"""Examples and objective of a re-ranker, for `training.loop.fit`.

With scores s of a question's passages, of which the first answers, and scores m of the sentences of that one, a step
minimises the mean over its questions of

    - log softmax(s)_0   +   .3 · mean over passages of the cross entropy of sigmoid(s)
    - .5 · log of the answering sentences' share of softmax(m)

The first term orders passages, the second makes scores of different questions comparable, the third marks. A quarter of
the questions has its passages without titles and headings, as many collections have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from auscult.encoders.reranker import Pair
from auscult_lab.training.batches import Key
from auscult_lab.training.schedule import parameter_groups
from study.shipped.reranker.lessons import Lesson, Pairs, by_collection, nearer_first
from study.shipped.reranker.network import Padded, RerankerNetwork

MONITOR = "validation_right_first"
_LIKELIHOOD, _MARKS = 0.3, 0.5
_HEAD_RATE = 20
"""How many times as fast the heads learn, which begin with nothing."""
_AT_ONCE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerSettings:
    """Settings of a training.

    Attributes:
        learning_rate: Highest learning rate of the transformer.
        epochs: How often each question is asked.
        batch_questions: Questions of a step.
        wrong: Wrong passages of each.
        bare: Share of questions whose passages have no titles and headings.
        warm_up: Share of all steps in which the learning rate rises.
        weight_decay: Decay of weights.
        gradient_clip: Largest length of the gradient.
        seed: Seed of the order and of all draws.
    """

    learning_rate: float = 8e-5
    epochs: int = 2
    batch_questions: int = 12
    wrong: int = 4
    bare: float = 0.25
    warm_up: float = 0.06
    weight_decay: float = 0.01
    gradient_clip: float = 1.0
    seed: int = 0


class LessonPairs(NamedTuple):
    """A question's pairs, the right passage first.

    Attributes:
        pairs: The question with each passage.
        answering: Places of the right passage's sentences that hold the answer, among those that are read.
    """

    pairs: list[Pair]
    answering: list[int]


class LessonBatch(NamedTuple):
    """The questions of a step.

    Attributes:
        padded: The pairs of all, question by question.
        counts: Number of pairs of each.
        answering: The `answering` of each.
    """

    padded: Padded
    counts: list[int]
    answering: list[list[int]]


class LessonExamples:
    """Questions by epoch and row.

    Args:
        lessons: The questions.
        pairs: Makes their tokens.
        settings: Settings.
    """

    def __init__(self, lessons: Sequence[Lesson], pairs: Pairs, settings: RerankerSettings) -> None:
        self._lessons, self._pairs, self._settings = lessons, pairs, settings

    def __len__(self) -> int:
        return len(self._lessons)

    def __getitem__(self, key: Key) -> LessonPairs:
        chance = np.random.default_rng((self._settings.seed, *key))
        lesson = self._lessons[key[1]]
        labelled = bool(chance.random() >= self._settings.bare)
        asked = self._pairs.question(lesson.question)
        seen = [lesson.right, *nearer_first(lesson.wrong, self._settings.wrong, chance)]
        pairs = [self._pairs.of(asked, passage, labelled=labelled) for passage in seen]
        return LessonPairs(
            pairs, [place for place, number in enumerate(pairs[0].sentences) if number in lesson.answering]
        )

    def collate(self, found: Sequence[LessonPairs]) -> LessonBatch:
        """Return one batch."""
        pairs = [pair for each in found for pair in each.pairs]
        return LessonBatch(Padded.of(pairs), [len(each.pairs) for each in found], [each.answering for each in found])


class RerankerObjective:
    """Trains a re-ranker.

    Args:
        network: The network, which is trained in place.
        settings: Settings.
        pairs: Makes its input.
        held_out: Questions that choose the epoch.
    """

    def __init__(
        self, network: RerankerNetwork, settings: RerankerSettings, pairs: Pairs, held_out: Sequence[Lesson]
    ) -> None:
        self.network, self._settings = network, settings
        self._pairs, self._held_out = pairs, held_out

    def loss(self, batch: LessonBatch) -> tuple[Tensor, int]:
        """Return the loss, and the number of questions."""
        scores, marks = self.network(batch.padded)
        firsts = np.cumsum([0, *batch.counts[:-1]]).tolist()
        losses = []
        for own, told, answering in zip(torch.split(scores, batch.counts), marks[firsts], batch.answering, strict=True):
            right = torch.zeros_like(own)
            right[0] = 1
            value = cross_entropy(own[None], torch.zeros(1, dtype=torch.long, device=own.device))
            value = value + _LIKELIHOOD * binary_cross_entropy_with_logits(own, right)
            if answering:
                value = value + _MARKS * (torch.logsumexp(told, dim=0) - torch.logsumexp(told[answering], dim=0))
            losses.append(value)
        return torch.stack(losses).mean(), len(losses)

    def measures(self) -> Mapping[str, float]:
        """Return how often the right passage is before all first hits: by collection, and their mean."""
        self.network.eval()
        shares = {
            name: float(np.mean([self._puts_right_first(each) for each in own]))
            for name, own in by_collection(self._held_out).items()
        }
        return {"right_first": float(np.mean([*shares.values()]))} | {
            f"right_first_{name}": share for name, share in shares.items()
        }

    def optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW."""
        rate, decay = self._settings.learning_rate, self._settings.weight_decay
        body = [each for each in self.network.backbone.parameters() if each.requires_grad]
        of_backbone = {id(each) for each in self.network.backbone.parameters()}
        heads = [each for each in self.network.parameters() if id(each) not in of_backbone]
        groups = [
            *parameter_groups(body, decay=decay, rate=rate),
            *parameter_groups(heads, decay=decay, rate=_HEAD_RATE * rate),
        ]
        return torch.optim.AdamW(groups, lr=rate)

    @torch.no_grad()
    def _puts_right_first(self, lesson: Lesson) -> bool:
        asked = self._pairs.question(lesson.question)
        rows = [self._pairs.of(asked, passage) for passage in (lesson.right, *lesson.wrong)]
        scores = [self.network(Padded.of(rows[at : at + _AT_ONCE]))[0] for at in range(0, len(rows), _AT_ONCE)]
        return bool(torch.cat(scores).argmax() == 0)
