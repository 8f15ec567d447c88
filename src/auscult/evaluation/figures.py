"""Figures 5 to 8 of arnold2020, and 5 and 8 of zhu2019, drawn from measured results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auscult.drawing import blank_figure, drawing_style
from auscult.errors import DataError
from auscult.evaluation.errors import ASPECT_CLASSES, ENTITY_CLASSES, RankingError, count_classes
from auscult.evaluation.question_types import QUESTION_TYPES
from auscult.evaluation.records import EvaluationRecord, GroupRecord
from auscult.evaluation.writing import check_folder, file_name, whole_or_nothing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")
_LINES = ("-", "--", ":", "-.")

_DARK, _LIGHT, _INK = "#1f5a82", "#9cc3dc", "#333333"
_ASPECT_COLOURS = {"same": "#1f5a82", "related": "#d98c2b", "unrelated": "#9a9a9a"}


def draw_figures(
    folder: Path, records: Sequence[EvaluationRecord], errors: Mapping[str, Sequence[RankingError]]
) -> list[Path]:
    """Draw every figure that the results allow, as PNG and SVG.

    Args:
        folder: Made where missing.
        records: Of one task; those with match rates share a figure, those with groups get one each.
        errors: label of a model -> its errors; each model's classes are drawn in a file of their own.

    Returns:
        The files written.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    written: list[Path] = []
    if any(record.match_rates for record in records):
        written += _save(_match_rates(records), folder / "match_rates")
    for record in records:
        for by, groups in (("source", record.by_source), ("aspect", record.by_aspect)):
            if groups:
                title = f"{record.model} on {record.corpus} by {by} ({record.track})"
                written += _save(_groups(groups, title), folder / f"by_{by}_{file_name(record.label)}")
    if any(record.by_question_type for record in records):
        shown = [record for record in records if record.by_question_type]
        written += _save(_question_types(shown, "RR"), folder / "by_question_type")
    for label, own in errors.items():
        if own:
            written += _save(_error_classes(own, label), folder / f"errors_{file_name(label)}")
    return written


def draw_question_types(path: Path, records: Sequence[EvaluationRecord], measure: str = "RR") -> None:
    """Bars of each model for each kind of question (zhu2019, Figure 5).

    Args:
        path: To write; its suffix is the format: ".svg" or ".png".
        records: Of one task, in the order of the bars; those without question types are left out.
        measure: Which one; the paper's is RR, called MRR there.

    Raises:
        DataError: No record is broken down by question type, or the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    shown = [record for record in records if record.by_question_type]
    if not shown:
        raise DataError("records by question type", "none", "evaluate on a corpus whose queries are questions")
    _save_as(_question_types(shown, measure), path)


def draw_learning_curves(path: Path, records: Sequence[EvaluationRecord], measure: str = "validation_RR") -> None:
    """A measure on validation queries against training queries seen and against time (zhu2019, Figure 8).

    Args:
        path: To write; its suffix is the format: ".svg" or ".png".
        records: Of one bench; those whose training has no such history are left out. An epoch of `history` holds the
            measure as a fraction, "queries" seen since the start, and its own "seconds".
        measure: A key of the epochs.

    Raises:
        DataError: No record has a history with the measure, or the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    curves = {record.model: curve for record in records if (curve := _curve(record, measure))}
    if not curves:
        raise DataError(f"records of trainings with '{measure}' in their history", "none", "choose records of a bench")
    _save_as(_learning_curves(curves, measure), path)


def check_figures(folder: Path) -> None:
    """Whether figures could be drawn into a folder, for asking before the work is done.

    Raises:
        DataError: Nothing can be written there.
        MissingExtraError: matplotlib is not installed.
    """
    check_folder(folder)
    blank_figure()


def _match_rates(records: Sequence[EvaluationRecord]) -> Figure:
    models = [record for record in records if record.match_rates]
    figure, axes = _canvas(height=1.1 + 0.75 * len(models))
    for row, record in enumerate(reversed(models)):
        for offset, part, colour in ((0.2, "entity", _DARK), (-0.2, "aspect", _LIGHT)):
            value = 100 * record.match_rates[part]
            axes.barh(row + offset, value, height=0.36, color=colour)
            _label(axes, value, row + offset, f"{part} {value:.1f}")
    axes.set_yticks(range(len(models)), [f"{record.model}\n({record.track})" for record in reversed(models)])
    _finish(axes, f"Top-1 passage matches the query's entity, aspect: {models[0].corpus} (%)", limit=125)
    return figure


def _groups(groups: Sequence[GroupRecord], title: str) -> Figure:
    figure, axes = _canvas(height=1.1 + 0.42 * len(groups))
    for row, group in enumerate(reversed(groups)):
        first, tenth = 100 * group.measures["R@1"], 100 * group.measures["R@10"]
        axes.barh(row, tenth, height=0.7, color=_LIGHT)
        axes.barh(row, first, height=0.7, color=_DARK)
        _label(axes, tenth, row, f"R@1 {first:.1f}   R@10 {tenth:.1f}")
    axes.set_yticks(range(len(groups)), [f"{group.name} ({group.queries:,})" for group in reversed(groups)])
    _finish(axes, f"{title}: R@1 (dark), R@10 (light), %", limit=135)
    return figure


