"""COVID-QA: questions of experts, and where in open-access articles on coronaviruses their answers stand.

Two files of JSON lines: articles, `{"doc_id", "text"}`, and questions, `{"question_id", "doc_id", "question",
"answers": [{"text", "start"}]}`. An article's text begins with its title, and mostly with lines of authors and
identifiers down to one that names the licence; its body is paragraphs with empty lines between them.

The unit of retrieval is a paragraph. Those below 200 characters, mostly headings and captions, are joined to the next
one; those above 2,000 are cut, at a sentence's end where there is one. Passages with a part of an answer are relevant.
Only the question's own article counts, though a few questions ("What was the aim of this study?") fit others as well.

There is one split, "test". The articles have different licences, and experiments refuse to train on them
(`catalogue.Entry.measured_only`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from auscult.documents import Section
from auscult.documents.splitting import SentenceSplitter
from auscult.files.records import Record, read_records, reject
from auscult.ingest.corpus import Judgement
from auscult.ingest.sectioned import Draft, SectionedCorpus
from auscult.understanding import Query

SPLIT = "test"
"""The one split."""
ARTICLES, QUESTIONS = "covidqa_documents.jsonl.gz", "covidqa_questions.jsonl.gz"
"""Files of a folder with both."""

_SHORTEST, _LONGEST = 200, 2000
_HEAD = 6000
_TITLE = re.compile(r"\s*(\S[^\n]*)")
_LICENCE = re.compile(r"\nLicense:[^\n]*")
_PARAGRAPH = re.compile(r"\S(?:(?!\n[ \t]*\n).)*", re.DOTALL)
_PIECE = re.compile(
    rf"\S(?:.{{0,{_LONGEST - 1}}}\Z|.{{{_SHORTEST},{_LONGEST - 2}}}[.?!](?=\s)|.{{0,{_LONGEST - 1}}})", re.DOTALL
)


class CovidQaCorpus(SectionedCorpus):
    """Articles, questions, and the paragraphs that hold the answers.

    Args:
        articles: JSON lines, plain or gzip-compressed.
        questions: The same; always read strictly: a figure over a silently smaller test set would not be comparable.
        skip_bad: Leave bad articles out and count them in `bad`, instead of raising.
        splitter: Finds sentences; the default splitter when not given.
    """

    name = "covidqa"

    def __init__(
        self,
        articles: Path | str,
        questions: Path | str,
        *,
        name: str = "",
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
    ) -> None:
        super().__init__(articles, name=name, skip_bad=skip_bad, splitter=splitter)
        self._questions = Path(questions)

    def draft(self, record: Record) -> Draft:
        """Read one article."""
        text = record.text("text")
        title = _TITLE.match(text)
        return Draft(
            doc_id=record.text("doc_id"),
            title=title.group(1).strip() if title else "",
            text=text,
            sections=[Section("", text[start:end], start=start) for start, end in passage_ranges(text)],
            split=SPLIT,
            source="COVID-QA",
        )

    def queries(self, split: str) -> Sequence[Query]:
        """Return the questions; a question takes an entity's place, so that any model can rank for it."""
        questions = (
            (record.text("question_id"), record.text("question").strip()) for record in self._questions_of(split)
        )
        return [Query(query_id=query_id, entity=question, text=question) for query_id, question in questions]

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Judge the passages with a part of an answer relevant.

        Raises:
            RecordError: An answer is in no passage.
        """
        questions = list(self._questions_of(split))
        passages = {draft.doc_id: draft.sections for draft in self.drafts()} if questions else {}
        return [
            Judgement(question.text("question_id"), passage_id)
            for question in questions
            for passage_id in _holding(question, passages.get(question.text("doc_id"), ()))
        ]

    def answers(self, split: str) -> dict[str, tuple[str, list[tuple[int, int]]]]:
        """Return by question id the question's article and the ranges of the answers in its text."""
        return {
            question.text("question_id"): (question.text("doc_id"), _ranges(question))
            for question in self._questions_of(split)
        }

    def _questions_of(self, split: str) -> Iterator[Record]:
        return read_records(self._questions) if split == SPLIT else iter(())


def passage_ranges(text: str) -> list[tuple[int, int]]:
    """Return the half-open ranges of an article's passages in its text, in order."""
    head = _LICENCE.search(text, 0, _HEAD) or _TITLE.match(text)
    ranges: list[tuple[int, int]] = []
    begun: int | None = None
    for paragraph in _PARAGRAPH.finditer(text, head.end() if head else 0):
        start = paragraph.start() if begun is None else begun
        begun = start if paragraph.end() - start < _SHORTEST else None
        if begun is None:
            ranges += [piece.span() for piece in _PIECE.finditer(text, start, paragraph.end())]
    # The last paragraph may be too short, and has no next one to join.
    return [*ranges, (begun, len(text.rstrip()))] if begun is not None else ranges


def _ranges(question: Record) -> list[tuple[int, int]]:
    """Return the ranges of a question's answers in its article."""
    ranges = []
    for answer in question.records("answers"):
        start, text = answer.fields.get("start"), answer.text("text")
        if not isinstance(start, int):
            reject("wrong type", answer.where, "a whole number in 'start'", repr(start))
        ranges.append((start, start + len(text.rstrip())))
    return ranges


def _holding(question: Record, passages: Sequence[Section]) -> list[str]:
    """Return the ids of the passages with a part of an answer, without repeats."""
    ranges = _ranges(question)
    passage_ids = [
        passage.passage_id
        for passage in passages
        if any(start < (passage.start or 0) + len(passage.text) and (passage.start or 0) < end for start, end in ranges)
    ]
    if not passage_ids:
        reject("answer outside", question.where, "an answer in a paragraph of its article", "one that is in none")
    return passage_ids
