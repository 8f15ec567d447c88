"""The two public sources of MedQuAD.

The XML tree (github.com/abachaa/MedQuAD) has the texts: one file a document, one folder a collection. CDV's annotations
(github.com/sebastianarnold/cdv, `data/MedQuAD/`; arnold2020) make the test split.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auscult.errors import CorpusMissingError, DataError
from auscult.files.json_text import parse_json
from auscult.files.records import REMEDY, BadRecords, RecordError, settle

_COLLECTION = re.compile(r"(\d+)_.+")
# Attribute names of document id and source by root element. Nearly all files have the first; one CDC file has
# the second, and four NINDS files the third, whose answers are in elements of other names.
_ROOTS = {"Document": ("id", "source"), "DiseaseFile": ("fid", "source"), "doc": ("docid", "corpus")}


@dataclass(frozen=True, slots=True)
class QAPair:
    """A question and its answer; the answer is empty where MedQuAD withholds it."""

    question_id: str
    question_type: str
    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class XmlDocument:
    """One file of the tree, texts as written.

    Attributes:
        file: Path in the tree, with forward slashes.
        document_id: As the file has it; not unique in CancerGov.
        title: The focus; None where blank.
        malformed_header: The file has the header of another schema.
    """

    file: str
    collection: str
    source: str
    document_id: str
    url: str
    title: str | None
    umls_cuis: tuple[str, ...]
    semantic_group: str | None
    semantic_types: tuple[str, ...]
    category: str | None
    synonyms: tuple[str, ...]
    malformed_header: bool
    pairs: tuple[QAPair, ...]

    @property
    def plain_id(self) -> str:
        """CDV's id of the document; not unique in CancerGov."""
        return f"{self.source}_{self.document_id}"

    @property
    def answered(self) -> tuple[QAPair, ...]:
        """Pairs whose answer has visible characters."""
        return tuple(pair for pair in self.pairs if pair.answer.strip())


def read_tree(root: Path, *, skip_bad: bool = False, report: BadRecords | None = None) -> Iterator[XmlDocument]:
    """Read all files, collections by their number and files by name.

    Args:
        root: The folder with `1_CancerGov_QA` and the other collections.
        skip_bad: Leave out files that cannot be read, instead of raising.
        report: Counts them.

    Yields:
        Documents, also those without answers.

    Raises:
        CorpusMissingError: The folder has no collection.
        RecordError: A file is malformed; names file, line and reason.
    """
    folders = [(m, path) for path in root.glob("*") if path.is_dir() and (m := _COLLECTION.fullmatch(path.name))]
    if not folders:
        raise CorpusMissingError(
            f"the folders 1_CancerGov_QA, 2_GARD_QA, ... in {root}",
            "none of them",
            "name the top folder of a copy of github.com/abachaa/MedQuAD",
        )
    for _, folder in sorted(folders, key=lambda item: (int(item[0][1]), item[1].name)):
        for path in sorted(folder.glob("*.xml")):
            try:
                yield read_file(path)
            except RecordError as error:
                settle(error, skip_bad, report)


def read_file(path: Path) -> XmlDocument:
    """Read one file of the tree.

    Raises:
        RecordError: It cannot be read, is not XML of MedQuAD's schema, or declares entities.
    """
    root = _parse(path)
    names = _ROOTS.get(root.tag)
    if names is None:
        raise _bad("unknown schema", path, 1, f"a <{root.tag}> element")
    document_id, source = (root.get(name, "") for name in names)
    if not document_id or not source:
        raise _bad("missing field", path, 1, f"a <{root.tag}> without {' and '.join(names)}")
    return XmlDocument(
        file=f"{path.parent.name}/{path.name}",
        collection=path.parent.name,
        source=source,
        document_id=document_id,
        url=root.get("url", ""),
        title=next(iter(_texts(root, "Focus")), None),
        umls_cuis=_texts(root, "CUI"),
        semantic_group=next(iter(_texts(root, "SemanticGroup")), None),
        semantic_types=_texts(root, "SemanticType"),
        category=next(iter(_texts(root, "Category")), None),
        synonyms=_texts(root, "Synonym"),
        malformed_header=root.tag == "DiseaseFile",
        pairs=tuple(_parse_pair(element, path) for element in root.iter("QAPair")),
    )


def _parse(path: Path) -> ET.Element:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _bad("unreadable file", path, 1, str(error.strerror)) from error
    # MedQuAD declares no entities; a file that does could blow up in memory or point elsewhere.
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise _bad("document type", path, 1, "a document type declaration")
    try:
        return ET.fromstring(content)  # noqa: S314 - without declarations there is nothing to expand
    except ET.ParseError as error:
        line, column = error.position
        reason = str(error).partition(":")[0]
        raise _bad("malformed XML", path, line, f"{reason} at column {column}") from error
    except (LookupError, ValueError) as error:
        raise _bad("malformed XML", path, 1, str(error)) from error


def _parse_pair(element: ET.Element, path: Path) -> QAPair:
    question = element.find("Question")
    if question is None or not question.get("qid"):
        raise _bad("missing field", path, 1, f"a pair {element.get('pid', '')!r} without <Question qid=...>")
    return QAPair(
        question_id=question.get("qid", ""),
        question_type=question.get("qtype", ""),
        question=question.text or "",
        answer=element.findtext("Answer") or "",
    )


def _texts(root: ET.Element, tag: str) -> tuple[str, ...]:
    return tuple(element.text for element in root.iter(tag) if element.text)


def _bad(kind: str, path: Path, line: int, found: str) -> RecordError:
    return RecordError(kind, "a MedQuAD XML file", f"{found} ({path}, line {line})", REMEDY)


ANNOTATIONS = "MedQuAD_test_annotations.json"
SOURCES = "MedQuAD_test_sources.tsv"

# The list names files below CDV's own copy of MedQuAD, whatever that is called.
_SOURCE_FILE = re.compile(r"(?:.*/)?([^/]+/[^/]+\.xml)")


@dataclass(frozen=True, slots=True)
class PassageMark:
    """Place of a passage by CDV: offset and length in its document's text, and its aspect (None without a query)."""

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
        CorpusMissingError: A file is missing.
        DataError: A file does not have CDV's format.
    """
    content = _read(folder / ANNOTATIONS)
    try:
        top = parse_json(content)
        documents = {document["id"]: _parse_document(document) for document in top["documents"]}
        queries = tuple(_parse_query(query) for query in top["queries"])
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


def _parse_document(fields: dict[str, Any]) -> DocumentMark:
    marks = fields["annotations"]
    passages = {m["id"]: PassageMark(m["begin"], m["length"], m.get("aspect")) for m in marks}
    return DocumentMark(marks[0]["entity"], marks[0].get("entityId", ""), passages)


def _parse_query(fields: dict[str, Any]) -> CdvQuery:
    asked = fields["annotations"][0]
    relevant = tuple((r["id"], r["documentRef"], r["relevance"]) for r in fields["results"])
    return CdvQuery(
        fields["text"], asked["entity"], asked.get("entityId", ""), asked["aspect"], asked["aspectHeading"], relevant
    )
