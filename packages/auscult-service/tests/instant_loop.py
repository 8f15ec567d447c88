"""Time that does not pass: coroutines run on a clock that jumps to the next timer, so that waiting takes no time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class _Jumping(selectors.DefaultSelector):
    """Waits for nothing; keeps how long it would have."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; without anything, that time has passed."""
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "nothing will ever happen"
            self.now += timeout
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return seconds on the clock that jumps."""
        return self._jumping.now


def run_at_once(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine whose waits take no time."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(coroutine)
