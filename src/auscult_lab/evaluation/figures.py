"""Draw how models read, as PNG or SVG. Files are written atomically, and equal figures give equal files.

Evidence: a ranker's attention, as in Figure 7 of zhu2019: query words shaded blue, sentences shaded red.
Interactions: similarities of the tokens of a query and a passage, as in Figure 6 of wang2021: darker is more similar.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from auscult.drawing import blank_figure, drawing_style, write_figure
from auscult.encoders.contract import FloatArray
from auscult.errors import DataError
from auscult.files.writing import check_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")
INK = "#333333"
"""The colour of what is written in a figure."""


def save_as(figure: Figure, path: Path, dpi: int = 160) -> None:
    """Write a figure in the format that the file's ending names.

    Raises:
        DataError: The ending names no format, or the file cannot be written.
    """
    check_format(path)
    with drawing_style():
        write_figure(figure, path, dpi=dpi)


def check_figure(path: Path) -> None:
    """Check that a figure could be drawn to a file, before the work is done.

    Raises:
        DataError: The ending names no format, or the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    check_format(path)
    check_file(path)
    blank_figure()


def check_format(path: Path) -> None:
    """Check that a file's ending names a format.

    Raises:
        DataError: The ending names no format.
    """
    if path.suffix.lstrip(".").lower() not in FORMATS:
        raise DataError(f"a file name ending in .{' or .'.join(FORMATS)}", str(path), "rename it")


Shaded = tuple[str, float]
"""A text and its weight, at least 0; the heaviest of a row of texts gets the full colour."""

_TEXT, _PALE = "#222222", "#777777"
_BLUE, _RED = (0.42, 0.65, 0.92), (0.95, 0.50, 0.45)
_CHARACTERS, _INDENT = 92, 6
_MONOSPACE_SIZE = 9.0
# Width of a character in a fixed-width font, as a fraction of the font size; this needs no renderer.
_CHARACTER = 0.602


def draw_evidence(
    path: Path, query: Sequence[Shaded], sentences: Sequence[Shaded], *, title: str = "", note: str = ""
) -> None:
    """Draw a query and a passage, shaded by their attention weights.

    Args:
        path: File to write, with the suffix ".svg" or ".png". Missing folders are created.
        query: The query's words, in order.
        sentences: The passage's sentences, in order; each is preceded by its weight in percent.
        title: Text above the query.
        note: Text below the passage.

    Raises:
        DataError: There is no query word or no sentence, a weight is negative, or the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    _check_weights(query, "query words")
    _check_weights(sentences, "sentences")
    save_as(_evidence(query, sentences, title, note), path)


def _check_weights(texts: Sequence[Shaded], what: str) -> None:
    if not texts:
        raise DataError(f"{what} to draw", "none", "draw the evidence of a query and a passage that have words")
    for text, weight in texts:
        if not weight >= 0:
            raise DataError("weights of at least 0", f"{weight} for {text!r}", "give attention weights")


def _evidence(query: Sequence[Shaded], sentences: Sequence[Shaded], title: str, note: str) -> Figure:
    heading, below = textwrap.wrap(title, _CHARACTERS), textwrap.wrap(note, _CHARACTERS)
    query_lines = _query_lines(query)
    answered = [textwrap.wrap(text, _CHARACTERS - _INDENT) or [""] for text, _ in sentences]
    lines = 1.0 * len(heading) + bool(heading) + len(query_lines) + 1 + sum(map(len, answered))
    lines += len(below) + bool(below)
    inch = _MONOSPACE_SIZE / 72
    figure = blank_figure(figsize=((_CHARACTERS + 2) * _CHARACTER * inch, (lines + 1) * 1.6 * inch))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(-1, _CHARACTERS + 1)
    axes.set_ylim(lines, -1)
    axes.axis("off")
    row = 0.0
    for line in heading:
        _write_in_cells(axes, 0, row, line, weight="bold")
        row += 1
    row = _draw_query(axes, query_lines, row + bool(heading), heaviest=max(weight for _, weight in query))
    row = _draw_sentences(axes, sentences, answered, row + 1)
    for number, line in enumerate(below, start=1):
        _write_in_cells(axes, _INDENT, row + number, line, colour=_PALE)
    return figure


def _query_lines(query: Sequence[Shaded]) -> list[list[Shaded]]:
    """Return the words of each line; a word longer than a line has a line of its own."""
    lines: list[list[Shaded]] = [[]]
    used = 0
    for text, weight in query:
        if lines[-1] and used + len(text) > _CHARACTERS:
            lines.append([])
            used = 0
        lines[-1].append((text, weight))
        used += len(text) + 1
    return lines


def _draw_query(axes: Axes, lines: Sequence[Sequence[Shaded]], row: float, heaviest: float) -> float:
    """Draw the words and return the row after them."""
    for line in lines:
        column = 0
        for text, weight in line:
            _shade(axes, column, row, len(text), _tint(_BLUE, weight, heaviest))
            _write_in_cells(axes, column, row, text)
            column += len(text) + 1
        row += 1
    return row


def _draw_sentences(axes: Axes, sentences: Sequence[Shaded], wrapped: Sequence[Sequence[str]], row: float) -> float:
    """Draw the sentences and return the row after them."""
    heaviest, total = max(weight for _, weight in sentences), sum(weight for _, weight in sentences)
    for (_, weight), lines in zip(sentences, wrapped, strict=True):
        share = 100 * weight / total if total else 0.0
        _write_in_cells(axes, 0, row, f"{share:3.0f} %", colour=_PALE)
        for line in lines:
            _shade(axes, _INDENT, row, len(line), _tint(_RED, weight, heaviest))
            _write_in_cells(axes, _INDENT, row, line)
            row += 1
    return row


def _tint(colour: tuple[float, float, float], weight: float, heaviest: float) -> tuple[float, float, float]:
    """Return white for weight 0, and the colour for the heaviest."""
    share = weight / heaviest if heaviest else 0.0
    red, green, blue = (1 - share * (1 - part) for part in colour)
    return red, green, blue


def _shade(axes: Axes, column: float, row: float, width: float, colour: tuple[float, float, float]) -> None:
    axes.barh(row, width + 0.6, left=column - 0.3, height=0.92, color=[colour], linewidth=0)


def _write_in_cells(
    axes: Axes, column: float, row: float, text: str, *, colour: str = _TEXT, weight: str = "normal"
) -> None:
    # A dollar sign in a text starts no formula.
    axes.text(
        column,
        row,
        text,
        family="monospace",
        fontsize=_MONOSPACE_SIZE,
        fontweight=weight,
        color=colour,
        ha="left",
        va="center",
        parse_math=False,
    )


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
    """Draw a matrix of similarities: query tokens as rows, passage tokens as columns, in bands of 40 columns.

    Tokens of entities are coloured, and the entities are listed below.

    Args:
        path: File to write, with the suffix ".svg" or ".png". Missing folders are created.
        query: Tokens, in order.
        passage: Tokens, in order.
        similarities: (query tokens, passage tokens). The smallest is white, the largest dark blue.
        title: Text above the matrix.

    Raises:
        DataError: There are no tokens, the matrix has another shape, or the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    if not query or not passage:
        raise DataError("tokens of a query and a passage to draw", "none", "draw texts that have words")
    if similarities.shape != (len(query), len(passage)):
        expected = f"similarities of the shape {(len(query), len(passage))}"
        raise DataError(expected, str(similarities.shape), "give one for each two tokens")
    save_as(_interactions(query, passage, similarities, title), path)


