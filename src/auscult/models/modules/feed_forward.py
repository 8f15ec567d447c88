"""Small feed-forward networks."""

from __future__ import annotations

from itertools import pairwise

from torch import nn


def tanh_layers(*sizes: int) -> nn.Sequential:
    """Linear layers between these sizes, each followed by tanh, the last too, as in guo2016."""
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.Tanh()]
    return nn.Sequential(*layers)


__all__ = ["tanh_layers"]
