"""Blank figures to draw in; the one file that imports matplotlib.

The object interface throughout: pyplot would keep global state and look for a display.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from auscult.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# With fixed ids equal results give equal files; text stays text, to be searched.
_REPEATABLE: Mapping[str, Any] = {"svg.hashsalt": "auscult", "svg.fonttype": "none"}


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