def _interactions(query: Sequence[Token], passage: Sequence[Token], similarities: FloatArray, title: str) -> Figure:
    """Draw the figure. Sizes are in inches until they are divided by the figure's."""
    columns = min(_COLUMNS, len(passage))
    bands = math.ceil(len(passage) / columns)
    width = _LABELS + max(columns * _CELL, 4.0) + 1.0
    heading = textwrap.wrap(title, int(width * 13))
    entities = dict.fromkeys(entity for _, entity in (*query, *passage) if entity)
    below = textwrap.wrap(f"Entities: {', '.join(entities)}" if entities else "", int(width * 15))
    line = 1.5 * _FONT_SIZE / 72
    height_of_band = _LABELS + len(query) * _CELL
    height = _MARGIN + line * (len(heading) + len(below) + 1) + bands * height_of_band + _MARGIN
    figure = blank_figure(figsize=(width, height))
    top = height - _MARGIN / 2
    for number, text in enumerate(heading):
        _write_line(figure, width, height, top - line * number, text, bold=True)
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
        _write_line(figure, width, height, top - line * number - _MARGIN / 2, text)
    return figure


def _label(axes: Axes, query: Sequence[Token], passage: Sequence[Token]) -> None:
    """Label rows at the left and columns at the top, both without tick marks."""
    axes.invert_yaxis()
    axes.xaxis.tick_top()
    axes.set_yticks([row + 0.5 for row in range(len(query))], [text for text, _ in query])
    axes.set_xticks([column + 0.5 for column in range(len(passage))], [text for text, _ in passage], rotation=90)
    axes.tick_params(length=0, labelsize=_FONT_SIZE, labelcolor=INK)
    for side in axes.spines.values():
        side.set_visible(False)
    for tokens, written in ((query, axes.get_yticklabels()), (passage, axes.get_xticklabels())):
        for (_, entity), text in zip(tokens, written, strict=True):
            # A dollar sign in a text starts no formula.
            text.set_parse_math(False)
            if entity:
                text.set(color=_ENTITY, fontweight="bold")


def _write_line(figure: Figure, width: float, height: float, top: float, text: str, *, bold: bool = False) -> None:
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
