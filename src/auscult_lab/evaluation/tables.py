"""Result tables, for the terminal (rich) and for documents (Markdown): measured beside published.

Tracks never share a table: a zero-shot table has zero-shot and untrained models, an adapted table adapted and untrained
ones. Published figures of another track are marked as such. Published figures of models trained on another kind of text
(clinical notes, health pages, both) are not shown beside trained models.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from auscult_lab.evaluation.breakdown import FEW, counted
from auscult_lab.evaluation.pre_trained import encoder_cell, encoder_notes
from auscult_lab.evaluation.published_figures import (
    PublishedRow,
    PublishedTable,
    published_match_rates,
    published_tables,
)
from auscult_lab.evaluation.records import TEST, EvaluationRecord
from auscult_lab.evaluation.task import CANDIDATES
from auscult_lab.evaluation.tracks import trained_on

SHOWN = ("R@1", "R@5", "R@10", "MAP")
_SHOWN_OF_ALL = ("nDCG@10", *SHOWN)
"""Of rankings of all passages: what retrieval collections are compared by (thakur2021) comes first."""
WIDEST = 4
"""How many published measures a table of results has room for."""
LETTERS = string.ascii_letters + "αβγδεζηθικλμνξπρστυφχψω"
PARTIAL = {
    "wikisection": "those of WikiSection's 716 test articles that could be had",
    "clinical-notes": "here notes that may be shared, published MIMIC-III",
}
"""Corpora whose published figures are of another test set."""


SUPERVISED = {
    "medquad": "Not without labels: MedQuAD's queries use its headings' words.",
}
"""Corpora whose training documents bring the labels that test queries ask for, and what that means."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table as text, the source of both renderings.

    Attributes:
        rows: One cell per column each; the first is the label.
        notes: Printed beneath.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def print_to(self, console: Console) -> None:
        """Print title, table and notes; in parts where a terminal is too narrow, whole into files and pipes."""
        if console.is_terminal:
            parts = self._parts(console.width)
        else:
            parts = [range(1, len(self.columns))]
            width = _width(self._as_rich(parts[0]))
            console = Console(file=console.file, width=max(console.width, width), highlight=False)
        console.print(Text(self.title, style="bold"))
        for part in parts:
            console.print(self._as_rich(part))
        for note in self.notes:
            console.print(Text(note, style="dim"))
        console.print()

    def _parts(self, width: int) -> list[range]:
        """Return parts of columns that fit beside the labels; a column that is too wide is a part of its own."""
        parts = []
        first = 1
        for column in range(2, len(self.columns) + 1):
            if column == len(self.columns) or _width(self._as_rich(range(first, column + 1))) > width:
                parts.append(range(first, column))
                first = column
        return parts or [range(1, len(self.columns))]

    def _as_rich(self, columns: range) -> Table:
        table = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False)
        table.add_column(self.columns[0], overflow="fold", min_width=18)
        for index in columns:
            cells = (self.columns[index], *(row[index] for row in self.rows))
            widest = max(cell_len(line) for cell in cells for line in cell.split("\n"))
            table.add_column(self.columns[index], justify="right", no_wrap=True, min_width=widest)
        for row in self.rows:
            table.add_row(row[0], *(row[index] for index in columns))
        return table

    def as_markdown(self) -> str:
        """Format the table for a document, without the title."""
        # Right-aligned numbers are easier to compare.
        numbers = [
            all(not row[index] or row[index][0] in "-0123456789" for row in self.rows)
            for index in range(len(self.columns))
        ]
        lines = [
            "| " + " | ".join(column.replace("\n", " ") for column in self.columns) + " |",
            "|" + "|".join("---:" if number else "---" for number in numbers) + "|",
            *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in self.rows),
        ]
        return "\n".join(lines) + "\n" + "".join(f"\n{note}\n" for note in self.notes)


def _width(table: Table) -> int:
    """Return the fewest characters that a table needs."""
    return Console(width=10_000).measure(table).minimum


