"""Reading many texts a few at a time: similar lengths together, because padding costs as much as words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain

import torch
from torch import Tensor


def batches(lengths: Sequence[int], size: int | None) -> Iterator[list[int]]:
    """Positions of texts, shortest first, a batch at a time.

    Args:
        lengths: Of each text, in any unit.
        size: Texts in a batch; None for all in one.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    step = size or max(1, len(order))
    for start in range(0, len(order), step):
        yield order[start : start + step]


def in_order(parts: Sequence[Tensor], rows: Sequence[Sequence[int]], dim: int = 0) -> Tensor:
    """Results of batches as one tensor in the order of the texts.

    Args:
        parts: One tensor a batch; at least one.
        rows: The batches' positions, as `batches` gave them.
        dim: Along which dimension the texts stand.
    """
    joined = torch.cat(list(parts), dim=dim)
    back = torch.tensor(list(chain.from_iterable(rows)), device=joined.device).argsort()
    return joined.index_select(dim, back)


def single_precision(tensor: Tensor) -> AbstractContextManager[object]:
    """Where scores are made of vectors, whatever precision the transformers run in: bfloat16 would make ties."""
    return torch.autocast(tensor.device.type, enabled=False)
