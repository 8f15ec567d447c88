"""Figures saved as PNG or SVG, whole or not at all; the same figure gives the same file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from auscult.drawing import drawing_style, write_figure
from auscult.errors import DataError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")
INK = "#333333"
"""The colour of what is written in a figure."""


def save_as(figure: Figure, path: Path, dpi: int = 160) -> None:
    """Write a figure in the format of the file's ending.

    Raises:
        DataError: The ending is of no format, or nothing can be written there.
    """
    check_format(path)
    with drawing_style():
        write_figure(figure, path, dpi=dpi)


def check_format(path: Path) -> str:
    """The format that a file's ending names.

    Raises:
        DataError: It names none.
    """
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise DataError(f"a file name ending in .{' or .'.join(FORMATS)}", str(path), "rename it")
    return kind