def result_tables(records: Sequence[EvaluationRecord], *, beside: bool = True) -> list[TextTable]:
    """Build one table for every corpus, protocol, set of queries and track, in order of first appearance.

    Args:
        records: Records of any tasks.
        beside: Show published figures, and how candidates differ from the protocol's; False for users' data, which has
            no published figures, whatever its name.
    """
    tables = []
    for task in dict.fromkeys(record.asked for record in records):
        own = [record for record in records if record.asked == task]
        tracks = [track for track in ("zero-shot", "adapted") if any(record.track == track for record in own)]
        tables += [
            _result_table([record for record in own if record.track in ("untrained", track)], track, beside)
            for track in tracks or ["untrained"]
        ]
    return tables


def _result_table(records: list[EvaluationRecord], track: str, beside: bool) -> TextTable:
    first = records[0]
    letters = model_letters(records)
    published = main_table(records, track) if beside else None
    compared = published.measures[:WIDEST] if published else ()
    usual = _SHOWN_OF_ALL if first.protocol == "end-to-end" else SHOWN
    names = usual if set(compared) <= set(usual) else compared
    rows = []
    for record in records:
        cells = [f"{letters.get(record.label, '')}  {record.model}".strip()]
        marks = compared_letters(record, records)
        cells += [measured_cell(record, name, marks) for name in names]
        cells += published_cells(repeated_row(record, published), compared)
        rows.append((*cells, _format_milliseconds(record.ms_per_query)))
    rows += [(*row, "") for row in unmatched_rows(published, records, track, compared, blanks=len(names))]
    columns = ("Model", *names, *(f"publ.\n{name}" for name in compared), "ms per\nquery")
    notes = notes_of(records, track, published, pools=beside)
    return with_encoders(TextTable(_write_title(first, track), columns, tuple(rows), notes), records)


def with_encoders(table: TextTable, records: Sequence[EvaluationRecord]) -> TextTable:
    """Add a column for the encoders that models began with, where any began with one.

    Args:
        table: A table whose first rows are those of the records, in order.
        records: The records of these rows.
    """
    cells = [encoder_cell(record.training) for record in records]
    if not any(cells):
        return table
    cells += [""] * (len(table.rows) - len(cells))
    rows = tuple((*row, cell) for row, cell in zip(table.rows, cells, strict=True))
    return replace(table, columns=(*table.columns, "encoder"), rows=rows)


def main_table(records: Sequence[EvaluationRecord], track: str) -> PublishedTable | None:
    """Return the published table to show beside records: the one that most of their trained models repeat.

    Of several, the first of the same track, or the first. None where no published table applies.

    Args:
        records: Records of one task.
        track: Track of the trained models.
    """
    trained = [record for record in records if record.track != "untrained"]

    def fit(table: PublishedTable) -> tuple[int, bool]:
        return sum(repeated_row(record, table) is not None for record in trained), table.track == track

    return max(tables_beside(records), key=fit, default=None)


def tables_beside(records: Sequence[EvaluationRecord]) -> list[PublishedTable]:
    """Return the published tables that may be shown beside records, in the order of `published_tables`.

    Their models learned from the same kind of text as one of the records' models; without trained models, all tables.
    There are none for end-to-end tasks and for splits other than the test split.

    Args:
        records: Records of one task.
    """
    first = records[0]
    if not _is_as_published(first):
        return []
    kinds = {trained_on(record.training) for record in records if record.track != "untrained"}
    return [
        table for table in published_tables(first.corpus, first.candidates) if not kinds or table.trained_on in kinds
    ]


def _is_as_published(record: EvaluationRecord) -> bool:
    return record.protocol == "rerank" and record.split == TEST


def repeated_row(record: EvaluationRecord, published: PublishedTable | None) -> PublishedRow | None:
    """Return the published row that a record's model repeats: same title and same kind of training text, if any."""
    if published is None:
        return None
    alike = record.track == "untrained" or trained_on(record.training) == published.trained_on
    return published.find(record.model) if alike else None


def model_letters(records: Iterable[EvaluationRecord]) -> dict[str, str]:
    """Return a letter for each model's label: a to z, A to Z, then Greek; models beyond have none."""
    return model_letters_of([record.label for record in records])


def model_letters_of(labels: Sequence[str]) -> dict[str, str]:
    """Return the letters of `model_letters` for labels."""
    return dict(zip(labels, LETTERS, strict=False))


