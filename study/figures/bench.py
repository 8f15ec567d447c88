"""Figures of a bench: learning curves and results by question type (zhu2019, Figures 8 and 5), legible for many models.

`study.figures.lengths` draws results by length of the question, for variants of CK-HQA only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from auscult.drawing import blank_figure
from auscult.errors import DataError
from auscult_lab.evaluation.breakdown import QUESTION_TYPES
from auscult_lab.evaluation.figures import INK, save_as
from auscult_lab.evaluation.records import EvaluationRecord
from study.figures.bars import DARK, LIGHT, finish, label
from study.figures.lengths import draw_lengths
from study.pages.context_knowledge import figure_records

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VALIDATION = "validation_RR"
"""The measure of learning curves, a key of a training's epochs."""

_FAINT, _BEST = "#cfd6db", "#b8621b"
_COLUMNS = 5
_TITLE = 26
"""Letters of a panel's title that have room side by side."""
_MARKED = 20
# Many panels make a large picture.
_DPI = 110


@dataclass(frozen=True, slots=True)
class BenchFigure:
    """A figure of a bench.

    Attributes:
        name: Name of its file, without folder.
        caption: Caption on a page.
        records: Records that it shows, in order.
        draw: `draw_learning_curves`, `draw_question_types` or `draw_lengths`.
    """

    name: str
    caption: str
    records: tuple[EvaluationRecord, ...]
    draw: Callable[[Path, Sequence[EvaluationRecord]], None]


def bench_figures(stem: str, title: str, records: Sequence[EvaluationRecord]) -> list[BenchFigure]:
    """Return the figures that the data of a bench allow: learning curves, question types and lengths.

    Args:
        stem: Beginning of the files' names, different for each bench.
        title: Name of the bench, for captions.
        records: Records of one bench, in the order of the bars.
    """
    learned = tuple(record for record in records if _curve(record, VALIDATION))
    with_types = tuple(record for record in records if record.by_question_type)
    lengths = tuple(figure_records(records))
    figures = [
        BenchFigure(f"{stem}_learning.png", f"Learning curves: {title}", learned, draw_learning_curves),
        BenchFigure(f"{stem}_question_types.png", f"By question type: {title}", with_types, draw_question_types),
        BenchFigure(f"{stem}_lengths.png", f"By length of the question: {title}", lengths, draw_lengths),
    ]
    return [figure for figure in figures if figure.records]


def draw_question_types(path: Path, records: Sequence[EvaluationRecord], measure: str = "RR") -> None:
    """Draw a bar for each model and each kind of question (zhu2019, Figure 5).

    Args:
        path: File to write; its suffix is the format: ".svg" or ".png".
        records: Records of one task, in the order of the bars; those without question types are left out.
        measure: Name of the measure; the paper's is RR, called MRR there.

    Raises:
        DataError: No record is broken down by question type, or the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    with_types = [record for record in records if record.by_question_type]
    if not with_types:
        raise DataError("records by question type", "none", "evaluate on a corpus whose queries are questions")
    save_as(question_types_figure(with_types, measure), path)


def draw_learning_curves(path: Path, records: Sequence[EvaluationRecord], measure: str = VALIDATION) -> None:
    """Draw a measure on validation queries against training queries seen, a panel a model (zhu2019, Figure 8).

    Each panel names its best value and the minutes of training until then. The other models' curves are grey.

    Args:
        path: File to write; its suffix is the format: ".svg" or ".png".
        records: Records of one bench; those whose training has no such history are left out. An epoch of `history` has
            the measure as a fraction, "queries" seen since the start, and its own "seconds".
        measure: A key of the epochs.

    Raises:
        DataError: No record has a history with the measure, or the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    curves = {record.model: curve for record in records if (curve := _curve(record, measure))}
    if not curves:
        raise DataError(f"records of trainings with '{measure}' in their history", "none", "choose records of a bench")
    save_as(_learning_curves(curves, measure), path, dpi=_DPI)


