"""A knowledge graph: entities with names, and triples subject - relation - object between them.

Ids of entities and labels of relations are alike in whatever format a graph comes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auscult.concepts.identifiers import normalise_identifier
from auscult.errors import DataError

Triple = tuple[str, str, str]
"""Id of the subject, relation, id of the object."""

_NAMED = "name:"
_ARTICLE = re.compile(r"^the (?=\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KnowledgeGraph:
    """Entities, relations and the triples between them.

    Attributes:
        entities: Ids, each once.
        names: Of each entity, the preferred one first; its id where it has no name.
        relations: Each once.
        triples: Int64, (triples, 3): rows of subject, relation and object; each triple once.
    """

    entities: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    relations: tuple[str, ...]
    triples: NDArray[np.int64]


def make_graph(
    triples: Iterable[Triple],
    names: Mapping[str, Sequence[str]],
    *,
    sought: str = "a knowledge graph with at least one triple",
    remedy: str = "give a file that holds relations",
) -> KnowledgeGraph:
    """A graph of triples, in the order in which entities and relations first occur.

    Args:
        triples: Repeats are dropped.
        names: By entity id, the preferred one first; entities without triples are left out.
        sought: What should have been there, said where there is no triple.
        remedy: What to do then.

    Raises:
        DataError: There is no triple.
    """
    entities: dict[str, int] = {}
    relations: dict[str, int] = {}
    rows = dict.fromkeys(
        (
            entities.setdefault(subject, len(entities)),
            relations.setdefault(relation, len(relations)),
            entities.setdefault(object_, len(entities)),
        )
        for subject, relation, object_ in triples
    )
    if not rows:
        raise DataError(sought, "none", remedy)
    graph = KnowledgeGraph(tuple(entities), (), tuple(relations), np.array(list(rows), dtype=np.int64))
    return name_entities(graph, names)


def name_entities(graph: KnowledgeGraph, names: Mapping[str, Sequence[str]]) -> KnowledgeGraph:
    """The graph with other names: of large files they are read last, for what has triples alone.

    Args:
        graph: As it is.
        names: By entity id, the preferred one first; ids that are no entity's are passed over.
    """
    named = (tuple(dict.fromkeys(name for name in names.get(each, ()) if name)) or (each,) for each in graph.entities)
    return replace(graph, names=tuple(named))


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