def compared_letters(record: EvaluationRecord, records: Sequence[EvaluationRecord]) -> dict[str, str]:
    """Return by label the letters of the models with which a record's model was compared (`compared_in`)."""
    compared = {each.label for each in records if each.compared_in == record.compared_in}
    return {label: letter for label, letter in model_letters(records).items() if label in compared}


def has_letters(records: Sequence[EvaluationRecord]) -> bool:
    """Check whether any figure in a table of records has a letter."""
    for record in records:
        marks = compared_letters(record, records)
        if any(label in marks for beaten in record.better_than.values() for label in beaten):
            return True
    return False


def published_cells(row: PublishedRow | None, measures: Sequence[str]) -> list[str]:
    """Format a published row's figures in percent; blank where there is no row, or no figure."""
    return [percent(row.measures[name]) if row and name in row.measures else "" for name in measures]


def unmatched_rows(
    published: PublishedTable | None,
    records: Sequence[EvaluationRecord],
    track: str,
    measures: Sequence[str],
    *,
    blanks: int,
) -> list[tuple[str, ...]]:
    """Return published rows that no record repeats: name, blanks for measured columns, figures.

    None where the published models learned from other texts than the measured ones.
    """
    if published is None or track not in ("untrained", published.track):
        return []
    repeated = {found.model for record in records if (found := repeated_row(record, published))}
    return [
        (row.model, *[""] * blanks, *published_cells(row, measures))
        for row in published.rows
        if row.model not in repeated
    ]


def _write_title(record: EvaluationRecord, track: str) -> str:
    protocol = "re-ranking given candidates" if record.protocol == "rerank" else "end to end, no candidates given"
    subset = f" ({record.query_subset})" if record.query_subset else ""
    models = "term-based models" if track == "untrained" else f"{track} track"
    return f"{record.asked.title}, {models}: {protocol}, {record.queries:,} queries{subset}"


def notes_of(
    records: Sequence[EvaluationRecord], track: str, published: PublishedTable | None, *, pools: bool = True
) -> tuple[str, ...]:
    """Return a table's notes: measures, intervals, letters, published sources and, with `pools`, candidates."""
    notes = ["Measures in percent, ties counted against the model."]
    if pools:
        notes += _note_pool(records[0], published)
    intervals = [record.intervals["R@1"] for record in records if "R@1" in record.intervals]
    if intervals:
        widest = max(high - low for low, high in intervals) / 2
        notes.append(f"95 % bootstrap intervals of R@1 are within ± {100 * widest:.1f} points.")
    if track == "adapted" and records[0].corpus in SUPERVISED:
        notes.append(SUPERVISED[records[0].corpus])
    letters = model_letters(records)
    trainings = [(letters.get(record.label, record.model), record.training) for record in records]
    notes += remarks(trainings)
    notes += encoder_notes(trainings, track)
    half = [record.model for record in records if record.precision != "float32"]
    if half:
        notes.append(f"Ranked in half precision (bf16): {', '.join(half)}.")
    if has_letters(records):
        notes.append("Letters after a figure: significantly better than those models (p < 0.05, Holm).")
    apart = _group_compared(records)
    if len(apart) > 1:
        groups = "; ".join(", ".join(group) for group in apart)
        notes.append(f"Not shown to have been compared with each other, so that missing letters say nothing: {groups}.")
    if published is not None:
        notes += published_notes(records[0], track, published)
    if records[0].protocol == "end-to-end":
        notes.append("Passages of documents without judgements count as wrong even where they answer.")
    return tuple(notes)


