"""Ids of entities and labels of relations, alike in whatever format a graph comes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from auscult.concepts.graph.graph import KnowledgeGraph
from auscult.concepts.identifiers import normalise_identifier

_NAMED = "name:"
_ARTICLE = re.compile(r"^the (?=\S)", re.IGNORECASE)


def entity_id(text: str) -> str:
    """The canonical form of an identifier ("umls:c0017661" becomes "UMLS:C0017661"); any other text as it is."""
    text = text.strip()
    return normalise_identifier(text) or text


def plain_name(name: str) -> str:
    """A name with single blanks and without a leading article: "the  spinal cord" becomes "spinal cord"."""
    return _ARTICLE.sub("", " ".join(name.split()))


def named_entity_id(name: str) -> str:
    """The id of an entity that has a name and no identifier: "The Fever " becomes "name:fever".

    Canonical identifiers have a prefix in capitals, so none is equal to it.
    """
    return _NAMED + plain_name(name).casefold()


def label_relations(graph: KnowledgeGraph, labels: Mapping[str, str]) -> KnowledgeGraph:
    """The graph with readable relations: "P780" becomes "symptoms and signs".

    Args:
        graph: As read.
        labels: By relation. One that two relations share, or that is a relation itself, is not used.
    """
    named = [labels.get(relation) or relation for relation in graph.relations]
    uses = Counter((*named, *graph.relations))
    kept = (
        name if name != relation and uses[name] == 1 else relation
        for name, relation in zip(named, graph.relations, strict=True)
    )
    return replace(graph, relations=tuple(kept))


__all__ = ["entity_id", "label_relations", "named_entity_id", "plain_name"]
