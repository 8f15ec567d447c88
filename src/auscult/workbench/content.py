"""What a report shows, computed, before it is laid out as a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from auscult.evaluation.published_figures import PublishedTable
from auscult.evaluation.records import EvaluationRecord


@dataclass(frozen=True, slots=True)
class Answer:
    """A passage as a model ranked it.

    Attributes:
        passage_id: Its id.
        title: Of its document, and its heading.
        text: The part of it that the page shows.
        score: The model's.
        relevance: As judged; 0 where nobody judged it relevant.
        highlights: Half-open character ranges of `text` that are words of the question.
    """

    passage_id: str
    title: str
    text: str
    score: float
    relevance: int
    highlights: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A test question with each model's best answers.

    Attributes:
        query_id: Its id.
        text: Its words.
        answers: By a model's label, best first.
        measures: By a model's label: this question's measures, as "AP" and "P@1".
        relevant: How many passages are judged relevant.
    """

    query_id: str
    text: str
    answers: Mapping[str, tuple[Answer, ...]]
    measures: Mapping[str, Mapping[str, float]]
    relevant: int


@dataclass(frozen=True, slots=True)
class ReportContent:
    """A report.

    Attributes:
        title: What the user calls the data.
        counts: What the data holds: "questions", "passages", "judgements", "training questions", ...; in order.
        warnings: What was odd about the data, one sentence each.
        records: One of each model, with measures, intervals, `better_than`, costs and learning history.
        questions: Of the test.
        published: The five papers' tables.
        version: Of the software.
        date: ISO 8601.
    """

    title: str
    counts: Mapping[str, int]
    warnings: tuple[str, ...]
    records: tuple[EvaluationRecord, ...]
    questions: tuple[AskedQuestion, ...]
    published: tuple[PublishedTable, ...]
    version: str
    date: str


__all__ = ["Answer", "AskedQuestion", "ReportContent"]
