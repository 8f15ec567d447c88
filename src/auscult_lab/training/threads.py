"""How many threads of the processor a training is fastest with, found by timing its own first steps.

Small networks are several times as fast with one thread as with many, large ones are not: which they are depends on
the machine and on what else it does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Final

import torch

#: Steps with each number of threads, by turns, of which the first is left out: it is slower than those that follow.
_ROUNDS: Final = 5


def candidates(most: int) -> list[int]:
    """Return the numbers of threads that are tried: powers of two, and the most."""
    powers = [1 << power for power in range(most.bit_length())]
    return sorted({*powers, most})


class ThreadChoice:
    """Times the first steps with some numbers of threads each, and goes on with the fastest.

    Args:
        say: Told of what was chosen.
        clock: Seconds, from any moment on.

    Attributes:
        chosen: The number of threads; None until it is chosen.
    """

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.perf_counter) -> None:
        self.chosen: int | None = None
        self._say, self._clock = say, clock
        self._before = torch.get_num_threads()
        self._timed: dict[int, list[float]] = {}
        self._began = 0.0

    def begin(self) -> None:
        """Begin to try, or take what was chosen."""
        if self.chosen is not None:
            torch.set_num_threads(self.chosen)
        elif self._before > 1:
            self._timed = {count: [] for count in candidates(self._before)}

    def step_begins(self) -> None:
        """Take the number of threads whose turn it is."""
        if self._timed:
            torch.set_num_threads(self._next())
            self._began = self._clock()

    def step_ended(self) -> None:
        """Keep how long the step took; choose after the last one."""
        if not self._timed:
            return
        self._timed[self._next()].append(self._clock() - self._began)
        if all(len(seconds) == _ROUNDS for seconds in self._timed.values()):
            self._choose()

    def end(self) -> None:
        """Leave the process as it was."""
        self._timed = {}
        torch.set_num_threads(self._before)

    def _next(self) -> int:
        return min(self._timed, key=lambda count: len(self._timed[count]))

    def _choose(self) -> None:
        steps = {count: median(seconds[1:]) for count, seconds in self._timed.items()}
        self._timed = {}
        self.chosen = min(steps, key=lambda count: steps[count])
        torch.set_num_threads(self.chosen)
        timed = ", ".join(f"{count}: {1000 * seconds:.0f} ms" for count, seconds in steps.items())
        self._say(f"threads: {self.chosen} (a step by number of threads: {timed})")
