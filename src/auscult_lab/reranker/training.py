"""Train a re-ranker.

With scores s of a question's passages, of which the first answers, and scores m of the sentences of that one, a step
minimises the mean over its questions of

    - log softmax(s)_0   +   .3 · mean over passages of the cross entropy of sigmoid(s)
    - .5 · log of the answering sentences' share of softmax(m)

The first term orders passages, the second makes scores of different questions comparable, the third marks. A quarter of
the questions has its passages without titles and headings, as many collections have none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from auscult.encoders.reranker import Pair
from auscult.files.writing import whole_or_nothing
from auscult_lab.reranker.lessons import Lesson, Pairs, by_collection, nearer_first
from auscult_lab.reranker.network import Padded, RerankerNetwork

_LIKELIHOOD, _MARKS = 0.3, 0.5
_AT_ONCE = 64
_SAVED_EVERY = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerSettings:
    """Settings of a training.

    Attributes:
        learning_rate: Highest learning rate of the transformer; the heads learn 20 times as fast.
        epochs: How often each question is asked.
        batch_questions: Questions of a step.
        wrong: Wrong passages of each.
        bare: Share of questions whose passages have no titles and headings.
        warm_up: Share of all steps in which the learning rate rises.
        weight_decay: Decay of all weights.
        seed: Seed of the order and of all draws.
    """

    learning_rate: float = 8e-5
    epochs: float = 1.0
    batch_questions: int = 12
    wrong: int = 4
    bare: float = 0.25
    warm_up: float = 0.06
    weight_decay: float = 0.01
    seed: int = 0


def train(
    network: RerankerNetwork,
    pairs: Pairs,
    lessons: Sequence[Lesson],
    settings: RerankerSettings,
    say: Callable[[int, int, float], None] = lambda step, steps, loss: None,
    checkpoint: Path | None = None,
) -> None:
    """Train a network in place, without dropout.

    Args:
        network: The network.
        pairs: Makes its input.
        lessons: The questions to learn from.
        settings: Settings.
        say: Called after each step with its number, the number of all, and its loss.
        checkpoint: File that is written every 50 steps, and from which an interrupted training goes on.
    """
    network.eval()
    body = [each for each in network.backbone.parameters() if each.requires_grad]
    own = {id(each) for each in network.backbone.parameters()}
    heads = [each for each in network.parameters() if id(each) not in own]
    rates = (settings.learning_rate, 20 * settings.learning_rate)
    groups = [{"params": part, "lr": rate} for part, rate in zip((body, heads), rates, strict=True)]
    optimizer = torch.optim.AdamW(groups, weight_decay=settings.weight_decay)
    steps = int(settings.epochs * len(lessons) / settings.batch_questions)
    order: list[int] = []
    begin = 0
    if checkpoint is not None and checkpoint.is_file():
        kept = torch.load(checkpoint, weights_only=True)
        begin, order = kept["step"], kept["order"]
        network.load_state_dict(kept["network"])
        optimizer.load_state_dict(kept["optimizer"])
    for step in range(begin, steps):
        # By step, so that an interrupted training draws the same.
        chance = np.random.default_rng((settings.seed, step))
        if len(order) < settings.batch_questions:
            order = chance.permutation(len(lessons)).tolist()
        some, order = order[: settings.batch_questions], order[settings.batch_questions :]
        share = min(1.0, (step + 1) / (settings.warm_up * steps)) * max(0.02, 1 - step / steps)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * share
        value = _loss(network, pairs, [lessons[row] for row in some], settings, chance)
        optimizer.zero_grad()
        value.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_([*body, *heads], 1.0)
        optimizer.step()
        if checkpoint is not None and ((step + 1) % _SAVED_EVERY == 0 or step + 1 == steps):
            kept = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
            with whole_or_nothing(checkpoint) as place:
                torch.save({**kept, "order": order}, place)
        say(step + 1, steps, float(value.detach()))


def _loss(
    network: RerankerNetwork,
    pairs: Pairs,
    lessons: Sequence[Lesson],
    settings: RerankerSettings,
    chance: np.random.Generator,
) -> Tensor:
    rows: list[Pair] = []
    counts = []
    for each in lessons:
        labelled = bool(chance.random() >= settings.bare)
        asked = pairs.question(each.question)
        seen = [each.right, *nearer_first(each.wrong, settings.wrong, chance)]
        rows += [pairs.of(asked, passage, labelled=labelled) for passage in seen]
        counts.append(len(seen))
    scores, marks = network(Padded.of(rows))
    losses = []
    for each, own, first in zip(lessons, torch.split(scores, counts), np.cumsum([0, *counts]).tolist(), strict=False):
        right = torch.zeros_like(own)
        right[0] = 1
        value = cross_entropy(own[None], torch.zeros(1, dtype=torch.long, device=own.device))
        value = value + _LIKELIHOOD * binary_cross_entropy_with_logits(own, right)
        places = [place for place, number in enumerate(rows[first].sentences) if number in each.answering]
        if places and len(rows[first].sentences) > 1:
            told = marks[first]
            value = value + _MARKS * (torch.logsumexp(told, dim=0) - torch.logsumexp(told[places], dim=0))
        losses.append(value)
    return torch.stack(losses).mean()


@torch.no_grad()
def found_first(network: RerankerNetwork, pairs: Pairs, lessons: Sequence[Lesson]) -> dict[str, float]:
    """Return by collection how often the right passage has the highest score, among it and the first hits."""
    network.eval()
    shares = {}
    for name, own in by_collection(lessons).items():
        firsts = []
        for each in own:
            asked = pairs.question(each.question)
            rows = [pairs.of(asked, passage) for passage in (each.right, *each.wrong)]
            scores = torch.cat(
                [network(Padded.of(rows[at : at + _AT_ONCE]))[0] for at in range(0, len(rows), _AT_ONCE)]
            )
            firsts.append(bool(scores.argmax() == 0))
        shares[name] = float(np.mean(firsts))
    return shares
