"""Vectors of a knowledge graph's entities and relations, with their ids and names, at rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from auscult.interfaces import FloatArray


@dataclass(frozen=True, slots=True)
class KnowledgeVectors:
    """What was learned of a graph.

    Attributes:
        entities: Ids.
        names: Of each entity, the preferred one first.
        vectors: Float32, (entities, dim).
        relations: Names.
        relation_vectors: Float32, (relations, dim).
        training: What is said of their training: settings, held-out figures, seed, version, hardware.
    """

    entities: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    vectors: FloatArray
    relations: tuple[str, ...]
    relation_vectors: FloatArray
    training: Mapping[str, Any] = field(default_factory=dict)


__all__ = ["KnowledgeVectors"]
