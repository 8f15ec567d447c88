"""Bare questions, and questions with passages that experts judged as answers.

**Bare questions** say how common a word is in questions rather than in documents. A file is a tab-separated table with
a header and a column `question`, plain or gzip-compressed; any other text file holds one question a line.

**BioASQ Task B**: biomedical questions and the snippets of PubMed abstracts that experts chose as their answers. The
unit of retrieval is the snippet, mostly one sentence. Equal snippets (up to white space) are one passage, relevant to
every question that quotes it. A passage is a document of its own, since snippets of one abstract may overlap. Two
layouts are read:

- JSON lines, one question each: `{"question_id", "question", "type", "batch", "documents": [pmid, ...],
  "snippets": [{"pmid", "section", "begin", "end", "text"}]}`. The batches of `TEST_BATCHES` are the split "test".
- The challenge's own JSON: `{"questions": [{"id", "body", "type", "documents": [url, ...], "snippets": [{"text",
  "document", "beginSection", "offsetInBeginSection", ...}]}]}`. Each file is one batch. A file of expert answers to a
  test batch, which the challenge calls `12B1_golden.json`, is the split "test"; any other file is "train".

**Short consumer questions** with graded answers: MEDIQA 2019, task 3, second training set (benabacha2019b). Each
question ("What causes Stroke?") was put to a search system, and medical experts graded the answers that it found:
4 excellent, 3 correct but incomplete, 2 related, 1 incorrect. The unit of retrieval is one such answer; the collection
are the answers of all questions. Answers without text (of sites whose text may not be kept) are in neither the
collection nor the judgements.

JSON lines, one question each: `{"question_id", "question", "answers": [{"answer_id", "reference_score", "url", "text"
(null where it is not kept), ...}]}`. A text begins with what the system put before it, mostly "page (heading): ", but
also a question or a truncated title. The text is left unchanged. Documents have no title, because the data has none.
There is one split, "development": the data set is for measuring and choosing models, never for training. Experiments
refuse it (`catalogue.Entry.measured_only`).
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from auscult.catalogue import catalogue, locate
from auscult.documents import Document, Section, build_document
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import CorpusMissingError, DataError
from auscult.files.json_text import parse_json
from auscult.files.reading import open_unpacked, read_lines
from auscult.files.records import BadRecords, Record, RecordError, read_records, reject, settle
from auscult.ingest.corpus import Judgement
from auscult.understanding import Query

GENERAL = "general-questions"
"""The catalogue's collection of questions about anything."""
TEST_BATCHES = ("11b-batch2", "12b-batch1", "12b-batch2")
"""Batches of BioASQ whose questions are the split "test"."""
DEVELOPMENT = "development"
"""The one split of consumer questions."""
RELEVANCE = {1: 0, 2: 0, 3: 1, 4: 2}
"""Relevance of a consumer question's answer by its grade: the task counts 3 and 4 as correct."""

_COLUMN = "question"
_WORD = re.compile(r"\w")
_TASK_B = re.compile(rb'\s*\{\s*"questions"\s*:\s*\[')
_HEAD = 256


def read_questions(spec: str | Path = GENERAL) -> Iterator[str]:
    """Stream the questions of a collection of bare questions.

    Args:
        spec: A catalogue name ("general-questions"), or a file.

    Raises:
        CorpusMissingError: It is not on this machine.
        DataError: The file cannot be read, or is no text in UTF-8.
    """
    path = locate(spec) if isinstance(spec, str) and spec in catalogue() else Path(spec)
    if not path.is_file():
        raise CorpusMissingError(f"a file of questions at {path}", "no such file", f"correct it, or give '{GENERAL}'")
    column: int | None = None
    for number, line in read_lines(path):
        cells = line.split("\t")
        if number == 1 and _COLUMN in cells:
            column = cells.index(_COLUMN)
            continue
        question = line if column is None else cells[min(column, len(cells) - 1)]
        if question.strip():
            yield question.strip()


