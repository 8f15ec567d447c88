"""The file of an index's knowledge base, in which concepts are looked up by identifier, name and word.

The store has the complete knowledge base (`concepts.storage`), from which this file is derived. Loading all of it at
each start took a second for 30,000 concepts; with this file a question reads only a few of them. The file,
`knowledge-…`, never changes; another knowledge base gets another file.

concepts, codes    by identifier, in order: the fields of `concepts.storage`, as JSON
names, citing      concepts by normalised name and by cross-reference
reordered, short   names by their words in any order (`concepts.knowledge_base.Lookups`)
words/counts       how often each word occurs in names, int32 (words,)
brought            what documents have changed (`KnowledgeBase.brought`), as JSON
foreign            names in other languages by concept, as JSON (`KnowledgeBase.foreign`); this and the following only
                   where there are any
foreign-exact,     concepts by language and name, and by language and stems (`concepts.languages.NameLookups`)
foreign-loose
foreign-words      how often the stem of each word occurs in these names
foreign-sources    the files that they are from, as JSON

References to concepts and names are positions in their sorted keys: NAME/starts, int64 (keys + 1,), and NAME/places,
int32.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from auscult.concepts.knowledge_base import Compiled, KnowledgeBase, Lookups
from auscult.concepts.languages import NameLookups, NamesByLanguage
from auscult.concepts.storage import (
    concept_from_fields,
    concept_to_fields,
    names_from_fields,
    sources_from_fields,
    sources_to_fields,
)
from auscult.errors import IndexFolderError
from auscult.files.writing import put_file
from auscult.index.blocks import BlockFile, BlockWriter, SortedStrings, add_strings, end_of
from auscult.index.manifest import KnowledgeRecord
from auscult.index.mappings import StoredMapping, Value, add_counts, add_keys, open_counts

_WORDS: Final = "words"
_FOREIGN_WORDS: Final = "foreign-words"
_FOREIGN_SOURCES: Final = "foreign-sources"
#: Version 0.1.0 reads it.
_NOTES: Final = {"knows brought": True}
#: The checksum of the whole that was written beside the file.
_PACKED: Final = "packed"


def write_knowledge(path: Path, known: KnowledgeBase) -> KnowledgeRecord:
    """Write a knowledge base to a new file, and sync it. One that was compiled is copied.

    Raises:
        OSError: The file cannot be written.
    """
    if known.compiled is not None:
        return KnowledgeRecord(path.name, known.compiled.copy(path))
    return _write_with_notes(path, known, _NOTES)


def compile_knowledge(path: Path, known: KnowledgeBase) -> None:
    """Write a knowledge base for `open_compiled`: the file in which names are looked up, and one with all of it beside.

    Other processes see all of it or nothing, and may write the same at the same time.

    Raises:
        OSError, DataError: The files cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f"{path.name}.", dir=path.parent) as folder:
        packed, file = known.to_bytes(), Path(folder) / path.name
        packed_beside(file).write_bytes(packed)
        _write_with_notes(file, known, {**_NOTES, _PACKED: zlib.crc32(packed)})
        put_file(packed_beside(file), packed_beside(path))
        put_file(file, path)


def open_compiled(path: Path) -> KnowledgeBase:
    """Open a knowledge base that `compile_knowledge` wrote.

    Raises:
        OSError: It is not there.
        IndexFolderError: It is damaged.
    """
    file = BlockFile(path, end_of(path))
    file.verify()
    packed = packed_beside(path).read_bytes()
    if zlib.crc32(packed) != file.notes.get(_PACKED):
        raise IndexFolderError(f"the content of {path}", "other content beside it", "delete both")
    known = open_knowledge(file)
    known.compiled = Compiled(packed, file.copy)
    return known


def packed_beside(path: Path) -> Path:
    """Return where the whole of a compiled knowledge base is."""
    return path.with_name(f"{path.name}.packed")


def _write_with_notes(path: Path, known: KnowledgeBase, notes: Mapping[str, Any]) -> KnowledgeRecord:
    writer = BlockWriter(path)
    try:
        lookups = known.lookups
        fields = {key: concept_to_fields(concept) for key, concept in known.concepts.items()}
        concepts = _add_records(writer, "concepts", fields)
        _add_records(writer, "codes", {key: concept_to_fields(concept) for key, concept in known.codes.items()})
        names = _add_leads(writer, "names", lookups.names, concepts, ranked=True)
        _add_leads(writer, "citing", lookups.citing, concepts)
        _add_leads(writer, "reordered", lookups.reordered, names)
        _add_leads(writer, "short", lookups.short, names)
        add_counts(writer, _WORDS, lookups.words)
        _add_records(writer, "brought", known.brought)
        if known.foreign:
            _add_foreign(writer, known.foreign, concepts)
        return KnowledgeRecord(path.name, writer.close(notes))
    except BaseException:
        writer.discard()
        raise


