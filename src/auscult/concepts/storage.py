"""A knowledge base as one gzip-compressed JSON-lines file, byte for byte the same for the same content.

Line 1 is a header; every further line is one concept as an array
`[id, name, [synonyms], definition, [xrefs], [parents], source]`, or the same after a leading `"code"` for an
entry of a code list that is reached by its identifier only.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable
from pathlib import Path

from auscult.concepts.concept import Concept
from auscult.errors import DataError
from auscult.files.writing import whole_or_nothing

FORMAT = "auscult-knowledge-base"
VERSION = 1


def write_concepts(path: Path, concepts: Iterable[Concept], codes: Iterable[Concept]) -> None:
    """Write a file whole or not at all: a kill leaves the old one.

    Raises:
        DataError: The place cannot be written to.
    """
    with whole_or_nothing(path) as partial:
        partial.write_bytes(pack_concepts(concepts, codes))


def pack_concepts(concepts: Iterable[Concept], codes: Iterable[Concept]) -> bytes:
    """What `write_concepts` writes."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=6, mtime=0) as archive:
        archive.write(_line({"format": FORMAT, "version": VERSION}))
        for concept in concepts:
            archive.write(_line(_fields(concept)))
        for code in codes:
            archive.write(_line(["code", *_fields(code)]))
    return packed.getvalue()


def read_concepts(path: Path) -> tuple[list[Concept], list[Concept]]:
    """Concepts and codes of a file that `write_concepts` wrote.

    Raises:
        DataError: The file is absent, damaged, or of another format or version.
    """
    remedy = "build it again with: auscult concepts build"
    if not path.is_file():
        raise DataError(f"a knowledge base file at {path}", "no such file", remedy)
    return parse_concepts(path.read_bytes(), f"at {path}", remedy)


def parse_concepts(data: bytes, where: str, remedy: str) -> tuple[list[Concept], list[Concept]]:
    """Concepts and codes of what `write_concepts` wrote.

    Args:
        data: The file's content.
        where: Of the file, for errors: "at FILE".
        remedy: What to do where it is damaged.

    Raises:
        DataError: It is damaged, or of another format or version.
    """
    concepts: list[Concept] = []
    codes: list[Concept] = []
    number = 0
    try:
        with gzip.open(io.BytesIO(data), "rt", encoding="utf-8") as lines:
            header = json.loads(next(lines, "null"))
            if not isinstance(header, dict) or (header.get("format"), header.get("version")) != (FORMAT, VERSION):
                raise DataError(f"a knowledge base of version {VERSION} {where}", str(header)[:80], remedy)
            for line in lines:
                number += 1
                fields = json.loads(line)
                is_code = fields[0] == "code"
                identifier, name, synonyms, definition, xrefs, parents, source = fields[1:] if is_code else fields
                concept = Concept(identifier, name, tuple(synonyms), definition, tuple(xrefs), tuple(parents), source)
                (codes if is_code else concepts).append(concept)
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        EOFError,
        gzip.BadGzipFile,
        zlib.error,
        UnicodeDecodeError,
    ) as error:
        raise DataError(f"a knowledge base file {where}", f"damage after line {number + 1}: {error}", remedy) from error
    return concepts, codes


def _fields(concept: Concept) -> list[object]:
    return [
        concept.concept_id,
        concept.name,
        concept.synonyms,
        concept.definition,
        concept.xrefs,
        concept.parents,
        concept.source,
    ]


def _line(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
