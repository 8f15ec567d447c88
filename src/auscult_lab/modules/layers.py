"""Fully connected layers, and convolution and max pooling over texts of different lengths.

Padding is neither read nor counted. A window belongs to its first word, and has zeros beyond the end of the text, so
that each word has one window, even in texts shorter than a window. Results outside a text are zeros (hu2014, Eq. 2 and
its gate), so that a wider batch only adds zeros at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn


class Dense(nn.Module):
    """Linear layers with an activation between them, none after the last.

    Weights are initialised from Glorot's uniform distribution, which suits the activations, and biases at zero.

    Args:
        sizes: Length of the input, of every hidden layer, and of the output.
        activation: Between layers, such as `torch.tanh`.
        dropout: Dropout of each layer's input.
    """

    def __init__(self, sizes: Sequence[int], *, activation: Callable[[Tensor], Tensor], dropout: float = 0.0) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(sizes))
        self.activation = activation
        self.dropout = nn.Dropout(dropout)
        for layer in self.layers:
            glorot(layer)

    def forward(self, values: Tensor) -> Tensor:
        """Return values (..., sizes[0]) to (..., sizes[-1])."""
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
    """Return linear layers between these sizes, each followed by tanh, including the last, as in guo2016."""
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.Tanh()]
    return nn.Sequential(*layers)


class TextConvolution(nn.Module):
    """Feature maps over windows of words."""

    def __init__(self, dim: int, maps: int, width: int, *, bias: bool = True) -> None:
        super().__init__()
        self.width = width
        self.convolution = nn.Conv1d(dim, maps, width, bias=bias)
        glorot(self.convolution)

    def forward(self, texts: Tensor, mask: Tensor) -> Tensor:
        """Return maps before any activation: (batch, words, dim) and bool (batch, words) to (batch, words, maps)."""
        inside = mask.unsqueeze(-1)
        # All texts in one row, separated by zeros, so that one product per place of the window suffices.
        apart = nn.functional.pad(texts.masked_fill(~inside, 0.0), (0, 0, 0, self.width - 1)).flatten(0, 1)
        weight = self.convolution.weight
        row: Tensor = nn.functional.linear(apart, weight[:, :, 0], self.convolution.bias)
        # Autocast does not apply to operations in place.
        apart, weight = apart.to(row.dtype), weight.to(row.dtype)
        for place in range(1, self.width):
            row[:-place].addmm_(apart[place:], weight[:, :, place].T)
        maps: Tensor = row.view(len(texts), -1, row.shape[-1])[:, : texts.shape[1]]
        return maps.masked_fill(~inside, 0.0)

    def over_words(self, vectors: Tensor, rows: Tensor) -> Tensor:
        """Return the same as `forward`, but multiply each distinct word only once.

        Args:
            vectors: Vectors of distinct words, (distinct, dim), as `WordEmbedding.distinct` gives them.
            rows: Row of each word's vector, (batch, words); padding has a row of zeros.

        Returns:
            (batch, words, maps), before any activation. Unlike elsewhere, results outside a text are undefined.
        """
        weight = self.convolution.weight
        table: Tensor = (vectors @ weight.permute(1, 2, 0).flatten(1)).view(len(vectors), self.width, -1)
        if self.convolution.bias is not None:
            # Every window belongs to its first word.
            table = table + nn.functional.pad(self.convolution.bias.unsqueeze(0), (0, 0, 0, self.width - 1))
        windows = nn.functional.pad(rows, (0, self.width - 1), value=-1).unfold(1, self.width, 1)
        places = torch.arange(self.width, device=rows.device)
        # Beyond the last column, a row of zeros is read.
        at = torch.where(windows < 0, len(vectors) * self.width, windows * self.width + places)
        table = nn.functional.pad(table.flatten(0, 1), (0, 0, 0, 1))
        return nn.functional.embedding_bag(at.flatten(0, 1), table, mode="sum").view(*rows.shape, -1)


class GridConvolution(nn.Module):
    """Feature maps over square windows of the cells between two texts."""

    def __init__(self, maps_in: int, maps: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.convolution = nn.Conv2d(maps_in, maps, width)
        glorot(self.convolution)

    def forward(self, grid: Tensor, mask: Tensor) -> Tensor:
        """Return maps before any activation, for (batch, maps_in, rows, columns) and bool (batch, rows, columns)."""
        inside = mask.unsqueeze(1)
        more = self.width - 1
        maps: Tensor = self.convolution(nn.functional.pad(grid.masked_fill(~inside, 0.0), (0, more, 0, more)))
        return maps.masked_fill(~inside, 0.0)


def pooled_length(length: int, window: int, times: int) -> int:
    """Return the length of a text after repeated pooling by adjacent windows."""
    for _ in range(times):
        length = -(-length // window)
    return length


def pool_text(values: Tensor, mask: Tensor, window: int, stride: int | None = None) -> tuple[Tensor, Tensor]:
    """Return maxima over windows of words, of those words that are in the text.

    Args:
        values: (batch, words, maps).
        mask: Bool, (batch, words).
        window: Words per window, a multiple of the stride; windows at the end have fewer.
        stride: Words from the beginning of one window to that of the next; by default `window`.

    Returns:
        Maxima (batch, windows, maps), and a bool mask of the windows that begin in the text, (batch, windows); others
        have zeros. There are ceil(words / stride) windows.
    """
    stride = stride or window
    pooled_mask = mask[:, ::stride]
    lowest = torch.finfo(values.dtype).min
    inside = values.masked_fill(~mask.unsqueeze(-1), lowest)
    batch, windows = pooled_mask.shape
    whole = nn.functional.pad(inside, (0, 0, 0, windows * stride - values.shape[1]), value=lowest)
    parts = whole.reshape(batch, windows, stride, -1).amax(2)
    pooled = parts
    for later in range(1, window // stride):
        following = nn.functional.pad(parts[:, later:], (0, 0, 0, later), value=lowest)
        pooled = torch.maximum(pooled, following[:, :windows])
    return pooled.masked_fill(~pooled_mask.unsqueeze(-1), 0.0), pooled_mask


def pool_grid(grid: Tensor, mask: Tensor, window: int) -> tuple[Tensor, Tensor]:
    """Return maxima over squares of cells, of those cells that lie in both texts.

    Args:
        grid: (batch, maps, rows, columns).
        mask: Bool, (batch, rows, columns).
        window: Cells along a square's side.

    Returns:
        Maxima (batch, maps, ceil(rows / window), ceil(columns / window)), zeros outside, and their mask.
    """
    pooled_mask = mask[:, ::window, ::window]
    filled = grid.masked_fill(~mask.unsqueeze(1), torch.finfo(grid.dtype).min)
    pooled = nn.functional.max_pool2d(filled, window, ceil_mode=True)
    return pooled.masked_fill(~pooled_mask.unsqueeze(1), 0.0), pooled_mask


def maximum_of_text(values: Tensor, mask: Tensor) -> Tensor:
    """Return the maximum of each map over a text, (batch, words, maps) to (batch, maps); zeros for an empty text."""
    highest = values.masked_fill(~mask.unsqueeze(-1), torch.finfo(values.dtype).min).amax(1)
    return highest.masked_fill(~mask.any(1, keepdim=True), 0.0)


def to_length(values: Tensor, length: int, dim: int) -> Tensor:
    """Pad a dimension with zeros to a length independent of the batch, or cut the padding beyond it."""
    missing = length - values.shape[dim]
    if missing <= 0:
        return values.narrow(dim, 0, length)
    shape = list(values.shape)
    shape[dim] = missing
    return torch.cat([values, values.new_zeros(shape)], dim)
