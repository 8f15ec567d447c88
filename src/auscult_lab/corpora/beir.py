"""A folder in the layout of BEIR: corpus.jsonl, queries.jsonl, qrels/<split>.tsv (thakur2021).

- corpus.jsonl `{"_id", "title", "text", "metadata"}`: one document with one passage, whose id is `_id`. A
  document with a title but no text (some collections have papers without abstract) is read by its title. Rows that
  follow each other and name the same `metadata.parent` (or share what a pattern finds in their ids) are the passages of
  one document, so that models which read context have it.
- queries.jsonl `{"_id", "text", "metadata": {"entity", "aspect" | "aspects": [...]}}`: where metadata has no
  entity, the query's whole text stands in its place, so that term-based models can rank for it.
- qrels/<split>.tsv `query-id, corpus-id, score`, tab-separated, with a header.

The JSON lines may be gzip-compressed (corpus.jsonl.gz).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from auscult.documents import Document, Section
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import ConfigError, CorpusMissingError, DataError
from auscult.files.records import Record, check_id, read_records, reject
from auscult.ingest.corpus import Judgement
from auscult.ingest.rows import numbered_lines
from auscult.ingest.sectioned import Draft, SectionedCorpus
from auscult.understanding import Query


class BeirCorpus(SectionedCorpus):
    """A BEIR folder.

    Args:
        folder: Holds corpus.jsonl; queries.jsonl and qrels/ where there are queries.
        name: The corpus' name; the folder's when not given.
        skip_bad: Leave bad documents out and count them in `bad`. Queries and judgements are always read
            strictly: a figure over a silently smaller test set would not be comparable.
        splitter: Finds sentences; the default splitter when not given.
        parent: A regular expression. Rows whose ids match it with the same first group form one document. For rows
            without a match, and by default, `metadata.parent` decides.

    Raises:
        CorpusMissingError: The folder has no corpus.jsonl.
        ConfigError: The expression is invalid, or has no group.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        name: str = "",
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
        parent: str = "",
    ) -> None:
        self.folder = Path(folder)
        self._parent = _compile_pattern(parent) if parent else None
        super().__init__(
            _existing(self.folder, "corpus.jsonl"),
            name=name or self.folder.resolve().name,
            skip_bad=skip_bad,
            splitter=splitter,
        )

    def draft(self, record: Record) -> Draft:
        """Read one document."""
        doc_id, title = record.text("_id"), record.text("title", "")
        metadata = record.fields.get("metadata")
        extra = metadata if isinstance(metadata, dict) else {}
        return Draft(
            doc_id=doc_id,
            title=title,
            sections=[Section("", record.text("text") or title, passage_id=doc_id)],
            source=self.name,
            url=str(extra.get("url", "")),
            metadata={key: str(value) for key, value in extra.items()},
        )

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Stream all documents, whatever the split: BEIR divides queries, not documents.

        Raises:
            DataError: Rows of one parent do not follow each other.
        """
        return super().documents()

    def drafts(self) -> Iterator[Draft]:
        """Stream checked drafts, rows of one parent as one document."""
        parents: set[str] = set()
        for (has_parent, doc_id), rows in groupby(super().drafts(), key=self._find_owner):
            if not has_parent:
                yield from rows
                continue
            if doc_id in parents:
                expected, got = f"rows of one document together in {self.paths[0]}", f"'{doc_id}' in two places"
                raise DataError(expected, got, "sort the rows by document")
            parents.add(doc_id)
            yield _join_rows(doc_id, [*rows])

    def _find_owner(self, row: Draft) -> tuple[bool, str]:
        """Return whether a row belongs to a larger document, and the document's id."""
        found = self._parent.search(row.doc_id) if self._parent else None
        parent = (found[1] if found else "") or row.metadata.get("parent", "")
        return bool(parent), parent or row.doc_id

    def queries(self, split: str) -> Sequence[Query]:
        """Return the queries that qrels/<split>.tsv judges, in the order of queries.jsonl.

        Raises:
            CorpusMissingError: There is no such split, or no queries.jsonl.
            DataError: A judged query is not in queries.jsonl.
        """
        judged = {judgement.query_id for judgement in self.judgements(split)}
        path = _existing(self.folder, "queries.jsonl")
        queries = [q for q in map(_parse_query, read_records(path)) if q.query_id in judged]
        missing = judged.difference(query.query_id for query in queries)
        if missing:
            raise DataError(
                f"every query of qrels/{split}.tsv in {path}", f"no query {min(missing)!r}", "add it, or its line"
            )
        return queries

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Return the lines of qrels/<split>.tsv, in order.

        Raises:
            CorpusMissingError: There is no such split.
            RecordError: A line is not UTF-8 or has not three fields, or its score is not a whole number or contradicts
                an earlier line; names file and line.
            DataError: The file cannot be read.
        """
        path = self.folder / "qrels" / f"{split}.tsv"
        if not path.is_file():
            have = sorted(p.stem for p in path.parent.glob("*.tsv"))
            remedy = "name one of these" if have else "add the file"
            got = f"the splits {', '.join(have)}" if have else "no split"
            raise CorpusMissingError(f"a split '{split}' at {path}", got, remedy)
        judgements = []
        scores: dict[tuple[str, str], int] = {}
        for number, line in numbered_lines(path):
            where = f"{path}, line {number}"
            parts = line.split("\t")
            if number == 1 and parts[-1] == "score":
                continue
            judgement = _parse_judgement(parts, where)
            pair = (judgement.query_id, judgement.passage_id)
            if scores.setdefault(pair, judgement.relevance) != judgement.relevance:
                found = f"{judgement.relevance} behind {scores[pair]} for query {pair[0]!r} and passage {pair[1]!r}"
                reject("contradiction", where, "one score for a query and a passage", found, "keep one of the lines")
            judgements.append(judgement)
        return judgements


def _compile_pattern(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ConfigError("a regular expression of ids of passages", f"'{pattern}' ({error})", "correct it") from None
    if not compiled.groups:
        expected = r"a regular expression with a group that finds a document's id, such as '(.+)-\d+'"
        raise ConfigError(expected, f"'{pattern}'", "put what passages of a document share in parentheses")
    return compiled


def _join_rows(doc_id: str, rows: Sequence[Draft]) -> Draft:
    """Join rows into one document. A title that differs from the first row's becomes the heading of its passage."""
    first = rows[0]
    sections = [
        replace(section, heading="" if row.title == first.title else row.title)
        for row in rows
        for section in row.sections
    ]
    metadata = {name: value for name, value in first.metadata.items() if name != "parent"}
    return replace(first, doc_id=doc_id, sections=sections, metadata=metadata)


def _existing(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise CorpusMissingError(f"{name} (or {name}.gz) in {folder}", "no such file", "name a folder in BEIR's layout")


def _parse_judgement(parts: list[str], where: str) -> Judgement:
    if len(parts) != 3:
        expected = "query-id, corpus-id and score between tabs"
        reject("malformed line", where, expected, f"{len(parts)} fields", "correct it")
    try:
        # Some collections were written from tables of floating-point numbers: "1.0".
        score = float(parts[2])
    except ValueError:
        score = math.nan
    if not score.is_integer():
        reject("wrong type", where, "a whole number as score", repr(parts[2]), "correct it")
    return Judgement(parts[0], parts[1], int(score))


def _parse_query(record: Record) -> Query:
    text = record.text("text")
    metadata = record.fields.get("metadata")
    fields = Record(record.path, record.line, metadata if isinstance(metadata, dict) else {})
    aspects = fields.texts("aspects") or tuple(filter(None, [fields.text("aspect", "")]))
    return Query(
        query_id=check_id(record.text("_id"), record.where),
        entity=fields.text("entity", "") or text,
        aspects=aspects,
        entity_id=fields.text("entity_id", ""),
        text=text,
    )
