"""Token buckets: how often somebody may do something, bursts allowed."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

_KEPT: Final = 10_000


class Buckets:
    """A bucket for each name; it holds a minute's worth and fills evenly.

    Args:
        per_minute: How often; 0 for as often as one likes.
        clock: Seconds.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = float(per_minute)
        self._clock = clock
        # Left in the bucket, and when that was so; those that were asked last stand last.
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> float:
        """Take one; how many seconds to wait for the next where there is none, else 0."""
        if not self._size:
            return 0.0
        now = self._clock()
        left, then = self._left.pop(name, (self._size, now))
        left = min(self._size, left + (now - then) * self._size / 60)
        wait = 0.0 if left >= 1 else (1 - left) * 60 / self._size
        self._left[name] = (left if wait else left - 1, now)
        if len(self._left) > _KEPT:
            self._left.popitem(last=False)
        return wait