def _question_types(records: Sequence[EvaluationRecord], measure: str) -> Figure:
    queries = {group.name: group.queries for record in records for group in record.by_question_type}
    kinds = [kind for kind in QUESTION_TYPES if kind in queries]
    columns = min(3, len(kinds))
    rows = -(-len(kinds) // columns)
    figure = blank_figure(figsize=(9.5, rows * (0.7 + 0.2 * len(records))), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for place, (panel, kind) in enumerate(zip(panels, kinds, strict=False)):
        for row, record in enumerate(reversed(records)):
            for group in record.by_question_type:
                if group.name == kind:
                    value = 100 * group.measures[measure]
                    panel.barh(row, value, height=0.72, color=_LIGHT if record.track == "untrained" else _DARK)
                    _label(panel, value, row, f"{value:.1f}")
        names = [record.model for record in reversed(records)] if place % columns == 0 else [""] * len(records)
        panel.set_yticks(range(len(records)), names)
        _finish(panel, f"{kind} ({queries[kind]:,})", limit=125)
        # A model without questions of a kind leaves a gap, so that rows stay in line.
        panel.set_ylim(-0.6, len(records) - 0.4)
    for panel in panels[len(kinds) :]:
        panel.set_visible(False)
    figure.suptitle(f"{records[0].corpus}: {measure} by question type, %", x=0.01, ha="left", fontsize=11, color=_INK)
    return figure


def _curve(record: EvaluationRecord, measure: str) -> list[tuple[int, float, float]]:
    """Queries seen, minutes, and the measure in percent, after each epoch."""
    points, seconds = [], 0.0
    for epoch in record.training.get("history", []):
        seconds += epoch["seconds"]
        if measure in epoch and "queries" in epoch:
            points.append((epoch["queries"], seconds / 60, 100 * epoch[measure]))
    return points


def _learning_curves(curves: Mapping[str, Sequence[tuple[int, float, float]]], measure: str) -> Figure:
    figure = blank_figure(figsize=(10.5, max(4.2, 1.0 + 0.21 * len(curves))), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for number, (model, curve) in enumerate(curves.items()):
        seen, minutes, values = zip(*curve, strict=True)
        # Ten colours tell ten models apart; more differ in their lines.
        style = {"color": f"C{number % 10}", "linestyle": _LINES[number // 10 % len(_LINES)], "marker": "."}
        for panel, along in zip(panels, (seen, minutes), strict=True):
            panel.plot(along, values, label=model, linewidth=1.3, markersize=4, **style)
    for panel, label in zip(panels, ("training queries seen", "training time, minutes"), strict=True):
        panel.set_xlabel(label, color=_INK)
        panel.tick_params(labelcolor=_INK)
        panel.grid(alpha=0.25)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    panels[0].set_ylabel(f"{measure.removeprefix('validation_')} on validation queries, %", color=_INK)
    handles, labels = panels[0].get_legend_handles_labels()
    # In the order in which the curves end, so that a line is found beside its name.
    order = sorted(range(len(labels)), key=lambda index: -curves[labels[index]][-1][2])
    figure.legend(
        [handles[index] for index in order], [labels[index] for index in order],
        loc="outside right upper", frameon=False, fontsize=9,
    )  # fmt: skip
    return figure


def _error_classes(errors: Sequence[RankingError], model: str) -> Figure:
    counts = count_classes(errors)
    classes = [each for each in ENTITY_CLASSES if sum(counts[each].values())]
    longest = max(100 * sum(counts[each].values()) / len(errors) for each in classes)
    figure, axes = _canvas(height=1.5 + 0.55 * len(classes))
    for row, entity in enumerate(reversed(classes)):
        left = 0.0
        for aspect in ASPECT_CLASSES:
            share = 100 * counts[entity][aspect] / len(errors)
            axes.barh(row, share, left=left, height=0.66, color=_ASPECT_COLOURS[aspect])
            # A label that is wider than its bar would run into the next one.
            if share > 0.045 * longest:
                colour = "white" if aspect == "same" else _INK
                axes.text(left + share / 2, row, f"{share:.0f}", ha="center", va="center", color=colour, fontsize=9)
            left += share
        _label(axes, left, row, f"{left:.1f} %", scale=longest / 100)
    axes.set_yticks(range(len(classes)), [f"{each} entity" if " " not in each else each for each in classes[::-1]])
    for aspect, place in zip(ASPECT_CLASSES, (0.0, 0.2, 0.42), strict=True):
        axes.text(
            place,
            -0.04,
            f"■ {aspect} aspect",
            transform=axes.transAxes,
            va="top",
            color=_ASPECT_COLOURS[aspect],
        )
    _finish(axes, f"{model}: {len(errors):,} wrong top-1 passages by class (%)", limit=longest * 1.2)
    return figure


def _canvas(height: float) -> tuple[Figure, Any]:
    figure = blank_figure(figsize=(7.5, height), layout="constrained")
    return figure, figure.add_subplot()


def _label(axes: Axes, right: float, row: float, text: str, scale: float = 1.0) -> None:
    axes.text(right + 1.2 * scale, row, text, ha="left", va="center", color=_INK, fontsize=9)


def _finish(axes: Axes, title: str, limit: float) -> None:
    axes.set_title(title, loc="left", fontsize=11, color=_INK)
    axes.set_xlim(0, limit)
    axes.margins(y=0.02)
    # Bars carry their values; an axis would only repeat them.
    axes.set_xticks([])
    axes.tick_params(left=False, labelcolor=_INK)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)


def _save(figure: Figure, stem: Path) -> list[Path]:
    written = [stem.with_name(f"{stem.name}.{kind}") for kind in FORMATS]
    for path in written:
        _save_as(figure, path)
    return written


def _save_as(figure: Figure, path: Path) -> None:
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise DataError(f"a file name ending in .{' or .'.join(FORMATS)}", str(path), "rename it")
    # Without a date, equal results give equal files.
    metadata = {"Date": None} if kind == "svg" else {}
    with whole_or_nothing(path) as partial, drawing_style():
        figure.savefig(partial, format=kind, dpi=160, metadata=metadata)
