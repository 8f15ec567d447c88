"""Wait for a server whose connection was lost, and say in one line what it reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from auscult.errors import ServerAwayError

_T = TypeVar("_T")
_WAITS: Final = (0.2, 1.0, 3.0)
"""Seconds before a function is tried again."""
REACH: Final = "see that it runs and can be reached"
"""The remedy of errors that a server cannot be reached."""


def patiently(
    action: Callable[[], _T],
    lost: Callable[[Exception], bool],
    again: Callable[[], None],
    name: str,
    waits: Sequence[float] | None = None,
) -> _T:
    """Run a function on a server. If the connection is lost, connect and run it again, a few times.

    Args:
        action: The function; it may run twice.
        lost: Returns whether an error means that the connection was lost.
        again: Drops the connection, so that `action` connects again.
        name: Name of the engine.
        waits: Seconds before each further try.

    Raises:
        ServerAwayError: It was lost each time.
    """
    for wait in (*(_WAITS if waits is None else waits), None):
        try:
            return action()
        except Exception as error:
            if not lost(error):
                raise
            if wait is None:
                raise ServerAwayError(f"an answer of {name}", f"none ({first_line(error)})", REACH) from error
            time.sleep(wait)
            again()
    raise AssertionError("the last try returns or raises")


def first_line(error: Exception) -> str:
    """Return an error's message in one line."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def printable_value(value: str) -> str:
    """Return a field's value as servers can keep it: without NUL and halves of characters."""
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
