"""A cross-encoder reads a question with a window, and scores how well this answers (as GPL, arXiv 2112.07577).

It is trained on the questions about one half of the documents, by the cross entropy of the right passage among its
candidates, and scores the candidates of the other half, so that it never scores what it was trained on. With the states
x of the tokens, of which x_0 is the first,

    score = w · tanh(W [x_0; mean of x] + b) + c

A question stays in the training (`is_kept`) if some reader finds its passage, and if the teacher scores no other
section of the same document higher by more than 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from auscult_lab.modules.backbone import Backbone
from study.shipped.candidates import Kind
from study.shipped.windows import Windows

_NEVER = -1e4
_LOWEST_RATE = 0.02
_AT_ONCE = 512
_FOUND, _FOUND_BY_TERMS, _FOUND_BY_TEACHER, _MARGIN = 20, 16, 3, 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherSettings:
    """Settings of a teacher.

    Attributes:
        learning_rate: Highest learning rate.
        epochs: Number of epochs.
        batch_questions: Questions of a step.
        wrong: Wrong passages of each question.
        question_tokens: Tokens of a question that are read.
        label_tokens: Tokens of title and headings that are read before a window that is not the first.
        most_tokens: Tokens of a question and a window that are read.
        warm_up: Share of all steps in which the learning rate rises.
        weight_decay: Decay of all weights.
        gradient_clip: Largest length of the gradient.
        seed: Seed of the first weights, the order and the wrong passages.
    """

    learning_rate: float = 6e-5
    epochs: int = 2
    batch_questions: int = 32
    wrong: int = 6
    question_tokens: int = 80
    label_tokens: int = 40
    most_tokens: int = 340
    warm_up: float = 0.1
    weight_decay: float = 0.01
    gradient_clip: float = 1.0
    seed: int = 1


class Choice(NamedTuple):
    """A question and its candidates, the right one first.

    Attributes:
        tokens: Token ids of the question, without marks.
        passages: Numbers of passages.
        windows: Number of the window of each that is read.
    """

    tokens: Sequence[int]
    passages: Sequence[int]
    windows: Sequence[int]


class CrossEncoder(nn.Module):
    """Scores windows for questions.

    Args:
        backbone: The transformer.
    """

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone = backbone
        self.hidden = nn.Linear(2 * backbone.dim, backbone.dim)
        self.score = nn.Linear(backbone.dim, 1)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return scores, (pairs,), of padded rows of tokens, (pairs, tokens)."""
        kind = self.backbone.device.type
        with torch.autocast(kind, torch.bfloat16, enabled=kind == "cuda"):
            states = self.backbone({"input_ids": ids, "attention_mask": mask.long()})
            weights = mask.unsqueeze(2).to(states)
            mean = (states * weights).sum(dim=1) / weights.sum(dim=1)
            found: Tensor = self.score(torch.tanh(self.hidden(torch.cat([states[:, 0], mean], dim=1))))
        return found[:, 0].float()


