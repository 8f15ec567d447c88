r"""Builder of a draft's text and runs from words, gaps, markers and headings.

White space of the source becomes one blank. A single white-space character is part of the run around it; several are a
run of their own, with one character in the text. Gaps between blocks ("\n\n") and lines ("\n"), list markers and
repeated column headings are not in the source and in no run.

At the end the flow becomes a draft (`drafting`).
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.documents.document import Section
from auscult.documents.original import RUN
from auscult.readers.tree import NOWHERE, Piece

WHITE: Final = " \t\n\r\f\v"
_WIDE: Final = re.compile(r"[ \t\n\r\f\v]{2,}")
_ONE_BLANK: Final = str.maketrans(dict.fromkeys(WHITE, " "))
LINE: Final = "\n"
BLOCK: Final = "\n\n"
# A longer heading was never closed and contains the text of a page.
_LONGEST_HEADING: Final = 300
_DEEPEST: Final = 12


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and its range in the text. Level 1 is the highest.

    Attributes:
        resumes: Heading whose section goes on here, without a heading in the text.
    """

    level: int
    text: str
    start: int
    end: int
    resumes: Heading | None = None


class Flow:
    """Collects words in reading order.

    Attributes:
        headings: Headings so far.
        left_out: Number of words that were left out on purpose, by reason.
        length: Number of characters so far.
        joins: Whether to put a colon before the next words and ignore requested gaps; a list begins on a new line.
    """

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.left_out: Counter[str] = Counter()
        self._parts: list[str] = []
        self.length = 0
        self._runs = array("I")
        self._gap = ""
        self._marker = ""
        self.joins = False
        self._last = ""
        self._blank: tuple[int, int] | None = None
        self._heading: tuple[int, int] | None = None
        self._open: list[Heading] = []
        self._resumed: list[Heading] = []

    def add(self, piece: Piece) -> None:
        """Add words, with white space collapsed."""
        text, start, end = piece
        if start == NOWHERE:
            if text == " ":
                self._blank = self._blank or (NOWHERE, NOWHERE)
                return
            # A sign ("^") stands right behind the word before it; a word does not.
            self._blank = self._blank if self._blank == (NOWHERE, NOWHERE) or text[:1].isalnum() else None
            self._write_gap()
            self._put(text, NOWHERE, NOWHERE)
            return
        body = text.strip(WHITE)
        if not body or (self._begins and body.isspace()):
            # A paragraph with only a no-break space separates others and is none itself.
            self._keep_blank(start, end)
        elif len(text) != end - start:
            self._write_gap()
            self._put(body, start, end)
        else:
            first = len(text) - len(text.lstrip(WHITE))
            last = first + len(body)
            self._keep_blank(start, start + first)
            self._write_gap()
            place = first
            for wide in _WIDE.finditer(text, first, last):
                self._put(text[place : wide.start()].translate(_ONE_BLANK), start + place, start + wide.start())
                self._put(" ", start + wide.start(), start + wide.end())
                place = wide.end()
            self._put(text[place:last].translate(_ONE_BLANK), start + place, start + last)
            self._keep_blank(start + last, end)

    def verbatim(self, piece: Piece) -> None:
        """Add words and keep their white space, as in code."""
        text, start, end = piece
        if self._begins and len(text) == end - start:
            kept = text.lstrip("\r\n")
            text, start = kept, end - len(kept)
        if text:
            self._write_gap()
            self._put(text, start, end)

    def block(self) -> None:
        """Put an empty line before the next words."""
        self._separate(BLOCK)

    def line(self) -> None:
        """Put a line break before the next words."""
        self._separate(LINE)

    def broken(self) -> None:
        """Add a line break of the author. Two of them become an empty line."""
        self._separate(BLOCK if self._gap else LINE)

    def add_lines(self, lines: Iterable[Sequence[Piece]]) -> None:
        """Put lines of words, such as the rows of a table, each after a line break."""
        for each in lines:
            self.line()
            for piece in each:
                self.add(piece)

    def marker(self, text: str) -> None:
        """Put a line break and a list marker before the next words. An empty marker cancels this."""
        if self.joins and text:
            self.joins = False
            self._put(self._colon(), NOWHERE, NOWHERE)
        self.line()
        self._marker = text

    def begin_heading(self, level: int) -> None:
        """Begin a heading with the next words, until `end_heading`."""
        self.end_heading()
        self._marker = ""
        self.joins = False
        self.block()
        self._heading = (max(1, min(level, _DEEPEST)), len(self._parts))

    def end_heading(self) -> None:
        """End the heading, if one has begun."""
        if self._heading is None:
            return
        level, first = self._heading
        self._heading = None
        put = "".join(self._parts[first:])
        text = put.strip()
        if text and len(text) <= _LONGEST_HEADING:
            end = self.length - (len(put) - len(put.rstrip()))
            self.headings.append(Heading(level, text, end - len(text), end))
            self._reopen([self.headings[-1]])
        self.block()

    @property
    def open_headings(self) -> tuple[Heading, ...]:
        """Headings above the next words, outermost first."""
        return tuple(self._open)

    @property
    def after_heading(self) -> bool:
        """Whether the last words are a heading."""
        return bool(self._open) and self.length <= self._open[-1].end

    def resume(self, headings: tuple[Heading, ...]) -> None:
        """Put the next words below headings that were open before, unless nothing followed the last heading.

        Args:
            headings: Value of `open_headings` at an earlier place.
        """
        now = self.open_headings
        if now == headings or not now or self.after_heading:
            return
        shared = sum(1 for one, other in zip(now, headings, strict=False) if one is other)
        again = headings[min(shared, len(headings) - 1) :] if headings else (Heading(1, "", 0, 0),)
        here = [replace(each, start=self.length, end=self.length, resumes=each.resumes or each) for each in again]
        self._resumed += here
        self._reopen(here)
        self.block()

    def _reopen(self, headings: Sequence[Heading]) -> None:
        for heading in headings:
            while self._open and self._open[-1].level >= heading.level:
                self._open.pop()
            if heading.text:
                self._open.append(heading)

    @property
    def tail(self) -> str:
        """The last characters, if the next words follow them directly; "" if a gap or marker comes between."""
        parted = self._gap or self._marker or self.joins or self._blank
        return "" if parted else "".join(self._parts[-8:])[-8:]

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    @property
    def runs(self) -> npt.NDArray[Any]:
        """Positions of the text in the source, (runs,) of `documents.original.RUN`."""
        return np.frombuffer(self._runs.tobytes(), RUN)

    def sections(
        self, title: Heading | None = None, without: Callable[[str], bool] | None = None
    ) -> tuple[list[Section], list[tuple[str, ...]]]:
        """Return the sections between headings, and per section the headings above its own.

        A heading without words below it is a section whose text is the heading: "NO KNOWN DRUG ALLERGIES" is an
        answer. A heading with only sub-headings below it is no section, since their paths contain it.

        Args:
            title: Heading that is the document's title. Its section has no heading, and it is in no path.
            without: Returns whether a heading without words below it is no section.
        """
        text = self.text
        sections: list[Section] = []
        paths: list[tuple[str, ...]] = []
        # Open headings, outermost first, each with the number of sections before it.
        above: list[tuple[Heading, int]] = []

        def is_title(heading: Heading) -> bool:
            return (heading.resumes or heading) is title

        def add(heading: Heading, start: int, end: int) -> None:
            sections.append(Section("" if is_title(heading) else heading.text, text[start:end], start=start))
            paths.append(tuple(each.text for each, _ in above if not is_title(each)))

        def close(level: int) -> None:
            while above and above[-1][0].level >= level:
                heading, before = above.pop()
                words = text[heading.start : heading.end]
                if len(sections) == before and has_words(words) and not (without and without(words)):
                    add(heading, heading.start, heading.end)

        headings = sorted([*self.headings, *self._resumed], key=lambda heading: heading.start)
        ends = [heading.start for heading in headings] + [len(text)]
        for heading, end in zip([Heading(0, "", 0, 0), *headings], ends, strict=True):
            close(heading.level)
            body = text[heading.end : end].rstrip()
            before = len(sections)
            if has_words(body):
                add(heading, heading.end + len(body) - len(body.lstrip()), heading.end + len(body))
            if heading.text:
                above.append((heading, before))
        close(0)
        return sections, paths

    @property
    def _begins(self) -> bool:
        """Whether the next words begin a line."""
        return not self.length or bool(self._gap or self._marker or self.joins)

    def _separate(self, gap: str) -> None:
        if self._heading is not None:
            self._blank = self._blank or (NOWHERE, NOWHERE)
        elif len(gap) > len(self._gap):
            self._gap = gap
            self._blank = None

    def _keep_blank(self, start: int, end: int) -> None:
        if end > start and self._blank is None and not self._gap and self._last not in WHITE:
            self._blank = (start, end)

    def _write_gap(self) -> None:
        """Write the gap, marker or blank before the next words."""
        if self.joins:
            self._put(f"{self._colon()} ", NOWHERE, NOWHERE)
            self.joins = False
        elif self._gap or self._marker:
            gap = self._gap if self.length else ""
            gap = gap[1:] if self._last == LINE else gap
            self._put(gap + self._marker, NOWHERE, NOWHERE)
        elif self._blank is not None and self._last not in WHITE:
            self._put(" ", *self._blank)
        self._gap = self._marker = ""
        self._blank = None

    def _colon(self) -> str:
        return "" if self._last in (":", "?") else ":"

    def _put(self, text: str, start: int, end: int) -> None:
        if not text:
            return
        at, self.length = self.length, self.length + len(text)
        self._parts.append(text)
        self._last = text[-1]
        if start == NOWHERE:
            return
        runs = self._runs
        exact = len(text) == end - start
        if exact and runs and runs[-1] == start and runs[-3] == at and at - runs[-4] == start - runs[-2]:
            runs[-3], runs[-1] = self.length, end
        else:
            runs.extend((at, self.length, start, end))


def has_words(text: str) -> bool:
    """Whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))