def remarks(trainings: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return the `notes` of experiments and trainings, with the names of their rows.

    Args:
        trainings: Names of rows in a note, and their training records.
    """
    rows: dict[str, list[str]] = {}
    for name, training in trainings:
        for note in dict.fromkeys(_find_notes(training)):
            rows.setdefault(note, []).append(name)
    return [f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in rows.items()]


def _find_notes(training: Mapping[str, Any]) -> Iterator[str]:
    note = training.get("notes") or (training.get("experiment") or {}).get("notes")
    if note:
        yield str(note)
    for model in (training.get("models") or {}).values():
        yield from _find_notes(model)


def _note_pool(record: EvaluationRecord, published: PublishedTable | None) -> list[str]:
    """Return a note on the number of candidates, where it differs from that of published figures or the protocol."""
    expected = published.candidates if published is not None else None
    if record.candidates is None or round(record.candidates, 1) == (expected or CANDIDATES):
        return []
    other = f"published figures are of {expected}" if expected else f"the protocol has {CANDIDATES}"
    return [f"On average {record.candidates:.1f} candidates a query, where {other}: the fewer, the easier."]


def _group_compared(records: Sequence[EvaluationRecord]) -> list[list[str]]:
    """Return groups of letters (or names) of models that were compared with each other."""
    letters = model_letters(records)
    groups: dict[str, list[str]] = {}
    for record in records:
        groups.setdefault(record.compared_in, []).append(letters.get(record.label, record.model))
    return list(groups.values())


def published_notes(record: EvaluationRecord, track: str, published: PublishedTable) -> list[str]:
    """Return notes on the source of published figures, and how their test differs from that of a record."""
    saw_more = ""
    if track not in ("untrained", published.track):
        saw_more = "; the adapted models saw more" if track == "adapted" else "; its models saw more"
    notes = [f"Published: {published.title}, {published.track}{saw_more}."]
    if record.query_subset:
        notes.append("Published over all queries, measured over a subset.")
    if record.corpus in PARTIAL:
        notes.append(f"Not the same test set: {PARTIAL[record.corpus]}.")
    return notes


def group_table(record: EvaluationRecord, by: str) -> TextTable:
    """Build a table of one model's measures by "source", "aspect", "question type" or "length"."""
    groups = {
        "source": record.by_source,
        "aspect": record.by_aspect,
        "question type": record.by_question_type,
        "length": record.by_length,
    }[by]
    tell: Callable[[int], str] = counted if by == "length" else "{:,}".format
    rows = tuple(
        (group.name, tell(group.queries), *(percent(group.measures[name]) for name in SHOWN)) for group in groups
    )
    title = f"{record.asked.title} by {by}: {record.model} ({record.track})"
    notes = (f"Words of the {record.length_of}; *: fewer than {FEW} queries.",) if by == "length" else ()
    return TextTable(title, (by.capitalize(), "queries", *SHOWN), rows, notes)


def match_table(records: Iterable[EvaluationRecord]) -> TextTable:
    """Build a table of entity and aspect match rates of top-1 passages (arnold2020, Figure 5).

    A note gives published rates where the records have a published test set and protocol.
    """
    matched = [record for record in records if record.match_rates]
    rows = tuple(
        (record.model, record.track, *(percent(record.match_rates[name]) for name in ("entity", "aspect", "both")))
        for record in matched
    )
    notes: tuple[str, ...] = ()
    if any(
        _is_as_published(record) and any(table.citation == "arnold2020" for table in published_tables(record.corpus))
        for record in matched
    ):
        ranges = ", ".join(f"{name} {low} to {high}" for name, low, high in published_match_rates())
        notes = (f"Published, lowest and highest of three test sets: {ranges} (arnold2020, section 5.3).",)
    return TextTable("Top-1 passage matches the query's", ("Model", "track", "entity", "aspect", "both"), rows, notes)


def measured_cell(record: EvaluationRecord, name: str, letters: Mapping[str, str]) -> str:
    """Format a measure in percent with the letters of the models beaten; blank where it was not measured.

    Args:
        record: The record.
        name: Name of the measure.
        letters: Letters by label, of the models with which it was compared.
    """
    if name not in record.measures:
        return ""
    marks = "".join(sorted(letters[model] for model in beaten_by(record, name) if model in letters))
    return percent(record.measures[name]) + (f" {marks}" if marks else "")


def beaten_by(record: EvaluationRecord, name: str) -> list[str]:
    """Return labels of the models that a record's model beats significantly by a measure."""
    return record.better_than.get("AP" if name == "MAP" else name, [])


def percent(fraction: float) -> str:
    """Format a fraction in percent with two decimals."""
    return f"{100.0 * fraction:.2f}"


def _format_milliseconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"