class Teacher:
    """Trains a cross-encoder, and scores with it.

    Args:
        backbone: The transformer, which is trained in place.
        windows: The passages.
        settings: Settings.
    """

    def __init__(self, backbone: Backbone, windows: Windows, settings: TeacherSettings) -> None:
        torch.manual_seed(settings.seed)
        self.network = CrossEncoder(backbone).to(backbone.device)
        # Without dropout.
        self.network.eval()
        backbone.words.requires_grad_(False)
        self._windows = windows.to(torch.device("cpu"))
        self._settings = settings

    def train(self, choices: Sequence[Choice]) -> list[float]:
        """Train on some questions, and return the loss of each step."""
        settings, chance = self._settings, np.random.default_rng(self._settings.seed)
        trained = [each for each in self.network.parameters() if each.requires_grad]
        rate = settings.learning_rate
        optimizer = torch.optim.AdamW(trained, lr=rate, weight_decay=settings.weight_decay)
        size = min(settings.batch_questions, len(choices))
        steps = settings.epochs * len(choices) // size
        order: list[int] = []
        losses = []
        for step in range(steps):
            if len(order) < size:
                order = chance.permutation(len(choices)).tolist()
            chosen, order = order[:size], order[size:]
            warm = (step + 1) / max(1.0, settings.warm_up * steps)
            for group in optimizer.param_groups:
                group["lr"] = rate * min(1.0, warm) * max(_LOWEST_RATE, 1 - step / steps)
            loss = self.loss([self._some(choices[row], chance) for row in chosen])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(trained, settings.gradient_clip)
            optimizer.step()
            losses.append(float(loss.detach()))
        return losses

    def loss(self, choices: Sequence[Choice]) -> Tensor:
        """Return the mean cross entropy of the right passages."""
        scores = self._scores([(each, place) for each in choices for place in range(len(each.passages))])
        rows = torch.split(scores, [len(each.passages) for each in choices])
        padded = pad_sequence([*rows], batch_first=True, padding_value=_NEVER)
        return cross_entropy(padded, torch.zeros(len(choices), dtype=torch.long, device=padded.device))

    @torch.no_grad()
    def scores(self, choices: Sequence[Choice]) -> list[tuple[float, ...]]:
        """Return the scores of each question's candidates."""
        pairs = [(each, place) for each in choices for place in range(len(each.passages))]
        lengths = [len(self._tokens(*pair)) for pair in pairs]
        order = np.argsort(lengths, kind="stable").tolist()
        found = np.zeros(len(pairs))
        for at in range(0, len(order), _AT_ONCE):
            rows = order[at : at + _AT_ONCE]
            found[rows] = self._scores([pairs[row] for row in rows]).cpu().numpy()
        edges = np.cumsum([0, *(len(each.passages) for each in choices)]).tolist()
        return [tuple(found[a:b].tolist()) for a, b in pairwise(edges)]

    def _some(self, choice: Choice, chance: np.random.Generator) -> Choice:
        """Return a question with some of its wrong passages."""
        wrong = 1 + chance.permutation(len(choice.passages) - 1)[: self._settings.wrong]
        places = [0, *wrong.tolist()]
        return Choice(choice.tokens, *([rows[place] for place in places] for rows in choice[1:]))

    def _scores(self, pairs: Sequence[tuple[Choice, int]]) -> Tensor:
        rows = [torch.tensor(self._tokens(*pair)) for pair in pairs]
        lengths = torch.tensor([*map(len, rows)]).unsqueeze(1)
        ids, device = pad_sequence(rows, batch_first=True), self.network.backbone.device
        scores: Tensor = self.network(ids.to(device), (torch.arange(ids.shape[1]) < lengths).to(device))
        return scores

    def _tokens(self, choice: Choice, place: int) -> list[int]:
        """Return the tokens of a question and one of its candidates, with marks."""
        passage, settings, windows = choice.passages[place], self._settings, self._windows
        first, last = windows.around
        begin = int(windows.edges[passage])
        label: list[int] = []
        row = begin + choice.windows[place]
        told: list[int] = []
        if row < windows.edges[passage + 1]:
            told = windows.ids[row, len(first) : int(windows.lengths[row])].tolist()
            if row > begin and windows.labelled[passage]:
                # Title and headings stand in the first window.
                label = windows.ids[begin][windows.sentence[begin] == 0][: settings.label_tokens].tolist()
        asked = choice.tokens[: settings.question_tokens]
        return [*first, *asked, *last, *label, *told][: min(settings.most_tokens, self.network.backbone.limit)]


def is_kept(scores: Sequence[float], kinds: Sequence[Kind], *, by_readers: Sequence[int], by_terms: int | None) -> bool:
    """Return whether a question's passage is found by a reader, BM25 or the teacher, and no better one is on its page.

    Args:
        scores: The teacher's scores of the right passage, then of its candidates.
        kinds: How each candidate was found.
        by_readers: Rank of the best right passage by each first reader, from 1.
        by_terms: The same by BM25; None where it is not among those found.
    """
    by_teacher = 1 + sum(score > scores[0] for score in scores[1:])
    found = by_teacher <= _FOUND_BY_TEACHER or any(rank <= _FOUND for rank in by_readers)
    found = found or (by_terms is not None and by_terms <= _FOUND_BY_TERMS)
    page = [score for score, kind in zip(scores[1:], kinds, strict=True) if kind == "page"]
    return found and not any(score > scores[0] + _MARGIN for score in page)
