"""Store a knowledge base as one gzip-compressed file of four lines of JSON; equal content gives equal bytes.

1. A header: the format, the changes that documents made (`KnowledgeBase.brought`) and, where there are any, the names
   in other languages (`KnowledgeBase.foreign`): the files they are from, and by concept and language the names.
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
from typing import Any, NamedTuple

from auscult.concepts.concept import Concept
from auscult.concepts.languages import NamesByLanguage, NamesSource
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
        foreign: Names in other languages than English.
    """

    concepts: Iterable[Concept]
    codes: Iterable[Concept]
    names: Mapping[str, tuple[str, ...]]
    brought: Brought
    foreign: NamesByLanguage


def pack_concepts(stored: Stored) -> bytes:
    """Return the content of a file."""
    concepts = [*stored.concepts]
    numbers = {concept.concept_id: number for number, concept in enumerate(concepts)}
    header: dict[str, object] = {"format": FORMAT, "version": VERSION, "brought": dict(stored.brought)}
    if stored.foreign:
        header["foreign"] = foreign_to_fields(stored.foreign)
    lines = (
        header,
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
        foreign = foreign_from_fields(header_fields["foreign"]) if "foreign" in header_fields else NamesByLanguage()
        return Stored(known, [concept_from_fields(*fields) for fields in codes], names, changes, foreign)
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


def foreign_to_fields(foreign: NamesByLanguage) -> dict[str, object]:
    """Return names in other languages as they are written."""
    return {
        "sources": sources_to_fields(foreign.sources),
        "names": {concept_id: dict(by_language) for concept_id, by_language in foreign.of_concepts.items()},
    }


def sources_to_fields(sources: Iterable[NamesSource]) -> list[list[object]]:
    """Return the sources of names as they are written."""
    return [[source.title, source.licence, source.languages, source.names] for source in sources]


def sources_from_fields(fields: list[tuple[str, str, list[str], int]]) -> tuple[NamesSource, ...]:
    """Return written sources of names."""
    return tuple(NamesSource(title, licence, tuple(languages), count) for title, licence, languages, count in fields)


def names_from_fields(by_language: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    """Return a concept's written names by language."""
    return {language: tuple(names) for language, names in by_language.items()}


def foreign_from_fields(fields: dict[str, Any]) -> NamesByLanguage:
    """Return written names in other languages."""
    of_concepts = {concept_id: names_from_fields(names) for concept_id, names in fields["names"].items()}
    return NamesByLanguage(of_concepts, sources_from_fields(fields["sources"]))
