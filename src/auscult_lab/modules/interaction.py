"""Interaction matrices between the words of a query and a passage."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def cosine_matrix(query: Tensor, passage: Tensor) -> Tensor:
    """Cosines between word vectors: (batch, queries, dim) and (batch, words, dim) to (batch, queries, words).

    Vectors of zeros (padding) have cosine 0 with all; which cells hold words is for `cells` to say.
    """
    return nn.functional.normalize(query, dim=-1) @ nn.functional.normalize(passage, dim=-1).transpose(1, 2)


def dot_matrix(query: Tensor, passage: Tensor) -> Tensor:
    """Inner products between word vectors, (batch, query words, passage words)."""
    return query @ passage.transpose(1, 2)


def identity_matrix(query: Tensor, passage: Tensor) -> Tensor:
    """1 where query and passage have the same word id, (batch, query words, passage words), float."""
    return (query.unsqueeze(2) == passage.unsqueeze(1)).float()


def cells(query: Tensor, passage: Tensor) -> Tensor:
    """Where an interaction matrix holds two words: masks (batch, q) and (batch, p) to bool (batch, q, p)."""
    return query.unsqueeze(2) & passage.unsqueeze(1)


def masked_softmax(values: Tensor, mask: Tensor, dim: int) -> Tensor:
    """Softmax over the places where the mask is True; 0 elsewhere, and everywhere where it is True nowhere."""
    lowest = torch.finfo(values.dtype).min
    weights = torch.softmax(values.masked_fill(~mask, lowest), dim=dim)
    return weights.masked_fill(~mask, 0.0)
