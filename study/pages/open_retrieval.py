"""Tables of questions that are asked of all passages of a corpus, by measures of what a reader sees first."""

from __future__ import annotations

from collections.abc import Sequence

from auscult.evaluation.pre_trained import encoder_notes
from auscult.evaluation.records import EvaluationRecord
from auscult.evaluation.tables import TextTable, percent, with_encoders
from study.pages.reading import Filed
from study.pages.task_table import task_title, tasks_of, tracks_of
from study.unseen import is_unseen

_MEASURES = ("nDCG@10", "P@1", "R@1", "MAP")
_FIRST = ("nDCG@10", "P@1")


def open_tables(filed: Sequence[Filed]) -> list[TextTable]:
    """A table a task and track, with intervals: whole splits before subsets, the best nDCG@10 first."""
    tables: list[TextTable] = []
    for asked in tasks_of(filed):
        for track in tracks_of(asked, filed):
            own = [each.record for each in filed if each.record.asked == asked]
            own = _ordered([each for each in own if each.track in ("untrained", track)])
            rows = tuple((each.model, *(_with_interval(each, name) for name in _MEASURES)) for each in own)
            told = [f"{own[0].queries:,} questions over all {own[0].documents:,} documents; measures in percent."]
            # Told once a page.
            told += encoder_notes([(each.model, each.training) for each in own], track) if not tables else []
            table = TextTable(task_title(asked, track), ("Model", *_MEASURES), rows, (" ".join(told),))
            tables.append(with_encoders(table, own))
    return tables


def short_table(records: Sequence[EvaluationRecord]) -> TextTable:
    """What is seen first, for all questions beside those that share nothing with the shipped model's training.

    Args:
        records: As on the page; the corpus of the first one is shown, without models that read documents of it.
    """
    own = [each for each in records if each.corpus == records[0].corpus and each.track != "adapted"]
    whole = _ordered([each for each in own if not each.query_subset])
    apart = {each.label: each for each in own if is_unseen(each.query_subset)}
    rows = []
    for each in whole:
        cells = [_percent(shown, name) for shown in (each, apart.get(each.label)) for name in _FIRST]
        rows.append((each.model, *cells))
    told = [f"{whole[0].queries:,} questions over {whole[0].documents:,} answers."]
    told += [f"*These*: {each.query_subset}." for each in [*apart.values()][:1]]
    columns = ("Model", *_FIRST, *(f"{name}, these" for name in _FIRST))
    return with_encoders(TextTable("", columns, tuple(rows), (" ".join(told),)), whole)


def _ordered(records: Sequence[EvaluationRecord]) -> list[EvaluationRecord]:
    return sorted(records, key=lambda each: (-each.measures["nDCG@10"], each.label))


def _percent(record: EvaluationRecord | None, name: str) -> str:
    return percent(record.measures[name]) if record else ""


def _with_interval(record: EvaluationRecord, name: str) -> str:
    low, high = record.intervals[name]
    return f"{percent(record.measures[name])} [{100 * low:.1f}, {100 * high:.1f}]"
