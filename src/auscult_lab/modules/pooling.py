"""Poolings that see words only: the k largest of a row, a grid laid over an interaction matrix, a mean with places."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def k_max(values: Tensor, mask: Tensor, k: int) -> Tensor:
    """The k largest values along the last dimension, largest first.

    Args:
        values: (..., words).
        mask: Bool, broadcastable to `values`; only where it is True is a value.
        k: How many.

    Returns:
        (..., k); where there are fewer than k values, 0 ("no match") stands for the missing ones. A value below 0
        is never displaced by padding.
    """
    mask = mask.expand_as(values)
    taken = min(k, values.shape[-1])
    largest = values.masked_fill(~mask, torch.finfo(values.dtype).min).topk(taken, dim=-1).values
    found = torch.arange(taken, device=values.device) < mask.sum(-1, keepdim=True)
    return nn.functional.pad(largest.masked_fill(~found, 0.0), (0, k - taken))


def dynamic_max_pool(maps: Tensor, query: Tensor, passage: Tensor, grid: tuple[int, int]) -> Tensor:
    """Maxima over a grid laid over each example's own words (pang2016, dynamic pooling).

    Grid row a of r covers the query words from floor(a n / r) up to ceil((a + 1) n / r), where n is the number of
    words of this example, so that cells overlap where there are fewer words than rows; columns likewise.

    Args:
        maps: (batch, channels, query words, passage words); words come first, then padding.
        query: Bool mask (batch, query words).
        passage: Bool mask (batch, passage words).
        grid: Rows and columns.

    Returns:
        (batch, channels, *grid); 0 for an example without words.
    """
    lengths = torch.stack([query.sum(1), passage.sum(1)], dim=1).tolist()
    # Unbound before it is cut: the gradient of a cut from the whole batch would be as large as the batch, every time.
    pooled = [
        nn.functional.adaptive_max_pool2d(each[:, :rows, :columns], grid)
        if rows and columns
        else each.new_zeros(len(each), *grid)
        for each, (rows, columns) in zip(maps.unbind(0), lengths, strict=True)
    ]
    return torch.stack(pooled)


def encode_positions(vectors: Tensor, mask: Tensor) -> Tensor:
    """A mean of word vectors that keeps something of their order (sukhbaatar2015, section 4.1).

    One vector a text, m = sum over j of l_j * x_j, elementwise, with l_kj = (1 - j/J) - (k/d)(1 - 2j/J).

    j counts a text's own J words and k the d columns, both from 1; padding is not counted and adds nothing.

    Args:
        vectors: Word vectors, (batch, words, d).
        mask: Where words are, (batch, words).

    Returns:
        (batch, d); zeros for a text without words.
    """
    lengths = mask.sum(dim=1, keepdim=True).clamp(min=1)
    share = (mask.cumsum(dim=1) / lengths).unsqueeze(2)
    dim = vectors.shape[-1]
    column = torch.arange(1, dim + 1, device=vectors.device, dtype=vectors.dtype) / dim
    weights = (1 - share) - column * (1 - 2 * share)
    return (weights * vectors * mask.unsqueeze(2)).sum(dim=1)
