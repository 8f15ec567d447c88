"""BioASQ Task B: biomedical questions and the snippets of PubMed abstracts that experts chose as their answers.

The unit of retrieval is the snippet, mostly one sentence. Equal snippets (up to white space) are one passage, relevant
to every question that quotes it; a passage is a document of its own, since snippets of one abstract may overlap.
Two layouts are read:

- JSON lines, one question each: `{"question_id", "question", "type", "batch", "documents": [pmid, ...],
  "snippets": [{"pmid", "section", "begin", "end", "text"}]}`. The batches of `TEST_BATCHES` are the split "test".
- The challenge's own JSON: `{"questions": [{"id", "body", "type", "documents": [url, ...], "snippets": [{"text",
  "document", "beginSection", "offsetInBeginSection", ...}]}]}`. It names no batch: a file of expert answers to a test
  batch, which the challenge calls `12B1_golden.json`, is the split "test", any other "train".
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from auscult.documents import Document, Section, build_document
from auscult.errors import CorpusMissingError, DataError
from auscult.files.json_text import parse_json
from auscult.files.reading import open_unpacked
from auscult.files.records import BadRecords, Record, RecordError, read_records, reject, settle
from auscult.interfaces import Judgement, SentenceSplitter
from auscult.understanding import Query

TEST_BATCHES = ("11b-batch2", "12b-batch1", "12b-batch2")
"""Batches whose questions are the split "test"."""

_WORD = re.compile(r"\w")
_TASK_B = re.compile(rb'\s*\{\s*"questions"\s*:\s*\[')
_HEAD = 256


@dataclass(frozen=True, slots=True)
class _Snippet:
    text: str
    pmid: str


@dataclass(frozen=True, slots=True)
class _Question:
    question_id: str
    text: str
    split: str
    snippets: tuple[_Snippet, ...]


@dataclass(slots=True)
class _Unit:
    """One passage as it is gathered over all questions."""

    text: str
    pmids: dict[str, None] = field(default_factory=dict)
    splits: set[str] = field(default_factory=set)


class BioasqCorpus:
    """Questions, snippets, and which snippets answer which question.

    Args:
        paths: JSON lines or Task B files, plain or gzip-compressed, in this order.
        name: The corpus' name.
        skip_bad: Leave documents of bad records out and count them in `bad`. Queries and judgements are always read
            strictly: a figure over a silently smaller test set would not be comparable.
        splitter: Finds sentences inside a snippet; the default splitter when not given.

    Attributes:
        name: The corpus' name.
        bad: What the latest pass over the documents skipped.

    Raises:
        CorpusMissingError: No file was named.
    """

    def __init__(
        self, *paths: Path | str, name: str = "bioasq", skip_bad: bool = False, splitter: SentenceSplitter | None = None
    ) -> None:
        if not paths:
            raise CorpusMissingError("at least one file", "none", "name the corpus' files")
        self.name = name
        self.paths = tuple(Path(path) for path in paths)
        self.bad = BadRecords()
        self._skip_bad = skip_bad
        self._splitter = splitter

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Every distinct snippet as a document with one passage, in the order in which the files first quote it.

        Args:
            split: Snippets of this split's questions; a snippet of questions of both splits is in both.

        Raises:
            CorpusMissingError: A file is not there.
            RecordError: A record is bad (unless `skip_bad`).
        """
        self.bad = BadRecords()
        units: dict[str, _Unit] = {}
        for question in self._questions(skip_bad=self._skip_bad):
            for snippet in question.snippets:
                unit = units.setdefault(passage_id_of(snippet.text), _Unit(snippet.text))
                unit.splits.add(question.split)
                if snippet.pmid:
                    unit.pmids.setdefault(snippet.pmid)
        for passage_id, unit in units.items():
            if split is None or split in unit.splits:
                yield self._document(passage_id, unit)

    def _document(self, passage_id: str, unit: _Unit) -> Document:
        first = next(iter(unit.pmids), "")
        return build_document(
            doc_id=passage_id,
            title="",
            sections=[Section("", unit.text, passage_id=passage_id)],
            source="PubMed",
            url=f"https://pubmed.ncbi.nlm.nih.gov/{first}/" if first else "",
            metadata={"pmids": " ".join(unit.pmids)} if unit.pmids else {},
            splitter=self._splitter,
        )

    def queries(self, split: str) -> Sequence[Query]:
        """The questions of a split; a question stands where an entity would, so that any model can rank for it.

        Raises:
            CorpusMissingError: A file is not there.
            RecordError: A record is bad.
        """
        chosen = (each for each in self._questions() if each.split == split)
        return [Query(query_id=each.question_id, entity=each.text, text=each.text) for each in chosen]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """The snippets that experts chose for each question of a split, each once.

        Raises:
            CorpusMissingError: A file is not there.
            RecordError: A record is bad.
        """
        return [
            Judgement(question.question_id, passage_id)
            for question in self._questions()
            if question.split == split
            for passage_id in dict.fromkeys(passage_id_of(snippet.text) for snippet in question.snippets)
        ]

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """None are given: a question's snippets are looked for among all."""
        return {}

    def _questions(self, *, skip_bad: bool = False) -> Iterator[_Question]:
        seen: set[str] = set()
        for path in self.paths:
            for record in _records(path, skip_bad=skip_bad, report=self.bad):
                try:
                    question = _question(record, _split_of(path, record))
                    if question.question_id in seen:
                        found = f"{question.question_id!r} again"
                        reject("duplicate id", record.where, "an id of its own for each question", found)
                except RecordError as error:
                    settle(error, skip_bad, self.bad)
                    continue
                seen.add(question.question_id)
                yield question


