"""Kernel pooling (xiong2017, Eq. 3 to 5): soft counts of how many passage words match a query word how well."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

_BLOCK = 1 << 16
"""Cells that all kernels pass over before the next are read."""
_FAR = 1e4
"""A similarity so far from every kernel that its soft count is as good as 0."""
_LEAST = -80.0
"""Exponents are raised to this: 1e-35 counts as nothing beside 1e-10, and below it `exp` takes twelve times as long."""


class KernelPooling(nn.Module):
    """Gaussian kernels over similarities in [-1, 1]: one at 1 for exact matches, the others spread evenly.

    Args:
        kernels: How many, at least 2.
        sigma: Width of all but the exact-match kernel.
        exact_sigma: Width of the exact-match kernel.

    Attributes:
        centres: Similarities at which the kernels are largest.
        widths: Their standard deviations.
    """

    def __init__(self, kernels: int, *, sigma: float, exact_sigma: float) -> None:
        super().__init__()
        step = 2.0 / (kernels - 1)
        self.centres = (1.0, *(1.0 - step / 2 - step * index for index in range(kernels - 1)))
        self.widths = (exact_sigma, *(sigma for _ in range(kernels - 1)))

    def forward(self, similarities: Tensor, query: Tensor, passage: Tensor) -> Tensor:
        """Soft term frequencies, summed in logarithm over the query's words.

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
        logs = torch.log(counts.clamp(min=1e-10)) * 0.01
        return (logs * query.unsqueeze(-1)).sum(-2)


def soft_counts(similarities: Tensor, centres: tuple[float, ...], widths: tuple[float, ...]) -> Tensor:
    """Sums of Gaussian kernels over the last dimension: (..., words) to (..., kernels).

    One kernel at a time, and recomputed for the gradient: no more is kept than the similarities themselves, where
    differentiating the plain expression keeps three arrays of their size for every kernel.
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
    """Rows of a block that stays in a processor's cache while all kernels pass over it."""
    return max(1, _BLOCK // max(1, similarities.shape[-1]))


def _blocks(values: Tensor, rows: int) -> tuple[Tensor, ...]:
    return torch.split(values.flatten(0, -2), rows)
