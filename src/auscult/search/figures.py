"""Score curves as a picture: three panels over a document's sentences (arnold2020 Figure 4)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auscult.drawing import blank_figure, check_target, drawing_style, write_figure
from auscult.errors import ConfigError, printable
from auscult.search.explain import ScoreCurves
from auscult.understanding.query import describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK = "#333333"
_FAINT = "#b9bec4"
_GREY = "#6b7280"
_SHADE = "#fdeec4"
#: Up to so many sentences each has a bar of its own; with more, they touch and are drawn as one outline.
_GAPS_UP_TO = 80
#: Passages in the key.
_MOST_LISTED = 40
#: Inches.
_TITLE, _PANEL_HEIGHT, _AXIS, _KEY_ROW, _LEFT, _NUMBER_WIDTH = 1.10, 1.35, 0.62, 0.19, 0.62, 0.24
# Blue and orange for the halves, green for their sum: told apart by the colour-blind too.
_PANELS = (("entity", "#3b6fb6"), ("aspect", "#d9772b"), ("combined", "#2f8f5b"))
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    # A heading with two dollar signs is not a formula.
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _FAINT,
    "xtick.color": _INK,
    "ytick.color": _INK,
}


def save_figure(curves: ScoreCurves, path: str | Path) -> None:
    """Draw score curves to a .png, .svg or .pdf file; an old file is replaced only by a whole new one.

    Raises:
        ConfigError: The path is not one for a picture, or the document has no sentences.
        DataError: The file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    path = Path(path)
    check_target(path)
    if path.is_dir():
        raise ConfigError("a picture file to write", f"'{path}', a folder", "give another name")
    if not curves.combined:
        raise ConfigError("a document with sentences", f"'{curves.document.doc_id}' without", "choose another")
    with drawing_style(_STYLE):
        figure = blank_figure()
        draw(curves, figure)
        write_figure(figure, path)


