"""Parameters as optimisers take them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import nn


def parameter_groups(parameters: Iterable[nn.Parameter], *, decay: float, rate: float) -> list[dict[str, Any]]:
    """Parameters of one rate, of which biases and gains are not decayed; no group is empty."""
    found = list(parameters)
    groups = [
        {"params": [each for each in found if each.dim() > 1], "weight_decay": decay, "lr": rate},
        {"params": [each for each in found if each.dim() <= 1], "weight_decay": 0.0, "lr": rate},
    ]
    return [group for group in groups if group["params"]]


__all__ = ["parameter_groups"]
