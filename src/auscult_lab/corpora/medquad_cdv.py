"""CDV's annotations of MedQuAD's test split (github.com/sebastianarnold/cdv, `data/MedQuAD/`; arnold2020)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auscult.errors import CorpusMissingError, DataError
from auscult.files.json_text import parse_json

ANNOTATIONS = "MedQuAD_test_annotations.json"
SOURCES = "MedQuAD_test_sources.tsv"

# The list names files below CDV's own copy of MedQuAD, whatever that is called.
_SOURCE_FILE = re.compile(r"(?:.*/)?([^/]+/[^/]+\.xml)")


@dataclass(frozen=True, slots=True)
class PassageMark:
    """Where CDV saw a passage: offset and length in its document's text, and the aspect (None: not asked)."""

    begin: int
    length: int
    aspect: str | None


@dataclass(frozen=True, slots=True)
class DocumentMark:
    """CDV's entity of a test document, and its passages by id, in order."""

    entity: str
    entity_id: str
    passages: Mapping[str, PassageMark]


@dataclass(frozen=True, slots=True)
class CdvQuery:
    """A test query; `relevant` holds (passage_id, doc_id, relevance)."""

    text: str
    entity: str
    entity_id: str
    aspect: str
    aspect_heading: str
    relevant: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class CdvAnnotations:
    """The test split: documents by id in order, queries in order, and the files CDV drew it from."""

    documents: Mapping[str, DocumentMark]
    queries: tuple[CdvQuery, ...]
    source_files: frozenset[str]


def read_annotations(folder: Path) -> CdvAnnotations:
    """Read both files.

    Args:
        folder: Holds `MedQuAD_test_annotations.json` and `MedQuAD_test_sources.tsv`.

    Raises:
        CorpusMissingError: One is not there.
        DataError: One does not hold what CDV's format promises.
    """
    content = _read(folder / ANNOTATIONS)
    try:
        top = parse_json(content)
        documents = {document["id"]: _document(document) for document in top["documents"]}
        queries = tuple(_query(query) for query in top["queries"])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise DataError(
            f"CDV's annotations in {folder / ANNOTATIONS}", f"{type(error).__name__}: {error}", "fetch the file again"
        ) from error
    source_files = set()
    for number, line in enumerate(_read(folder / SOURCES).splitlines(), start=1):
        match = _SOURCE_FILE.fullmatch(line.strip())
        if match is None:
            raise DataError(
                "a path of an XML file in each line",
                f"{line[:60]!r} ({folder / SOURCES}, line {number})",
                "fetch the file again",
            )
        source_files.add(match[1])
    return CdvAnnotations(documents, queries, frozenset(source_files))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"UTF-8 text in {path}", str(error), "fetch the file again") from error
    except OSError as error:
        raise CorpusMissingError(
            f"CDV's annotations at {path}",
            error.strerror or "nothing readable",
            "take the file from data/MedQuAD/ of github.com/sebastianarnold/cdv",
        ) from error


def _document(fields: dict[str, Any]) -> DocumentMark:
    marks = fields["annotations"]
    passages = {m["id"]: PassageMark(m["begin"], m["length"], m.get("aspect")) for m in marks}
    return DocumentMark(marks[0]["entity"], marks[0].get("entityId", ""), passages)


def _query(fields: dict[str, Any]) -> CdvQuery:
    asked = fields["annotations"][0]
    relevant = tuple((r["id"], r["documentRef"], r["relevance"]) for r in fields["results"])
    return CdvQuery(
        fields["text"], asked["entity"], asked.get("entityId", ""), asked["aspect"], asked["aspectHeading"], relevant
    )
