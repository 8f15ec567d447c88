"""Position encoding against values worked out by hand, and what it tells apart."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from auscult_lab.modules.interaction import encode_positions
from auscult_lab.modules.vocabulary import build_vocabulary
from auscult_lab.modules.word_vectors import PlainTable
from auscult_lab.rankers.base import pad
from auscult_lab.rankers.position_mlp import PositionMlp, PositionMlpConfig


def test_positions_by_hand() -> None:
    vectors = torch.tensor([[[1.0, 2.0], [3.0, 5.0], [100.0, 100.0]]])
    encoded = encode_positions(vectors, torch.tensor([[True, True, False]]))
    # J = 2, d = 2. Word 1 (j/J = 1/2): weights 1/2, 1/2. Word 2 (j/J = 1): weights k/d = 1/2, 1.
    assert encoded.tolist() == [[0.5 * 1 + 0.5 * 3, 0.5 * 2 + 1.0 * 5]]


def test_word_order_changes_scores_and_padding_does_not() -> None:
    table = PlainTable(["a", "b", "c"], np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32))
    torch.manual_seed(0)
    ranker = PositionMlp(PositionMlpConfig(), build_vocabulary([["a", "b", "c"]], table)).eval()
    query = torch.tensor([1])
    forward, backward, long = torch.tensor([1, 2, 3]), torch.tensor([3, 2, 1]), torch.tensor([1, 2, 3, 1, 2, 3])
    with torch.no_grad():
        together = ranker(pad([query] * 3), pad([forward, backward, long]))
        alone = ranker(pad([query]), pad([forward]))
    assert together[0].item() == pytest.approx(alone.item(), abs=1e-6)
    assert abs(together[0] - together[1]).item() > 1e-4
