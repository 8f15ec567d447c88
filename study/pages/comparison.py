"""The tables of a paper's page: a row per model, a column per task, measured beside published figures.

Further measures, intervals, times and variants are in `models.csv`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from auscult_lab.evaluation.records import TEST, Asked, EvaluationRecord
from auscult_lab.evaluation.tables import (
    PARTIAL,
    SUPERVISED,
    TextTable,
    percent,
    published_cells,
    remarks,
)
from auscult_lab.evaluation.tracks import trained_on
from study.epochs import mark_of
from study.pages.encoder_marks import EncoderMarks
from study.pages.how_made import commands_note, how_made
from study.pages.papers import Comparison, Page
from study.pages.reading import Filed
from study.published import paper_row, paper_tables, published_row, published_table
from study.unseen import is_unseen

_BASELINE = "BM25"
_SIGNS = {"better": "↑", "worse": "↓", "not told apart": "≈", "": ""}
SIGNS_EXPLAINED = """↑, ↓: significantly better, worse than BM25 by MAP (p < 0.05, Holm); ≈: no difference shown; no
sign: not compared."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A model and its records by task; whether another row has the same title."""

    model: str
    records: Mapping[Asked, EvaluationRecord]
    is_repeated: bool

    @property
    def first(self) -> EvaluationRecord:
        return next(iter(self.records.values()))

    @property
    def learned(self) -> bool:
        return self.first.track != "untrained"


@dataclass(frozen=True, slots=True)
class _Column:
    """A heading and its cells, top to bottom."""

    heading: str
    cells: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not any(self.cells)


def comparisons_of(page: Page, filed: Sequence[Filed]) -> tuple[Comparison, ...]:
    """Return the page's tables; for a page without a choice, one a track with all corpora."""
    if page.comparisons:
        return page.comparisons
    tracks = [track for track in ("zero-shot", "adapted") if any(entry.record.track == track for entry in filed)] or [
        "untrained"
    ]
    corpora = tuple(dict.fromkeys(entry.record.corpus for entry in filed))
    return tuple(Comparison(f"{track.capitalize()} models", track, corpora) for track in tracks if filed)


def comparison_table(comparison: Comparison, page: Page, filed: Sequence[Filed], marks: EncoderMarks) -> TextTable:
    """Build a table of models: those that learned nothing first, then by their first figure.

    Args:
        comparison: Which tasks and track.
        page: The page, whose paper's figures stand beside.
        filed: The page's records.
        marks: The page's marks of encoders.

    Returns:
        The table; without rows where nothing was measured.
    """
    tasks = _tasks(comparison, filed)
    rows = _rows(comparison, tasks, filed)
    if not rows:
        return TextTable(comparison.title, (), ())
    records = [record for row in rows for record in row.records.values()]
    compared = [entry.record for entry in filed]
    columns = [_Column("Model", tuple(_name(row, marks) for row in rows))]
    if any(row.is_repeated for row in rows):
        columns.append(_Column("learned from", tuple(trained_on(row.first.training) or "" for row in rows)))
    for _, alike in groupby(tasks, key=lambda task: (task.protocol, task.corpus)):
        of_corpus = list(alike)
        for task in of_corpus:
            columns += _measured(task, comparison, rows, compared)
        if page.published:
            columns += _published(of_corpus, comparison, page.published, rows)
    columns += [_paper_figures(corpus, measure, page.name, rows) for corpus, measure in comparison.elsewhere]
    shown = [column for column in columns if not column.is_empty]
    cells = tuple(zip(*(column.cells for column in shown), strict=True))
    notes = _notes(comparison, page, records)
    return TextTable(comparison.title, tuple(column.heading for column in shown), cells, notes)


def command_rows(comparison: Comparison, page: Page, filed: Sequence[Filed]) -> list[dict[str, str]]:
    """Return the command and the minutes of each row of a table, once per task; without rows that have none."""
    described = []
    for row in _rows(comparison, _tasks(comparison, filed), filed):
        for task, record in row.records.items():
            if made := how_made(record):
                described.append(
                    {
                        "page": page.name,
                        "table": comparison.title,
                        "model": row.model,
                        "learned from": trained_on(record.training) or "",
                        "task": task_name(task),
                    }
                    | made.to_row()
                )
    return described


def _tasks(comparison: Comparison, filed: Sequence[Filed]) -> list[Asked]:
    """Return the tasks in order of columns: by corpus, re-ranking first, test splits and whole ones first."""
    tasks = dict.fromkeys(entry.record.asked for entry in filed if entry.record.track == comparison.track)
    chosen = [task for task in tasks if task.corpus in comparison.corpora and not is_unseen(task.subset)]

    def place(task: Asked) -> tuple[bool, int, bool, int]:
        return task.protocol == "end-to-end", comparison.corpora.index(task.corpus), task.split != TEST, -task.queries

    return sorted(chosen, key=place)


def _rows(comparison: Comparison, tasks: Sequence[Asked], filed: Sequence[Filed]) -> list[_Row]:
    """Return one row per model. Several trainings of one title on a task get one row each."""
    titles: dict[str, list[EvaluationRecord]] = {}
    for record in (entry.record for entry in filed):
        is_part = "only)" in record.model  # "CDV (entity only)"
        if record.asked in tasks and record.track in ("untrained", comparison.track) and not is_part:
            titles.setdefault(record.model, []).append(record)
    rows = []
    for model, records in titles.items():
        trainings = {(record.asked, record.fingerprint) for record in records}
        is_repeated = len(trainings) > len({record.asked for record in records})
        models: dict[str, dict[Asked, EvaluationRecord]] = {}
        for record in records:
            models.setdefault(record.fingerprint if is_repeated else "", {}).setdefault(record.asked, record)
        rows += [_Row(model, by_task, is_repeated) for by_task in models.values()]

    def place(row: _Row) -> tuple[bool, list[float]]:
        figures = [row.records[task].measures[comparison.measures[0]] if task in row.records else 0 for task in tasks]
        return row.learned, [-figure for figure in figures]

    return sorted(rows, key=place)


