"""WikiSection, WikiSectionQA and CDV's training set, in the JSON that their authors publish.

One JSON file: a list of documents, or an object that holds them in "documents". A document is
`{"id", "title", "text", "annotations": [...]}`; an annotation marks `length` characters of the text from `begin` on.
Its class says which of the three data sets it is from:

- `SectionAnnotation` (WikiSection; arnold2019): `sectionHeading`, nested headings joined by " | ", and
  `sectionLabel` ("disease.treatment"). "abstract" stands beside "text" and becomes the first passage.
- `AspectAnnotation` and `EntityAnnotation` (CDV's training set, wd_disease_train.json; arnold2020 section 5.1): `label`
  is the heading, or the entity's identifier.
- `EntityAspectAnnotation` (WikiSectionQA, and CDV's files of MedQuAD and HealthQA once their texts are filled in):
  `id`, `entity`, `entityId`, `aspect`, perhaps `heading`.

An object may also hold "queries": `{"text", "annotations": [{"class": "EntityAspectQueryAnnotation", "entity",
"entityId", "aspect", "aspectHeading"}], "results": [{"documentRef", "id", "begin", "length", "relevance"}]}`. Where it
does, these are the queries. Otherwise every document's title makes a query with each of its labels.

The files were written by Java programs, so offsets count UTF-16 code units. They differ from Python's after a character
outside the basic plane. An outer section ends where its first inner section begins. The end of a file's name is its
split (`..._train.json`, `..._test.json`).
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from auscult.documents import Section
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import CorpusMissingError, DataError
from auscult.files.reading import open_unpacked
from auscult.files.records import BadRecords, Record, reject
from auscult.ingest.corpus import Judgement
from auscult.ingest.sectioned import Draft, SectionedCorpus
from auscult.understanding import Query
from auscult_lab.corpora.described import aspect_of, heading_queries

_SPLIT = re.compile(r"_(train|validation|test)(?:_annotations)?\.json(?:\.gz)?")
_PASSAGES = ("SectionAnnotation", "AspectAnnotation", "EntityAspectAnnotation", "PassageAnnotation")
_BEGINNING = re.compile(rb'\s*(?:\[\s*\{[^{]*?"(?:class|title|text|annotations)"|\{\s*"(?:name|language|documents)")')
_PROBE = 4096
# WikiSection's class for the sections that have none.
_OTHER = "other"


def is_wikisection(path: Path) -> bool:
    """Check whether a .json file begins like one of these data sets (and not like JSON lines)."""
    if not path.name.endswith((".json", ".json.gz")):
        return False
    try:
        with open_unpacked(path) as stream:
            head: bytes = stream.read(_PROBE)
    except (OSError, EOFError, zlib.error):
        return False
    if not _BEGINNING.match(head):
        return False
    if not head.lstrip().startswith(b"{"):
        # The first document may be longer than the part that was read.
        return b'"annotations"' in head or len(head) == _PROBE
    if b'"documents"' in head or b'"queries"' in head:
        return True
    try:
        # A first line with one whole object is JSON lines; so is a first line longer than the part that was read.
        json.loads(head.split(b"\n")[0])
    except ValueError:
        return b"\n" in head.strip()
    return False


class _Item(Record):
    """A document or query by its place in the file, which has no lines."""

    __slots__ = ()

    @property
    def where(self) -> str:
        return f"{self.path}, item {self.line}"


class WikiSectionCorpus(SectionedCorpus):
    """Files of WikiSection, WikiSectionQA or CDV's training set; splits "train", "validation" and "test".

    Args:
        paths: The files, plain or gzip-compressed; each is read as a whole.
        name: The corpus' name; the first file's, without its endings and split, when not given.
        skip_bad: Leave bad documents out and count them in `bad`. Queries are always read strictly.
        splitter: Finds sentences; the default splitter when not given.

    Raises:
        CorpusMissingError: No file was named.
    """

    def __init__(
        self, *paths: Path | str, name: str = "", skip_bad: bool = False, splitter: SentenceSplitter | None = None
    ) -> None:
        given = name or (collection_of(Path(paths[0])) if paths else "")
        super().__init__(*paths, name=given, skip_bad=skip_bad, splitter=splitter)

    def records(self, report: BadRecords) -> Iterator[Record]:
        """Stream the documents; in messages, by place in the file, counted from 1."""
        for path in self.paths:
            for number, fields in enumerate(_content(path)[0], start=1):
                yield _Item(path, number, fields)

    def draft(self, record: Record) -> Draft:
        """Read one document.

        Raises:
            RecordError: A field is missing or of the wrong type, a range leaves the text, or two overlap.
        """
        text, doc_id = record.text("text"), record.text("id")
        annotations = record.records("annotations")
        marks = [each for each in annotations if each.text("class", _PASSAGES[0]) in _PASSAGES]
        if not text.strip() and marks:
            reject("empty document", record.where, "a document's text", f"{doc_id!r} without (annotations only)")
        sections = [_build_section(mark, text[start:end]) for mark, start, end in _ranges(record, text, marks)]
        if abstract := record.text("abstract", ""):
            sections.insert(0, Section("Abstract", abstract, passage_id=f"{doc_id}#0", aspect="information"))
        return Draft(
            doc_id=doc_id,
            title=record.text("title", "") or next((mark.text("entity", "") for mark in marks), ""),
            sections=sections,
            split=split_of(record.path),
            source=record.text("source", self.name),
            url=doc_id if doc_id.startswith(("https://", "http://")) else "",
            entity_ids=_entity_ids(annotations),
            metadata={"type": record.text("type", "")},
        )

    def queries(self, split: str) -> Sequence[Query]:
        """Return the file's queries, or one for each title and label; none in other splits than the file's."""
        return [query for query, _ in self._queries(split)]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Return the results of the file's queries, or the passages under each title and label."""
        return [
            Judgement(query.query_id, passage_id, relevance)
            for query, results in self._queries(split)
            for passage_id, relevance in results.items()
        ]

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """Return the results of each query, where the file holds irrelevant ones too; else none."""
        queries = [(query.query_id, results) for query, results in self._queries(split)]
        if all(relevance > 0 for _, results in queries for relevance in results.values()):
            return {}
        return {query_id: tuple(results) for query_id, results in queries}

    def _queries(self, split: str) -> list[tuple[Query, dict[str, int]]]:
        """Return queries with the relevance of their results by passage id."""
        paths = [path for path in self.paths if split_of(path) == split]
        records = [
            _Item(path, number, fields) for path in paths for number, fields in enumerate(_content(path)[1], start=1)
        ]
        if records:
            return [_query(record, f"{record.path.name.partition('.')[0]}:q{record.line}") for record in records]
        drafts = (draft for draft in (self.drafts() if paths else ()) if draft.split == split)
        queries = heading_queries(drafts, lambda draft, section: section.aspect)
        return [(query, dict.fromkeys(passage_ids, 1)) for query, passage_ids in queries]


