"""Losses against their sums, term by term."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from auscult_lab.training.losses import (
    bp_mll,
    contrastive_loss,
    cosine_loss,
    distance_loss,
    hinge_loss,
    listwise_loss,
    robust_loss,
)


def test_distance_and_robust_loss_follow_the_equations():
    """Equations 12 and 17 of the paper."""
    decoded = {
        "entity": torch.tensor([[3.0, 0.0], [1.0, 1.0]]),
        "aspect": torch.tensor([[0.0, 1.0], [0.0, 0.0]]),
    }
    targets = {
        "entity": torch.tensor([[0.0, 4.0], [1.0, 1.0]]),
        "aspect": torch.tensor([[0.0, 0.0], [0.0, 2.0]]),
    }
    # Sentence 1: 5 + 1 = 6; sentence 2: 0 + 2 = 2.
    assert distance_loss(decoded, targets).item() == pytest.approx(4.0, abs=1e-4)
    expected = ((1 + (6 / 4) ** 2) ** 0.5 - 1 + (1 + (2 / 4) ** 2) ** 0.5 - 1) / 2
    assert robust_loss(decoded, targets).item() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("loss", [distance_loss, robust_loss, cosine_loss])
def test_unlabelled_rows_neither_count_nor_spoil_gradients(loss):
    decoded = {"entity": torch.randn(3, 4, requires_grad=True)}
    targets = {"entity": torch.tensor(np.stack([np.full(4, np.nan), np.ones(4), -np.ones(4)]), dtype=torch.float32)}
    loss(decoded, targets).backward()
    gradient = decoded["entity"].grad
    assert not gradient[0].any()
    assert torch.isfinite(gradient).all()
    assert gradient[1:].any(dim=1).all()


def test_cosine_loss_is_zero_aligned_and_two_opposed():
    target = {"entity": torch.tensor([[1.0, 2.0]])}
    assert cosine_loss({"entity": 3 * target["entity"]}, target).item() == pytest.approx(0.0, abs=1e-6)
    assert cosine_loss({"entity": -target["entity"]}, target).item() == pytest.approx(2.0, abs=1e-6)


def test_contrastive_loss_prefers_matches_and_spares_equal_labels():
    queries = torch.eye(3)
    labels = torch.tensor([0, 1, 2])
    right = contrastive_loss(torch.eye(3), queries, labels, temperature=20)
    wrong = contrastive_loss(torch.eye(3).roll(1, 0), queries, labels, temperature=20)
    assert right < 0.01 < 10 < wrong
    same = contrastive_loss(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0]] * 2),
                            torch.tensor([0, 0]), temperature=20)  # fmt: skip
    assert same.item() == pytest.approx(0.0, abs=1e-6)


def test_contrastive_loss_by_loops():
    """Each query among all passages, and half as much each passage among all queries, but for those asked alike."""
    chance = np.random.default_rng(2)
    queries, passages = chance.normal(size=(2, 5, 4)) / 2
    labels = [0, 1, 0, 2, 1]
    expected = 0.0
    for own in range(5):
        others = [each for each in range(5) if each == own or labels[each] != labels[own]]
        score = 3 * queries[own] @ passages[own]
        by_query = sum(math.exp(3 * queries[own] @ passages[each]) for each in others)
        by_passage = sum(math.exp(3 * queries[each] @ passages[own]) for each in others)
        expected += (math.log(by_query) - score) / 5 + 0.5 * (math.log(by_passage) - score) / 5
    given = (torch.tensor(passages), torch.tensor(queries), torch.tensor(labels))
    assert contrastive_loss(*given, temperature=3.0).item() == pytest.approx(expected, rel=1e-6)


def test_bp_mll_equals_its_double_sum():
    probabilities = torch.rand(2, 6)
    bits = torch.tensor([[1.0, 0, 0, 1, 0, 0], [0, 1, 1, 1, 0, 1]])
    expected = np.mean([
        np.mean([np.exp(-(row[k] - row[j])) for k in range(6) for j in range(6) if on[k] and not on[j]])
        for row, on in zip(probabilities.numpy(), bits.numpy(), strict=True)
    ])  # fmt: skip
    assert bp_mll(probabilities, bits).item() == pytest.approx(expected, rel=1e-5)


def test_hinge_and_listwise_loss_by_loops():
    scores = [[1.0, 0.9, -2.0, 1.4], [0.0, -0.2, 0.1, -math.inf]]
    hinges = [max(0.0, 0.5 - row[0] + other) for row in scores for other in row[1:] if other > -math.inf]
    assert hinges == pytest.approx([0.4, 0.0, 0.9, 0.3, 0.6])
    assert hinge_loss(torch.tensor(scores), margin=0.5).item() == pytest.approx(sum(hinges) / 5)
    shares = [math.exp(row[0]) / sum(math.exp(each) for each in row) for row in scores]
    expected = -sum(math.log(share) for share in shares) / 2
    assert listwise_loss(torch.tensor(scores)).item() == pytest.approx(expected, rel=1e-5)


def test_hinge_loss_is_zero_without_negatives():
    scores = torch.ones(1, 1, requires_grad=True)
    loss = hinge_loss(scores, margin=1.0)
    loss.backward()
    assert loss == 0
    assert torch.equal(scores.grad, torch.zeros(1, 1))
