"""The cross-domain table of grundmann2021 (Table 3): models by what they were trained on, tested on pages and on notes.

A model's group follows from its training record: clinical notes, health pages (anything else), or both. It stands in
the table when it has been tested on notes and on pages; one that learned from the tested pages' own collection (the
adapted track of MedQuAD) stands elsewhere, because nothing is crossed there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from auscult_lab.corpora.note_queries import NAME as NOTES
from auscult_lab.evaluation.pre_trained import encoders_of
from auscult_lab.evaluation.records import TEST, EvaluationRecord
from auscult_lab.evaluation.tables import TextTable, percent, published_cells
from auscult_lab.evaluation.tracks import Trained, trained_on
from study.epochs import epoch_notes, mark_of
from study.pages.encoder_marks import EncoderMarks
from study.published import cross_domain_table

PAGES = "medquad"
TESTED = (PAGES, NOTES, f"{NOTES}-bm25")
"""What models are tested on: the columns."""
MEASURES = ("R@1", "R@5")
"""The paper's."""
TITLES: Mapping[Trained | None, str] = {
    None: "Term-based models",
    "notes": "Trained on notes",
    "pages": "Trained on health pages",
    "both": "Trained on health pages and notes",
}


def cross_domain_tables(records: Iterable[EvaluationRecord], marks: EncoderMarks) -> list[TextTable]:
    """A table for each kind of training text, term-based models first; none where no trained model crossed over.

    Args:
        records: Of any tasks; re-ranking of MedQuAD and of the notes is picked from them.
        marks: For the encoders that models began with.
    """
    models = _by_model(records)
    groups: dict[Trained | None, list[Mapping[str, EvaluationRecord]]] = {}
    for found in models:
        first = next(iter(found.values()))
        group = None if first.track == "untrained" else trained_on(first.training)
        if first.track == "untrained" or (group is not None and _crosses(found)):
            groups.setdefault(group, []).append(found)
    if not set(groups) - {None}:
        return []
    return [_table(group, groups[group], marks) for group in TITLES if group in groups]


def _by_model(records: Iterable[EvaluationRecord]) -> list[Mapping[str, EvaluationRecord]]:
    """For each model tested on pages and on notes, its record by corpus; the one of most queries."""
    models: dict[tuple[str, str], dict[str, EvaluationRecord]] = {}
    for record in sorted(records, key=lambda each: -each.queries):
        tested = record.protocol == "rerank" and record.corpus in TESTED and record.split == TEST
        if tested and "only)" not in record.model:
            models.setdefault((record.model, record.fingerprint), {}).setdefault(record.corpus, record)
    return [found for found in models.values() if PAGES in found and len(found) > 1]


def _crosses(found: Mapping[str, EvaluationRecord]) -> bool:
    return found[PAGES].track == "zero-shot"


def _table(group: Trained | None, models: Sequence[Mapping[str, EvaluationRecord]], marks: EncoderMarks) -> TextTable:
    published = {corpus: cross_domain_table(group or "pages", corpus) for corpus in TESTED}
    columns: list[str] = []
    for corpus in TESTED:
        columns += [f"{corpus} {name}" for name in MEASURES]
        columns += [f"publ. {name}" for name in MEASURES if published[corpus] is not None]
    rows = []
    for found in sorted(models, key=lambda each: next(iter(each.values())).model):
        first = next(iter(found.values()))
        cells = [first.model + marks.of(first) + mark_of(first.training)]
        for corpus in TESTED:
            record, table = found.get(corpus), published[corpus]
            cells += [percent(record.measures[name]) if record else "" for name in MEASURES]
            if table is not None:
                cells += published_cells(table.find(first.model), MEASURES)
        rows.append(tuple(cells))
    title = TITLES[group]
    if group is None and any(encoders_of(each.training) for found in models for each in found.values()):
        title += ", and encoders as they are"
    return TextTable(title, ("Model", *columns), tuple(rows), _notes(models))


def _notes(models: Sequence[Mapping[str, EvaluationRecord]]) -> tuple[str, ...]:
    notes = [
        "Percent, ties counted against the model. Published: grundmann2021, Table 3; in the columns of "
        f"{NOTES} on MIMIC-III, which may not be passed on, and with BioBERT where the name is that of an architecture."
    ]
    subsets = {each.corpus: each.query_subset for found in models for each in found.values() if each.query_subset}
    notes += [f"Of {corpus}, a subset of the queries: {subset}." for corpus, subset in sorted(subsets.items())]
    return (*notes, *epoch_notes(each.training for found in models for each in found.values()))
