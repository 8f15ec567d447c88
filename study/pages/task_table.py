"""One table a task and track, narrow enough to read: measured beside published, against BM25, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from auscult_lab.evaluation.pre_trained import PRE_TRAINED
from auscult_lab.evaluation.published_figures import PublishedTable
from auscult_lab.evaluation.records import Asked, EvaluationRecord
from auscult_lab.evaluation.tables import (
    SUPERVISED,
    TextTable,
    main_table,
    percent,
    published_cells,
    published_notes,
    remarks,
    repeated_row,
)
from study.epochs import epoch_notes, mark_of
from study.pages.encoder_marks import EncoderMarks
from study.pages.reading import Filed

TRACKS = ("untrained", "zero-shot", "adapted")
_BASELINE = "BM25"
_SHOWN = ("R@1", "MAP")


def tasks_of(filed: Sequence[Filed]) -> list[Asked]:
    """What was asked: test splits before others, whole ones before subsets, re-ranking before end to end."""
    tasks = dict.fromkeys(each.record.asked for each in filed)
    return sorted(tasks, key=lambda asked: (asked.split != "test", asked.subset != "", asked.protocol == "end-to-end"))


def tracks_of(asked: Asked, filed: Sequence[Filed]) -> list[str]:
    """The tracks of those that were asked and have learned; "untrained" where none has."""
    found = {each.record.track for each in filed if each.record.asked == asked}
    return [track for track in TRACKS[1:] if track in found] or [TRACKS[0]]


def task_title(asked: Asked, track: str) -> str:
    """What a table is of: corpus, protocol, subset and track."""
    protocol = "re-ranking" if asked.protocol == "rerank" else "end to end"
    kind = "term-based models" if track == "untrained" else f"{track} models"
    return ", ".join((asked.title, protocol, *([asked.subset] if asked.subset else []), kind))


def task_table(asked: Asked, track: str, filed: Sequence[Filed], marks: EncoderMarks) -> TextTable:
    """The models of one task and track, of several files; term-based ones first and once, then best MAP first.

    Args:
        asked: The task.
        track: Never shared with another.
        filed: Of a page.
        marks: Of the page.
    """
    rows = _rows(asked, track, filed)
    records = [each.record for each in rows]
    published = published_beside(records, track)
    compared = [name for name in _SHOWN if published is not None and name in published.measures]
    several = len({each.file for each in rows if each.record.track != "untrained"}) > 1
    notes = _notes(records)
    columns = ["Model", "R@1", "MAP", *(f"publ. {name}" for name in compared), "against BM25", "training, min", "ms"]
    if several:
        columns.insert(1, "record")
    cells = []
    for each in rows:
        record = each.record
        name = record.model + marks.of(record) + mark_of(record.training)
        row = [name, _interval(record, "R@1"), percent(record.measures["MAP"])]
        row += published_cells(repeated_row(record, published), compared)
        row += [
            against_bm25(record, [other.record for other in filed]),
            _minutes(record),
            _milliseconds(record.ms_per_query),
        ]
        if several:
            row.insert(1, "" if record.track == "untrained" else each.file)
        cells.append(tuple(row))
    told = [f"{records[0].queries:,} queries{_candidates(records[0])}.", *notes]
    if track == "adapted" and asked.corpus in SUPERVISED:
        told.append(SUPERVISED[asked.corpus])
    # Of one title there may be trainings in several files, and a file is of one bench.
    told += remarks([(each.file if several else each.record.model, each.record.training) for each in rows])
    told += epoch_notes(record.training for record in records)
    if published is not None:
        told += published_notes(records[0], track, published)
    return TextTable(task_title(asked, track) + _pre_trained(records), tuple(columns), tuple(cells), (" ".join(told),))


def _pre_trained(records: Sequence[EvaluationRecord]) -> str:
    """What the title says of zero-shot models whose encoder may have read anything."""
    told = [record.track_told for record in records if record.track == "zero-shot"]
    if PRE_TRAINED not in told:
        return ""
    return ", pre-trained retrievers" + (" among them" if set(told) != {PRE_TRAINED} else "")


def published_beside(records: Sequence[EvaluationRecord], track: str) -> PublishedTable | None:
    """The published table that a record's trained model repeats, or that term-based ones alone stand beside."""
    table = main_table(records, track)
    trained = [record for record in records if record.track != "untrained"]
    repeated = any(repeated_row(record, table) is not None for record in trained)
    return table if repeated or not trained else None


def _rows(asked: Asked, track: str, filed: Sequence[Filed]) -> list[Filed]:
    own = [each for each in filed if each.record.asked == asked and each.record.track in ("untrained", track)]
    found: dict[tuple[str, str, str], Filed] = {}
    for each in own:
        # One model measured in several calls stands once; of one title trained twice, each.
        key = (each.record.model, each.record.track, each.record.fingerprint)
        found.setdefault(key, each)
    return sorted(found.values(), key=lambda each: (each.record.track != "untrained", -each.record.measures["MAP"]))


def _interval(record: EvaluationRecord, name: str) -> str:
    told = percent(record.measures[name])
    if name not in record.intervals:
        return told
    low, high = record.intervals[name]
    return f"{told} [{100 * low:.1f}, {100 * high:.1f}]"


def against_bm25(record: EvaluationRecord, records: Sequence[EvaluationRecord]) -> str:
    """How a model's MAP stands to that of BM25 in the same evaluation; empty where they were not compared."""
    if record.track == "untrained":
        return ""
    if _BASELINE in record.better_than.get("AP", []):
        return "better"
    alike = [each for each in records if each.asked == record.asked and each.compared_in == record.compared_in]
    baseline = next((each for each in alike if each.model == _BASELINE), None)
    if baseline is None:
        # Its record may be of another evaluation, which says nothing of this model.
        return ""
    return "worse" if record.label in baseline.better_than.get("AP", []) else "not told apart"


def _candidates(record: EvaluationRecord) -> str:
    return f" of {record.candidates:.0f} candidates" if record.candidates else " over all passages"


def _minutes(record: EvaluationRecord) -> str:
    seconds = record.training.get("seconds")
    return minutes(seconds / 60) if isinstance(seconds, int | float) else ""


def minutes(value: float) -> str:
    """Minutes of a training, with a digit behind the point where there are few."""
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def _milliseconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def _notes(records: Sequence[EvaluationRecord]) -> list[str]:
    half = [record.model for record in records if record.precision != "float32"]
    if not half:
        return []
    learned = sum(record.track != "untrained" for record in records)
    whom = "all that have learned" if len(half) == learned else ", ".join(half)
    return [f"Ranked in half precision: {whom}."]
