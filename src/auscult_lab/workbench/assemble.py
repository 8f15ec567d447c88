"""The content of a report, from records, rankings and data; `page` lays it out."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from auscult.documents import Document
from auscult.documents.analysis import Analyzer
from auscult.provenance import now
from auscult.search.hits import Ranking
from auscult.version import __version__
from auscult_lab.evaluation.measures import MEASURES, measure
from auscult_lab.evaluation.published_figures import PublishedRow, PublishedTable, published_content, published_tables
from auscult_lab.evaluation.records import EvaluationRecord
from auscult_lab.evaluation.task import Task
from auscult_lab.workbench.folder import WorkFolder
from auscult_lab.workbench.plan import CANDIDATES
from auscult_lab.workbench.running import build_user_task, read_answers, read_results

_CORPORA = ("medquad", "wikisection", "healthqa", "nfcorpus", "mimic-iii")


@dataclass(frozen=True, slots=True)
class Answer:
    """A passage as a model ranked it.

    Attributes:
        passage_id: Its id.
        title: Title of its document, and its heading.
        text: The part of its text that the page shows.
        score: The model's score.
        relevance: Judged relevance; 0 without a judgement.
        highlights: Half-open character ranges in `text` of words of the question.
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
        text: Its text.
        answers: By a model's label, best first.
        measures: By a model's label, this question's measures, such as "AP" and "P@1".
        relevant: Number of passages judged relevant.
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
        title: The user's title of the data.
        counts: Size of the data: "questions", "passages", "judgements", "training questions", ...; in order.
        warnings: Oddities of the data, one sentence each.
        records: One record per model, with measures, intervals, `better_than`, costs and learning history.
        questions: Test questions.
        published: The tables of the five papers.
        version: Version of the software.
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
def read_published_tables() -> tuple[PublishedTable, ...]:
    """Return the re-ranking tables of the five papers, for each of their corpora, in order and without repeats."""
    return (*(table for corpus in _CORPORA for table in published_tables(corpus)), _read_weighted_cosine())


def _read_weighted_cosine() -> PublishedTable:
    """Return galko2017's table, whose figures are fractions."""
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


ANSWERS = 10
"""Shown of each model for a question."""
SHOWN_QUESTIONS = 200
"""More would make the page too heavy to open."""
_CHARACTERS = 400
# Characters shown before the first common word, where a text is not shown from its beginning.
_LEAD = 80
_SHOWN_MEASURES = (*MEASURES, "P@1", "P@3", "P@5")
_WORD = re.compile(r"[^\W_]+")
_STEMMED = Analyzer(stop_words=True, stemming=True)
# Question words, which name nothing; the analyzer's stop words do not include them.
_ASKING = frozenset(
    _STEMMED("what which who whom whose when where why how do does did can could has have should would")
)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A passage, as the page shows it."""

    title: str
    text: str


def assemble(work: WorkFolder) -> ReportContent:
    """Compute a report from a workbench's folder.

    Args:
        work: The folder, after `running.run`.

    Raises:
        ConfigError: The folder is no workbench, or has no results yet.
        DataError: Something in it is damaged.
    """
    description, records = work.description(), read_results(work)
    task = build_user_task(work, description)
    rankings = {record.label: read_answers(work, record.label, task) for record in records}
    rows = np.arange(len(task.queries))
    if len(rows) > SHOWN_QUESTIONS:
        rows = np.sort(np.random.default_rng(task.seed).choice(rows, size=SHOWN_QUESTIONS, replace=False))
    chosen = [int(row) for row in rows]
    if description.protocol == "end-to-end":
        how = f"For each test question, all {description.counts['passages']:,} passages were ranked."
    else:
        how = (
            f"For each test question, the {CANDIDATES} passages were ranked that BM25 finds, with the relevant ones "
            "that it misses put in: measures say how well models rank these, not how well they search the whole "
            "collection."
        )
    notes = [*description.warnings, how]
    if len(chosen) < len(task.queries):
        notes.append(f"The page shows {len(chosen)} of {len(task.queries):,} test questions, drawn at random.")
    return ReportContent(
        title=description.title,
        counts=description.counts,
        warnings=tuple(notes),
        records=records,
        questions=_collect_questions(task, records, rankings, chosen),
        published=read_published_tables(),
        version=__version__,
        date=now(),
    )


def highlights(question: str, text: str) -> tuple[tuple[int, int], ...]:
    """Return half-open ranges of a text's words that are in the question, ignoring endings and stop words."""
    wanted = set(_STEMMED(question)) - _ASKING
    return tuple(match.span() for match in _WORD.finditer(text) if not wanted.isdisjoint(_stem(match.group())))


