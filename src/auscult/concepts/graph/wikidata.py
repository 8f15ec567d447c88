"""Wikidata's JSON dump: a large array with one entity a line, read line by line (wang2021, section 5.1.4).

A claim whose value is an item gives the triple (item, property, value). Left out are deprecated claims and claims
without a value. Names are the English label and aliases; a property is called by its English label where the dump has
it. Of a whole dump only a part fits into memory: give `properties`, `roots`, or both.
"""

from __future__ import annotations

import bz2
import gzip
import json
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from auscult.concepts.graph.entity_ids import label_relations
from auscult.concepts.graph.graph import KnowledgeGraph, Triple, make_graph
from auscult.errors import DataError

SUFFIXES = (".json", ".json.gz", ".json.bz2")
"""Ends of the names of files that `read_wikidata` takes."""

CLASS_PROPERTIES = ("P31", "P279")
"""Instance of, subclass of."""

_Names = dict[str, list[str]]


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
            subjects ("Q12136" keeps diseases); all where empty. Reads the file once more.
        reached_by: See `roots`.

    Raises:
        DataError: The file is absent, a line is not an entity in JSON (with its number), or no claim is left.
    """
    path = Path(path)
    if not path.is_file() or not path.name.endswith(SUFFIXES):
        got = "a file of another kind" if path.is_file() else "no such file"
        raise DataError(f"a Wikidata dump ({', '.join(SUFFIXES)}) at {path}", got, "check the path")
    kept = _reaching(path, frozenset(roots), frozenset(reached_by)) if roots else None
    names: _Names = {}
    labels: dict[str, str] = {}
    graph = make_graph(_triples(path, frozenset(properties), kept, names, labels), names)
    return label_relations(graph, labels)


def _reaching(path: Path, roots: frozenset[str], reached_by: frozenset[str]) -> set[str]:
    """The items from which a root is reached, the roots themselves among them."""
    below: dict[str, list[str]] = defaultdict(list)
    for entity in _entities(path):
        for _, value in _claims(entity, reached_by):
            below[value].append(entity["id"])
    reached, waiting = set(roots), list(roots)
    while waiting:
        new = set(below.get(waiting.pop(), ())) - reached
        reached |= new
        waiting.extend(new)
    return reached


def _triples(
    path: Path, properties: frozenset[str], kept: set[str] | None, names: _Names, labels: dict[str, str]
) -> Iterator[Triple]:
    """The triples of a dump; `names` and `labels` get the names of items and properties."""
    for entity in _entities(path):
        identifier = entity["id"]
        called = _called(entity)
        if entity.get("type") == "property":
            labels.update((identifier, name) for name in called[:1])
            continue
        if called:
            names[identifier] = called
        if kept is None or identifier in kept:
            for relation, value in _claims(entity, properties):
                yield identifier, relation, value


def _claims(entity: dict[str, Any], properties: Collection[str]) -> Iterator[tuple[str, str]]:
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


def _called(entity: dict[str, Any]) -> list[str]:
    label = (entity.get("labels") or {}).get("en")
    aliases = (entity.get("aliases") or {}).get("en", [])
    return [text["value"] for text in ([label] if label else []) + aliases]


def _entities(path: Path) -> Iterator[dict[str, Any]]:
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
