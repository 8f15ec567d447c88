"""The knowledge base of an index at rest: concepts, and what names, identifiers and words lead to, looked up by key.

The store has the knowledge base in one piece (`concepts.storage`), which is the source of truth. Reading all of it, and
deriving from it what questions are read with, took a second of each start for 30,000 concepts; here a question reads a
few of them. One file, `knowledge-…`, that is never changed; another knowledge base gets another file.

concepts, codes    by identifier, in order: the fields of `concepts.storage`, as JSON
names, citing      concepts, by normalised name and by cross-reference
reordered, short   names, by their words in any order (`concepts.knowledge_base.Lookups`)
words/counts       how many times each word stands in names, int32 (words,)
brought            what documents have changed (`KnowledgeBase.brought`), as JSON; the notes say whether that is known

Concepts and names that a key leads to are places in their sorted keys: NAME/starts, int64 (keys + 1,), and NAME/places,
int32.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from auscult.concepts import Concept, KnowledgeBase
from auscult.concepts.knowledge_base import Lookups
from auscult.concepts.storage import concept_from_fields, concept_to_fields
from auscult.index.blocks import BlockFile, BlockWriter
from auscult.index.manifest import KnowledgeRecord
from auscult.index.mappings import StoredMapping, StoredTexts, Value, add_counts, add_keys, add_texts, open_counts

_WORDS: Final = "words"
_KNOWS_BROUGHT: Final = "knows brought"


def write_knowledge(path: Path, known: KnowledgeBase) -> KnowledgeRecord:
    """Write a knowledge base to a new file, and sync it.

    Raises:
        OSError: The disk refuses.
    """
    writer = BlockWriter(path)
    try:
        lookups = known.lookups
        concepts = _add_texts(writer, "concepts", {key: _to_text(each) for key, each in known.concepts.items()})
        _add_texts(writer, "codes", {key: _to_text(each) for key, each in known.codes.items()})
        names = _add_leads(writer, "names", lookups.names, concepts, ranked=True)
        _add_leads(writer, "citing", lookups.citing, concepts)
        _add_leads(writer, "reordered", lookups.reordered, names)
        _add_leads(writer, "short", lookups.short, names)
        add_counts(writer, _WORDS, lookups.words)
        _add_texts(writer, "brought", {key: json.dumps(each) for key, each in (known.brought or {}).items()})
        return KnowledgeRecord(path.name, writer.close({_KNOWS_BROUGHT: known.brought is not None}))
    except BaseException:
        writer.discard()
        path.unlink(missing_ok=True)
        raise


def open_knowledge(file: BlockFile) -> KnowledgeBase:
    """Return a knowledge base that `write_knowledge` wrote; a damaged part is noticed when it is read first."""
    concepts = _texts(file, "concepts", _concept)
    names = _leads(file, "names", concepts)
    return KnowledgeBase(
        concepts,
        _texts(file, "codes", _concept),
        brought=_texts(file, "brought", _cross_references) if file.notes[_KNOWS_BROUGHT] else None,
        lookups=Lookups(
            names=names,
            citing=_leads(file, "citing", concepts),
            reordered=_leads(file, "reordered", names),
            short=_leads(file, "short", names),
            words=open_counts(file, _WORDS),
        ),
    )


def _add_texts(writer: BlockWriter, name: str, texts: Mapping[str, str]) -> dict[str, int]:
    """Write texts by key, and return the place of each key."""
    keys, values = [*texts], [*texts.values()]
    order = add_keys(writer, name, keys)
    add_texts(writer, f"{name}/values", [values[number] for number in order])
    return {keys[number]: place for place, number in enumerate(order)}


def _texts(file: BlockFile, name: str, read: Callable[[str], Value]) -> StoredMapping[Value]:
    texts = StoredTexts(file, f"{name}/values")
    return StoredMapping(file, name, lambda place: read(texts[place]))


def _add_leads(
    writer: BlockWriter,
    name: str,
    leads_to: Mapping[str, tuple[str, ...]],
    places: Mapping[str, int],
    *,
    ranked: bool = False,
) -> dict[str, int]:
    """Write which keys of another mapping each key leads to, and return the place of each key.

    Args:
        writer: Of the file.
        name: Of the arrays.
        leads_to: By key.
        places: Of the other mapping's keys.
        ranked: Whether the order of the keys is kept.
    """
    keys, values = [*leads_to], [*leads_to.values()]
    order = add_keys(writer, name, keys, ranked=ranked)
    ordered = [values[number] for number in order]
    writer.add(f"{name}/starts", np.cumsum([0, *map(len, ordered)]), "<i8")
    writer.add(f"{name}/places", np.array([places[other] for each in ordered for other in each], np.int64), "<i4")
    return {keys[number]: place for place, number in enumerate(order)}


def _leads(file: BlockFile, name: str, others: StoredMapping[Any]) -> StoredMapping[tuple[str, ...]]:
    starts, places = file.array(f"{name}/starts").data, file.array(f"{name}/places").data
    key_at = others.key_at

    def led_to(place: int) -> tuple[str, ...]:
        return tuple(key_at(places[number]) for number in range(starts[place], starts[place + 1]))

    return StoredMapping(file, name, led_to)


def _to_text(concept: Concept) -> str:
    return json.dumps(concept_to_fields(concept))


def _concept(text: str) -> Concept:
    return concept_from_fields(*json.loads(text))


def _cross_references(text: str) -> tuple[str, ...] | None:
    found: list[str] | None = json.loads(text)
    return None if found is None else tuple(found)
