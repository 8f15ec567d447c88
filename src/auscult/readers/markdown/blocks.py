"""Set the events of pulldown-cmark into a flow: paragraphs, headings, lists, tables, code, HTML.

The parser follows CommonMark and gives a range of the source for each event, so that no Markdown is parsed here. Marks
of emphasis and addresses of links are left out. HTML blocks are parsed as web pages are.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from pyromark import Options, events_with_range

from auscult.readers.contract import UnreadableError
from auscult.readers.flow import Flow, Heading
from auscult.readers.html.cleaning import Care, clean
from auscult.readers.html.parsing import parse_html
from auscult.readers.html.reader import encloses_headings, level_of, role_of
from auscult.readers.html.standard import resolve_references
from auscult.readers.tables import readable_rows
from auscult.readers.tree import Element, Piece, Role, descend, written
from auscult.readers.typesetting import Typesetter

# Marks of tasks stay in the text as they are written: "[x]".
_OPTIONS: Final = Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES | Options.ENABLE_STRIKETHROUGH
_BLANK_LINE: Final = re.compile(r"^[ \t\u00a0]++(?=\r?$)", re.MULTILINE)
# Matches the rest of 2<sup>1</sup>/<sub>2</sub>, 2<sup>1</sup><sub>2</sub> and 2<sup>1/2</sup> after the first tag. The
# numbers of an isotope are no fraction: a letter follows them.
_FRACTION: Final = re.compile(
    r"\d{1,2}(?:</sup>\s*(?:[/\u2044]|&frasl;)\s*<sub>\d{1,2}</sub>|</sup><sub>\d{1,2}</sub>(?![^\W\d_])|[/\u2044]\d{1,2}</sup>)",
    re.IGNORECASE,
)
_DETAILS: Final = re.compile(r"<(/?)details\b", re.IGNORECASE)
_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
# Per line the parser looks at all that is open: deep nesting costs its square. No author nests so deep.
_TOO_DEEP: Final = re.compile(r"^(?:[ ]{0,3}+(?:>|[-*+][ \t]|\d{1,9}+[.)][ \t])){1000}", re.MULTILINE)
_SURPLUS_CELL: Final = re.compile(r"[^|\s](?:[^|\r\n]*[^|\s])?")
_DEEPEST_INDENT: Final = 6

Range = tuple[int, int]


class Blocks:
    """Set a Markdown text into a flow.

    Args:
        source: All characters of the file, without lone carriage returns.
        start: Offset of the text behind the front matter.
        flow: Takes the words.
    """

    def __init__(self, source: str, start: int, flow: Flow) -> None:
        # A line of no-break spaces is blank to people, and not to the parser.
        self._source = _BLANK_LINE.sub(lambda blanks: " " * len(blanks[0]), source)
        self._start = start
        self._flow = flow
        # Per open list, the number of its next item; None in a list of bullets.
        self._lists: list[int | None] = []
        self._after_list = False
        self._after_label = False
        self._in_code = False
        self._struck = False
        self._html: list[Range] = []
        self._fraction_end = 0
        # Headings above each open <details>.
        self._before_details: list[tuple[Heading, ...]] = []
        # Where a line of a paragraph ended, until the next one begins.
        self._line_end: int | None = None
        self._cell: list[Piece] | None = None
        self._row: list[list[Piece]] = []
        self._row_end = 0
        self._header: list[str] = []
        self._rows: list[list[list[Piece]]] = []

    def set(self) -> None:
        """Set all of it.

        Raises:
            UnreadableError: A line opens a thousand quotations or lists.
        """
        if _TOO_DEEP.search(self._source):
            raise UnreadableError(
                "nested too deeply",
                "a file whose quotations and lists are at most 999 deep",
                "one with more",
                "remove the marks at the beginning of its longest lines",
            )
        text = self._source[self._start :]
        offsets: memoryview | None = None
        if not text.isascii():
            # Per byte of its UTF-8, the number of characters that begin before it.
            begins = (np.frombuffer(text.encode(), np.uint8) & 0xC0) != 0x80
            offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(begins, dtype=np.int32)]).data
        for event, span in events_with_range(text, options=_OPTIONS):
            start, end = span["start"], span["end"]
            if offsets is not None:
                start, end = offsets[start], offsets[end]
            self._write_event(event, self._start + start, self._start + end)

    def _write_event(self, event: object, start: int, end: int) -> None:
        match event:
            case {"Text": str(text)}:
                self._write_text(text, start, end)
            case "SoftBreak":
                self._line_end = start
            case "HardBreak":
                self._break_line(start, end)
            case {"Start": tag}:
                name, value = next(iter(tag.items())) if isinstance(tag, dict) else (tag, None)
                self._begin(name, value, start, end)
            case {"End": tag}:
                self._finish(next(iter(tag)) if isinstance(tag, dict) else tag, start, end)
            case {"Code": str(text)}:
                self._write_code(text, start, end)
            case {"Html": _}:
                self._html.append((start, end))
            case {"InlineHtml": str(tag)}:
                self._write_inline_html(tag, start, end)
            case {"FootnoteReference": _}:
                self._add(Piece(self._source[start:end], start, end))
            case "Rule":
                self._end_block()
            case _:
                raise ValueError(f"unknown event of the Markdown parser: {event!r}")

    def _begin(self, name: str, value: object, start: int, end: int) -> None:
        flow = self._flow
        match name:
            case "Paragraph" | "BlockQuote":
                self._end_block()
            case "Heading":
                self._line_end = None
                flow.begin_heading(int(value["level"][1]))  # type: ignore[index]
            case "List":
                if self._lists or self._after_list:
                    flow.line()
                else:
                    flow.block()
                self._lists.append(value if isinstance(value, int) else None)
            case "Item":
                number = self._lists[-1]
                if number is not None:
                    self._lists[-1] = number + 1
                indent = "  " * min(len(self._lists) - 1, _DEEPEST_INDENT)
                self._line_end = None
                flow.marker(f"{indent}- " if number is None else f"{indent}{number}. ")
            case "CodeBlock":
                self._end_block()
                self._in_code = True
            case "HtmlBlock":
                self._end_block()
                self._html = []
            case "FootnoteDefinition":
                self._end_block()
                label_end = self._source.index("]:", start, end) + 2
                self._add(Piece(self._source[start:label_end], start, label_end))
                self._after_label, self._line_end = True, label_end
            case "Table":
                flow.block()
                self._rows = []
            case "TableHead" | "TableRow":
                self._row = []
            case "TableCell":
                self._cell, self._line_end = [], None
            case "Strikethrough":
                self._keep_single_tilde(start, start + 1)
                self._struck = self._source.startswith("~~", start)
        self._after_list = False

    def _finish(self, name: str, start: int, end: int) -> None:
        flow = self._flow
        match name:
            case "Paragraph" | "BlockQuote" | "FootnoteDefinition":
                self._after_label = False
                self._end_block()
            case "Heading":
                self._line_end = None
                flow.end_heading()
            case "List":
                self._lists.pop()
            case "Item":
                # An item without words leaves no marker to the next block.
                flow.marker("")
            case "CodeBlock":
                self._in_code = False
                self._end_block()
            case "HtmlBlock":
                self._write_html()
                self._end_block()
            case "TableCell":
                cell, self._cell, self._row_end = self._cell or [], None, end
                self._row.append(cell if any(piece.text.strip() for piece in cell) else [])
            case "TableHead":
                self._header = ["".join(piece.text for piece in cell) for cell in self._row]
            case "TableRow":
                # The parser leaves out cells that the header has no column for.
                surplus = _SURPLUS_CELL.finditer(self._source, self._row_end, end)
                self._rows.append([*self._row, *([Piece(found[0], *found.span())] for found in surplus)])
            case "Table":
                self._flow.block()
                self._flow.add_lines(readable_rows(self._header, self._rows, written))
                self._flow.block()
            case "Strikethrough":
                self._struck = False
                self._keep_single_tilde(end - 1, end)
        self._after_list = name == "List"

    def _end_block(self) -> None:
        """End a block: by an empty line, in lists by a line's end."""
        if self._after_label:
            # The first paragraph of a footnote goes on behind its label.
            self._after_label = False
            return
        self._line_end = None
        if self._lists:
            self._flow.line()
        else:
            self._flow.block()

    def _add(self, piece: Piece) -> None:
        if self._struck:
            self._flow.left_out["struck out"] += len(piece.text.split())
            return
        if self._line_end is not None:
            # From one line to the next there may be the mark of a quotation.
            blank, self._line_end = Piece(" ", self._line_end, piece.start), None
            self._add(blank)
        if self._cell is not None:
            self._cell.append(piece)
        else:
            self._flow.add(piece)

    def _write_text(self, text: str, start: int, end: int) -> None:
        stands = self._source[start:end]
        if self._in_code:
            self._write_verbatim(text, start, end)
        elif text != stands and stands.startswith("&"):
            # HTML reads "&#150;" as a dash, CommonMark as a control character.
            self._add(Piece(resolve_references(stands), start, end))
        else:
            self._add(Piece(text, start, end))

    def _write_verbatim(self, text: str, start: int, end: int) -> None:
        """Add text of a code block. Blanks that a tab is made into stand in no source."""
        if text != self._source[start:end]:
            self._flow.verbatim(Piece(text, start, end) if end > start else written(text))
            return
        for number, line in enumerate(text.split("\n")):
            if number:
                self._flow.line()
            if line:
                self._flow.verbatim(Piece(line, start, start + len(line)))
            start += len(line) + 1

    def _write_code(self, text: str, start: int, end: int) -> None:
        """Add a code span without its ticks."""
        place = end - len(self._source[start:end].lstrip("`"))
        if self._source[place : place + len(text)].replace("\n", " ") == text:
            self._add(Piece(text, place, place + len(text)))
            return
        # Blanks at its ends, backslashes before bars and marks of quotations are not part of it.
        for character in text:
            while self._source[place] != character and not (self._source[place].isspace() and character.isspace()):
                place += 1
            self._add(Piece(character, place, place + 1))
            place += 1

    def _break_line(self, start: int, end: int) -> None:
        if self._cell is None:
            self._line_end = None
            self._flow.broken()
        else:
            self._add(Piece(" ", start, end))

    def _write_inline_html(self, tag: str, start: int, end: int) -> None:
        if _BREAK.fullmatch(tag):
            self._break_line(start, end)
        elif tag.lower() == "<sup>":
            before, after = self._source[start - 1 : start], self._source[end : end + 1]
            fraction = None if before.isalpha() else _FRACTION.match(self._source, end)
            if fraction:
                self._fraction_end = fraction.end()
                self._add(Piece(" " if before.isdigit() else "", start, end))
            elif before.isdigit() and (after.isdigit() or after in ("-", "\u2212")):
                # 10<sup>9</sup> is no 109.
                self._add(Piece("^", start, end))
        elif tag.lower() == "<sub>" and start < self._fraction_end and self._source[start - 1] == ">":
            self._add(Piece("/", start, end))

    def _keep_single_tilde(self, start: int, end: int) -> None:
        """Keep a tilde that strikes nothing out: "~5 to 10~ mg"."""
        if "~" not in (self._source[start - 1 : start], self._source[end : end + 1]):
            self._add(Piece("~", start, end))

    def _write_html(self) -> None:
        """Set an HTML block as a web page is. Marks of quotations between its lines become blanks."""
        first = place = self._html[0][0]
        parts, quoted = [], False
        for start, end in self._html:
            parts += [" " * (start - place), self._source[start:end]]
            quoted = quoted or bool(self._source[place:start].strip())
            place = end
        page = parse_html("".join(parts))
        for element in [page, *(node for node in descend(page) if isinstance(node, Element))]:
            element.children = [
                child if isinstance(child, Element) else Piece(child.text, child.start + first, child.end + first)
                for child in element.children
            ]
        clean(page, Care.INVISIBLE)
        # <details> and </details> are blocks of their own where Markdown is between them.
        ends = [closing for start, end in self._html for closing in _DETAILS.findall(self._source, start, end)]
        self._before_details += [self._flow.open_headings] * ends.count("")
        # White space that is kept would have to be that of the source.
        setter = Typesetter(self._flow, _role_without_verbatim if quoted else role_of, level_of, encloses_headings)
        setter.set(page)
        for _ in range(min(ends.count("/"), len(self._before_details))):
            self._flow.resume(self._before_details.pop())


def _role_without_verbatim(element: Element) -> Role:
    role = role_of(element)
    return Role.BLOCK if role is Role.VERBATIM else role
