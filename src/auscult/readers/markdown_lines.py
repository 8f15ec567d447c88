"""The lines of a text, and where the characters of lines that were joined to a paragraph stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_LINE: Final = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)?")

Range = tuple[int, int]


def lines_of(source: str, start: int) -> Iterator[Range]:
    """The lines of a text without their ends."""
    while start < len(source):
        end = _LINE.match(source, start).end()  # type: ignore[union-attr]
        yield start, start + len(source[start:end].rstrip("\r\n"))
        start = end


class Places:
    """Where the characters of joined lines stand in the source, asked in order."""

    def __init__(self, lines: list[Range]) -> None:
        self._lines = lines
        self._number = 0
        self._offset = 0

    def of(self, place: int) -> int:
        """Of one character; the end of a line is before its line break."""
        while place > self._offset + self._length:
            self._offset += self._length + 1
            self._number += 1
        return self._lines[self._number][0] + place - self._offset

    def parts(self, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """Of characters [start, end): ranges, and whether each is of one line, or what parts two."""
        begin = self.of(start)
        while end > self._offset + self._length:
            stop = self._lines[self._number][1]
            following = self._lines[self._number + 1][0]
            if stop > begin:
                yield begin, stop, True
            yield stop, following, False
            self._offset += self._length + 1
            self._number += 1
            begin = following
        stop = self.of(end)
        if stop > begin:
            yield begin, stop, True

    @property
    def _length(self) -> int:
        start, end = self._lines[self._number]
        return end - start


__all__ = ["Places", "Range", "lines_of"]
