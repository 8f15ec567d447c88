"""The report of an HL7 v2 message: its segments as headings, lines and enclosed files.

A comment (NTE) belongs to the segment before it, and is left out with one that the sender took back. An order (ORC)
that is no longer in force is named so in the line of what was ordered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import Enum, auto
from typing import Final

from auscult.readers.flow import Flow, has_words
from auscult.readers.tree import Piece, written
from auscult_readers.records.attachments import Attachment
from auscult_readers.records.hl7_entries import (
    COMPLETED,
    EMPTY,
    ENTRIES,
    ORDERED,
    placed,
    state_of_order,
    words_of_entry,
)
from auscult_readers.records.hl7_message import REST, Message

# Values for programs.
_NO_RESULTS: Final = ("HD", "EI")
_CODED: Final = ("CE", "CWE", "CNE", "CF")
# D: deleted, W: it was of another patient, X: there is none.
_TAKEN_BACK: Final = ("D", "W", "X")
# Segments around the report, or with its facts.
_ENVELOPE: Final = frozenset({"MSH", "FHS", "BHS", "BTS", "FTS", "EVN", "PID", "TXA", "ORC", "SFT", "DSC"})
_KINDS: Final = {"rtf": "text/rtf", "html": "text/html", "plain": "text/plain", "xml": "text/xml"}
_NO_SEGMENT: Final = "lines that are no segments"


class _Last(Enum):
    """State of the last segment, to which comments and continued lines belong."""

    READ = auto()
    ENCLOSED = auto()
    TAKEN_BACK = auto()
    NOT_READ = auto()


class Report:
    """Builds the report of a message from its segments.

    Args:
        message: The message.
        title: Title of the report, which is no heading in it.

    Attributes:
        flow: The text.
        results: Ranges of the lines of results, entries and comments on them.
        taken_back: Remarks on what the sender took back.
        unread: Number of segments that are not read, by name.
    """

    def __init__(self, message: Message, title: str) -> None:
        self.flow = Flow()
        self.results: list[tuple[int, int]] = []
        self.taken_back: list[str] = []
        self.unread: Counter[str] = Counter()
        self._files: list[tuple[str, list[str], str]] = []
        self._message, self._title = message, title
        # The order, and the heading below that of the order, with its level.
        self._about, self._heading, self._level = "", "", 0
        # Whether results belong to the entries above them, as those of a vaccination do.
        self._in_order = self._order_taken_back = False
        # State of the order, and whether a line says it.
        self._state, self._is_told = "", True
        self._last = _Last.NOT_READ
        # Whether the last segment is a line of its own, and not a part of a text.
        self._is_line = False
        # Name of the last result if it has no value.
        self._valueless = ""
        for segment in _details_first(message.segments):
            self._add(segment, segment[0].text.strip())
        self._end_order()

    @property
    def attached(self) -> list[Attachment]:
        """The enclosed files."""
        return [Attachment(media_type=kind, data="".join(data), url=url) for kind, data, url in self._files]

    def _add(self, segment: list[Piece], kind: str) -> None:
        if kind in ("NTE", REST):
            self._add_lines(kind, segment)
            return
        self._valueless = ""
        if what := self._taken_back(segment, kind):
            self.taken_back.append(f"{what} that was taken back was left out")
            self._last = _Last.TAKEN_BACK
            return
        self._last = _Last.READ
        self._is_line = False
        if kind == "OBR":
            self._begin_order(segment)
        elif kind in ENTRIES:
            self._add_entry(segment, kind)
        elif kind == "OBX":
            self._add_observation(segment)
        else:
            self._last = _Last.NOT_READ
            if kind == "ORC":
                self._end_order()
                self._state = state_of_order(self._message, segment)
                self._is_told = not self._state
            self.unread[kind] += kind not in _ENVELOPE

    def _taken_back(self, segment: list[Piece], kind: str) -> str:
        """Return the words for a segment that the sender took back; "" if it stands."""
        message = self._message
        if kind == "OBX" and message.field(segment, 11).strip() in _TAKEN_BACK:
            return "a result"
        if kind in ENTRIES and ENTRIES[kind].is_deleted(message, segment):
            self._order_taken_back = kind in ORDERED
            return "an entry"
        self._order_taken_back &= kind not in (*ORDERED, "ORC")
        belongs = kind == "OBX" or (kind in ENTRIES and not ENTRIES[kind].heading)
        return "a part of an entry" if self._order_taken_back and belongs else ""

    def _end_order(self) -> None:
        if not self._is_told:
            self.taken_back.append("an order that is no longer in force does not say what was ordered")
            self._is_told = True

    def _begin_order(self, segment: list[Piece]) -> None:
        """Begin the section of an order (OBR)."""
        about = self._message.coded(self._message.field(segment, 4))
        self._begin_heading(about if about != self._title or self.flow.length else "", 2)
        self._about, self._heading, self._in_order = about, "", False
        # X: the order was cancelled. That an order is completed says its results.
        state = self._state or ("cancelled" if self._message.field(segment, 25).strip() == "X" else "")
        if state and not state.startswith(COMPLETED):
            self._add_line([written(f"Order: {state}")])
        self._state, self._is_told = "", True

    def _begin_heading(self, title: str, level: int) -> None:
        if title:
            self.flow.begin_heading(level)
            self.flow.add(written(title))
            self.flow.end_heading()

    def _go_below(self, title: str, level: int) -> None:
        """Begin a heading unless the next line is below it already; "" is that of the order."""
        if title != self._heading:
            self._begin_heading(title or self._about or "Results", level)
            self._heading, self._level = title, level

    def _add_line(self, line: list[Piece]) -> None:
        """Add a line that holds no heading of a note."""
        self.flow.line()
        for piece in line:
            if piece.text:
                self.flow.verbatim(piece)
        size = sum(len(piece.text) for piece in line)
        self.results.append((self.flow.length - size, self.flow.length))
        self._is_line = True

    def _add_entry(self, segment: list[Piece], kind: str) -> None:
        entry = ENTRIES[kind]
        line = words_of_entry(self._message, segment, self._state if kind in ORDERED else "")
        if not line:
            self._last = _Last.NOT_READ
            return
        self._is_told |= kind in ORDERED
        if entry.heading:
            self._go_below(entry.heading, 2)
            self._in_order = kind in ORDERED
        self._add_line(line)

    def _add_lines(self, kind: str, segment: list[Piece]) -> None:
        """Add a comment, or a line that is no segment."""
        if kind == "NTE" and len(segment) < 4:
            return
        if self._last is _Last.TAKEN_BACK:
            self.taken_back.append("a comment on what was taken back was left out")
        elif kind == REST and self._last is _Last.ENCLOSED:
            self._files[-1][1].append(segment[1].text.strip())
        elif kind == REST and self._last is _Last.NOT_READ:
            self.unread[_NO_SEGMENT] += 1
        else:
            if self._last is not _Last.READ and self.flow.length:
                self._go_below("Comments", 2)
                self._in_order = False
            if self._valueless:
                self._go_to_results()
                self._add_line([written(f"{self._valueless}: no result")])
                self._valueless = ""
            self._last = _Last.READ
            before = self.flow.length
            self._add_text(segment[3] if kind == "NTE" else segment[1])
            if self._is_line:
                self.results.append((before, self.flow.length))

    def _add_text(self, field: Piece) -> None:
        """Add the lines of a text. An empty line ends a paragraph."""
        self.flow.line() if field.text.strip() else self.flow.block()
        for piece in self._message.pieces(field):
            if piece is None:
                self.flow.broken()
            else:
                self.flow.verbatim(piece)

    def _add_observation(self, segment: list[Piece]) -> None:
        """Add a text, a result or an enclosed file."""
        message = self._message
        form, name = message.field(segment, 2).strip(), message.coded(message.field(segment, 3))
        if form in ("ED", "RP"):
            self._enclose(form, message.piece(segment, 5))
            self._last = _Last.ENCLOSED
        elif form in _NO_RESULTS:
            self._last = _Last.NOT_READ
        elif form in ("TX", "FT"):
            if len(segment) > 5:
                self._go_to_text(name)
                self._add_text(segment[5])
        elif line := _words_of_result(message, segment, name):
            self._go_to_results()
            self._add_line(line)
        else:
            self._valueless = name

    def _go_to_text(self, name: str) -> None:
        """Begin the heading of a text. A text with the name of its order, or without one, needs none."""
        if self._level < 3:
            self._go_to_results()
        if name in (self._about, self._title):
            self._go_to_results()
        elif name:
            self._go_below(name, 3)

    def _go_to_results(self) -> None:
        """Leave the heading of a text, of comments, or of entries that are no order."""
        if not self._in_order:
            self._go_below("", 2)

    def _enclose(self, form: str, value: Piece) -> None:
        for each in self._message.repetitions(value) if form == "ED" else [value]:
            parts = each.text.split(self._message.signs[0])
            data = [self._message.plain(parts[4])] if form == "ED" and len(parts) > 4 else []
            self._files.append((_media_type(parts), data, each.text if form == "RP" else ""))


def _details_first(segments: list[list[Piece]]) -> Iterator[list[Piece]]:
    """Yield segments, those between an order (ORC) and what was ordered behind the latter.

    Timing and comments may come before the segment with the medicine or the test, to which they belong.
    """
    waiting: list[list[Piece]] | None = None
    for segment in segments:
        kind = segment[0].text.strip()
        belongs = kind in ("NTE", REST) or (kind in ENTRIES and not ENTRIES[kind].heading)
        if waiting is not None and belongs:
            waiting.append(segment)
            continue
        if waiting is not None and kind != "OBR" and kind not in ORDERED:
            yield from waiting
            waiting = None
        yield segment
        yield from waiting or ()
        waiting = [] if kind == "ORC" else None
    yield from waiting or ()


def _words_of_result(message: Message, segment: list[Piece], name: str) -> list[Piece]:
    """Return a result as the pieces of a line: "Potassium: 6.9 mmol/L; reference range: 3.5-5.1; H"."""
    form = segment[2].text.strip() if len(segment) > 2 else ""
    values: list[Piece] = []
    for each in message.repetitions(message.piece(segment, 5)):
        value = _value(message, form, each.text)
        if has_words(value):
            values += [written("; ")] if values else []
            values.append(placed(each, value))
    if not values:
        return []
    unit, reference = message.part(message.field(segment, 6), 1), message.plain(message.field(segment, 7))
    flags = [_value(message, "CWE", each.text) for each in message.repetitions(message.piece(segment, 8))]
    flag = ", ".join(each for each in flags if each not in ("", "N", EMPTY))
    rest = [f" {unit}" if unit else "", f"; reference range: {reference}" if reference else ""]
    rest.append(f"; {flag}" if flag else "")
    return [written(f"{name}: " if name else ""), *values, written("".join(rest))]


def _value(message: Message, form: str, value: str) -> str:
    """Return one value of a result in words."""
    if form in _CODED:
        return message.coded(value) or message.part(value, 1)
    if form == "SN":
        # A structured number has components: ">^200".
        return message.plain(value.replace(message.signs[0], ""))
    if form == "NR":
        return " to ".join(filter(None, (message.part(value, 1), message.part(value, 2))))
    if form == "CQ":
        return " ".join(filter(None, (message.part(value, 1), message.coded_part(value, 2))))
    return message.plain(value)


def _media_type(parts: list[str]) -> str:
    """Return the media type of an enclosed file, from "^application^pdf" or the common "^AP^PDF" or "^TEXT^RTF"."""
    kind, subtype = ([each.strip().lower() for each in parts[1:3]] + ["", ""])[:2]
    return _KINDS.get(subtype, f"{'application' if kind == 'ap' else kind}/{subtype}" if kind and subtype else "")