def draw(curves: ScoreCurves, figure: Figure) -> None:
    """Draw into an empty figure: title, three panels one above the other, and a key to the passages."""
    width = min(12.0, max(7.5, 3.0 + 0.09 * len(curves.combined)))
    # All passages, or the best of very many, in document order.
    by_score = sorted(range(len(curves.passages)), key=lambda number: -curves.passages[number].score)
    listed = sorted(by_score[:_MOST_LISTED])
    columns = 2 if len(listed) > 6 else 1
    key_rows = -(-len(listed) // columns)
    height = _TITLE + _PANEL_HEIGHT * 3 + _AXIS + _KEY_ROW * key_rows + 0.12
    figure.set_size_inches(width, height)
    axes: Any = figure.subplots(3, 1, sharex=True, sharey=True)
    below = (_AXIS + _KEY_ROW * key_rows + 0.12) / height
    figure.subplots_adjust(
        left=_LEFT / width, right=1 - 0.15 / width, top=1 - _TITLE / height, bottom=below, hspace=0.36
    )
    question = _shorten(describe(curves.query), int(width * 10))
    figure.text(0.2 / width, 1 - 0.14 / height, question, fontsize=12, fontweight="bold", color=_INK, va="top")
    where = ", ".join(filter(None, (curves.document.title, curves.document.source, curves.document.doc_id)))
    where = _shorten(where, int(width * 14))
    figure.text(0.2 / width, 1 - 0.40 / height, f"in {where}", color=_GREY, va="top")
    _draw_panels(curves, axes)
    _number_passages(curves, axes[0], (width - _LEFT - 0.15) / len(curves.combined))
    _draw_key(curves, figure, listed, columns)


def _draw_panels(curves: ScoreCurves, axes: Any) -> None:
    names = (curves.query.entity, ", ".join(curves.query.aspects), "")
    values = (curves.entity, curves.aspect, curves.combined)
    count = len(curves.combined)
    for axis, (kind, colour), name, scores in zip(axes, _PANELS, names, values, strict=True):
        if count <= _GAPS_UP_TO:
            axis.bar(range(1, count + 1), scores, width=0.86, color=colour, linewidth=0, zorder=2)
        else:
            edges = [n + 0.5 for n in range(count + 1)]
            axis.stairs(scores, edges, fill=True, color=colour, linewidth=0, zorder=2)
        axis.axhline(0, color=_FAINT, linewidth=0.8, zorder=1)
        label = f"{kind}: {_shorten(name, 60)}" if name else kind
        axis.text(0, 1.03, label, transform=axis.transAxes, color=colour, fontweight="bold", va="bottom")
        axis.grid(axis="y", color="#eceef0", linewidth=0.7, zorder=0)
        axis.set_axisbelow(True)
        for number, span in enumerate(curves.passages):
            if number == curves.best:
                axis.axvspan(span.first + 0.5, span.last + 0.5, color=_SHADE, zorder=0, linewidth=0)
            if span.first:
                axis.axvline(span.first + 0.5, color=_FAINT, linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
    axes[0].set_xlim(0.4, count + 0.6)
    lowest, highest = min(0.0, *map(min, values)), max(map(max, values))
    axes[0].set_ylim(lowest * 1.05, max(highest * 1.08, 0.01))
    axes[1].set_ylabel("score", color=_INK)
    axes[-1].set_xlabel("sentence", color=_INK, labelpad=2)


def _number_passages(curves: ScoreCurves, axis: Axes, inches_per_sentence: float) -> None:
    """Draw passage numbers above the uppermost panel; without room for all, the best passage keeps its number."""
    middles = [(span.first + span.last) / 2 * inches_per_sentence for span in curves.passages]
    best_at = middles[curves.best] if curves.best is not None else -1.0
    reached = -1.0
    for number, (span, middle) in enumerate(zip(curves.passages, middles, strict=True)):
        best = number == curves.best
        crowded = middle - reached < _NUMBER_WIDTH or abs(middle - best_at) < _NUMBER_WIDTH
        if span.last == span.first or (crowded and not best):
            continue
        reached = middle
        place = ((span.first + span.last + 1) / 2, 1.0)
        axis.annotate(
            str(number + 1), place, xycoords=axis.get_xaxis_transform(), xytext=(0, 18),
            textcoords="offset points", ha="center", va="bottom", fontsize=8, color=_INK,
            fontweight="bold" if best else "normal",
            bbox={"boxstyle": "round,pad=0.25", "fc": _SHADE if best else "white", "ec": _FAINT, "lw": 0.7},
        )  # fmt: skip


def _draw_key(curves: ScoreCurves, figure: Figure, listed: Sequence[int], columns: int) -> None:
    """Draw number, score and heading of the passages below the panels."""
    width, height = figure.get_size_inches()
    rows = -(-len(listed) // columns)
    column_width = (width - 0.4) / columns
    letters = int((column_width - 0.9) * 13.5)
    for place, number in enumerate(listed):
        span = curves.passages[number]
        best = number == curves.best
        x = 0.2 + column_width * (place // rows)
        y = (0.12 + _KEY_ROW * (rows - 1 - place % rows)) / height
        style: Any = {"fontsize": 8, "fontweight": "bold" if best else "normal"}
        score = f"{span.score:.3f}" if span.last > span.first else "–"
        heading = _shorten(span.heading or "(no heading)", letters)
        box = {"facecolor": _SHADE, "edgecolor": "none", "pad": 1.5} if best else None
        figure.text((x + 0.24) / width, y, str(number + 1), ha="right", color=_INK, **style)
        figure.text((x + 0.74) / width, y, score, ha="right", color=_GREY, **style)
        figure.text((x + 0.88) / width, y, heading, bbox=box, color=_INK, **style)


def _shorten(text: str, letters: int) -> str:
    return textwrap.shorten(printable(text), letters, placeholder="…")
