"""A knowledge base as one gzip-compressed file of four lines of JSON, byte for byte the same for the same content.

1. A header: the format, and which concepts documents brought or lent identifiers (`KnowledgeBase.brought`).
2. The concepts, in order: `[id, name, [synonyms], definition, [xrefs], [parents], source]` each.
3. The entries of code lists, which are reached by their identifiers only, likewise.
4. The names, normalised (`names.normalise_name`), each with the numbers of the concepts that it stands for: folding
   100,000 names anew would take a second whenever a question is asked. Whoever changes how names are folded, changes
   `VERSION`: of a file of the version before, they are folded anew.
"""

from __future__ import annotations

import gc
import gzip
import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from auscult.concepts.concept import Concept
from auscult.errors import DataError
from auscult.files.writing import whole_or_nothing

FORMAT = "auscult-knowledge-base"
VERSION = 3
_READ = (2, VERSION)


class Stored(NamedTuple):
    """What a file holds.

    Attributes:
        concepts: In order of trust.
        codes: Entries of code lists.
        names: Normalised names, with identifiers of concepts; see `KnowledgeBase.name_index`. None where they have to
            be folded anew.
        brought: What documents have changed; None in a file of before that was kept.
    """

    concepts: Iterable[Concept]
    codes: Iterable[Concept]
    names: Mapping[str, tuple[str, ...]] | None
    brought: Mapping[str, tuple[str, ...] | None] | None


def write_concepts(path: Path, stored: Stored) -> None:
    """Write a file whole or not at all: a kill leaves the old one.

    Raises:
        DataError: The place cannot be written to.
    """
    with whole_or_nothing(path) as partial:
        partial.write_bytes(pack_concepts(stored))


def pack_concepts(stored: Stored) -> bytes:
    """What `write_concepts` writes."""
    concepts = [*stored.concepts]
    numbers = {concept.concept_id: number for number, concept in enumerate(concepts)}
    lines = (
        {"format": FORMAT, "version": VERSION, "brought": None if stored.brought is None else dict(stored.brought)},
        [concept_to_fields(concept) for concept in concepts],
        [concept_to_fields(code) for code in stored.codes],
        {name: [numbers[each] for each in ids] for name, ids in (stored.names or {}).items()},
    )
    content = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    return gzip.compress(content.encode("utf-8", "surrogatepass"), 6, mtime=0)


def read_concepts(path: Path) -> Stored:
    """What a file holds that `write_concepts` wrote.

    Raises:
        DataError: The file is absent, damaged, or of another format or version.
    """
    remedy = "build it again with: auscult concepts build"
    if not path.is_file():
        raise DataError(f"a knowledge base file at {path}", "no such file", remedy)
    return parse_concepts(path.read_bytes(), f"at {path}", remedy)


def parse_concepts(data: bytes, where: str, remedy: str) -> Stored:
    """What `write_concepts` wrote.

    Args:
        data: The file's content.
        where: Of the file, for errors: "at FILE".
        remedy: What to do where it is damaged.

    Raises:
        DataError: It is damaged, or of another format or version.
    """
    # A hundred thousand small lists at once, none of them garbage: the collector would search them again and again.
    collecting = gc.isenabled()
    gc.disable()
    try:
        header, *lines = gzip.decompress(data).decode("utf-8", "surrogatepass").split("\n")
        header_fields = json.loads(header or "null")
        if (
            not isinstance(header_fields, dict)
            or header_fields.get("format") != FORMAT
            or header_fields.get("version") not in _READ
        ):
            raise DataError(f"a knowledge base of version {VERSION} {where}", header[:80], remedy)
        concepts, codes, numbers, _ = map(json.loads, [*lines[:-1], "null"])
        known = [concept_from_fields(*fields) for fields in concepts]
        ids = [concept.concept_id for concept in known]
        names = {name: tuple([ids[number] for number in numbers_of_name]) for name, numbers_of_name in numbers.items()}
        current_names = names if header_fields["version"] == VERSION else None
        return Stored(
            known,
            [concept_from_fields(*fields) for fields in codes],
            current_names,
            _brought(header_fields.get("brought")),
        )
    except (
        ValueError, TypeError, IndexError, AttributeError, RecursionError, EOFError, gzip.BadGzipFile, zlib.error,
    ) as error:  # fmt: skip
        raise DataError(f"a knowledge base file {where}", f"a damaged one: {error}", remedy) from error
    finally:
        if collecting:
            gc.enable()


def _brought(brought: Mapping[str, list[str] | None] | None) -> dict[str, tuple[str, ...] | None] | None:
    if brought is None:
        return None
    return {concept_id: None if xrefs is None else tuple(xrefs) for concept_id, xrefs in brought.items()}


def concept_to_fields(concept: Concept) -> list[object]:
    """Return a concept as it is written."""
    return [
        concept.concept_id,
        concept.name,
        concept.synonyms,
        concept.definition,
        concept.xrefs,
        concept.parents,
        concept.source,
    ]


def concept_from_fields(
    identifier: str, name: str, synonyms: list[str], definition: str, xrefs: list[str], parents: list[str], source: str
) -> Concept:
    """Return a concept as it was written."""
    return Concept(identifier, name, tuple(synonyms), definition, tuple(xrefs), tuple(parents), source)
