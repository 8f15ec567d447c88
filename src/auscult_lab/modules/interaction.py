"""Interaction matrices between the words of a query and a passage.

Matching histograms (guo2016, yang2016): a query word's similarities to all passage words, sorted into bins.

Of n bins, n - 1 of equal width cover [-1, 1), and the last has exact matches only. A score jumps where a similarity
crosses the border of a bin. Similarities should therefore be in double precision, so that rounding, which differs with
the batch size, does not move one across.

Kernel pooling (xiong2017, Eq. 3 to 5): soft counts of how many passage words match a query word how well.

Masked poolings: the k largest of a row, a grid over an interaction matrix, a mean with position weights.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def cosine_matrix(query: Tensor, passage: Tensor) -> Tensor:
    """Return cosines between word vectors: (batch, queries, dim) and (batch, words, dim) to (batch, queries, words).

    Vectors of zeros (padding) have cosine 0 with all; `cells` marks the cells of words.
    """
    return nn.functional.normalize(query, dim=-1) @ nn.functional.normalize(passage, dim=-1).transpose(1, 2)


def identity_matrix(query: Tensor, passage: Tensor) -> Tensor:
    """Return 1 where query and passage have the same word id, (batch, query words, passage words), float."""
    return (query.unsqueeze(2) == passage.unsqueeze(1)).float()


def cells(query: Tensor, passage: Tensor) -> Tensor:
    """Return the mask of an interaction matrix: masks (batch, q) and (batch, p) to bool (batch, q, p)."""
    return query.unsqueeze(2) & passage.unsqueeze(1)


def masked_softmax(values: Tensor, mask: Tensor, dim: int) -> Tensor:
    """Return a softmax over the places where the mask is True; 0 elsewhere, and in rows without such a place."""
    lowest = torch.finfo(values.dtype).min
    weights = torch.softmax(values.masked_fill(~mask, lowest), dim=dim)
    return weights.masked_fill(~mask, 0.0)


_SLACK = 1e-6
"""Cosines of equal vectors fall short of 1 by rounding; so much below 1 still is an exact match."""


def bin_numbers(similarities: Tensor, bins: int) -> Tensor:
    """Return the bin, int64 in 0 to bins - 1, of similarities in [-1, 1]; the last is for exact matches."""
    return ((similarities + (1.0 + _SLACK)) * ((bins - 1) / 2)).floor().long().clamp(0, bins - 1)


def bin_counts(similarities: Tensor, passage: Tensor, bins: int) -> Tensor:
    """Count the passage words that fall into each bin (guo2016); it has no gradient.

    Args:
        similarities: (batch, query words, passage words), in [-1, 1].
        passage: Bool mask (batch, passage words).
        bins: Number of bins.

    Returns:
        (batch, query words, bins), in torch's default float type.
    """
    ones = passage.unsqueeze(1).expand_as(similarities).to(torch.get_default_dtype())
    return _sum_in_bins(similarities, ones, bins)


def bin_sums(similarities: Tensor, passage: Tensor, bins: int) -> Tensor:
    """Return the sum of the similarities in each bin (yang2016); arguments and result as in `bin_counts`.

    The gradient goes to the similarities, not through the choice of their bins.
    """
    values = similarities.masked_fill(~passage.unsqueeze(1), 0.0).to(torch.get_default_dtype())
    return _sum_in_bins(similarities, values, bins)


def _sum_in_bins(similarities: Tensor, values: Tensor, bins: int) -> Tensor:
    empty = values.new_zeros(*similarities.shape[:-1], bins)
    return empty.scatter_add(-1, bin_numbers(similarities.detach(), bins), values)


_BLOCK = 1 << 16
"""Cells that all kernels pass over before the next are read."""
_FAR = 1e4
"""A similarity so far from every kernel that its soft count is as good as 0."""
_LEAST = -80.0
"""Exponents are raised to this: 1e-35 counts as nothing beside 1e-10, and below it `exp` takes twelve times as long."""


class KernelPooling(nn.Module):
    """Gaussian kernels over similarities in [-1, 1]: one at 1 for exact matches, the others spread evenly.

    Args:
        kernels: Number of kernels, at least 2.
        sigma: Width of all but the exact-match kernel.
        exact_sigma: Width of the exact-match kernel.
        log_plus_one: Sum log(1 + K) of each soft count K, as MatchZoo does, for 0.01 log K.

    Attributes:
        centres: Centres of the kernels.
        widths: Their standard deviations.
    """

    def __init__(self, kernels: int, *, sigma: float, exact_sigma: float, log_plus_one: bool = False) -> None:
        super().__init__()
        self._log_plus_one = log_plus_one
        step = 2.0 / (kernels - 1)
        self.centres = (1.0, *(1.0 - step / 2 - step * index for index in range(kernels - 1)))
        self.widths = (exact_sigma, *(sigma for _ in range(kernels - 1)))

    def forward(self, similarities: Tensor, query: Tensor, passage: Tensor) -> Tensor:
        """Return sums over the query's words of logarithms of soft term frequencies.

        Args:
            similarities: (batch, query words, passage words), or (batch, matrices, query words, passage words).
            query: Bool mask (batch, query words).
            passage: Bool mask (batch, passage words).

        Returns:
            (batch, kernels), or (batch, matrices, kernels).
        """
        if similarities.dim() == 4:
            query, passage = query.unsqueeze(1), passage.unsqueeze(1)
        counts = soft_counts(similarities.masked_fill(~passage.unsqueeze(-2), _FAR), self.centres, self.widths)
        logs = torch.log1p(counts) if self._log_plus_one else torch.log(counts.clamp(min=1e-10)) * 0.01
        return (logs * query.unsqueeze(-1)).sum(-2)


def soft_counts(similarities: Tensor, centres: tuple[float, ...], widths: tuple[float, ...]) -> Tensor:
    """Return sums of Gaussian kernels over the last dimension: (..., words) to (..., kernels).

    One kernel at a time, recomputed for the gradient: only the similarities are stored. Automatic differentiation would
    store three arrays of their size for every kernel.
    """
    counts: Tensor = _SoftCounts.apply(similarities, centres, widths)  # type: ignore[no-untyped-call]
    return counts


class _SoftCounts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, similarities: Tensor, centres: tuple[float, ...], widths: tuple[float, ...]) -> Tensor:
        similarities = similarities.contiguous()
        ctx.save_for_backward(similarities)
        ctx.kernels = tuple(zip(centres, widths, strict=True))
        counts = similarities.new_empty(*similarities.shape[:-1], len(centres))
        rows = _rows(similarities)
        for block, sums in zip(_blocks(similarities, rows), _blocks(counts, rows), strict=True):
            soft = torch.empty_like(block)
            for index, (centre, width) in enumerate(ctx.kernels):
                torch.sub(block, centre, out=soft)
                torch.sum(soft.square_().mul_(-0.5 / width**2).clamp_(min=_LEAST).exp_(), -1, out=sums[:, index])
        return counts

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (similarities,) = ctx.saved_tensors
        total = torch.zeros_like(similarities)
        tensors = (similarities, total, gradient)
        rows = _rows(similarities)
        for block, into, outer in zip(*(_blocks(each, rows) for each in tensors), strict=True):
            distances, soft = torch.empty_like(block), torch.empty_like(block)
            for index, (centre, width) in enumerate(ctx.kernels):
                torch.sub(block, centre, out=distances)
                torch.mul(distances, distances, out=soft)
                soft.mul_(-0.5 / width**2).clamp_(min=_LEAST).exp_().mul_(distances)
                into.addcmul_(soft, outer[:, index : index + 1], value=-1.0 / width**2)
        return total, None, None


def _rows(similarities: Tensor) -> int:
    """Return the number of rows of a block that stays in a processor's cache for all kernels."""
    return max(1, _BLOCK // max(1, similarities.shape[-1]))


def _blocks(values: Tensor, rows: int) -> tuple[Tensor, ...]:
    return torch.split(values.flatten(0, -2), rows)


def k_max(values: Tensor, mask: Tensor, k: int) -> Tensor:
    """Return the k largest values along the last dimension, largest first.

    Args:
        values: (..., words).
        mask: Bool, broadcastable to `values`; True for values.
        k: Number of values.

    Returns:
        (..., k); missing values are 0 ("no match"). Padding never displaces a value below 0.
    """
    mask = mask.expand_as(values)
    taken = min(k, values.shape[-1])
    largest = values.masked_fill(~mask, torch.finfo(values.dtype).min).topk(taken, dim=-1).values
    found = torch.arange(taken, device=values.device) < mask.sum(-1, keepdim=True)
    return nn.functional.pad(largest.masked_fill(~found, 0.0), (0, k - taken))


def dynamic_max_pool(maps: Tensor, query: Tensor, passage: Tensor, grid: tuple[int, int]) -> Tensor:
    """Return maxima over a grid on each example's own words (pang2016, dynamic pooling).

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
    # Unbound first: the gradient of each slice of the whole batch would be as large as the batch.
    pooled = [
        nn.functional.adaptive_max_pool2d(each[:, :rows, :columns], grid)
        if rows and columns
        else each.new_zeros(len(each), *grid)
        for each, (rows, columns) in zip(maps.unbind(0), lengths, strict=True)
    ]
    return torch.stack(pooled)


def encode_positions(vectors: Tensor, mask: Tensor) -> Tensor:
    """Return a mean of word vectors that depends on their order (sukhbaatar2015, section 4.1).

    One vector per text, m = sum over j of l_j * x_j, elementwise, with l_kj = (1 - j/J) - (k/d)(1 - 2j/J).

    j counts a text's own J words and k the d columns, both from 1; padding is not counted and adds nothing.

    Args:
        vectors: Word vectors, (batch, words, d).
        mask: Bool, (batch, words).

    Returns:
        (batch, d); zeros for a text without words.
    """
    lengths = mask.sum(dim=1, keepdim=True).clamp(min=1)
    share = (mask.cumsum(dim=1) / lengths).unsqueeze(2)
    dim = vectors.shape[-1]
    column = torch.arange(1, dim + 1, device=vectors.device, dtype=vectors.dtype) / dim
    weights = (1 - share) - column * (1 - 2 * share)
    return (weights * vectors * mask.unsqueeze(2)).sum(dim=1)
