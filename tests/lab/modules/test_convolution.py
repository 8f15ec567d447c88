"""Convolution over words that are multiplied once each is convolution over the whole text."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from auscult_lab.modules.layers import TextConvolution
from auscult_lab.modules.vocabulary import WordEmbedding
from rankers import small_vocabulary


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("bias", [True, False])
def test_distinct_words_are_convolved_as_the_text(width: int, bias: bool):
    torch.manual_seed(0)
    words = WordEmbedding(small_vocabulary(), trainable=True)
    convolution = TextConvolution(words.dim, 5, width, bias=bias)
    with torch.no_grad():
        # Even if the row of padding were something.
        words.rows[0] = 3.0
        if bias:
            convolution.convolution.bias.normal_()
    ids = torch.tensor([[3, 1, 3, 2, 2, 9], [4, 1, 0, 0, 7, 0], [0, 0, 0, 0, 0, 0]])
    mask = torch.tensor([[True] * 6, [True, True, False, False, False, False], [False] * 6])
    plain = convolution(words(ids), mask)
    quick = convolution.over_words(*words.distinct(ids, mask))
    torch.testing.assert_close(quick[mask], plain[mask])
    weights = torch.randn(int(mask.sum()), 5)
    parameters = [words.rows, *convolution.parameters()]
    wanted = torch.autograd.grad((plain[mask] * weights).sum(), parameters)
    found = torch.autograd.grad((quick[mask] * weights).sum(), parameters)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs)
    assert wanted[0][3].abs().sum() > 0


def test_padding_is_the_first_distinct_word():
    words = WordEmbedding(small_vocabulary(), trainable=False)
    nn.init.ones_(words.rows)
    vectors, rows = words.distinct(torch.tensor([[5, 2, 5]]), torch.tensor([[True, True, True]]))
    assert vectors.shape[0] == 3
    assert not vectors[0].any()
    assert rows.tolist() == [[2, 1, 2]]