def question_types_figure(records: Sequence[EvaluationRecord], measure: str) -> Figure:
    """Return the figure that `draw_question_types` saves. All records must have question types."""
    queries = {group.name: group.queries for record in records for group in record.by_question_type}
    kinds = [kind for kind in QUESTION_TYPES if kind in queries]
    columns = min(4, len(kinds))
    rows = -(-len(kinds) // columns)
    figure = blank_figure(figsize=(1.9 + 2.4 * columns, rows * (0.7 + 0.2 * len(records))), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for place, (panel, kind) in enumerate(zip(panels, kinds, strict=False)):
        for row, record in enumerate(reversed(records)):
            for group in record.by_question_type:
                if group.name == kind:
                    value = 100 * group.measures[measure]
                    panel.barh(row, value, height=0.72, color=LIGHT if record.track == "untrained" else DARK)
                    label(panel, value, row, f"{value:.1f}")
        names = [record.model for record in reversed(records)] if place % columns == 0 else [""] * len(records)
        panel.set_yticks(range(len(records)), names)
        finish(panel, f"{kind} ({queries[kind]:,})", limit=125)
        # A model without questions of a kind leaves a gap, so that rows stay in line.
        panel.set_ylim(-0.6, len(records) - 0.4)
    for panel in panels[len(kinds) :]:
        panel.set_visible(False)
    figure.suptitle(
        f"{records[0].asked.title}: {measure} by question type, %", x=0.01, ha="left", fontsize=11, color=INK
    )
    return figure


def _curve(record: EvaluationRecord, measure: str) -> list[tuple[int, float, float]]:
    """Return queries seen, minutes, and the measure in percent, after each epoch."""
    points, seconds = [], 0.0
    for epoch in record.training.get("history", []):
        seconds += epoch["seconds"]
        if measure in epoch and "queries" in epoch:
            points.append((epoch["queries"], seconds / 60, 100 * epoch[measure]))
    return points


def _learning_curves(curves: Mapping[str, Sequence[tuple[int, float, float]]], measure: str) -> Figure:
    """Return a figure with a panel per model, best first. Twenty lines in one panel could not be distinguished."""
    ordered = sorted(curves.items(), key=lambda item: (-_best(item[1])[2], item[0]))
    columns = min(_COLUMNS, len(ordered))
    rows = -(-len(ordered) // columns)
    figure = blank_figure(figsize=(1.0 + 2.1 * columns, 1.0 + 1.75 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for panel, (model, curve) in zip(panels, ordered, strict=False):
        for other, (seen, _, values) in ((name, zip(*points, strict=True)) for name, points in ordered):
            if other != model:
                panel.plot(_thousands(seen), values, color=_FAINT, linewidth=0.7, zorder=1)
        seen, _, values = zip(*curve, strict=True)
        panel.plot(
            _thousands(seen), values, color=DARK, linewidth=1.8, marker="." if len(curve) < _MARKED else "", zorder=3
        )
        best = _best(curve)
        panel.plot(best[0] / 1000, best[2], color=_BEST, marker="o", markersize=5, zorder=4)
        panel.set_title(fill(model, _TITLE), loc="left", fontsize=10, color=INK, pad=15)
        caption = f"{best[2]:.1f} after {best[1]:.1f} min"
        panel.text(0, 1.03, caption, transform=panel.transAxes, va="bottom", fontsize=8, color=_BEST)
        panel.grid(alpha=0.2)
        panel.tick_params(labelcolor=INK, labelsize=8)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    for panel in panels[len(ordered) :]:
        panel.set_visible(False)
    # A column whose last panel is missing shows its axis one row higher.
    for panel in panels[max(0, len(ordered) - columns) : len(ordered)]:
        panel.tick_params(labelbottom=True)
    figure.supxlabel("thousands of training queries seen", fontsize=9, color=INK)
    figure.supylabel(f"{measure.removeprefix('validation_')} on validation queries, %", fontsize=9, color=INK)
    return figure


def _thousands(queries: Sequence[int]) -> list[float]:
    return [number / 1000 for number in queries]


def _best(curve: Sequence[tuple[int, float, float]]) -> tuple[int, float, float]:
    return max(curve, key=lambda point: point[2])
