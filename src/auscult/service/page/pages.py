"""Pages of a PDF as they are shown: an image each, and boxes over it where sentences stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from auscult.documents import Document, Original

_MOST_BOXED: Final = 3_000
_ROOM: Final = 1.5
"""Points that a box is wider than its words on each side."""


@dataclass(frozen=True, slots=True)
class Boxed:
    """One line of a sentence on a page, in points."""

    sentence: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPage:
    """A page.

    Attributes:
        number: From 1.
        width: In points.
        height: In points.
        boxes: Of all its sentences, in order.
    """

    number: int
    width: float
    height: float
    boxes: tuple[Boxed, ...]


def pages_of(document: Document, original: Original | None, around: tuple[int, int]) -> list[ShownPage]:
    """The pages of a document; none where it is no PDF.

    Args:
        document: Whose sentences are boxed: all of them, or of a long one those near the answer.
        original: Its file's layout.
        around: First and one past the last sentence of what may be marked.
    """
    if original is None or not original.pages:
        return []
    sentences = list(enumerate(document.sentences))
    if len(sentences) > _MOST_BOXED:
        middle = sum(around) // 2
        sentences = sentences[max(0, middle - _MOST_BOXED // 2) : middle + _MOST_BOXED // 2]
    boxes: dict[int, list[Boxed]] = {}
    for number, sentence in sentences:
        for box in original.boxes(sentence.start, sentence.end):
            boxes.setdefault(box.page, []).append(
                Boxed(
                    number,
                    round(box.left - _ROOM, 1),
                    round(box.top - _ROOM / 2, 1),
                    round(box.right - box.left + 2 * _ROOM, 1),
                    round(box.bottom - box.top + _ROOM, 1),
                )
            )
    return [
        ShownPage(number=number + 1, width=width, height=height, boxes=tuple(boxes.get(number, ())))
        for number, (width, height) in enumerate(original.pages)
    ]