def split_of(path: Path) -> str:
    """Return a file's split by its name: "train", "validation" or "test"; "train" where the name has none."""
    match = _SPLIT.search(path.name)
    return match[1] if match else "train"


def collection_of(path: Path) -> str:
    """Return a file's name without its endings and its split, which all files of one data set share."""
    return _SPLIT.sub("", path.name).removesuffix(".gz").removesuffix(".json")


def _content(path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the file's documents, and its queries."""
    top = _load(path)
    documents = top.get("documents") if isinstance(top, dict) else top
    queries = (top.get("queries") if isinstance(top, dict) else None) or []
    for rows, what in ((documents, "documents"), (queries, "queries")):
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise DataError(f"a list of {what} in {path}", "something else", "name a file of WikiSection's format")
    return documents or [], queries


def _load(path: Path) -> Any:
    if not path.is_file():
        raise CorpusMissingError(f"a JSON file at {path}", "no such file", "correct the path")
    try:
        with open_unpacked(path) as stream:
            content = stream.read()
        if content.startswith(b"version https://git-lfs"):
            raise DataError(f"JSON in {path}", "a Git LFS pointer", "fetch the file itself with: git lfs pull")
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"JSON in {path}", f"malformed JSON: {error}", "fetch the file again") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"a whole, readable file at {path}", str(error), "fetch the file again") from error


