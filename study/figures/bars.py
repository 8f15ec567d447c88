"""Helpers for bar charts: colours, an axis for bars with their values, and a file per format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from auscult.drawing import blank_figure
from auscult_lab.evaluation.figures import FORMATS, INK, save_as

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DARK, LIGHT = "#1f5a82", "#9cc3dc"


def canvas(height: float) -> tuple[Figure, Any]:
    """Return a figure of a height in inches, and its only panel."""
    figure = blank_figure(figsize=(7.5, height), layout="constrained")
    return figure, figure.add_subplot()


def label(axes: Axes, right: float, row: float, text: str, scale: float = 1.0) -> None:
    """Write a bar's value to the right of its end; `scale` is the axis' length in hundreds."""
    axes.text(right + 1.2 * scale, row, text, ha="left", va="center", color=INK, fontsize=9)


def finish(axes: Axes, title: str, limit: float) -> None:
    """Set the title and the axis limit of a panel of bars, and hide ticks and frame."""
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    axes.set_xlim(0, limit)
    axes.margins(y=0.02)
    # Bars carry their values; an axis would only repeat them.
    axes.set_xticks([])
    axes.tick_params(left=False, labelcolor=INK)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure in every format under one name.

    Raises:
        DataError: A file cannot be written.
    """
    written = [stem.with_name(f"{stem.name}.{kind}") for kind in FORMATS]
    for path in written:
        save_as(figure, path)
    return written
