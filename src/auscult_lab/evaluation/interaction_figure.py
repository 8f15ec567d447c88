"""The tokens of a query and a passage compared, drawn as in Figure 6 of wang2021: darker cells are more alike."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from auscult.drawing import blank_figure
from auscult.errors import DataError
from auscult.files.writing import check_file
from auscult.interfaces import FloatArray
from auscult_lab.evaluation.figure_files import INK, check_format, save_as

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Token = tuple[str, str]
"""A token, and the name of the entity that it is part of, "" for none."""

_ENTITY = "#a4341f"
_COLUMNS = 40
_CELL, _LABELS, _MARGIN = 0.24, 0.95, 0.35
_FONT_SIZE = 8.0


def draw_interactions(
    path: Path,
    query: Sequence[Token],
    passage: Sequence[Token],
    similarities: FloatArray,
    *,
    title: str = "",
) -> None:
    """Draw a matrix of similarities: query tokens as rows, passage tokens as columns, a band for each 40 of these.

    Tokens of entities are coloured, and the entities named below.

    Args:
        path: To write; its suffix is the format: ".svg" or ".png". Missing folders are made.
        query: Tokens, in order.
        passage: Tokens, in order.
        similarities: (query tokens, passage tokens). White is the smallest of them and black-blue the largest.
        title: Above.

    Raises:
        DataError: There are no tokens, the matrix is of another shape, or the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    if not query or not passage:
        raise DataError("tokens of a query and a passage to draw", "none", "draw texts that have words")
    if similarities.shape != (len(query), len(passage)):
        expected = f"similarities of the shape {(len(query), len(passage))}"
        raise DataError(expected, str(similarities.shape), "give one for each two tokens")
    save_as(_figure(query, passage, similarities, title), path)


def check_interaction_figure(path: Path) -> None:
    """Whether interactions could be drawn to a file, for asking before the work is done.

    Raises:
        DataError: The ending is of no format, or nothing can be written there.
        MissingExtraError: matplotlib is not installed.
    """
    check_format(path)
    check_file(path)
    blank_figure()


def _figure(query: Sequence[Token], passage: Sequence[Token], similarities: FloatArray, title: str) -> Figure:
    """All sizes are in inches until they become parts of the figure's."""
    columns = min(_COLUMNS, len(passage))
    bands = math.ceil(len(passage) / columns)
    width = _LABELS + max(columns * _CELL, 4.0) + 1.0
    heading = textwrap.wrap(title, int(width * 13))
    below = textwrap.wrap(_entities([*query, *passage]), int(width * 15))
    line = 1.5 * _FONT_SIZE / 72
    height_of_band = _LABELS + len(query) * _CELL
    height = _MARGIN + line * (len(heading) + len(below) + 1) + bands * height_of_band + _MARGIN
    figure = blank_figure(figsize=(width, height))
    top = height - _MARGIN / 2
    for number, text in enumerate(heading):
        _write(figure, width, height, top - line * number, text, bold=True)
    top -= line * len(heading)
    low, high = float(similarities.min()), float(similarities.max())
    for begin in range(0, len(passage), columns):
        end = min(begin + columns, len(passage))
        bottom = top - height_of_band
        place = (_LABELS / width, bottom / height, (end - begin) * _CELL / width, len(query) * _CELL / height)
        axes = figure.add_axes(place)
        cells = axes.pcolormesh(similarities[:, begin:end], cmap="Blues", vmin=low, vmax=high, linewidth=0)
        _label(axes, query, passage[begin:end])
        if not begin:
            right = (_LABELS + columns * _CELL + 0.15) / width
            figure.colorbar(cells, cax=figure.add_axes((right, place[1], 0.12 / width, place[3])))
            figure.axes[-1].tick_params(labelsize=_FONT_SIZE - 1)
        top = bottom
    for number, text in enumerate(below, start=1):
        _write(figure, width, height, top - line * number - _MARGIN / 2, text)
    return figure


def _label(axes: Axes, query: Sequence[Token], passage: Sequence[Token]) -> None:
    """Rows from above, columns' tokens on top, both without marks."""
    axes.invert_yaxis()
    axes.xaxis.tick_top()
    axes.set_yticks([row + 0.5 for row in range(len(query))], [text for text, _ in query])
    axes.set_xticks([column + 0.5 for column in range(len(passage))], [text for text, _ in passage], rotation=90)
    axes.tick_params(length=0, labelsize=_FONT_SIZE, labelcolor=INK)
    for side in axes.spines.values():
        side.set_visible(False)
    for tokens, written in ((query, axes.get_yticklabels()), (passage, axes.get_xticklabels())):
        for (_, entity), text in zip(tokens, written, strict=True):
            # A dollar sign in a text is no formula.
            text.set_parse_math(False)
            if entity:
                text.set(color=_ENTITY, fontweight="bold")


def _entities(tokens: Sequence[Token]) -> str:
    named = dict.fromkeys(entity for _, entity in tokens if entity)
    return f"Entities: {', '.join(named)}" if named else ""


def _write(figure: Figure, width: float, height: float, top: float, text: str, *, bold: bool = False) -> None:
    figure.text(
        0.1 / width,
        top / height,
        text,
        fontsize=_FONT_SIZE + bold,
        fontweight="bold" if bold else "normal",
        color=INK if bold else _ENTITY,
        va="top",
        parse_math=False,
    )
