"""Fully connected layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from torch import Tensor, nn


class Dense(nn.Module):
    """Linear layers with an activation between them, none after the last.

    Weights begin as the activations want them: drawn from Glorot's uniform distribution, biases at zero.

    Args:
        sizes: Length of the input, of every hidden layer, and of the output.
        activation: Between layers, such as `torch.tanh`.
        dropout: Share of each layer's input that training leaves out.
    """

    def __init__(self, sizes: Sequence[int], *, activation: Callable[[Tensor], Tensor], dropout: float = 0.0) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(sizes))
        self.activation = activation
        self.dropout = nn.Dropout(dropout)
        for layer in self.layers:
            glorot(layer)

    def forward(self, values: Tensor) -> Tensor:
        """Values (..., sizes[0]) to (..., sizes[-1])."""
        for number, layer in enumerate(self.layers):
            values = layer(self.dropout(self.activation(values) if number else values))
        return values


def glorot(layer: nn.Module) -> None:
    """Draw a layer's weights from +-sqrt(6 / (inputs + outputs)) and set its bias to zero."""
    if isinstance(layer, nn.Linear | nn.Conv1d | nn.Conv2d):
        nn.init.xavier_uniform_(layer.weight)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)


def tanh_layers(*sizes: int) -> nn.Sequential:
    """Linear layers between these sizes, each followed by tanh, the last too, as in guo2016."""
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.Tanh()]
    return nn.Sequential(*layers)
