"""Matching histograms (guo2016, yang2016): a query word's similarities to all passage words, sorted into bins.

Of n bins, n - 1 of equal width cover [-1, 1), and the last holds exact matches alone.
Bins make a score jump where a similarity crosses a border, so similarities should come in double precision: rounding
that differs with the size of a batch then does not move one across.
"""

from __future__ import annotations

import torch
from torch import Tensor

_SLACK = 1e-6
"""Cosines of equal vectors fall short of 1 by rounding; so much below 1 still is an exact match."""


def bin_numbers(similarities: Tensor, bins: int) -> Tensor:
    """The bin, int64 in 0 to bins - 1, of similarities in [-1, 1]; the last is for exact matches."""
    return ((similarities + (1.0 + _SLACK)) * ((bins - 1) / 2)).floor().long().clamp(0, bins - 1)


def bin_counts(similarities: Tensor, passage: Tensor, bins: int) -> Tensor:
    """How many passage words fall into each bin (guo2016); it has no gradient.

    Args:
        similarities: (batch, query words, passage words), in [-1, 1].
        passage: Bool mask (batch, passage words).
        bins: How many.

    Returns:
        (batch, query words, bins), of the kind of float that is torch's default.
    """
    ones = passage.unsqueeze(1).expand_as(similarities).to(torch.get_default_dtype())
    return _sum_in_bins(similarities, ones, bins)


def bin_sums(similarities: Tensor, passage: Tensor, bins: int) -> Tensor:
    """The sum of the similarities in each bin (yang2016); arguments and result as in `bin_counts`.

    The gradient goes to the similarities, not through the choice of their bins.
    """
    values = similarities.masked_fill(~passage.unsqueeze(1), 0.0).to(torch.get_default_dtype())
    return _sum_in_bins(similarities, values, bins)


def _sum_in_bins(similarities: Tensor, values: Tensor, bins: int) -> Tensor:
    empty = values.new_zeros(*similarities.shape[:-1], bins)
    return empty.scatter_add(-1, bin_numbers(similarities.detach(), bins), values)
