"""Position encoding: a mean of word vectors that keeps something of their order (sukhbaatar2015, section 4.1)."""

from __future__ import annotations

import torch
from torch import Tensor


def encode_positions(vectors: Tensor, mask: Tensor) -> Tensor:
    """One vector a text, m = sum over j of l_j * x_j, elementwise, with l_kj = (1 - j/J) - (k/d)(1 - 2j/J).

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


__all__ = ["encode_positions"]
