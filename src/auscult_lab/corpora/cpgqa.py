"""cpgQA: questions on one guideline, with the places of their answers in its paragraphs (mahbub2023).

Two files of JSON lines: paragraphs, `{"doc_id", "title", "text"}`, and questions, `{"query_id", "text",
"answers": [{"doc_id", "grade", "begin", "length"}]}`. The unit of retrieval is a paragraph, a document of its own.
Titles are left out: a title names the part of the guideline and many paragraphs share it.

Half of the questions, by a seeded hash of their ids, are the split "test", the others "train". Both splits have all
paragraphs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from auscult.documents import Document, Section
from auscult.documents.splitting import SentenceSplitter
from auscult.files.records import Record, read_records, reject
from auscult.ingest.corpus import Judgement
from auscult.ingest.sectioned import Draft, SectionedCorpus
from auscult.understanding import Query

PARAGRAPHS, QUESTIONS = "cpgqa_documents.jsonl.gz", "cpgqa_questions.jsonl.gz"
"""Files of a folder with both."""
_SEED = "auscult cpgqa test 1"


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """The place of an answer.

    Attributes:
        begin: First character in the paragraph's text.
        end: One past the last.
    """

    passage_id: str
    relevance: int
    begin: int
    end: int


class CpgQaCorpus(SectionedCorpus):
    """Paragraphs, questions, and the paragraphs that hold the answers.

    Args:
        folder: Folder of both files.
        skip_bad: Leave bad paragraphs out and count them in `bad`, instead of raising. Questions are always read
            strictly: a figure over a silently smaller test set would not be comparable.
        splitter: Finds sentences; the default splitter when not given.
    """

    name = "cpgqa"

    def __init__(
        self, folder: Path | str, *, name: str = "", skip_bad: bool = False, splitter: SentenceSplitter | None = None
    ) -> None:
        super().__init__(Path(folder) / PARAGRAPHS, name=name, skip_bad=skip_bad, splitter=splitter)
        self._questions = Path(folder) / QUESTIONS

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Stream all paragraphs, for any split."""
        return super().documents(None)

    def draft(self, record: Record) -> Draft:
        """Read one paragraph."""
        doc_id = record.text("doc_id")
        return Draft(
            doc_id=doc_id,
            title="",
            sections=[Section("", record.text("text"), passage_id=doc_id)],
            source="cpgQA",
            metadata={"part": record.text("title", "")},
        )

    def queries(self, split: str) -> Sequence[Query]:
        """Return the questions; a question takes an entity's place, so that any model can rank for it."""
        questions = ((record.text("query_id"), record.text("text").strip()) for record in self._questions_of(split))
        return [Query(query_id=query_id, entity=question, text=question) for query_id, question in questions]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Return the paragraphs that answer."""
        return [
            Judgement(question.text("query_id"), place.passage_id, place.relevance)
            for question in self._questions_of(split)
            for place in _places(question)
        ]

    def answers(self, split: str) -> dict[str, list[AnswerPlace]]:
        """Return the places of each question's answers, by question id."""
        return {question.text("query_id"): _places(question) for question in self._questions_of(split)}

    def _questions_of(self, split: str) -> Iterator[Record]:
        return (record for record in read_records(self._questions) if split_of(record.text("query_id")) == split)


def split_of(query_id: str) -> str:
    """Return the split of a question."""
    digest = hashlib.sha256(f"{_SEED}\n{query_id}".encode()).digest()
    return "test" if digest[0] % 2 == 0 else "train"


def _places(question: Record) -> list[AnswerPlace]:
    places = []
    for answer in question.records("answers"):
        numbers = [answer.fields.get(name) for name in ("grade", "begin", "length")]
        if not all(type(number) is int and number >= 0 for number in numbers):
            reject("wrong type", answer.where, "whole numbers in 'grade', 'begin' and 'length'", repr(numbers))
        grade, begin, length = (int(number or 0) for number in numbers)
        places.append(AnswerPlace(answer.text("doc_id"), grade, begin, begin + length))
    return places
