"""Wikidata's JSON dump: a large array with one entity a line, read line by line (wang2021, section 5.1.4).

A claim whose value is an item gives the triple (item, property, value). Left out are deprecated claims and claims
without a value. Names are the English label and aliases; a property is called by its English label where the dump has
it. Of a whole dump only a part fits into memory: give `properties`, `roots`, or both.

Cost: the file is read twice, for triples and then for the names of what they hold, and with `roots` twice before. Held
are the triples that are kept and their names; for `roots` also every class that the dump has instances of, which are
some per cent of its items.
"""

from __future__ import annotations

import bz2
import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from auscult.concepts.graph.entity_ids import label_relations
from auscult.concepts.graph.graph import KnowledgeGraph, Triple, make_graph, name_entities
from auscult.errors import DataError

SUFFIXES = (".json", ".json.gz", ".json.bz2")
"""Ends of the names of files that `read_wikidata` takes."""

CLASS_PROPERTIES = ("P31", "P279")
"""Instance of, subclass of."""

_Entity = dict[str, Any]


def read_wikidata(
    path: Path | str,
    properties: Collection[str] = (),
    roots: Collection[str] = (),
    reached_by: Collection[str] = CLASS_PROPERTIES,
) -> KnowledgeGraph:
    """Read a dump, or a part of one.

    Args:
        path: `.json`, `.json.gz` or `.json.bz2`: the array of a dump, or one entity a line without brackets.
        properties: Only claims of these ("P780"); all where empty.
        roots: Only items from which one of these is reached over claims of `reached_by`, the roots among them, as
            subjects ("Q12136" keeps diseases); all where empty.
        reached_by: See `roots`.

    Raises:
        DataError: The file is absent, a line is not an entity in JSON (with its number), or no claim is left.
    """
    path = Path(path)
    if not path.is_file() or not path.name.endswith(SUFFIXES):
        got = "a file of another kind" if path.is_file() else "no such file"
        raise DataError(f"a Wikidata dump ({', '.join(SUFFIXES)}) at {path}", got, "check the path")
    kept = _reaching(path, frozenset(roots), frozenset(reached_by)) if roots else lambda _: True
    graph = make_graph(_triples(path, frozenset(properties), kept), {})
    wanted = frozenset((*graph.entities, *graph.relations))
    names = {entity["id"]: _called(entity) for entity in _entities(path) if entity["id"] in wanted}
    labels = {relation: names[relation][0] for relation in graph.relations if names.get(relation)}
    return label_relations(name_entities(graph, names), labels)


def _reaching(path: Path, roots: frozenset[str], reached_by: frozenset[str]) -> Callable[[_Entity], bool]:
    """Whether a root is reached from an item, or the item is one.

    Most items are no other's class. Only classes are held; any other item is told by its own claims.
    """
    classes = {value for entity in _entities(path) for _, value in _claims(entity, reached_by)}
    below: dict[str, list[str]] = defaultdict(list)
    for entity in _entities(path):
        if entity["id"] in classes:
            for _, value in _claims(entity, reached_by):
                below[value].append(entity["id"])
    reached, waiting = set(roots), list(roots)
    while waiting:
        new = set(below.get(waiting.pop(), ())) - reached
        reached |= new
        waiting.extend(new)
    return lambda entity: entity["id"] in reached or any(value in reached for _, value in _claims(entity, reached_by))


def _triples(path: Path, properties: frozenset[str], kept: Callable[[_Entity], bool]) -> Iterator[Triple]:
    for entity in _entities(path):
        if entity.get("type") != "property" and kept(entity):
            for relation, value in _claims(entity, properties):
                yield entity["id"], relation, value


def _claims(entity: _Entity, properties: Collection[str]) -> Iterator[tuple[str, str]]:
    """(property, item) of the claims that are about items."""
    # An empty map is an empty list in the dump.
    claims = entity.get("claims") or {}
    for relation, claim in ((each, claim) for each in claims for claim in claims[each]):
        if not properties or relation in properties:
            value = claim["mainsnak"].get("datavalue", {}).get("value")
            item = isinstance(value, dict) and value.get("entity-type") == "item"
            if item and claim.get("rank") != "deprecated":
                # Older dumps have the number alone.
                yield relation, value.get("id") or f"Q{value['numeric-id']}"


def _called(entity: _Entity) -> list[str]:
    label = (entity.get("labels") or {}).get("en")
    aliases = (entity.get("aliases") or {}).get("en", [])
    return [text["value"] for text in ([label] if label else []) + aliases]


def _entities(path: Path) -> Iterator[_Entity]:
    opener = gzip.open if path.suffix == ".gz" else bz2.open if path.suffix == ".bz2" else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                text = line.strip().rstrip(",")
                if text in ("", "[", "]"):
                    continue
                entity = json.loads(text)
                if not isinstance(entity, dict) or not isinstance(entity.get("id"), str):
                    raise DataError(f"an entity with an id at {path}:{number}", repr(text[:80]), "take a JSON dump")
                yield entity
    except (UnicodeDecodeError, json.JSONDecodeError, EOFError, OSError) as error:
        remedy = "take a JSON dump of Wikidata, one entity a line"
        raise DataError(f"an entity in JSON at {path}:{number}", str(error)[:80], remedy) from error


__all__ = ["CLASS_PROPERTIES", "SUFFIXES", "read_wikidata"]