def passage_id_of(text: str) -> str:
    """The id of a snippet: the same wherever its words stand in the same order, whatever white space is between."""
    return "bioasq:" + hashlib.blake2b(" ".join(text.split()).encode(), digest_size=8).hexdigest()


def is_task_b(path: Path) -> bool:
    """Whether a file looks like the challenge's own JSON."""
    try:
        with open_unpacked(path) as stream:
            return _TASK_B.match(stream.read(_HEAD)) is not None
    except (OSError, EOFError, zlib.error):
        return False


def _records(path: Path, *, skip_bad: bool, report: BadRecords) -> Iterable[Record]:
    if path.is_file() and is_task_b(path):
        return _task_b_records(path)
    return read_records(path, skip_bad=skip_bad, report=report)


def _task_b_records(path: Path) -> list[Record]:
    """The questions of a Task B file; `line` is a question's number in it."""
    try:
        with open_unpacked(path) as stream:
            content = parse_json(stream.read())
    except (OSError, EOFError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError("a JSON file of BioASQ Task B", f"{path}: {error}", "fetch the file again") from None
    whole = Record(path, 1, content)
    return [Record(path, number, each.fields) for number, each in enumerate(whole.records("questions"), start=1)]


def _split_of(path: Path, record: Record) -> str:
    if "batch" in record.fields:
        return "test" if record.text("batch") in TEST_BATCHES else "train"
    return "test" if "golden" in path.name.lower() else "train"


def _question(record: Record, split: str) -> _Question:
    own = "question_id" in record.fields
    return _Question(
        question_id=record.text("question_id" if own else "id"),
        text=" ".join(record.text("question" if own else "body").split()),
        split=split,
        snippets=tuple(_snippets(record)),
    )


def _snippets(record: Record) -> Iterator[_Snippet]:
    # A question without snippets (a test set before its answers are out) is a query without judgements.
    if record.fields.get("snippets") is None:
        return
    for snippet in record.records("snippets"):
        text = snippet.text("text").strip()
        if _WORD.search(text):
            pmid = snippet.text("pmid", "") or snippet.text("document", "").rstrip("/").rpartition("/")[2]
            yield _Snippet(text, pmid)
