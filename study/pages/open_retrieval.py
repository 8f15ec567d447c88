"""Tables of questions that are asked of all passages of a corpus: a row a corpus, a column a model."""

from __future__ import annotations

from collections.abc import Sequence

from auscult_lab.evaluation.records import TEST, Asked, EvaluationRecord
from auscult_lab.evaluation.tables import TextTable
from study.epochs import mark_of

MEASURE = "nDCG@10"
_BASELINE = "BM25"
_SEARCH, _GENERAL = "auscult search, ", "General encoder, "
_ASKED_BY = {"shown": "questions", "hidden": "entity and aspect"}
"""Where titles and headings are hidden, queries are made of them."""
_BEGINNING = (_BASELINE, "all-MiniLM-L6-v2", "BM25 + all-MiniLM-L6-v2", "all-MiniLM-L6-v2 + e5-small + splade-tiny")
"""The least to beat: columns before others."""
_LEAST = (_BASELINE, "all-MiniLM-L6-v2", "all-MiniLM-L6-v2 + e5-small + splade-tiny")
_OURS = tuple(f"{_SEARCH}{_GENERAL}{name}" for name in ("fast", "best"))
_SHORT = {"all-MiniLM-L6-v2 + e5-small + splade-tiny": "three readers"}
_READERS_EXPLAINED = "*Three readers*: the sum of all-MiniLM-L6-v2, e5-small and splade-tiny."
_OF_BEFORE = (
    "Asked by entity and aspect, `fast` and `best` are those of 0.1.0. Today's learned from training documents of "
    "medquad, nhs and notes: [asking](results/asking.md)."
)
_MARKS_EXPLAINED = (
    f"\\*: significantly above {_BASELINE} by {MEASURE} (p < 0.05, Holm); \\*\\*: above all untrained models."
)


def first_table(records: Sequence[EvaluationRecord]) -> TextTable:
    """Build the first table of the results: the baselines, then `fast` and `best`; nDCG@10, and R@1 in brackets.

    Args:
        records: Records of all corpora. The note names corpora for which `fast` and `best` are adapted.
    """
    zero_shot = [record for record in records if record.track != "adapted"]
    tasks = {record.asked for record in zero_shot if record.model in _OURS}
    selected = [record for record in zero_shot if record.asked in tasks and record.model in (*_LEAST, *_OURS)]
    fitted = dict.fromkeys(record.corpus for record in records if record.track == "adapted" and record.model in _OURS)
    notes = [f"{MEASURE}, and R@1 in brackets, in percent. {_MARKS_EXPLAINED} {_READERS_EXPLAINED}"]
    if fitted:
        notes.append(f"Not here: {', '.join(fitted)}, on whose training questions our weights were fitted.")
    notes.append(_OF_BEFORE)
    return _table("", selected, zero_shot, with_first_hits=True, notes=notes)


def open_tables(records: Sequence[EvaluationRecord]) -> list[TextTable]:
    """Build a table per track with every model: nDCG@10."""
    titles = {"zero-shot": "No document of the corpus was read", "adapted": "Weights fitted on questions of the corpus"}
    tables = []
    for track, title in titles.items():
        tasks = {record.asked for record in records if record.track == track}
        selected = [record for record in records if record.asked in tasks and record.track in ("untrained", track)]
        if selected:
            widest = max(high - low for record in selected for low, high in [record.intervals[MEASURE]]) / 2
            notes = [f"{MEASURE} in percent; 95 % intervals are within ± {100 * widest:.1f} points. {_MARKS_EXPLAINED}"]
            tables.append(_table(title, selected, selected, with_first_hits=False, notes=notes))
    return tables


def _table(
    title: str,
    records: Sequence[EvaluationRecord],
    compared: Sequence[EvaluationRecord],
    *,
    with_first_hits: bool,
    notes: Sequence[str],
) -> TextTable:
    """Build a table of records. Marks count all compared models, whether they are in the table or not."""
    models = sorted({record.model for record in records}, key=_place)
    rows = []
    for task in _tasks(records):
        by_model = {record.model: record for record in records if record.asked == task}
        beside = [record for record in compared if record.asked == task]
        cells = [_cell(by_model.get(model), beside, with_first_hits) for model in models]
        rows.append((task.title, _ASKED_BY[beside[0].names], f"{task.queries:,}", *cells))
    heads = (model.removeprefix(_SEARCH).removeprefix(_GENERAL) for model in models)
    columns = ("Corpus", "asked by", "queries", *(_SHORT.get(head, head) for head in heads))
    return TextTable(title, columns, tuple(rows), (" ".join(notes),))


def _place(model: str) -> tuple[int, str]:
    """Return the sort key of a model: baselines first, then this project's models, `fast` before `best`."""
    beginning = _BEGINNING.index(model) if model in _BEGINNING else len(_BEGINNING)
    return beginning, model.replace(f"{_GENERAL}fast", _GENERAL)


def _tasks(records: Sequence[EvaluationRecord]) -> list[Asked]:
    """Return tasks in order: questions in words before pairs, whole tests before subsets, test splits before others."""
    names = {record.asked: record.names for record in records}
    return sorted(names, key=lambda asked: (names[asked] == "hidden", asked.subset, asked.split != TEST, asked.corpus))


def _cell(record: EvaluationRecord | None, beside: Sequence[EvaluationRecord], with_first_hits: bool) -> str:
    if record is None:
        return ""
    first_hits = f" ({100 * record.measures['R@1']:.1f})" if with_first_hits else ""
    return f"{100 * record.measures[MEASURE]:.1f}{_marks(record, beside)}{mark_of(record.training)}{first_hits}"


def _marks(record: EvaluationRecord, beside: Sequence[EvaluationRecord]) -> str:
    beaten = set(record.better_than.get(MEASURE, ()))
    untrained = {other.label for other in beside if other.track == "untrained"} - {record.label}
    return "\\*" * ((_BASELINE in beaten) + (_BASELINE in beaten and untrained <= beaten))
