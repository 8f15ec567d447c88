"""Create figures and write them to files. The only file that imports matplotlib.

It uses the object interface, as pyplot has global state and looks for a display.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auscult.errors import ConfigError, DataError, MissingExtraError
from auscult.files.writing import whole_or_nothing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# With a fixed salt, equal figures give equal files. Text stays text, so it can be searched.
_REPEATABLE: Mapping[str, Any] = {"svg.hashsalt": "auscult", "svg.fonttype": "none"}


FORMATS = (".png", ".svg", ".pdf")
"""File extensions of the formats that can be written."""


def check_target(path: Path) -> None:
    """Check that a figure can be written to a path, before it is computed.

    Raises:
        ConfigError: The extension is none of `FORMATS`, or the folder does not exist.
        DataError: The folder cannot be accessed.
        MissingExtraError: matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"a picture file ({', '.join(FORMATS)})", f"'{path.name}'", "change the file's suffix")
    try:
        exists = path.parent.is_dir()
    except OSError as error:
        raise DataError("a writable place", f"{path}: {error.strerror}", "choose another path") from error
    if not exists:
        raise ConfigError(f"an existing folder for {path.name}", f"'{path.parent}'", "make the folder first")
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot")


def blank_figure(**settings: Any) -> Figure:
    """Create an empty figure.

    Args:
        settings: Arguments of `matplotlib.figure.Figure`.

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
    """Draw and save figures in a context in which equal figures give equal SVG files.

    Args:
        style: Further rc parameters of matplotlib.

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
    """Write a figure in the format of the file's extension, completely or not at all. Call it within `drawing_style`.

    Raises:
        DataError: The file cannot be written.
    """
    kind = path.suffix.lstrip(".").lower()
    # Without a date, equal figures give equal files.
    metadata = {"Date": None} if kind == "svg" else {}
    with whole_or_nothing(path) as partial:
        figure.savefig(partial, format=kind, dpi=dpi, metadata=metadata)
