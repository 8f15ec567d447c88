"""Losses, with inputs, effect and source of each.

All take one row per sentence (or passage), without padding, and return a scalar mean.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, cross_entropy

from auscult_lab.modules import Task


def distance(decoded: Mapping[Task, Tensor], targets: Mapping[Task, Tensor]) -> Tensor:
    """Return per-sentence sum over the tasks of ‖decoded - target‖ (arnold2020, Eq. 12 before its mean).

    Args:
        decoded: For each task, (sentences, dim).
        targets: Same shapes. A row of NaN is a sentence without a label for that task, and adds nothing.

    Returns:
        Shape (sentences,).
    """
    total = torch.zeros(())
    for task, output in decoded.items():
        labelled = ~targets[task].isnan().any(dim=-1)
        target = torch.where(labelled.unsqueeze(-1), targets[task], output.detach())
        # The gradient of a norm at zero is undefined; the floor keeps unlabelled and perfect rows finite.
        total = total + (output - target).square().sum(dim=-1).clamp(min=1e-12).sqrt() * labelled
    return total


def distance_loss(decoded: Mapping[Task, Tensor], targets: Mapping[Task, Tensor]) -> Tensor:
    """Return the mean distance: L_cdv of arnold2020, Eq. 12."""
    return distance(decoded, targets).mean()


def robust_loss(decoded: Mapping[Task, Tensor], targets: Mapping[Task, Tensor]) -> Tensor:
    """Return the smoothed Huber form of the distance: L_cdv+ of arnold2020, Eq. 17, linear far from zero."""
    return ((1 + (distance(decoded, targets) / 4).square()).sqrt() - 1).mean()


def cosine_loss(decoded: Mapping[Task, Tensor], targets: Mapping[Task, Tensor]) -> Tensor:
    """Return the mean over sentences of the sum over tasks of 1 - cosine: only directions count. A departure.

    For `AverageSpace` targets, whose length has no meaning.
    """
    total = torch.zeros(())
    for task, output in decoded.items():
        labelled = ~targets[task].isnan().any(dim=-1)
        if labelled.any():
            similar = cosine_similarity(output[labelled], targets[task][labelled], dim=-1)
            total = total + (1 - similar).sum() / len(output)
    return total


def contrastive_loss(passages: Tensor, queries: Tensor, labels: Tensor, *, temperature: float) -> Tensor:
    """Return the listwise loss of a batch: each query must prefer its own passage, each passage its query.

    Not in arnold2020. It directly trains the scores of Eq. 14, with the other passages of the batch (of other entities,
    and of other aspects of the same entity) as negatives, as in humeau2020. The passage-to-query half has weight 0.5.

    Args:
        passages: Mean unit sentence vectors, (passages, dim).
        queries: Unit query vectors of the same passages, (passages, dim).
        labels: Shape (passages,); passages with equal labels answer the same query and are no negatives of each other.
        temperature: Multiplies the scores before the softmax; at least 1.

    Returns:
        Scalar; 0 for a batch of one passage.
    """
    scores = queries @ passages.T * temperature
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    same.fill_diagonal_(False)
    scores = scores.masked_fill(same, float("-inf"))
    own = torch.arange(len(labels), device=scores.device)
    return cross_entropy(scores, own) + 0.5 * cross_entropy(scores.T, own)


def bp_mll(probabilities: Tensor, bits: Tensor) -> Tensor:
    """Return BP-MLL (zhang2006): every set bit should be more probable than every unset one.

        E = Σ_{k set, l unset} exp(-(c_k - c_l)) / (|set| · |unset|)

    The double sum is a product of two sums, so the cost is linear in the bits.

    Args:
        probabilities: Shape (texts, bits), in [0, 1].
        bits: Same shape, 0 or 1; each row has at least one of both.
    """
    on = (torch.exp(-probabilities) * bits).sum(dim=-1) / bits.sum(dim=-1)
    off = (torch.exp(probabilities) * (1 - bits)).sum(dim=-1) / (1 - bits).sum(dim=-1)
    return (on * off).mean()


def hinge_loss(scores: Tensor, *, margin: float) -> Tensor:
    """Return pairwise hinge loss: the answer's score should exceed every negative's by the margin (zhu2019, Eq. 21).

        L = Σ_i max(0, M - score(q, d_pos) + score(q, d_neg_i))

    Args:
        scores: (queries, 1 + negatives), the answer's first. Minus infinity marks a missing negative.
        margin: M, above 0.

    Returns:
        Scalar: the mean over queries and negatives. The paper sums over a query's negatives, which only changes the
        scale of the learning rate. 0 where a batch's only query has no negative.
    """
    over = (margin - scores[:, :1] + scores[:, 1:]).clamp(min=0)
    return over.sum() / scores[:, 1:].isfinite().sum().clamp(min=1)


def listwise_loss(scores: Tensor) -> Tensor:
    """Return softmax cross entropy of the answer among its negatives (huang2013, Eq. 5 and 6, without smoothing).

    Args:
        scores: (queries, 1 + negatives), the answer's first.

    Returns:
        Scalar mean over the queries.
    """
    return cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long, device=scores.device))


LOSSES = {"distance": distance_loss, "robust": robust_loss, "cosine": cosine_loss}