def _name(row: _Row, marks: EncoderMarks) -> str:
    records = row.records.values()
    encoders = dict.fromkeys(marks.of(record) for record in records)
    faults = dict.fromkeys(mark_of(record.training) for record in records)
    return "".join((row.model, *encoders, *faults))


def task_name(task: Asked) -> str:
    """Name a task in a heading: the corpus, and how it differs from the whole test with given candidates."""
    parts = [task.title]
    if task.subset:
        parts.append(f"{task.queries:,} queries")
    if task.protocol == "end-to-end":
        parts.append("all passages")
    return ", ".join(parts)


def _measured(
    task: Asked, comparison: Comparison, rows: Sequence[_Row], compared: Sequence[EvaluationRecord]
) -> list[_Column]:
    """Build a column per measure; end to end, only of the first one. The first has the sign against BM25."""
    columns = []
    for measure in comparison.measures if task.protocol == "rerank" else comparison.measures[:1]:
        cells = []
        for row in rows:
            record = row.records.get(task)
            sign = _SIGNS[against_bm25(record, compared)] if record and measure == comparison.measures[0] else ""
            cells.append(percent(record.measures[measure]) + sign if record else "")
        columns.append(_Column(f"{task_name(task)}: {measure}", tuple(cells)))
    return columns


def _published(tasks: Sequence[Asked], comparison: Comparison, citation: str, rows: Sequence[_Row]) -> list[_Column]:
    """Build a column per measure with the published figures on the corpus of some tasks."""
    repeated = []
    for row in rows:
        found = (published_row(row.records[task], citation) for task in tasks if task in row.records)
        repeated.append(next((published for published in found if published is not None), None))
    return [
        _Column(f"publ. {measure}", tuple(published_cells(row, [measure])[0] for row in repeated))
        for measure in comparison.measures
    ]


def _paper_figures(corpus: str, measure: str, citation: str, rows: Sequence[_Row]) -> _Column:
    """Build the column of the paper's figures on a corpus that is not available."""
    cells = tuple(published_cells(paper_row(row.model, corpus, citation), [measure])[0] for row in rows)
    return _Column(f"publ. {measure}, {corpus}", cells)


def against_bm25(record: EvaluationRecord, records: Sequence[EvaluationRecord]) -> str:
    """Compare a model's MAP with that of BM25 in the same evaluation; empty where they were not compared."""
    if record.track == "untrained":
        return ""
    if _BASELINE in record.better_than.get("AP", []):
        return "better"
    alike = [other for other in records if other.asked == record.asked and other.compared_in == record.compared_in]
    baseline = next((other for other in alike if other.model == _BASELINE), None)
    if baseline is None:
        # Its record may be of another evaluation, which says nothing of this model.
        return ""
    return "worse" if record.label in baseline.better_than.get("AP", []) else "not told apart"


def _notes(comparison: Comparison, page: Page, records: Sequence[EvaluationRecord]) -> tuple[str, ...]:
    sentences = [*_accuracy(records, comparison.measures[0])]
    if comparison.track == "adapted":
        adapted = dict.fromkeys(record.corpus for record in records if record.track == "adapted")
        sentences += [SUPERVISED[corpus] for corpus in adapted if corpus in SUPERVISED]
    sentences += remarks([(record.model, record.training) for record in records])
    sentences += _sources(comparison, page, records)
    # An example in a page's first table shows what the others' links lead to.
    commands = commands_note(records, example=comparison in page.comparisons[:1])
    return tuple(filter(None, (" ".join(sentences), commands)))


def _accuracy(records: Iterable[EvaluationRecord], measure: str) -> list[str]:
    widths = [high - low for record in records for low, high in [record.intervals.get(measure, (0.0, 0.0))]]
    widest = max(widths) / 2
    return [f"95 % intervals of {measure}: ± {100 * widest:.1f} at most."] if widest else []


def _sources(comparison: Comparison, page: Page, records: Sequence[EvaluationRecord]) -> list[str]:
    """Return a sentence that names the published tables, and how their tests differ."""
    sentences = []
    repeated = [(record, published_table(record, page.published)) for record in records if record.track != "untrained"]
    beside = [(record, table) for record, table in repeated if page.published and table is not None]
    if beside:
        titles = dict.fromkeys(table.table.partition(",")[0] for _, table in beside)
        saw_more = comparison.track == "adapted" and any(table.track == "zero-shot" for _, table in beside)
        sentences.append(
            f"Published: {page.published}, {'; '.join(titles)}{'; models here saw more' if saw_more else ''}."
        )
    if any(record.query_subset for record, _ in beside):
        sentences.append("Published figures are of all queries.")
    partial = dict.fromkeys(record.corpus for record, _ in beside if record.corpus in PARTIAL)
    sentences += [f"Not the same test of {corpus}: {PARTIAL[corpus]}." for corpus in partial]
    for corpus, _ in comparison.elsewhere:
        titles = dict.fromkeys(table.table for table in paper_tables(corpus, page.name))
        sentences.append(f"On {corpus}: {page.name}, {', '.join(titles)}.")
    return sentences
