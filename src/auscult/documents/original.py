"""Keep the file that a document was read from, and map the document's text to places in the file.

A text source (HTML, XML, Markdown, a note) is decoded into characters, and runs map characters of the text to these. A
page description (PDF) has words with boxes on pages. A highlight can thus be shown in the file that the user knows: as
a range of the source, or as boxes on a page.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

RUN: Final = np.dtype([("start", "<u4"), ("end", "<u4"), ("source_start", "<u4"), ("source_end", "<u4")])
"""Characters [start, end) of the document's text are characters [source_start, source_end) of the decoded source. Runs
are in the order of the text and do not overlap there. Where the two lengths are equal, so are the characters, but for
white space; else a run is whole (`&amp;` for `&`)."""
WORD: Final = np.dtype(
    [("start", "<u4"), ("end", "<u4"), ("page", "<u4"), ("left", "<f4"), ("top", "<f4"), ("right", "<f4"),
     ("bottom", "<f4")]
)  # fmt: skip
"""Characters [start, end) of the document's text are a word on a page (from 0), in points from its upper left."""
_SAME_LINE: Final = 0.5
_NO_RUNS: Final = np.zeros(0, RUN)
_NO_WORDS: Final = np.zeros(0, WORD)


class Box(NamedTuple):
    """A rectangle on a page, in points from its upper left corner; pages count from 0."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The source of a document.

    Attributes:
        name: The file's name as users know it ("guidelines/gout.pdf", "notes.zip/note-3.txt").
        media_type: Media type: "application/pdf", "text/html", ...
        content: The bytes of the file.
        encoding: The encoding of a text source; empty for others.
        runs: The runs of a text source, (runs,) of `RUN`.
        words: The words of a page description, (words,) of `WORD`.
        pages: Width and height in points of each page of a page description.
    """

    name: str
    media_type: str
    content: bytes
    encoding: str = ""
    runs: npt.NDArray[Any] = field(default_factory=lambda: _NO_RUNS)
    words: npt.NDArray[Any] = field(default_factory=lambda: _NO_WORDS)
    pages: Sequence[tuple[float, float]] = ()

    def source_ranges(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the half-open ranges of the decoded source for characters [start, end) of the text, in order.

        Adjacent ranges are joined. The list is empty for a source of pages.
        """
        first = int(np.searchsorted(self.runs["end"], start, "right"))
        last = int(np.searchsorted(self.runs["start"], end, "left"))
        ranges: list[tuple[int, int]] = []
        for begin, stop, source_begin, source_stop in self.runs[first:last].tolist():
            if stop - begin == source_stop - source_begin:
                source_begin += max(0, start - begin)
                source_stop -= max(0, stop - end)
            if ranges and ranges[-1][1] == source_begin:
                ranges[-1] = (ranges[-1][0], source_stop)
            else:
                ranges.append((source_begin, source_stop))
        return ranges

    def boxes(self, start: int, end: int) -> list[Box]:
        """Return one box per line for characters [start, end) of the text; none for a source without pages."""
        first = int(np.searchsorted(self.words["end"], start, "right"))
        last = int(np.searchsorted(self.words["start"], end, "left"))
        boxes: list[Box] = []
        for _, _, page, left, top, right, bottom in self.words[first:last].tolist():
            word = Box(page, left, top, right, bottom)
            if boxes and _one_line(boxes[-1], word):
                line = boxes[-1]
                boxes[-1] = Box(
                    page, min(line.left, left), min(line.top, top), max(line.right, right), max(line.bottom, bottom)
                )
            else:
                boxes.append(word)
        return boxes

    def to_bytes(self) -> bytes:
        """Return everything but the content, compressed, for `from_bytes`."""
        fields = {
            "name": self.name,
            "media_type": self.media_type,
            "encoding": self.encoding,
            "pages": list(self.pages),
        }
        buffer = io.BytesIO()
        head = json.dumps(fields).encode()
        buffer.write(len(head).to_bytes(8, "little") + head)
        for rows in (self.runs, self.words):
            buffer.write(len(rows).to_bytes(8, "little") + rows.tobytes())
        return zlib.compress(buffer.getvalue())

    @classmethod
    def from_bytes(cls, layout: bytes, content: bytes) -> Original:
        """Restore an original from the bytes of `to_bytes` and its content."""
        layout_bytes = zlib.decompress(layout)
        place = 8 + int.from_bytes(layout_bytes[:8], "little")
        fields = json.loads(layout_bytes[8:place])
        arrays = []
        for dtype in (RUN, WORD):
            number = int.from_bytes(layout_bytes[place : place + 8], "little")
            arrays.append(np.frombuffer(layout_bytes, dtype, number, place + 8))
            place += 8 + number * dtype.itemsize
        pages = tuple((width, height) for width, height in fields["pages"])
        return cls(
            name=fields["name"],
            media_type=fields["media_type"],
            content=content,
            encoding=fields["encoding"],
            runs=arrays[0],
            words=arrays[1],
            pages=pages,
        )


def _one_line(line: Box, word: Box) -> bool:
    """Return whether a word belongs to a line: it is on its page, at its height, and not left of its beginning."""
    shared = min(line.bottom, word.bottom) - max(line.top, word.top)
    least = min(line.bottom - line.top, word.bottom - word.top)
    return line.page == word.page and shared >= _SAME_LINE * least and word.left >= line.left
