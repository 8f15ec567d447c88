"""Blank figures to draw in, and files of them; the one file that imports matplotlib.

The object interface throughout: pyplot would keep global state and look for a display.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auscult.errors import ConfigError, DataError, MissingExtraError
from auscult.files.writing import whole_or_nothing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# With fixed ids equal results give equal files; text stays text, to be searched.
_REPEATABLE: Mapping[str, Any] = {"svg.hashsalt": "auscult", "svg.fonttype": "none"}


FORMATS = (".png", ".svg", ".pdf")
"""Ends of the names of pictures."""


def check_target(path: Path) -> None:
    """Whether a picture could be written there, for asking before the work is done.

    Raises:
        ConfigError: The suffix is none of `FORMATS`, or the folder does not exist.
        DataError: What lies there cannot be told.
    """
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"a picture file ({', '.join(FORMATS)})", f"'{path.name}'", "change the file's suffix")
    try:
        there = path.parent.is_dir()
    except OSError as error:
        raise DataError("a writable place", f"{path}: {error.strerror}", "choose another path") from error
    if not there:
        raise ConfigError(f"an existing folder for {path.name}", f"'{path.parent}'", "make the folder first")


def blank_figure(**settings: Any) -> Figure:
    """An empty figure.

    Args:
        settings: As `matplotlib.figure.Figure` takes them.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtraError("matplotlib", "plot") from error
    return Figure(**settings)


@contextmanager
def drawing_style(style: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Draw and save inside this: the same figure gives the same SVG, in a style of one's own where one is given.

    Args:
        style: matplotlib's rc parameters.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
    except ModuleNotFoundError as error:
        raise MissingExtraError("matplotlib", "plot") from error
    # Newer type stubs list every parameter's name as a literal.
    settings: Any = {**_REPEATABLE, **(style or {})}
    with rc_context(settings):
        yield


def write_figure(figure: Figure, path: Path, *, dpi: int = 160) -> None:
    """Write a figure in the format of the file's ending, whole or not at all; in the style in which it is called.

    Raises:
        DataError: Nothing can be written there.
    """
    kind = path.suffix.lstrip(".").lower()
    # Without a date, equal figures give equal files.
    metadata = {"Date": None} if kind == "svg" else {}
    with whole_or_nothing(path) as partial:
        figure.savefig(partial, format=kind, dpi=dpi, metadata=metadata)
