"""Tables of questions that are asked of all passages of a corpus, by measures of what a reader sees first."""

from __future__ import annotations

from collections.abc import Sequence

from auscult_lab.evaluation.pre_trained import encoder_notes
from auscult_lab.evaluation.records import TEST, Asked, EvaluationRecord
from auscult_lab.evaluation.tables import TextTable, percent, with_encoders
from study.epochs import epoch_notes, mark_of
from study.pages.reading import Filed
from study.pages.task_table import tasks_of, tracks_of

_MEASURES = ("nDCG@10", "P@1", "R@1", "MAP")
_BASELINE = "BM25"
_SEARCH, _GENERAL = "auscult search, ", "General encoder, "
_NAMES = {
    "hidden": "Titles and headings are hidden from the models, because the queries are made of them.",
    "shown": "Models see titles and headings, where there are any.",
}


def open_tables(filed: Sequence[Filed]) -> list[TextTable]:
    """A table a task and track, with intervals: whole splits before subsets, the best nDCG@10 first."""
    tables: list[TextTable] = []
    for asked in tasks_of(filed):
        for track in tracks_of(asked, filed):
            own = [each.record for each in filed if each.record.asked == asked]
            own = _ordered([each for each in own if each.track in ("untrained", track)])
            rows = tuple(
                (each.model + mark_of(each.training), *(_with_interval(each, name) for name in _MEASURES))
                for each in own
            )
            told = [f"{own[0].queries:,} questions over all {own[0].documents:,} documents.", _NAMES[own[0].names]]
            # Told once a page.
            told += encoder_notes([(each.model, each.training) for each in own], track) if not tables else []
            told += epoch_notes(each.training for each in own)
            title = ", ".join(filter(None, (asked.title, asked.subset, "adapted models" * (track == "adapted"))))
            table = TextTable(title, ("Model", *_MEASURES), rows, (" ".join(told),))
            tables.append(with_encoders(table, own))
    return tables


def corpora_table(records: Sequence[EvaluationRecord]) -> TextTable:
    """A row a corpus and a column a model: nDCG@10, and in brackets R@1.

    Args:
        records: As on the page; those of models that read documents of the corpus, and of subsets, are left out.
    """
    own = [each for each in records if each.track != "adapted" and not each.query_subset]
    by_task = {asked: {each.model: each for each in own if each.asked == asked} for asked in _tasks(own)}
    # What anyone has first, then by name; re-ranked behind what it is of.
    models = list(dict.fromkeys(each.model for each in sorted(own, key=_place)))
    rows: list[tuple[str, ...]] = []
    for asked, by_model in by_task.items():
        found = list(by_model.values())
        cells = [_cell(by_model[model], found) if model in by_model else "" for model in models]
        rows.append((asked.title, f"{asked.queries:,}", found[0].names, *cells))
    told = (
        f"nDCG@10, and in brackets R@1, in percent. \\* significantly above {_BASELINE} by nDCG@10 (p < 0.05 after "
        "Holm's correction), \\*\\* above all untrained models beside it."
    )
    heads = [each.removeprefix(_SEARCH).removeprefix(_GENERAL) for each in models]
    if searching := [head for head, each in zip(heads, models, strict=True) if each != head]:
        told = f"{'; '.join(searching)}: `auscult search`. {told}"
    told = " ".join([told, *epoch_notes(each.training for each in own)])
    return TextTable("", ("Corpus", "queries", "titles, headings", *heads), tuple(rows), (told,))


def _place(record: EvaluationRecord) -> tuple[bool, str]:
    """Whether a model is one of this project's, and its name; "fast" before "best", as it is the default."""
    ours = record.model.startswith(_SEARCH)
    return ours, record.model.replace(f"{_GENERAL}fast", _GENERAL) if ours else ""


def _tasks(records: Sequence[EvaluationRecord]) -> list[Asked]:
    """Those where titles and headings are hidden before others, test splits before others, then by name."""
    tasks = {each.asked: each for each in records}
    return sorted(tasks, key=lambda asked: (tasks[asked].names, asked.split != TEST, asked.corpus))


def _cell(record: EvaluationRecord, others: Sequence[EvaluationRecord]) -> str:
    beaten = set(record.better_than.get("nDCG@10", ()))
    untrained = {each.label for each in others if each.track == "untrained"} - {record.label}
    marks = "\\*" * ((_BASELINE in beaten) + (_BASELINE in beaten and untrained <= beaten))
    return (
        f"{100 * record.measures['nDCG@10']:.1f} ({100 * record.measures['R@1']:.1f}){marks}{mark_of(record.training)}"
    )


def _ordered(records: Sequence[EvaluationRecord]) -> list[EvaluationRecord]:
    return sorted(records, key=lambda each: (-each.measures["nDCG@10"], each.label))


def _with_interval(record: EvaluationRecord, name: str) -> str:
    low, high = record.intervals[name]
    return f"{percent(record.measures[name])} [{100 * low:.1f}, {100 * high:.1f}]"