def open_knowledge(file: BlockFile) -> KnowledgeBase:
    """Open a knowledge base that `write_knowledge` wrote. Damage is detected when a part is first read."""
    concepts = _open_records(file, "concepts", lambda fields: concept_from_fields(*fields))
    names = _open_leads(file, "names", concepts)
    return KnowledgeBase(
        concepts,
        _open_records(file, "codes", lambda fields: concept_from_fields(*fields)),
        brought=_open_records(file, "brought", lambda concepts: None if concepts is None else tuple(concepts)),
        lookups=Lookups(
            names=names,
            citing=_open_leads(file, "citing", concepts),
            reordered=_open_leads(file, "reordered", names),
            short=_open_leads(file, "short", names),
            words=open_counts(file, _WORDS),
        ),
        foreign=_open_foreign(file, concepts),
    )


def _add_foreign(writer: BlockWriter, foreign: NamesByLanguage, concepts: Mapping[str, int]) -> None:
    lookups = foreign.lookups
    _add_records(writer, "foreign", {key: dict(names) for key, names in foreign.of_concepts.items()})
    _add_leads(writer, "foreign-exact", lookups.exact, concepts)
    _add_leads(writer, "foreign-loose", lookups.loose, concepts)
    add_counts(writer, _FOREIGN_WORDS, lookups.words)
    add_strings(writer, _FOREIGN_SOURCES, [json.dumps(sources_to_fields(foreign.sources))])


def _open_foreign(file: BlockFile, concepts: StoredMapping[Any]) -> NamesByLanguage:
    if "foreign-exact/starts" not in file:
        return NamesByLanguage()
    return NamesByLanguage(
        _open_records(file, "foreign", names_from_fields),
        sources_from_fields(json.loads(SortedStrings(file, _FOREIGN_SOURCES)[0])),
        NameLookups(
            exact=_open_leads(file, "foreign-exact", concepts),
            loose=_open_leads(file, "foreign-loose", concepts),
            words=open_counts(file, _FOREIGN_WORDS),
        ),
    )


def _add_records(writer: BlockWriter, name: str, records: Mapping[str, object]) -> dict[str, int]:
    """Write records by key, as JSON, and return the position of each key."""
    keys, values = [*records], [*records.values()]
    order = add_keys(writer, name, keys)
    add_strings(writer, f"{name}/values", (json.dumps(values[number]) for number in order))
    return {keys[number]: place for place, number in enumerate(order)}


def _open_records(file: BlockFile, name: str, build: Callable[[Any], Value]) -> StoredMapping[Value]:
    texts = SortedStrings(file, f"{name}/values")
    return StoredMapping(file, name, lambda place: build(json.loads(texts[place])))


def _add_leads(
    writer: BlockWriter,
    name: str,
    leads_to: Mapping[str, tuple[str, ...]],
    places: Mapping[str, int],
    *,
    ranked: bool = False,
) -> dict[str, int]:
    """Write for each key its keys in another mapping, and return the position of each key.

    Args:
        writer: Writer of the file.
        name: Name of the arrays.
        leads_to: By key, its keys in the other mapping.
        places: Positions of the other mapping's keys.
        ranked: Whether to keep the order of the keys.
    """
    keys, values = [*leads_to], [*leads_to.values()]
    order = add_keys(writer, name, keys, ranked=ranked)
    ordered = [values[number] for number in order]
    writer.add(f"{name}/starts", np.cumsum([0, *map(len, ordered)]), "<i8")
    writer.add(f"{name}/places", np.array([places[other] for each in ordered for other in each], np.int64), "<i4")
    return {keys[number]: place for place, number in enumerate(order)}


def _open_leads(file: BlockFile, name: str, others: StoredMapping[Any]) -> StoredMapping[tuple[str, ...]]:
    starts, places = file.array(f"{name}/starts").data, file.array(f"{name}/places").data
    keys = others.sorted_keys
    return StoredMapping(
        file, name, lambda place: tuple(keys[number] for number in places[starts[place] : starts[place + 1]])
    )
