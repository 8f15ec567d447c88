"""Store a knowledge base as one gzip-compressed file of four lines of JSON; equal content gives equal bytes.

1. A header: the format, and the changes that documents made (`KnowledgeBase.brought`).
2. The concepts, in order: `[id, name, [synonyms], definition, [xrefs], [parents], source]` each.
3. The entries of code lists, which are found by their identifiers only, in the same form.
4. The normalised names (`names.normalise_name`), each with the numbers of its concepts, as folding 100,000 names takes
   a second. A change to `normalise_name` needs a new `VERSION`.
"""

from __future__ import annotations

import gc
import gzip
import json
import zlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from auscult.concepts.concept import Concept
from auscult.errors import DataError

FORMAT = "auscult-knowledge-base"
VERSION = 3

Brought = Mapping[str, tuple[str, ...] | None]
"""Changes that documents made to concepts; see `KnowledgeBase`."""


class Stored(NamedTuple):
    """The content of a file.

    Attributes:
        concepts: Concepts, most trusted first.
        codes: Entries of code lists.
        names: Concept ids by normalised name, see `KnowledgeBase.name_index`.
        brought: Changes that documents made.
    """

    concepts: Iterable[Concept]
    codes: Iterable[Concept]
    names: Mapping[str, tuple[str, ...]]
    brought: Brought


def pack_concepts(stored: Stored) -> bytes:
    """Return the content of a file."""
    concepts = [*stored.concepts]
    numbers = {concept.concept_id: number for number, concept in enumerate(concepts)}
    lines = (
        {"format": FORMAT, "version": VERSION, "brought": dict(stored.brought)},
        [concept_to_fields(concept) for concept in concepts],
        [concept_to_fields(code) for code in stored.codes],
        {name: [numbers[each] for each in ids] for name, ids in stored.names.items()},
    )
    content = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    return gzip.compress(content.encode("utf-8", "surrogatepass"), 6, mtime=0)


def parse_concepts(data: bytes, where: str, remedy: str) -> Stored:
    """Parse the content of a file that `pack_concepts` made.

    Args:
        data: The content.
        where: Where the file is, for error messages: "at FILE".
        remedy: What to do if it is damaged.

    Raises:
        DataError: It is damaged, or of another format or version.
    """
    # Parsing makes a hundred thousand small lists, which the garbage collector would search repeatedly.
    collecting = gc.isenabled()
    gc.disable()
    try:
        header, *lines = gzip.decompress(data).decode("utf-8", "surrogatepass").split("\n")
        header_fields = json.loads(header or "null")
        if (
            not isinstance(header_fields, dict)
            or header_fields.get("format") != FORMAT
            or header_fields.get("version") != VERSION
        ):
            raise DataError(f"a knowledge base of version {VERSION} {where}", header[:80], remedy)
        concepts, codes, numbers, _ = map(json.loads, [*lines[:-1], "null"])
        known = [concept_from_fields(*fields) for fields in concepts]
        ids = [concept.concept_id for concept in known]
        names = {name: tuple([ids[number] for number in numbers_of_name]) for name, numbers_of_name in numbers.items()}
        changes = {key: xrefs if xrefs is None else tuple(xrefs) for key, xrefs in header_fields["brought"].items()}
        return Stored(known, [concept_from_fields(*fields) for fields in codes], names, changes)
    except (
        ValueError, TypeError, LookupError, AttributeError, RecursionError, EOFError, gzip.BadGzipFile, zlib.error,
    ) as error:  # fmt: skip
        raise DataError(f"a knowledge base file {where}", f"a damaged one: {error}", remedy) from error
    finally:
        if collecting:
            gc.enable()


def concept_to_fields(concept: Concept) -> list[object]:
    """Return the fields of a concept as they are written."""
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
    """Return the concept of written fields."""
    return Concept(identifier, name, tuple(synonyms), definition, tuple(xrefs), tuple(parents), source)