@cache
def _stem(word: str) -> tuple[str, ...]:
    return tuple(_STEMMED(word))


def _collect_questions(
    task: Task,
    records: Sequence[EvaluationRecord],
    rankings: Mapping[str, Mapping[str, Ranking]],
    chosen: Sequence[int],
) -> tuple[AskedQuestion, ...]:
    passages = _collect_passages(task.documents)
    judged: dict[str, dict[str, int]] = {}
    for judgement in task.judgements:
        judged.setdefault(judgement.query_id, {})[judgement.passage_id] = judgement.relevance
    measured = {record.label: _measure_questions(task, rankings[record.label]) for record in records}
    questions = []
    for row in chosen:
        query = task.queries[row]
        grades = judged.get(query.query_id, {})
        questions.append(
            AskedQuestion(
                query_id=query.query_id,
                text=query.text,
                answers={
                    label: tuple(_collect_answers(query.text, own[query.query_id], grades, passages))
                    for label, own in rankings.items()
                },
                measures={label: own[query.query_id] for label, own in measured.items()},
                relevant=sum(grade > 0 for grade in grades.values()),
            )
        )
    return tuple(questions)


def _measure_questions(task: Task, rankings: Mapping[str, Ranking]) -> dict[str, dict[str, float]]:
    """Measure rankings: query_id -> measure -> value."""
    found = measure(rankings.values(), task.judgements, _SHOWN_MEASURES)
    return {
        query_id: {name: float(value) for name, value in zip(found.names, values, strict=True)}
        for query_id, values in zip(found.query_ids, found.values, strict=True)
    }


def _collect_answers(
    question: str, ranking: Ranking, grades: Mapping[str, int], passages: Mapping[str, _Shown]
) -> list[Answer]:
    best = zip(ranking.passage_ids[:ANSWERS], ranking.scores[:ANSWERS], strict=True)
    answers = []
    for passage_id, score in best:
        text = cut_excerpt(question, passages[passage_id].text)
        answers.append(
            Answer(
                passage_id=passage_id,
                title=passages[passage_id].title,
                text=text,
                score=score,
                relevance=grades.get(passage_id, 0),
                highlights=highlights(question, text),
            )
        )
    return answers


def _collect_passages(documents: Sequence[Document]) -> dict[str, _Shown]:
    return {
        passage.passage_id: _Shown(
            ": ".join(part for part in (document.title, passage.heading) if part), document.slice(passage).strip()
        )
        for document in documents
        for passage in document.passages
    }


# Models have many of a question's answers in common.
@lru_cache(maxsize=1_000)
def cut_excerpt(question: str, text: str) -> str:
    """Return the part of a text with the most words of a question, cut between words; the first of equal ones."""
    if len(text) <= _CHARACTERS:
        return text
    spans = highlights(question, text)
    begins, ends = [begin for begin, _ in spans], [end for _, end in spans]

    def held(start: int) -> int:
        return bisect_right(ends, start + _CHARACTERS) - bisect_left(begins, start)

    start = max([0, *(max(begin - _LEAD, 0) for begin in begins)], key=held)
    if start:
        # Begin at the next word, unless the text has no blanks.
        start = text.find(" ", start, start + _LEAD) + 1 or start
    end = start + _CHARACTERS
    if end < len(text):
        end = max(text.rfind(" ", start + _LEAD, end), 0) or end
    return ("… " if start else "") + text[start:end].strip() + (" …" if end < len(text) else "")
