"""Short consumer questions with graded answers: MEDIQA 2019, task 3, second training set (benabacha2019b).

Each question ("What causes Stroke?") was put to a search system, and medical experts graded the answers that it found:
4 excellent, 3 correct but incomplete, 2 related, 1 incorrect. The unit of retrieval is one such answer; the collection
are the answers of all questions, each a document with one passage. Answers without text (of sites whose text may not
be kept) are in neither the collection nor the judgements.

JSON lines, one question each: `{"question_id", "question", "answers": [{"answer_id", "reference_score", "url", "text"
(null where it is not kept), ...}]}`. A text begins with what the system put before it, mostly "page (heading): ", but
also a question or a title cut short. It is kept as it is, and documents have no title: the data names none, and what
stands before the first colon is not one of the page.

There is one split, "development", because the data set is for measuring and choosing with, never for learning from:
experiments refuse it (`catalogue.Entry.measured_only`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from auscult.documents import Document, Section, build_document
from auscult.errors import CorpusMissingError
from auscult.files.records import BadRecords, Record, RecordError, read_records, reject, settle
from auscult.interfaces import Judgement, SentenceSplitter
from auscult.understanding import Query

SPLIT = "development"
"""The one split."""

RELEVANCE = {1: 0, 2: 0, 3: 1, 4: 2}
"""Relevance of an answer by its grade: the task counts 3 and 4 as correct."""


@dataclass(frozen=True, slots=True)
class _Answer:
    passage_id: str
    url: str
    text: str
    grade: int


@dataclass(frozen=True, slots=True)
class _Question:
    question_id: str
    text: str
    answers: tuple[_Answer, ...]

    @property
    def answered(self) -> bool:
        """Whether a correct answer is in the collection: without one no ranking could be right."""
        return any(RELEVANCE[each.grade] for each in self.answers)


class ConsumerQuestionsCorpus:
    """Questions, the answers that were found for them, and how good those are.

    Args:
        path: A JSON lines file, plain or gzip-compressed.
        name: The corpus' name.
        skip_bad: Leave answers of bad records out and count these in `bad`. Queries and judgements are always read
            strictly: a figure over a silently smaller test set would not be comparable.
        splitter: Finds sentences inside an answer; the default splitter when not given.

    Attributes:
        name: The corpus' name.
        bad: What the latest pass over the documents skipped.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        name: str = "consumer-questions",
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
    ) -> None:
        self.name = name
        self.path = Path(path)
        self.bad = BadRecords()
        self._skip_bad = skip_bad
        self._splitter = splitter

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Every distinct answer that has a text, in the order of the file; those of unanswered questions too.

        Args:
            split: "development" or None, for all of them.

        Raises:
            CorpusMissingError: The file is not there, or there is no such split.
            RecordError: A record is bad (unless `skip_bad`).
        """
        if split is not None:
            _check_split(split)
        self.bad = BadRecords()
        seen: set[str] = set()
        for question in self._questions(skip_bad=self._skip_bad):
            for answer in question.answers:
                if answer.passage_id not in seen:
                    seen.add(answer.passage_id)
                    yield self._document(answer)

    def _document(self, answer: _Answer) -> Document:
        return build_document(
            doc_id=answer.passage_id,
            title="",
            sections=[Section("", answer.text, passage_id=answer.passage_id)],
            source=(urlsplit(answer.url).hostname or "").removeprefix("www."),
            url=answer.url,
            splitter=self._splitter,
        )

    def queries(self, split: str) -> Sequence[Query]:
        """The questions that have a correct answer in the collection, in the order of the file.

        A question stands where an entity would, so that any model can rank for it.

        Raises:
            CorpusMissingError: The file is not there, or there is no such split.
            RecordError: A record is bad.
        """
        _check_split(split)
        return [
            Query(query_id=each.question_id, entity=each.text, text=each.text)
            for each in self._questions()
            if each.answered
        ]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """What experts said of the answers to these questions: 2 excellent, 1 incomplete, 0 related or incorrect.

        Raises:
            CorpusMissingError: The file is not there, or there is no such split.
            RecordError: A record is bad.
        """
        _check_split(split)
        return [
            Judgement(question.question_id, answer.passage_id, RELEVANCE[answer.grade])
            for question in self._questions()
            if question.answered
            for answer in question.answers
        ]

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """None are given: answers are looked for among all."""
        return {}

    def _questions(self, *, skip_bad: bool = False) -> Iterator[_Question]:
        seen: set[str] = set()
        for record in read_records(self.path, skip_bad=skip_bad, report=self.bad):
            try:
                question = _question(record)
                if question.question_id in seen:
                    found = f"{question.question_id!r} again"
                    reject("duplicate id", record.where, "an id of its own for each question", found)
            except RecordError as error:
                settle(error, skip_bad, self.bad)
                continue
            seen.add(question.question_id)
            yield question


def passage_id_of(url: str, text: str) -> str:
    """The id of an answer: the same wherever the same text of the same page is found again."""
    return "answer:" + hashlib.blake2b(f"{url}\n{text}".encode(), digest_size=8).hexdigest()


def _check_split(split: str) -> None:
    if split != SPLIT:
        raise CorpusMissingError(
            f"the split '{SPLIT}' of consumer questions", f"'{split}'", f"name '{SPLIT}': there is no other"
        )


def _question(record: Record) -> _Question:
    text = " ".join(record.text("question").split())
    if not text:
        reject("empty question", record.where, "words in 'question'", "none")
    question_id, answers = record.text("question_id"), tuple(_answers(record))
    ids = [each.passage_id for each in answers]
    if repeated := next((each for each in answers if ids.count(each.passage_id) > 1), None):
        found = f"{repeated.text[:40]!r} of {repeated.url} again"
        reject("duplicate answer", record.where, "each answer of a question once", found)
    return _Question(question_id, text, answers)


def _answers(record: Record) -> Iterator[_Answer]:
    for answer in record.records("answers"):
        grade, url, text = _grade(answer), answer.text("url"), answer.text("text", "")
        if text.strip():
            yield _Answer(passage_id_of(url, text), url, text, grade)


def _grade(answer: Record) -> int:
    name = "reference_score"
    if name not in answer.fields:
        reject("missing field", answer.where, f"a field '{name}' in each answer", "an answer without it")
    grade = answer.fields[name]
    # True equals 1, and would pass as a grade.
    if type(grade) is not int or grade not in RELEVANCE:
        reject("wrong type", answer.where, f"a whole number from 1 to 4 in '{name}'", repr(grade))
    return grade
