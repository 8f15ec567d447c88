"""The blocks of Markdown, line by line: paragraphs, headings, items, tables, code; set into a flow as they end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from auscult.readers.flow import Flow
from auscult.readers.markdown_inline import HARD_BREAK, kept, label_of
from auscult.readers.markdown_lines import Places, Range, lines_of
from auscult.readers.tables import readable_rows
from auscult.readers.tree import Piece, written

_QUOTE: Final = re.compile(r"(?:[ ]{0,3}>[ ]?)*+")
_ATX: Final = re.compile(r"[ ]{0,3}(#{1,6})(?:[ \t]+|$)")
_CLOSING: Final = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_FENCE: Final = re.compile(r"[ \t]*(`{3,}(?!.*`)|~{3,})")
_ITEM: Final = re.compile(r"[ \t]*(?:([-*+])|(\d{1,9})[.)])(?:[ \t]+|$)")
_DEFINITION: Final = re.compile(r"[ ]{0,3}\[(?!\^)([^\[\]]{1,999})\]:[ \t]*\S+.*$")
_RULE: Final = re.compile(r"[ ]{0,3}(?:(?:\*[ \t]*+){3,}|(?:-[ \t]*+){3,}|(?:_[ \t]*+){3,})$")
_UNDERLINE: Final = re.compile(r"[ ]{0,3}(=+|-+)[ \t]*$")
_TAGGED: Final = re.compile(r"[ \t]*(?:<!--|<(script|style|pre)\b)", re.IGNORECASE)
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_DEEPEST_INDENT: Final = 6


class Blocks:
    """Walks the lines of a Markdown text.

    Args:
        source: All characters of the file.
        start: Where the text begins.
        flow: Where it goes.
    """

    def __init__(self, source: str, start: int, flow: Flow) -> None:
        self._source = source
        self._flow = flow
        self._lines = list(lines_of(source, start))
        self._defined = {
            label_of(match[1]) for begin, end in self._lines if (match := _DEFINITION.match(source[begin:end]))
        }
        self._paragraph: list[Range] = []
        self._items: list[int] = []
        self._fence = ""
        self._after_blank = True

    def set(self) -> None:
        """Set all of it."""
        number = 0
        while number < len(self._lines):
            number = self._line(number)
        self._end_paragraph()

    def _line(self, number: int) -> int:
        """Take a line, or the lines of a table or of a comment; the number of the next."""
        start, end = self._lines[number]
        if self._fence:
            self._code(start, end)
            return number + 1
        start += len(_QUOTE.match(self._source[start:end])[0])  # type: ignore[index]
        text = self._source[start:end]
        if not text.strip():
            self._end_paragraph()
            self._after_blank = True
            return number + 1
        following = self._special(text, start, end, number)
        self._after_blank = False
        return following

    def _special(self, text: str, start: int, end: int, number: int) -> int:
        indent = len(text.expandtabs(4)) - len(text.expandtabs(4).lstrip())
        if self._items and self._after_blank and indent == 0 and not _ITEM.match(text):
            self._items.clear()
        if fence := _FENCE.match(text):
            self._end_paragraph()
            self._fence = fence[1]
            self._flow.block()
        elif heading := _ATX.match(text):
            self._end_paragraph()
            closing = _CLOSING.search(text, heading.end())
            self._heading(len(heading[1]), [(start + heading.end(), start + closing.start() if closing else end)])
        elif self._paragraph and not self._items and (underline := _UNDERLINE.match(text)):
            lines, self._paragraph = self._paragraph, []
            self._heading(1 if underline[1][0] == "=" else 2, lines)
        elif _RULE.match(text):
            self._end_paragraph()
            self._flow.block()
        elif (item := _ITEM.match(text)) and not (item[2] not in (None, "1") and self._paragraph and not self._items):
            # A line of a paragraph may begin with a year and a full stop.
            self._item(item, indent, start, end)
        elif _DEFINITION.match(text) and not (self._paragraph and not self._in_note()):
            self._end_paragraph()
        elif (tagged := _TAGGED.match(text)) and not self._paragraph:
            return self._skip(tagged, number)
        elif self._is_table(number, text):
            return self._table(number)
        elif indent >= 4 and not self._paragraph and not self._items:
            self._code(start, end)
        else:
            self._paragraph.append((start, end))
        return number + 1

    def _code(self, start: int, end: int) -> None:
        text = self._source[start:end]
        closing = text.strip(" \t>")
        if self._fence and closing and not closing.strip(self._fence[0]) and len(closing) >= len(self._fence):
            self._fence = ""
            self._flow.block()
            return
        self._flow.line()
        self._flow.verbatim(Piece(text, start, end))

    def _heading(self, level: int, lines: list[Range]) -> None:
        self._items.clear()
        self._flow.begin_heading(level)
        self._add(lines)
        self._flow.end_heading()

    def _item(self, item: re.Match[str], indent: int, start: int, end: int) -> None:
        self._end_paragraph()
        while self._items and indent < self._items[-1]:
            self._items.pop()
        if not self._items:
            self._flow.block()
        if not self._items or indent > self._items[-1]:
            self._items.append(indent)
        deep = "  " * min(len(self._items) - 1, _DEEPEST_INDENT)
        self._flow.marker(f"{deep}{item[2]}. " if item[2] else f"{deep}- ")
        self._paragraph.append((start + item.end(), end))

    def _skip(self, tagged: re.Match[str], number: int) -> int:
        """Past a comment or a script; the lines of a `<pre>` are read as they are."""
        closing = f"</{tagged[1].lower()}" if tagged[1] else "-->"
        preformatted = bool(tagged[1]) and tagged[1].lower() == "pre"
        while number < len(self._lines):
            start, end = self._lines[number]
            found = self._source[start:end].lower().find(closing)
            if preformatted:
                self._flow.line()
                self._add([(start, end)])
            number += 1
            if found >= 0:
                behind = start + found + len(closing)
                if closing == "-->" and self._source[behind:end].strip():
                    self._paragraph.append((behind, end))
                break
        self._flow.block()
        return number

    def _is_table(self, number: int, text: str) -> bool:
        """Whether a line is a table's header: the next line is of dashes, for as many columns."""
        if "|" not in text or number + 1 >= len(self._lines):
            return False
        start, end = self._lines[number + 1]
        start += len(_QUOTE.match(self._source[start:end])[0])  # type: ignore[index]
        dashes = self._source[start:end]
        if "-" not in dashes or not set(dashes) <= set("|:- \t"):
            return False
        return len(self._cells(start, end)) == len(self._cells(*self._lines[number]))

    def _table(self, number: int) -> int:
        self._end_paragraph()
        header = ["".join(piece.text for piece in self._pieces([cell])) for cell in self._cells(*self._lines[number])]
        number += 2
        rows = []
        while number < len(self._lines):
            start, end = self._lines[number]
            text = self._source[start:end]
            if "|" not in text:
                break
            cells = [list(self._pieces([cell])) for cell in self._cells(start, end)]
            rows.append([cell if any(piece.text.strip() for piece in cell) else [] for cell in cells])
            number += 1
        self._flow.block()
        for line in readable_rows(header, rows, written):
            self._flow.line()
            for piece in line:
                self._flow.add(piece)
        self._flow.block()
        return number

    def _cells(self, start: int, end: int) -> list[Range]:
        """The ranges between a line's bars; bars at its ends part nothing."""
        start += len(_QUOTE.match(self._source[start:end])[0])  # type: ignore[index]
        text = self._source[start:end]
        first = len(text) - len(text.lstrip())
        last = len(text.rstrip())
        bars = [match.start() for match in _CELL_END.finditer(text, first, last)]
        if bars and bars[0] == first:
            first, bars = first + 1, bars[1:]
        if bars and bars[-1] == last - 1:
            last, bars = last - 1, bars[:-1]
        begins = [first, *(bar + 1 for bar in bars)]
        return [(start + begin, start + stop) for begin, stop in zip(begins, [*bars, last], strict=True)]

    def _in_note(self) -> bool:
        """Whether the paragraph is a foot note, which no link's definition goes on with."""
        return self._source.startswith("[^", self._paragraph[0][0])

    def _end_paragraph(self) -> None:
        if not self._paragraph:
            return
        lines, self._paragraph = self._paragraph, []
        if self._items:
            self._flow.line()
        else:
            self._flow.block()
        self._add(lines)
        if self._items:
            # An item without words leaves none to the next block.
            self._flow.marker("")
        else:
            self._flow.block()

    def _add(self, lines: list[Range]) -> None:
        for piece in self._pieces(lines):
            if piece.text == HARD_BREAK and len(piece.text) != piece.end - piece.start:
                self._flow.broken()
            else:
                self._flow.add(piece)

    def _pieces(self, lines: list[Range]) -> Iterator[Piece]:
        """What is read of lines of one paragraph, without marks."""
        text = "\n".join(self._source[start:end] for start, end in lines)
        places = Places(lines)
        for span in kept(text, self._defined):
            if span.text is not None:
                yield Piece(span.text, places.of(span.start), places.of(span.end))
                continue
            for start, stop, same_line in places.parts(span.start, span.end):
                # From one line to the next there may be the mark of a quotation.
                yield Piece(self._source[start:stop] if same_line else " ", start, stop)


__all__ = ["Blocks"]
