"""Where a ranker looked, drawn as in Figure 7 of zhu2019: query words shaded blue, sentences shaded red."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from auscult.drawing import blank_figure
from auscult.errors import DataError
from auscult.files.writing import check_file
from auscult_lab.evaluation.figure_files import check_format, save_as

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Shaded = tuple[str, float]
"""A text and its weight, at least 0; the heaviest of a row of texts gets the full colour."""

_INK, _PALE = "#222222", "#777777"
_BLUE, _RED = (0.42, 0.65, 0.92), (0.95, 0.50, 0.45)
_COLUMNS, _MARGIN = 92, 6
_FONT_SIZE = 9.0
# In a fixed-width font every character is as wide as this, in parts of the font size: no renderer need be asked.
_CHARACTER = 0.602


def draw_evidence(
    path: Path, query: Sequence[Shaded], sentences: Sequence[Shaded], *, title: str = "", note: str = ""
) -> None:
    """Draw a query and a passage, shaded by their attention weights.

    Args:
        path: To write; its suffix is the format: ".svg" or ".png". Missing folders are made.
        query: The query's words, in order.
        sentences: The passage's sentences, in order; each one's weight also stands before it, in percent.
        title: Above the query.
        note: Below the passage.

    Raises:
        DataError: There is no query word or no sentence, a weight is negative, or the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    _check(query, "query words")
    _check(sentences, "sentences")
    save_as(_figure(query, sentences, title, note), path)


def check_evidence_figure(path: Path) -> None:
    """Whether evidence could be drawn to a file, for asking before the work is done.

    Raises:
        DataError: The ending is of no format, or nothing can be written there.
        MissingExtraError: matplotlib is not installed.
    """
    check_format(path)
    check_file(path)
    blank_figure()


def _check(texts: Sequence[Shaded], what: str) -> None:
    if not texts:
        raise DataError(f"{what} to draw", "none", "draw the evidence of a query and a passage that have words")
    for text, weight in texts:
        if not weight >= 0:
            raise DataError("weights of at least 0", f"{weight} for {text!r}", "give attention weights")


def _figure(query: Sequence[Shaded], sentences: Sequence[Shaded], title: str, note: str) -> Figure:
    heading, below = textwrap.wrap(title, _COLUMNS), textwrap.wrap(note, _COLUMNS)
    asked = _query_lines(query)
    answered = [textwrap.wrap(text, _COLUMNS - _MARGIN) or [""] for text, _ in sentences]
    lines = 1.0 * len(heading) + bool(heading) + len(asked) + 1 + sum(map(len, answered))
    lines += len(below) + bool(below)
    inch = _FONT_SIZE / 72
    figure = blank_figure(figsize=((_COLUMNS + 2) * _CHARACTER * inch, (lines + 1) * 1.6 * inch))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(-1, _COLUMNS + 1)
    axes.set_ylim(lines, -1)
    axes.axis("off")
    row = 0.0
    for line in heading:
        _write(axes, 0, row, line, weight="bold")
        row += 1
    row = _draw_query(axes, asked, row + bool(heading), heaviest=max(weight for _, weight in query))
    row = _draw_sentences(axes, sentences, answered, row + 1)
    for number, line in enumerate(below, start=1):
        _write(axes, _MARGIN, row + number, line, colour=_PALE)
    return figure


def _query_lines(query: Sequence[Shaded]) -> list[list[Shaded]]:
    """The words of each line; a word longer than a line has one to itself."""
    lines: list[list[Shaded]] = [[]]
    used = 0
    for text, weight in query:
        if lines[-1] and used + len(text) > _COLUMNS:
            lines.append([])
            used = 0
        lines[-1].append((text, weight))
        used += len(text) + 1
    return lines


def _draw_query(axes: Axes, lines: Sequence[Sequence[Shaded]], row: float, heaviest: float) -> float:
    """Draw the words and give the row after them."""
    for line in lines:
        column = 0
        for text, weight in line:
            _shade(axes, column, row, len(text), _tint(_BLUE, weight, heaviest))
            _write(axes, column, row, text)
            column += len(text) + 1
        row += 1
    return row


def _draw_sentences(axes: Axes, sentences: Sequence[Shaded], wrapped: Sequence[Sequence[str]], row: float) -> float:
    """Draw the sentences and give the row after them."""
    heaviest, total = max(weight for _, weight in sentences), sum(weight for _, weight in sentences)
    for (_, weight), lines in zip(sentences, wrapped, strict=True):
        share = 100 * weight / total if total else 0.0
        _write(axes, 0, row, f"{share:3.0f} %", colour=_PALE)
        for line in lines:
            _shade(axes, _MARGIN, row, len(line), _tint(_RED, weight, heaviest))
            _write(axes, _MARGIN, row, line)
            row += 1
    return row


def _tint(colour: tuple[float, float, float], weight: float, heaviest: float) -> tuple[float, float, float]:
    """White for weight 0, the colour for the heaviest."""
    share = weight / heaviest if heaviest else 0.0
    red, green, blue = (1 - share * (1 - part) for part in colour)
    return red, green, blue


def _shade(axes: Axes, column: float, row: float, width: float, colour: tuple[float, float, float]) -> None:
    axes.barh(row, width + 0.6, left=column - 0.3, height=0.92, color=[colour], linewidth=0)


def _write(axes: Axes, column: float, row: float, text: str, *, colour: str = _INK, weight: str = "normal") -> None:
    # A dollar sign in a text is no formula.
    axes.text(
        column,
        row,
        text,
        family="monospace",
        fontsize=_FONT_SIZE,
        fontweight=weight,
        color=colour,
        ha="left",
        va="center",
        parse_math=False,
    )
