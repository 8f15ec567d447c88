"""A reader is tuned to bring questions near the passages that answer them (as DPR, arXiv 2004.04906).

A batch has questions q, for each its right passage p and some wrong ones. With s(q, p) = scale · q(q)·q(p) of
`windows`, a step minimises the mean over questions of

    - log softmax of s(q, p) over all passages of the batch  +  KL(softmax of the teacher's t || softmax of s)

The second sum is over the question's own passages only, and only for questions with scores t of a teacher. Other right
passages of a question, and copies of its right one, are left out of its first softmax. What the teacher puts before the
right passage is no wrong passage. Titles and headings are hidden at random. The epoch with the largest share of
held-out questions whose first passage is right, averaged over collections, is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, kl_div

from auscult_lab.training.schedule import parameter_groups
from study.shipped.windows import AskedReader, Rows

_NEVER = -1e4
_AT_ONCE = 512
_LOWEST_RATE = 0.02
_OTHERS = 14_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningSettings:
    """Settings of a tuning; the defaults are those of `best`.

    Attributes:
        learning_rate: Highest learning rate; 1.5e-4 for `fast`.
        epochs: Number of epochs; 8 for `fast`.
        batch_questions: Questions of a step.
        wrong: Wrong passages of each question.
        most_windows: Windows that are read of a passage; 3 for `fast`.
        hidden: Share of passages whose title and headings are hidden; 1 to read text alone.
        scale: Factor on inner products.
        warm_up: Share of all steps in which the learning rate rises.
        weight_decay: Decay of matrices.
        gradient_clip: Largest length of the gradient.
        others: Passages, drawn by chance, that held-out questions search beside their own.
        seed: Seed of order, passages, windows and hiding.
    """

    learning_rate: float = 4e-5
    epochs: int = 4
    batch_questions: int = 128
    wrong: int = 3
    most_windows: int = 2
    hidden: float = 0.3
    scale: float = 20.0
    warm_up: float = 0.08
    weight_decay: float = 0.01
    gradient_clip: float = 1.0
    others: int = _OTHERS
    seed: int = 1


@dataclass(frozen=True, slots=True)
class AskedPassage:
    """A question with its passages.

    Attributes:
        tokens: Token ids of the question, without marks.
        collection: Name of the collection.
        passage: Number of the passage that it was written of.
        right: Numbers of all right passages, `passage` among them.
        wrong: Numbers of wrong passages.
        window: Number of the window of `passage` with the answer; -1 for none.
        taught: A teacher's scores of `passage` and then of the wrong ones; empty without a teacher.
    """

    tokens: tuple[int, ...]
    collection: str
    passage: int
    right: tuple[int, ...]
    wrong: tuple[int, ...] = ()
    window: int = -1
    taught: tuple[float, ...] = ()

    def usable(self) -> list[int]:
        """Return the places of the wrong passages that the teacher puts after the right one."""
        places = range(len(self.wrong))
        return [place for place in places if not self.taught or self.taught[1 + place] < self.taught[0]]


class TuningBatch(NamedTuple):
    """The questions and passages of a step.

    Attributes:
        questions: Token ids of each question.
        passages: Numbers of passages, (passages,).
        kept: The window of each that is always read, (passages,); -1 for none.
        own: Places of each question's passages in `passages`, the right one first, (questions, 1 + wrong); -1 for none.
        taught: The teacher's scores of these, same shape; nan without a teacher.
        left_out: Whether a passage is left out for a question, (questions, passages).
        hidden: Whether title and headings of each passage are hidden, (passages,).
    """

    questions: list[tuple[int, ...]]
    passages: Rows
    kept: Rows
    own: Tensor
    taught: Tensor
    left_out: Tensor
    hidden: Tensor


class Tuning:
    """Tunes a reader in place.

    Args:
        reader: The reader.
        settings: Settings.
        questions: Questions to learn from.
    """

    def __init__(self, reader: AskedReader, settings: TuningSettings, questions: Sequence[AskedPassage]) -> None:
        self._reader = reader
        self._settings = settings
        self._questions = questions
        self._chance = np.random.default_rng(settings.seed)
        self._steps = max(1, len(questions) // settings.batch_questions)
        self._step = 0
        # The table of words stays: most words occur in no question.
        reader.backbone.words.requires_grad_(False)
        trained = [each for each in reader.parameters() if each.requires_grad]
        groups = parameter_groups(trained, decay=settings.weight_decay, rate=settings.learning_rate)
        self._trained = trained
        self._optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate, betas=(0.9, 0.98))

    def run(
        self,
        held_out: Sequence[AskedPassage],
        collections: Sequence[str],
        report: Callable[[Mapping[str, float]], None],
    ) -> float:
        """Train all epochs and keep the best one's weights, or the first ones if no epoch is better.

        Args:
            held_out: Questions that choose the epoch.
            collections: Name of each passage's collection.
            report: Receives the measures before the training and after each epoch.

        Returns:
            The best epoch's share of held-out questions whose first passage is right, averaged over collections.
        """
        best, kept = -1.0, dict[str, Tensor]()
        for epoch in range(self._settings.epochs + 1):
            if epoch:
                for batch in self.batches():
                    self.step(batch)
            measures = first_right(
                self._reader, held_out, collections, hidden=self._settings.hidden >= 1, others=self._settings.others
            )
            report(measures)
            mean = float(np.mean([*measures.values()]))
            if mean > best:
                best = mean
                kept = {name: each.detach().clone() for name, each in self._reader.state_dict().items()}
        self._reader.load_state_dict(kept)
        return best

    def batches(self) -> Iterator[TuningBatch]:
        """Yield the batches of an epoch; a last one that is not full is left out, unless it is the only one."""
        order = self._chance.permutation(len(self._questions)).tolist()
        for step in range(self._steps):
            at = step * self._settings.batch_questions
            yield self.batch([self._questions[row] for row in order[at : at + self._settings.batch_questions]])

    def batch(self, questions: Sequence[AskedPassage]) -> TuningBatch:
        """Return a batch of given questions, with a right passage and some wrong ones of each by chance."""
        passages: list[int] = []
        kept: list[int] = []
        own = torch.full((len(questions), 1 + self._settings.wrong), -1)
        taught = torch.full(own.shape, torch.nan)
        for row, each in enumerate(questions):
            right = each.passage if len(each.right) == 1 else int(self._chance.choice(sorted(each.right)))
            wrong = self._chance.permutation(np.array(each.usable(), np.int64))[: self._settings.wrong].tolist()
            own[row, : 1 + len(wrong)] = torch.arange(len(passages), len(passages) + 1 + len(wrong))
            if each.taught:
                scores = [each.taught[0], *(each.taught[1 + place] for place in wrong)]
                taught[row, : 1 + len(wrong)] = torch.tensor(scores)
            passages += [right, *(each.wrong[place] for place in wrong)]
            kept += [each.window if right == each.passage else -1, *[-1] * len(wrong)]
        places: dict[int, list[int]] = {}
        for place, passage in enumerate(passages):
            places.setdefault(passage, []).append(place)
        left_out = torch.zeros(len(questions), len(passages), dtype=torch.bool)
        for row, each in enumerate(questions):
            left_out[row, [place for passage in each.right for place in places.get(passage, ())]] = True
            left_out[row, own[row, 0]] = False
        hidden = torch.from_numpy(self._chance.random(len(passages)) < self._settings.hidden)
        device, tokens = self._reader.backbone.device, [each.tokens for each in questions]
        on_device = (each.to(device) for each in (own, taught, left_out, hidden))
        return TuningBatch(tokens, np.array(passages, np.int64), np.array(kept, np.int64), *on_device)

    def loss(self, batch: TuningBatch) -> Tensor:
        """Return the loss of a batch."""
        passages = self._reader.passage_part(
            batch.passages, most=self._settings.most_windows, kept=batch.kept, chance=self._chance, hidden=batch.hidden
        )
        scores = self._settings.scale * self._reader.question_part(batch.questions) @ passages.T
        total = cross_entropy(scores.masked_fill(batch.left_out, _NEVER), batch.own[:, 0])
        there = batch.own >= 0
        learns = there[:, 1] & ~batch.taught[:, 0].isnan() if batch.own.shape[1] > 1 else there[:, 0] & False
        if learns.any():
            own = scores.gather(1, batch.own.clamp(min=0)).masked_fill(~there, _NEVER)[learns]
            target = batch.taught.masked_fill(~there, _NEVER)[learns]
            total = total + kl_div(own.log_softmax(dim=1), target.softmax(dim=1), reduction="batchmean")
        return total

    def step(self, batch: TuningBatch) -> float:
        """Change the weights once, without dropout, and return the loss before."""
        self._reader.eval()
        done = self._step / (self._steps * self._settings.epochs)
        warm = (self._step + 1) / max(1.0, self._settings.warm_up * self._steps * self._settings.epochs)
        for group in self._optimizer.param_groups:
            group["lr"] = self._settings.learning_rate * min(1.0, warm) * max(_LOWEST_RATE, 1 - done)
        loss = self.loss(batch)
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._trained, self._settings.gradient_clip)
        self._optimizer.step()
        self._step += 1
        return float(loss.detach())


@torch.no_grad()
def first_right(
    reader: AskedReader,
    questions: Sequence[AskedPassage],
    collections: Sequence[str],
    *,
    hidden: bool = False,
    others: int = _OTHERS,
) -> dict[str, float]:
    """Return for each collection the share of questions whose first passage is right.

    Questions search the right and wrong passages of all questions, and others. A question's collection may have a
    language behind a blank: each language is measured apart.

    Args:
        reader: The reader.
        questions: The questions.
        collections: Name of each passage's collection.
        hidden: Whether titles and headings are hidden.
        others: Number of other passages, drawn by chance.
    """
    reader.eval()
    named = {passage for each in questions for passage in (*each.right, *each.wrong)}
    drawn = np.random.default_rng(0).permutation(len(collections))[:others]
    searched = np.unique(np.concatenate([np.array([*named], np.int64), drawn]))
    passages = reader.all_passages(searched, hidden=hidden)
    of = np.array([collections[passage] for passage in searched.tolist()])
    shares = {}
    for name in sorted({each.collection for each in questions}):
        own = [each for each in questions if each.collection == name]
        among = np.flatnonzero(of == name.partition(" ")[0])
        parts = passages[torch.from_numpy(among).to(passages.device)]
        first: list[int] = []
        for at in range(0, len(own), _AT_ONCE):
            asked = reader.question_part([each.tokens for each in own[at : at + _AT_ONCE]])
            first += searched[among[(asked @ parts.T).argmax(dim=1).cpu().numpy()]].tolist()
        shares[name] = float(np.mean([best in each.right for best, each in zip(first, own, strict=True)]))
    return shares