@dataclass(frozen=True, slots=True)
class Answer:
    """A passage that experts judged for a question.

    Attributes:
        source: The PubMed identifier, or the address of the page; may be empty.
    """

    passage_id: str
    text: str
    source: str
    relevance: int = 1


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its judged passages.

    Attributes:
        is_query: Whether it is among the queries.
        batch: Name of the batch in which it was published; empty for data without batches.
    """

    question_id: str
    text: str
    split: str
    answers: tuple[Answer, ...]
    is_query: bool = True
    batch: str = ""


class AnsweredQuestions(ABC):
    """Questions and their judged passages, each distinct passage a document of its own.

    Args:
        paths: The files, plain or gzip-compressed; read in this order.
        name: The corpus' name; by default that of the class.
        skip_bad: Leave documents of bad records out and count them in `bad`. Queries and judgements are always read
            strictly: a figure over a silently smaller test set would not be comparable.
        splitter: Finds sentences inside a passage; the default splitter when not given.

    Attributes:
        name: The corpus' name.
        bad: What the latest pass over the documents skipped.

    Raises:
        CorpusMissingError: No file was named.
    """

    name = ""

    def __init__(
        self, *paths: Path | str, name: str = "", skip_bad: bool = False, splitter: SentenceSplitter | None = None
    ) -> None:
        if not paths:
            raise CorpusMissingError("at least one file", "none", "name the corpus' files")
        self.name = name or self.name
        self.paths = tuple(Path(path) for path in paths)
        self.bad = BadRecords()
        self._skip_bad = skip_bad
        self._splitter = splitter

    @abstractmethod
    def question(self, record: Record) -> Question:
        """Read one record.

        Raises:
            RecordError: A field is missing or of the wrong type.
        """

    @abstractmethod
    def document(self, passage_id: str, text: str, sources: Sequence[str]) -> Document:
        """Build the document of a passage; `sources` are those of its answers, each once and none empty."""

    def records(self, path: Path, *, skip_bad: bool) -> Iterable[Record]:
        """Stream the records of a file."""
        return read_records(path, skip_bad=skip_bad, report=self.bad)

    @abstractmethod
    def check_split(self, split: str) -> None:
        """Check that the corpus can have a split.

        Raises:
            CorpusMissingError: There is no such split.
        """

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Stream every distinct passage as a document, in the order in which the files first have it.

        Args:
            split: Passages of this split's questions. A passage of questions in several splits is in each of them.

        Raises:
            CorpusMissingError: A file is not there, or there is no such split.
            RecordError: A record is bad (unless `skip_bad`).
        """
        if split is not None:
            self.check_split(split)
        self.bad = BadRecords()
        texts: dict[str, str] = {}
        sources: dict[str, dict[str, None]] = {}
        splits: dict[str, set[str]] = {}
        for question in self._questions(skip_bad=self._skip_bad):
            for answer in question.answers:
                texts.setdefault(answer.passage_id, answer.text)
                splits.setdefault(answer.passage_id, set()).add(question.split)
                known = sources.setdefault(answer.passage_id, {})
                if answer.source:
                    known.setdefault(answer.source)
        for passage_id, text in texts.items():
            if split is None or split in splits[passage_id]:
                yield self.document(passage_id, text, tuple(sources[passage_id]))

    def queries(self, split: str) -> Sequence[Query]:
        """Return the questions of a split, in the order of the files.

        A question takes an entity's place, so that any model can rank for it.

        Raises:
            CorpusMissingError: A file is not there, or there is no such split.
            RecordError: A record is bad.
        """
        return [
            Query(query_id=question.question_id, entity=question.text, text=question.text)
            for question in self._questions_of(split)
        ]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Return the judged passages of each query, each once.

        Raises:
            CorpusMissingError: A file is not there, or there is no such split.
            RecordError: A record is bad.
        """
        return [
            Judgement(question.question_id, passage_id, relevance)
            for question in self._questions_of(split)
            for passage_id, relevance in {answer.passage_id: answer.relevance for answer in question.answers}.items()
        ]

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """Return none: all passages are searched for answers."""
        return {}

    def _questions_of(self, split: str) -> list[Question]:
        self.check_split(split)
        return [question for question in self._questions() if question.split == split and question.is_query]

    def _questions(self, *, skip_bad: bool = False) -> Iterator[Question]:
        seen: set[str] = set()
        for path in self.paths:
            for record in self.records(path, skip_bad=skip_bad):
                try:
                    question = self.question(record)
                    if question.question_id in seen:
                        found = f"{question.question_id!r} again"
                        reject("duplicate id", record.where, "an id of its own for each question", found)
                except RecordError as error:
                    settle(error, skip_bad, self.bad)
                    continue
                seen.add(question.question_id)
                yield question


class BioasqCorpus(AnsweredQuestions):
    """BioASQ's questions and snippets; splits "train" and "test"."""

    name = "bioasq"

    def check_split(self, split: str) -> None:
        """Accept every split; one without questions is empty."""

    def batches(self, split: str) -> Mapping[str, Sequence[str]]:
        """Return the ids of a split's questions by batch, in the order of the files.

        Raises:
            CorpusMissingError: A file is not there.
            RecordError: A record is bad.
        """
        batches: dict[str, list[str]] = {}
        for question in self._questions_of(split):
            batches.setdefault(question.batch, []).append(question.question_id)
        return batches

    def records(self, path: Path, *, skip_bad: bool) -> Iterable[Record]:
        """Stream JSON lines, or the questions of a Task B file, numbered by their place in it.

        Raises:
            DataError: A Task B file is malformed.
        """
        if not path.is_file() or not is_task_b(path):
            return super().records(path, skip_bad=skip_bad)
        try:
            with open_unpacked(path) as stream:
                content = parse_json(stream.read())
        except (OSError, EOFError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise DataError("a JSON file of BioASQ Task B", f"{path}: {error}", "fetch the file again") from None
        whole = Record(path, 1, content)
        return [Record(path, number, each.fields) for number, each in enumerate(whole.records("questions"), start=1)]

    def question(self, record: Record) -> Question:
        """Read one question.

        A question without snippets (of a test set whose answers are not published yet) is a query without judgements.
        """
        if "batch" in record.fields:
            batch = record.text("batch")
            split = "test" if batch in TEST_BATCHES else "train"
        else:
            batch = record.path.name.partition(".")[0]
            split = "test" if "golden" in batch.lower() else "train"
        has_id = "question_id" in record.fields
        answers = []
        for snippet in [] if record.fields.get("snippets") is None else record.records("snippets"):
            text = snippet.text("text").strip()
            if _WORD.search(text):
                pmid = snippet.text("pmid", "") or snippet.text("document", "").rstrip("/").rpartition("/")[2]
                answers.append(Answer(snippet_id(text), text, pmid))
        return Question(
            question_id=record.text("question_id" if has_id else "id"),
            text=" ".join(record.text("question" if has_id else "body").split()),
            split=split,
            answers=tuple(answers),
            batch=batch,
        )

    def document(self, passage_id: str, text: str, sources: Sequence[str]) -> Document:
        """Build a snippet's document, with the identifiers of all abstracts that it was taken from."""
        return build_document(
            doc_id=passage_id,
            title="",
            sections=[Section("", text, passage_id=passage_id)],
            source="PubMed",
            url=f"https://pubmed.ncbi.nlm.nih.gov/{sources[0]}/" if sources else "",
            metadata={"pmids": " ".join(sources)} if sources else {},
            splitter=self._splitter,
        )


def snippet_id(text: str) -> str:
    """Return the id of a snippet: equal for equal words in the same order, whatever the white space."""
    return "bioasq:" + hashlib.blake2b(" ".join(text.split()).encode(), digest_size=8).hexdigest()


def is_task_b(path: Path) -> bool:
    """Check whether a file begins like the challenge's own JSON."""
    try:
        with open_unpacked(path) as stream:
            return _TASK_B.match(stream.read(_HEAD)) is not None
    except (OSError, EOFError, zlib.error):
        return False


class ConsumerQuestionsCorpus(AnsweredQuestions):
    """Consumer questions with graded answers; one split, "development".

    Relevance is 2 for an excellent answer, 1 for an incomplete one, 0 for one that is related or incorrect. A question
    without a correct answer in the collection is no query, because no ranking could be right; its answers stay.
    """

    name = "consumer-questions"

    def check_split(self, split: str) -> None:
        """Check that a split is "development".

        Raises:
            CorpusMissingError: There is no such split.
        """
        if split != DEVELOPMENT:
            raise CorpusMissingError(
                f"the split '{DEVELOPMENT}' of consumer questions",
                f"'{split}'",
                f"name '{DEVELOPMENT}': there is no other",
            )

    def question(self, record: Record) -> Question:
        """Read one question."""
        text = " ".join(record.text("question").split())
        if not text:
            reject("empty question", record.where, "words in 'question'", "none")
        question_id = record.text("question_id")
        answers: dict[str, Answer] = {}
        for fields in record.records("answers"):
            answer = self._answer(fields)
            if answer.passage_id in answers:
                found = f"{answer.text[:40]!r} of {answer.source} again"
                reject("duplicate answer", record.where, "each answer of a question once", found)
            if answer.text.strip():
                answers[answer.passage_id] = answer
        is_query = any(answer.relevance for answer in answers.values())
        return Question(question_id, text, DEVELOPMENT, tuple(answers.values()), is_query)

    def _answer(self, record: Record) -> Answer:
        name = "reference_score"
        if name not in record.fields:
            reject("missing field", record.where, f"a field '{name}' in each answer", "an answer without it")
        grade = record.fields[name]
        # bool is a subclass of int: True would pass as grade 1.
        if type(grade) is not int or grade not in RELEVANCE:
            reject("wrong type", record.where, f"a whole number from 1 to 4 in '{name}'", repr(grade))
        url, text = record.text("url"), record.text("text", "")
        return Answer(answer_id(url, text), text, url, RELEVANCE[grade])

    def document(self, passage_id: str, text: str, sources: Sequence[str]) -> Document:
        """Build an answer's document; its source is the host of the page."""
        url = sources[0] if sources else ""
        return build_document(
            doc_id=passage_id,
            title="",
            sections=[Section("", text, passage_id=passage_id)],
            source=(urlsplit(url).hostname or "").removeprefix("www."),
            url=url,
            splitter=self._splitter,
        )


def answer_id(url: str, text: str) -> str:
    """Return the id of an answer: equal for equal texts of the same page."""
    return "answer:" + hashlib.blake2b(f"{url}\n{text}".encode(), digest_size=8).hexdigest()