def _ranges(record: Record, text: str, marks: Sequence[Record]) -> list[tuple[Record, int, int]]:
    """Return each mark with its range in Python's offsets. An outer mark ends where its first inner mark begins."""
    offset = _map_offsets(text)
    ranges = []
    for mark in marks:
        begin, length = _whole(mark, "begin"), _whole(mark, "length")
        if begin + length >= len(offset):
            reject("bad range", record.where, f"ranges within {len(offset) - 1} characters", f"{begin} + {length}")
        ranges.append((mark, offset[begin], offset[begin + length]))
    ranges.sort(key=lambda item: (item[1], -item[2]))
    for (_, _, end), (_, start, inner) in pairwise(ranges):
        if start < end < inner:
            reject("overlap", record.where, "sections beside or inside each other", f"an overlap at {start}")
    starts = [start for _, start, _ in ranges[1:]]
    return [
        (mark, start, min(end, after)) for (mark, start, end), after in zip(ranges, [*starts, len(text)], strict=True)
    ]


def _map_offsets(text: str) -> Sequence[int]:
    """Return Python's offset for each offset in UTF-16 code units, one past the end included."""
    if text.isascii() or max(text) <= "\uffff":
        return range(len(text) + 1)
    offsets = [position for position, char in enumerate(text) for _ in range(1 + (char > "\uffff"))]
    return [*offsets, len(text)]


def _whole(mark: Record, name: str) -> int:
    value = mark.fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        reject("wrong type", mark.where, f"a whole number from 0 in '{name}'", repr(value))
    return value


def _build_section(mark: Record, text: str) -> Section:
    heading = mark.text("sectionHeading", "") or mark.text("heading", "") or mark.text("label", "")
    if label := mark.text("sectionLabel", ""):
        aspect = label.rpartition(".")[2].replace("_", " ")
        aspect = "" if aspect == _OTHER else aspect
    else:
        aspect = mark.text("aspect", "") or aspect_of(heading)
    return Section(heading or aspect, text, passage_id=mark.text("id", ""), aspect=aspect)


def _entity_ids(annotations: Sequence[Record]) -> tuple[str, ...]:
    """Return the document's own entities: of all marked ones, those with the longest range."""
    by_length: dict[int, list[str]] = {}
    for mark in annotations:
        identifier = {"EntityAnnotation": "label", "EntityAspectAnnotation": "entityId"}.get(mark.text("class", ""))
        if identifier and mark.text(identifier, "").strip():
            # Marks of passages (EntityAspectAnnotation) all count alike, however long.
            length = _whole(mark, "length") if identifier == "label" else 0
            by_length.setdefault(length, []).append(mark.text(identifier).strip())
    return tuple(dict.fromkeys(by_length[max(by_length)])) if by_length else ()


def _query(record: Record, query_id: str) -> tuple[Query, dict[str, int]]:
    annotation = next((a for a in record.records("annotations") if a.text("entity", "")), None)
    if annotation is None:
        reject("missing field", record.where, "an annotation with an entity in the query", "none")
    heading = annotation.text("aspectHeading", "") or annotation.text("aspect", "")
    results = {}
    for result in record.records("results"):
        relevance = result.fields.get("relevance", 1)
        if not isinstance(relevance, int):
            reject("wrong type", record.where, "a whole number as relevance", repr(relevance))
        results[result.text("id")] = relevance
    query = Query(
        query_id=record.text("id", "") or query_id,
        entity=annotation.text("entity"),
        aspects=(heading,) if heading else (),
        entity_id=annotation.text("entityId", ""),
        text=record.text("text", ""),
    )
    return query, results
