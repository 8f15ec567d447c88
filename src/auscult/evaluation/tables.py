"""Result tables, for the terminal (rich) and for documents (Markdown): measured beside published.

Tracks never share a table: a zero-shot table holds zero-shot and untrained models, an adapted table adapted
and untrained ones. Published figures are zero-shot; beside an adapted model they say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from auscult.evaluation.published_figures import find_published, published_match_rates, published_rows
from auscult.evaluation.records import EvaluationRecord

SHOWN = ("R@1", "R@5", "R@10", "MAP")
COMPARED = ("R@1", "R@10", "MAP")
PARTIAL = {"wikisection": "measured on the part of the test articles that could be had; published on all 716"}
"""Corpora whose published figures are of another test set."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table as text: what both renderings are made from.

    Attributes:
        rows: As many cells as columns; the first is the label.
        notes: Printed beneath.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def as_rich(self) -> Group:
        """For the terminal: title, table, notes; nine columns fit a width of 80."""
        table = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False)
        for index, column in enumerate(self.columns):
            if index == 0:
                table.add_column(column, overflow="fold", min_width=18)
            else:
                table.add_column(column, justify="right", no_wrap=True)
        for row in self.rows:
            table.add_row(*row)
        return Group(Text(self.title, style="bold"), table, *(Text(note, style="dim") for note in self.notes), "")

    def as_markdown(self) -> str:
        """For a document, without the title."""
        # Numbers are easier to compare when they end at one edge; words are not.
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


def result_tables(records: Sequence[EvaluationRecord]) -> list[TextTable]:
    """One table for every corpus, protocol, set of queries and track, in order of first appearance."""
    tasks = dict.fromkeys((each.corpus, each.protocol, each.queries, each.query_subset) for each in records)
    tables = []
    for task in tasks:
        own = [each for each in records if (each.corpus, each.protocol, each.queries, each.query_subset) == task]
        tracks = [track for track in ("zero-shot", "adapted") if any(each.track == track for each in own)]
        tables += [
            _result_table([each for each in own if each.track in ("untrained", track)], track)
            for track in tracks or ["untrained"]
        ]
    return tables


def _result_table(records: list[EvaluationRecord], track: str) -> TextTable:
    first = records[0]
    letters = {record.label: letter for record, letter in zip(records, "abcdefghijklmnopqrstuvwxyz", strict=False)}
    comparable = first.protocol == "rerank"
    rows = []
    for record in records:
        published = find_published(first.corpus, record.model) if comparable else None
        cells = [f"{letters.get(record.label, '')}  {record.model}".strip()]
        cells += [_measured(record, name, letters) for name in SHOWN]
        cells += [_percent(published.measures[name]) if published else "" for name in COMPARED if comparable]
        rows.append((*cells, _milliseconds(record.ms_per_query)))
    if comparable and track != "adapted":
        repeated = {found.model for each in records if (found := find_published(first.corpus, each.model))}
        for row in published_rows(first.corpus):
            if row.model not in repeated:
                blank = [""] * len(SHOWN)
                rows.append((row.model, *blank, *(_percent(row.measures[name]) for name in COMPARED), ""))
    columns = ("Model", *SHOWN, *(f"publ.\n{name}" for name in COMPARED if comparable), "ms per\nquery")
    return TextTable(_title(first, track), columns, tuple(rows), _notes(records, track, comparable))


def _title(record: EvaluationRecord, track: str) -> str:
    protocol = "re-ranking given candidates" if record.protocol == "rerank" else "end to end, no candidates given"
    subset = f" ({record.query_subset})" if record.query_subset else ""
    models = "term-based models" if track == "untrained" else f"{track} track"
    return f"{record.corpus}, {models}: {protocol}, {record.queries:,} queries{subset}"


def _notes(records: list[EvaluationRecord], track: str, comparable: bool) -> tuple[str, ...]:
    notes = ["Measures in percent, ties counted against the model."]
    intervals = [record.intervals["R@1"] for record in records if "R@1" in record.intervals]
    if intervals:
        widest = max(high - low for low, high in intervals) / 2
        notes.append(f"95 % bootstrap intervals of R@1 are within ± {100 * widest:.1f} points.")
    if any(record.better_than for record in records):
        notes.append("Letters after a figure: significantly better than those models (p < 0.05, Holm).")
    if comparable and published_rows(records[0].corpus):
        note = "Published: arnold2020, Table 3, zero-shot" + (
            "; the adapted models saw more." if track == "adapted" else "."
        )
        notes.append(note)
        if records[0].query_subset:
            notes.append("Published figures are over all queries, those measured here over a subset.")
        if records[0].corpus in PARTIAL:
            notes.append(f"Not the same test set: {PARTIAL[records[0].corpus]}.")
    if records[0].protocol == "end-to-end":
        notes.append("Passages of documents without judgements count as wrong even where they answer.")
    return tuple(notes)


def group_table(record: EvaluationRecord, by: str) -> TextTable:
    """One model's measures by "source" or "aspect"."""
    groups = record.by_source if by == "source" else record.by_aspect
    rows = tuple(
        (group.name, f"{group.queries:,}", *(_percent(group.measures[name]) for name in SHOWN)) for group in groups
    )
    title = f"{record.corpus} by {by}: {record.model} ({record.track})"
    return TextTable(title, (by.capitalize(), "queries", *SHOWN), rows)


def match_table(records: Iterable[EvaluationRecord]) -> TextTable:
    """Entity and aspect match rates of top-1 passages (arnold2020, Figure 5).

    Published rates stand beneath where the records are of a published test set and protocol.
    """
    shown = [record for record in records if record.match_rates]
    rows = tuple(
        (record.model, record.track, *(_percent(record.match_rates[name]) for name in ("entity", "aspect", "both")))
        for record in shown
    )
    notes: tuple[str, ...] = ()
    if any(record.protocol == "rerank" and published_rows(record.corpus) for record in shown):
        ranges = ", ".join(f"{name} {low} to {high}" for name, low, high in published_match_rates())
        notes = (f"Published, lowest and highest of three test sets: {ranges} (arnold2020, section 5.3).",)
    return TextTable("Top-1 passage matches the query's", ("Model", "track", "entity", "aspect", "both"), rows, notes)


def _measured(record: EvaluationRecord, name: str, letters: dict[str, str]) -> str:
    beaten = record.better_than.get("AP" if name == "MAP" else name, [])
    marks = "".join(sorted(letters[model] for model in beaten if model in letters))
    return _percent(record.measures[name]) + (f" {marks}" if marks else "")


def _percent(fraction: float) -> str:
    return f"{100.0 * fraction:.2f}"


def _milliseconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"
