"""Figures 5 to 8 of arnold2020, and 5 of zhu2019, drawn from measured results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from auscult.drawing import blank_figure
from auscult.files.writing import check_folder, file_name
from auscult_lab.evaluation.figures import INK, save_as
from auscult_lab.evaluation.records import EvaluationRecord, GroupRecord
from study.errors.classes import ASPECT_CLASSES, ENTITY_CLASSES, RankingError, count_classes
from study.figures.bars import DARK, LIGHT, canvas, finish, label, save
from study.figures.bench import question_types_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ASPECT_COLOURS = {"same": "#1f5a82", "related": "#d98c2b", "unrelated": "#9a9a9a"}


def draw_figures(
    folder: Path, records: Sequence[EvaluationRecord], errors: Mapping[str, Sequence[RankingError]]
) -> list[Path]:
    """Draw every figure that the data allow, as PNG and SVG.

    Args:
        folder: Created if missing.
        records: Records of one task. Those with match rates share a figure; those with groups get one each.
        errors: Errors by label of the model. Each model gets a figure of its own.

    Returns:
        The files written.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    written: list[Path] = []
    if any(record.match_rates for record in records):
        written += save(_match_rates(records), folder / "match_rates")
    for record in records:
        for by, groups in (("source", record.by_source), ("aspect", record.by_aspect)):
            if groups:
                written += save(
                    _groups(groups, _groups_title(record, by)), folder / f"by_{by}_{file_name(record.label)}"
                )
    if any(record.by_question_type for record in records):
        with_types = [record for record in records if record.by_question_type]
        written += save(question_types_figure(with_types, "RR"), folder / "by_question_type")
    for model, errors_of_model in errors.items():
        if errors_of_model:
            written += save(_error_classes(errors_of_model, model), folder / f"errors_{file_name(model)}")
    return written


def draw_match_rates(path: Path, records: Sequence[EvaluationRecord]) -> None:
    """Draw the match rates of all records that have some. The file's suffix is the format."""
    save_as(_match_rates(records), path)


def draw_groups(path: Path, record: EvaluationRecord, by: str) -> None:
    """Draw one model's results by "source" or "aspect". The file's suffix is the format."""
    groups = record.by_source if by == "source" else record.by_aspect
    save_as(_groups(groups, _groups_title(record, by)), path)


def check_figures(folder: Path) -> None:
    """Check that figures can be drawn into a folder, before the work begins.

    Raises:
        DataError: Nothing can be written there.
        MissingExtraError: matplotlib is not installed.
    """
    check_folder(folder)
    blank_figure()


def _match_rates(records: Sequence[EvaluationRecord]) -> Figure:
    models = [record for record in records if record.match_rates]
    figure, axes = canvas(height=1.1 + 0.75 * len(models))
    for row, record in enumerate(reversed(models)):
        for offset, part, colour in ((0.2, "entity", DARK), (-0.2, "aspect", LIGHT)):
            value = 100 * record.match_rates[part]
            axes.barh(row + offset, value, height=0.36, color=colour)
            label(axes, value, row + offset, f"{part} {value:.1f}")
    axes.set_yticks(range(len(models)), [f"{record.model}\n({record.track})" for record in reversed(models)])
    finish(axes, f"Top-1 passage matches the query's entity, aspect: {models[0].asked.title} (%)", limit=125)
    return figure


def _groups_title(record: EvaluationRecord, by: str) -> str:
    return f"{record.model} on {record.asked.title} by {by} ({record.track})"


def _groups(groups: Sequence[GroupRecord], title: str) -> Figure:
    figure, axes = canvas(height=1.1 + 0.42 * len(groups))
    for row, group in enumerate(reversed(groups)):
        first, tenth = 100 * group.measures["R@1"], 100 * group.measures["R@10"]
        axes.barh(row, tenth, height=0.7, color=LIGHT)
        axes.barh(row, first, height=0.7, color=DARK)
        label(axes, tenth, row, f"R@1 {first:.1f}   R@10 {tenth:.1f}")
    axes.set_yticks(range(len(groups)), [f"{group.name} ({group.queries:,})" for group in reversed(groups)])
    finish(axes, f"{title}: R@1 (dark), R@10 (light), %", limit=135)
    return figure


def _error_classes(errors: Sequence[RankingError], model: str) -> Figure:
    counts = count_classes(errors)
    classes = [entity_class for entity_class in ENTITY_CLASSES if sum(counts[entity_class].values())]
    longest = max(100 * sum(counts[entity_class].values()) / len(errors) for entity_class in classes)
    figure, axes = canvas(height=1.5 + 0.55 * len(classes))
    for row, entity in enumerate(reversed(classes)):
        start = 0.0
        for aspect in ASPECT_CLASSES:
            share = 100 * counts[entity][aspect] / len(errors)
            axes.barh(row, share, left=start, height=0.66, color=_ASPECT_COLOURS[aspect])
            # A label that is wider than its bar would run into the next one.
            if share > 0.045 * longest:
                colour = "white" if aspect == "same" else INK
                axes.text(start + share / 2, row, f"{share:.0f}", ha="center", va="center", color=colour, fontsize=9)
            start += share
        label(axes, start, row, f"{start:.1f} %", scale=longest / 100)
    axes.set_yticks(
        range(len(classes)),
        [f"{entity_class} entity" if " " not in entity_class else entity_class for entity_class in classes[::-1]],
    )
    for aspect, place in zip(ASPECT_CLASSES, (0.0, 0.2, 0.42), strict=True):
        axes.text(
            place,
            -0.04,
            f"■ {aspect} aspect",
            transform=axes.transAxes,
            va="top",
            color=_ASPECT_COLOURS[aspect],
        )
    finish(axes, f"{model}\n{len(errors):,} wrong top-1 passages by class (%)", limit=longest * 1.2)
    return figure
