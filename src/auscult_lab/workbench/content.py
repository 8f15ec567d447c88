"""What a report shows, computed, before it is laid out as a page; and the published tables that it shows beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from auscult_lab.evaluation.published_figures import PublishedRow, PublishedTable, published_content, published_tables
from auscult_lab.evaluation.records import EvaluationRecord

_CORPORA = ("medquad", "wikisection", "healthqa", "nfcorpus", "mimic-iii")


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


@cache
def every_published_table() -> tuple[PublishedTable, ...]:
    """Every re-ranking table that the five papers published, on each of its corpora, in their order; each once."""
    return (*(table for corpus in _CORPORA for table in published_tables(corpus)), _weighted_cosine())


def _weighted_cosine() -> PublishedTable:
    """galko2017's, whose figures are fractions as they stand."""
    content = published_content("galko2017_table1.json")
    rows = [
        PublishedRow(content["citation"], row["group"], row["model"], row["track"], row["measures"]["bioasq"])
        for row in content["rows"]
    ]
    return PublishedTable(
        citation=content["citation"],
        table=content["table"],
        corpus="bioasq",
        track="adapted",
        trained_on="pages",
        queries=content["queries"]["bioasq"],
        measures=tuple(dict.fromkeys(name for row in rows for name in row.measures)),
        rows=tuple(rows),
        note=content["note"],
    )
