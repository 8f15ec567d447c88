"""Which figures stand on which page of results, and how each is drawn from its records."""

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
        name: Of its file, without folder.
        caption: What it shows.
        draw: Writes it to a path; None for one that something else draws and keeps there.
    """

    name: str
    caption: str
    draw: Callable[[Path], None] | None

    def as_markdown(self) -> str:
        """The figure on a page in the folder beside `figures`."""
        return f"![{self.caption}](../figures/{self.name})\n"


def page_figures(page: Page, results: Results) -> list[PageFigure]:
    """The figures of a page that its records allow, in order."""
    figures = []
    for file, track, kind in page.figures:
        records = [each.record for each in results.evaluations if each.file == file]
        for asked in dict.fromkeys(each.asked for each in records if each.track == track):
            own = [each for each in records if each.asked == asked]
            found = _breakdown(own, track, kind) or _of_bench(file, asked, track, own, kind)
            if found is not None:
                figures.append(found)
                break
    return figures + [PageFigure(name, caption, None) for name, caption in page.kept_figures]


def _breakdown(records: Sequence[EvaluationRecord], track: str, kind: str) -> PageFigure | None:
    own = [record for record in records if record.match_rates and record.track in ("untrained", track)]
    if kind == "match_rates" and own:
        published = ", ".join(f"{part} {low} to {high}" for part, low, high in published_match_rates())
        caption = f"Match rates of the first passage, {track}; published: {published}{_told(own)}"
        return PageFigure("match_rates.png", caption, partial(_match_rates, own))
    whole = [each for each in records if each.track == track and "only)" not in each.model]
    if kind in ("by_source", "by_aspect") and whole:
        best = max(whole, key=lambda record: record.measures["MAP"])
        by = kind.removeprefix("by_")
        name = f"{kind}_{file_name(best.label)}.png"
        caption = f"{best.model}, {track}, by {by}{_told([best])}"
        return PageFigure(name, caption, partial(_groups, best, by))
    return None


def _told(records: Sequence[EvaluationRecord]) -> str:
    """Return what a caption adds where a model of the figure was trained with alike epochs."""
    return f" {MARK}" if any(mark_of(each.training) for each in records) else ""


def _match_rates(records: Sequence[EvaluationRecord], path: Path) -> None:
    draw_match_rates(path, records)


def _groups(record: EvaluationRecord, by: str, path: Path) -> None:
    draw_groups(path, record, by)


def _of_bench(file: str, asked: Asked, track: str, records: Sequence[EvaluationRecord], kind: str) -> PageFigure | None:
    """Learning curves, question types or lengths of one file, task and track, beside term-based models."""
    learned = [each for each in records if each.of_bench and each.track == track]
    shown = in_table_order([*(each for each in records if each.track == "untrained"), *learned])
    corpus, protocol, split, queries, subset = asked
    which = [part for part, usual in ((protocol, "rerank"), (split, TEST)) if part != usual]
    stem = file_name(" ".join((file, corpus, *which, subset or str(queries), track)))
    title = ", ".join((asked.title, *([subset] if subset else []), f"{track} track"))
    for figure in bench_figures(stem, title, shown):
        if figure.name == f"{stem}_{kind}.png":
            return PageFigure(figure.name, figure.caption, partial(_drawn, figure.draw, figure.records))
    return None


def _drawn(
    draw: Callable[[Path, Sequence[EvaluationRecord]], None], records: Sequence[EvaluationRecord], path: Path
) -> None:
    draw(path, records)
