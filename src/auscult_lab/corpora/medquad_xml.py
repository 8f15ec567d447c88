"""MedQuAD's public XML tree (github.com/abachaa/MedQuAD): one file a document, one folder a collection."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from auscult.errors import CorpusMissingError
from auscult.files.records import REMEDY, BadRecords, RecordError, settle

_COLLECTION = re.compile(r"(\d+)_.+")
# Attribute names of document id and source by root element. Nearly all files have the first; one CDC file has
# the second, and four NINDS files the third, whose answers stand in elements of other names.
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
    def answered(self) -> tuple[QAPair, ...]:
        """Pairs whose answer has visible characters."""
        return tuple(pair for pair in self.pairs if pair.answer.strip())


def read_tree(root: Path, *, skip_bad: bool = False, report: BadRecords | None = None) -> Iterator[XmlDocument]:
    """Read all files, collections by their number and files by name.

    Args:
        root: The folder that holds `1_CancerGov_QA` and so on.
        skip_bad: Leave out files that cannot be read, instead of raising.
        report: Where they are counted.

    Yields:
        Documents, also those without answers.

    Raises:
        CorpusMissingError: There is no collection.
        RecordError: A file is malformed; names file, line and reason.
    """
    found = [(m, path) for path in root.glob("*") if path.is_dir() and (m := _COLLECTION.fullmatch(path.name))]
    if not found:
        raise CorpusMissingError(
            f"the folders 1_CancerGov_QA, 2_GARD_QA, ... in {root}",
            "none of them",
            "name the top folder of a copy of github.com/abachaa/MedQuAD",
        )
    for _, folder in sorted(found, key=lambda item: (int(item[0][1]), item[1].name)):
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
        title=_first(root, "Focus"),
        umls_cuis=_texts(root, "CUI"),
        semantic_group=_first(root, "SemanticGroup"),
        semantic_types=_texts(root, "SemanticType"),
        category=_first(root, "Category"),
        synonyms=_texts(root, "Synonym"),
        malformed_header=root.tag == "DiseaseFile",
        pairs=tuple(_pair(element, path) for element in root.iter("QAPair")),
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


def _pair(element: ET.Element, path: Path) -> QAPair:
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


def _first(root: ET.Element, tag: str) -> str | None:
    return next(iter(_texts(root, tag)), None)


def _bad(kind: str, path: Path, line: int, found: str) -> RecordError:
    return RecordError(kind, "a MedQuAD XML file", f"{found} ({path}, line {line})", REMEDY)
