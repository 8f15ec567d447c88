"""Which segments become one, so that they stay few and no document is written often."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from auscult.index.manifest import SegmentRecord
from auscult.index.segment import Segment, SegmentWriter

#: A segment of at most so many times the documents of all behind it is joined with them: then each is larger than what
#: follows, there are few, and a document is written again a logarithm of times.
_JOINED = 3


def plan(segments: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Neighbours that shall be one, by their numbers; one alone that is named once stays as it is.

    Args:
        segments: Of each, in order: how many documents it holds, and how many of them are still there.

    Returns:
        Groups in order. A group of one is to be written again where fewer than half of its documents are still there.
    """
    groups: list[list[int]] = []
    tail: list[int] = []
    size = 0
    for number in reversed(range(len(segments))):
        living = segments[number][1]
        if not tail or living <= _JOINED * size:
            tail.insert(0, number)
            size += living
        else:
            groups.insert(0, [number])
    return [*groups, *([tail] if tail else [])]


def merge(segments: Sequence[Segment], path: Path, dim: int) -> SegmentRecord:
    """Write what is still there of segments into one.

    Args:
        segments: In order.
        path: Of the new file.
        dim: Length of a vector.
    """
    writer = SegmentWriter(path, dim)
    try:
        for segment in segments:
            writer.take(segment)
        return writer.close()
    except BaseException:
        writer.discard()
        raise
