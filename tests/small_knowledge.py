"""Vectors of a few entities that the tiny BERT's words name, without a graph or a training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auscult_lab.graphs.knowledge_vectors import KnowledgeVectors

DIM = 6


def small_vectors(names: Sequence[tuple[str, ...]] | None = None, *, seed: int = 0, dim: int = DIM) -> KnowledgeVectors:
    """Vectors of unit length, drawn at random; by default of four entities, with two names or a phrase among them."""
    named = tuple(names or (("asthma",), ("gout",), ("fever", "pain"), ("gene germ",)))
    drawn = np.random.default_rng(seed).normal(size=(len(named) + 1, dim)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    ids = tuple(f"X:{row}" for row in range(len(named)))
    return KnowledgeVectors(ids, named, drawn[:-1], ("is a",), drawn[-1:], {"seed": seed})
