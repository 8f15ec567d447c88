"""A figure of results by length of the question, as wang2021 draws it (Figure 5): MAP, nDCG@3 and P@3."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from auscult.drawing import blank_figure
from auscult.errors import DataError
from auscult_lab.evaluation.breakdown import FEW, LENGTHS, counted
from auscult_lab.evaluation.figures import INK, save_as
from auscult_lab.evaluation.records import EvaluationRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURES = ("MAP", "nDCG@3", "P@3")
_LINES = (("#9aa7ae", "o", ":"), ("#b8621b", "s", "--"), ("#1f5f8b", "^", "-."), ("#1b7a43", "D", "-"))
"""Colour, mark and stroke, so that lines can be distinguished without colour, too."""


def draw_lengths(path: Path, records: Sequence[EvaluationRecord]) -> None:
    """Draw a panel per measure, with a line per model and a point per length.

    Args:
        path: File to write; its suffix is the format: ".svg" or ".png".
        records: Records of one task, at most four; those without lengths are left out.

    Raises:
        DataError: No record is broken down by length, there are too many, or the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    with_lengths = [record for record in records if record.by_length]
    if not 0 < len(with_lengths) <= len(_LINES):
        raise DataError(f"1 to {len(_LINES)} records by length", str(len(with_lengths)), "choose records of a bench")
    save_as(_figure(with_lengths), path)


def _figure(records: Sequence[EvaluationRecord]) -> Figure:
    queries = {group.name: group.queries for record in records for group in record.by_length}
    lengths = [name for name in LENGTHS if name in queries]
    figure = blank_figure(figsize=(3.6 * len(MEASURES), 3.6), layout="constrained")
    panels = figure.subplots(1, len(MEASURES), sharex=True, squeeze=False).ravel()
    for panel, measure in zip(panels, MEASURES, strict=True):
        for record, (colour, mark, stroke) in zip(records, _LINES, strict=False):
            values = {
                group.name: 100 * group.measures[measure] for group in record.by_length if measure in group.measures
            }
            points = [(place, values[name]) for place, name in enumerate(lengths) if name in values]
            if points:
                panel.plot(*zip(*points, strict=True), color=colour, marker=mark, linestyle=stroke, label=record.model)
        panel.set_title(f"{measure}, %", loc="left", fontsize=10, color=INK)
        panel.set_xticks(range(len(lengths)), [f"{name}\n({counted(queries[name])})" for name in lengths], fontsize=7)
        panel.set_ylim(0, None)
        panel.grid(alpha=0.2)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    panels[0].legend(frameon=False, fontsize=8)
    figure.suptitle(f"{records[0].asked.title}: by length of the question", x=0.01, ha="left", fontsize=11, color=INK)
    whose = "query" if all(record.length_of == "query" for record in records) else "question"
    figure.supxlabel(f"words of the {whose} (how many; *: fewer than {FEW})", fontsize=9, color=INK)
    return figure
