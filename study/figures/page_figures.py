"""The figures of each page of results, and how they are drawn from records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from auscult.files.writing import file_name
from auscult_lab.evaluation.bench_tables import in_table_order
from auscult_lab.evaluation.published_figures import published_match_rates
from auscult_lab.evaluation.records import TEST, Asked, EvaluationRecord
from study.epochs import MARK, mark_of
from study.figures.bench import bench_figures
from study.figures.breakdowns import draw_groups, draw_match_rates
from study.pages.papers import Page
from study.pages.reading import Results


@dataclass(frozen=True, slots=True)
class PageFigure:
    """A figure of a page.

    Attributes:
        name: Name of its file, without folder.
        caption: Caption on the page.
        draw: Writes it to a path; None for a file that something else draws.
    """

    name: str
    caption: str
    draw: Callable[[Path], None] | None

    def as_markdown(self) -> str:
        """Return the Markdown of the figure for a page in the folder beside `figures`."""
        return f"![{self.caption}](../figures/{self.name})\n"


def page_figures(page: Page, results: Results) -> list[PageFigure]:
    """Return the figures of a page that its records allow, in order."""
    figures = []
    for file, track, kind in page.figures:
        records = [each.record for each in results.evaluations if each.file == file]
        for task in dict.fromkeys(each.asked for each in records if each.track == track):
            of_task = [each for each in records if each.asked == task]
            figure = _breakdown(of_task, track, kind) or _of_bench(file, task, track, of_task, kind)
            if figure is not None:
                figures.append(figure)
                break
    return figures + [PageFigure(name, caption, None) for name, caption in page.kept_figures]


def _breakdown(records: Sequence[EvaluationRecord], track: str, kind: str) -> PageFigure | None:
    with_rates = [record for record in records if record.match_rates and record.track in ("untrained", track)]
    if kind == "match_rates" and with_rates:
        published = ", ".join(f"{part} {low} to {high}" for part, low, high in published_match_rates())
        caption = f"Match rates of the first passage, {track}; published: {published}{_told(with_rates)}"
        return PageFigure("match_rates.png", caption, partial(_match_rates, with_rates))
    whole = [each for each in records if each.track == track and "only)" not in each.model]
    if kind in ("by_source", "by_aspect") and whole:
        best = max(whole, key=lambda record: record.measures["MAP"])
        by = kind.removeprefix("by_")
        name = f"{kind}_{file_name(best.label)}.png"
        caption = f"{best.model}, {track}, by {by}{_told([best])}"
        return PageFigure(name, caption, partial(_groups, best, by))
    return None


def _told(records: Sequence[EvaluationRecord]) -> str:
    """Return the mark that a caption adds where a model's training epochs were alike (`study.epochs`)."""
    return f" {MARK}" if any(mark_of(record.training) for record in records) else ""


def _match_rates(records: Sequence[EvaluationRecord], path: Path) -> None:
    draw_match_rates(path, records)


def _groups(record: EvaluationRecord, by: str, path: Path) -> None:
    draw_groups(path, record, by)


def _of_bench(file: str, task: Asked, track: str, records: Sequence[EvaluationRecord], kind: str) -> PageFigure | None:
    """Return learning curves, question types or lengths of one file, task and track, beside term-based models."""
    learned = [record for record in records if record.of_bench and record.track == track]
    compared = in_table_order([*(record for record in records if record.track == "untrained"), *learned])
    corpus, protocol, split, queries, subset = task
    which = [part for part, usual in ((protocol, "rerank"), (split, TEST)) if part != usual]
    stem = file_name(" ".join((file, corpus, *which, subset or str(queries), track)))
    title = ", ".join((task.title, f"{queries:,} queries", track))
    for figure in bench_figures(stem, title, compared):
        if figure.name == f"{stem}_{kind}.png":
            return PageFigure(figure.name, figure.caption, partial(_drawn, figure.draw, figure.records))
    return None


def _drawn(
    draw: Callable[[Path, Sequence[EvaluationRecord]], None], records: Sequence[EvaluationRecord], path: Path
) -> None:
    draw(path, records)
