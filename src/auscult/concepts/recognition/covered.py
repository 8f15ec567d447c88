"""Which characters of a text are taken, so that a text of megabytes is compared with its ranges in linear time."""

from __future__ import annotations

from collections.abc import Iterable


class Covered:
    """Characters that ranges cover.

    Args:
        spans: Half-open ranges; they may overlap.
    """

    def __init__(self, spans: Iterable[tuple[int, int]] = ()) -> None:
        self._marks = bytearray()
        for start, end in spans:
            self.add(start, end)

    def add(self, start: int, end: int) -> None:
        """Cover a range."""
        self._marks.extend(bytes(max(0, end - len(self._marks))))
        self._marks[start:end] = b"\1" * (end - start)

    def touches(self, start: int, end: int) -> bool:
        """Whether a character of a range is covered."""
        return 1 in self._marks[start:end]


__all__ = ["Covered"]
