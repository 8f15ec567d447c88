"""Wikidata's JSON dump: a large array with one entity per line, read line by line (wang2021, section 5.1.4).

A claim whose value is an item gives the triple (item, property, value). Left out are deprecated claims and claims
without a value, lexemes and redirects. Names are the English label and aliases, or those for all languages where there
are no English ones; a property is named by its label where the dump has it. Only a part of a whole dump fits into
memory: give `properties`, `roots`, or both.

Cost: the file is read twice, for triples and then for names, and with `roots` twice before. Memory: the triples and
their names; with `roots` also every class with instances, some per cent of all items.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar

from auscult.errors import DataError
from auscult.files.reading import read_lines
from auscult_lab.graphs.graph import KnowledgeGraph, Triple, label_relations, make_graph, name_entities

SUFFIXES = (".json", ".json.gz", ".json.bz2")
"""Ends of the names of files that `read_wikidata` takes."""

CLASS_PROPERTIES = ("P31", "P279")
"""Instance of, subclass of."""

# The first existing one counts; "mul" are names for all languages.
_LANGUAGES = ("en", "mul", "en-gb")
_LEXEME = "L"
_REMEDY = "take a JSON dump of Wikidata, one entity a line"
_Entity = dict[str, Any]
_Read = TypeVar("_Read")


def read_wikidata(
    path: Path | str,
    properties: Collection[str] = (),
    roots: Collection[str] = (),
    reached_by: Collection[str] = CLASS_PROPERTIES,
) -> KnowledgeGraph:
    """Read a dump, or a part of one.

    Args:
        path: `.json`, `.json.gz` or `.json.bz2`: the array of a dump, or one entity per line without brackets.
        properties: Read only claims of these ("P780"); empty for all.
        roots: Read only subjects from which one of these is reached by claims of `reached_by`, including the roots
            ("Q12136" for diseases); empty for all. Ids may be in lower case, here and in `properties`.
        reached_by: See `roots`.

    Raises:
        DataError: The file is absent, a line is not an entity in JSON (with its number), or no claim is left.
    """
    path = Path(path)
    if not path.is_file() or not path.name.endswith(SUFFIXES):
        got = "a file of another kind" if path.is_file() else "no such file"
        raise DataError(f"a Wikidata dump ({', '.join(SUFFIXES)}) at {path}", got, "check the path")
    only, below, over = (frozenset(map(str.upper, ids)) for ids in (properties, roots, reached_by))
    accepts = _find_reaching(path, below, over) if below else lambda _: True
    options = {"--property": only, "--root": below}
    limits = " and ".join(f"{name} {', '.join(sorted(ids))}" for name, ids in options.items() if ids)
    sought = f"claims{f' of {limits}' if limits else ''} whose value is an item in {path}"
    remedy = "name others, or none" if limits else _REMEDY
    graph = make_graph(_read_triples(path, only, accepts), {}, sought=sought, remedy=remedy)
    wanted = frozenset((*graph.entities, *graph.relations))
    called = _entities(path, lambda each: (each["id"], _list_names(each)) if each["id"] in wanted else None)
    names = dict(each for each in called if each)
    labels = {relation: names[relation][0] for relation in graph.relations if names.get(relation)}
    return label_relations(name_entities(graph, names), labels)


def _find_reaching(path: Path, roots: frozenset[str], reached_by: frozenset[str]) -> Callable[[_Entity], bool]:
    """Return a function that checks whether an item is a root, or a root is reached from it.

    Most items are not the class of another one. Only classes are stored; other items are checked by their claims.
    """
    classes = {value for claims in _entities(path, lambda each: _read_claims(each, reached_by)) for _, value in claims}
    below: dict[str, list[str]] = defaultdict(list)

    def add(entity: _Entity) -> None:
        if entity["id"] in classes:
            for _, value in _read_claims(entity, reached_by):
                below[value].append(entity["id"])

    for _ in _entities(path, add):
        pass
    reached, waiting = set(roots), list(roots)
    while waiting:
        new = set(below.get(waiting.pop(), ())) - reached
        reached |= new
        waiting.extend(new)
    return lambda entity: (
        entity["id"] in reached or any(value in reached for _, value in _read_claims(entity, reached_by))
    )


def _read_triples(path: Path, properties: frozenset[str], kept: Callable[[_Entity], bool]) -> Iterator[Triple]:
    def stated(entity: _Entity) -> list[Triple]:
        if entity.get("type") == "property" or not kept(entity):
            return []
        return [(entity["id"], relation, value) for relation, value in _read_claims(entity, properties)]

    for triples in _entities(path, stated):
        yield from triples


def _read_claims(entity: _Entity, properties: Collection[str]) -> list[tuple[str, str]]:
    """Return (property, item) of the claims whose value is an item."""
    # An empty map is an empty list in the dump.
    claims = entity.get("claims") or {}
    pairs = []
    for relation, claim in ((name, claim) for name in claims for claim in claims[name]):
        if not properties or relation in properties:
            value = claim["mainsnak"].get("datavalue", {}).get("value")
            item = isinstance(value, dict) and value.get("entity-type") == "item"
            if item and claim.get("rank") != "deprecated":
                # Older dumps have the number only.
                pairs.append((relation, value.get("id") or f"Q{value['numeric-id']}"))
    return pairs


def _list_names(entity: _Entity) -> list[str]:
    """Return the names of an item or property, the label first, each in the first available language."""
    texts = (entity.get(name) or {} for name in ("labels", "aliases"))
    label, aliases = (next((each[name] for name in _LANGUAGES if each.get(name)), None) for each in texts)
    return [text["value"] for text in ([label] if label else []) + (aliases or [])]


def _entities(path: Path, read: Callable[[_Entity], _Read]) -> Iterator[_Read]:
    """Yield the result of `read` for each item and property; called here, its errors can name the line."""
    for number, line in read_lines(path):
        text = line.strip().rstrip(",")
        if text in ("", "[", "]"):
            continue
        try:
            entity = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"an entity in JSON at {path}:{number}", str(error)[:80], _REMEDY) from error
        if isinstance(entity, dict) and "redirect" in entity:
            continue
        if not isinstance(entity, dict) or not isinstance(entity.get("id"), str):
            raise DataError(f"an entity with an id at {path}:{number}", repr(text[:80]), _REMEDY)
        if entity["id"].startswith(_LEXEME):
            continue
        try:
            result = read(entity)
        except (TypeError, LookupError, AttributeError) as error:
            expected = f"an entity with labels, aliases and claims as Wikidata has them at {path}:{number}"
            raise DataError(expected, repr(text[:80]), _REMEDY) from error
        yield result
