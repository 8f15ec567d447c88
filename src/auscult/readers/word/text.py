"""Paragraphs and tables of Word files: their words as Word prints them.

Insertions are in; deletions, hidden text and field codes are out. A table tells its cells, whether they hold data, and
whether its first row is a header.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from auscult.readers.word.package import child, local, value
from auscult.readers.word.styles import is_on

_LEFT_OUT: Final = frozenset(
    {"del", "moveFrom", "instrText", "delText", "delInstrText", "rPr", "pPr", "sdtPr", "sdtEndPr", "Fallback", "rt",
     "tbl", "commentReference", "footnoteReference", "endnoteReference", "annotationRef", "footnoteRef", "endnoteRef"}
)  # fmt: skip
_DELETED: Final = ("del", "moveFrom")
_WRITTEN: Final = {"tab": " ", "cr": "\n", "noBreakHyphen": "-", "ptab": " "}
# The font "Symbol", whose signs have no letters of their own in the file.
SYMBOLS: Final = dict(
    zip("abgdezhqiklmnxprstufcyw", "αβγδεζηθικλμνξπρστυφχψω", strict=True),
) | {"D": "Δ", "S": "Σ", "W": "Ω", "\xa3": "≤", "\xb3": "≥", "\xb1": "±", "\xb4": "×", "\xb8": "÷", "\xb0": "°",
     "\xae": "→", "\xac": "←", "\xad": "↑", "\xaf": "↓", "\xb7": "•", "\xb9": "≠", "\xbb": "≈"}  # fmt: skip


@dataclass(slots=True)
class ParagraphText:
    """What a paragraph holds.

    Attributes:
        text: Its words; a line break where the author set one.
        bold: Whether all of its words are set in bold.
        boxes: Text boxes that hang on it: the elements with their paragraphs.
        deleted: Whether deletions were left out.
    """

    text: str = ""
    bold: bool = False
    boxes: list[Any] = field(default_factory=list)
    deleted: bool = False


def paragraph_text(paragraph: Any, *, bold_style: bool = False) -> ParagraphText:
    """The words of a paragraph.

    Args:
        paragraph: Its element.
        bold_style: Whether its style is bold.
    """
    found = ParagraphText()
    parts: list[str] = []
    plain = bold = 0
    waiting = [(each, bold_style) for each in reversed(paragraph)]
    while waiting:
        element, heavy = waiting.pop()
        name = local(element)
        if name == "txbxContent":
            found.boxes.append(element)
        elif name in _LEFT_OUT or not name:
            found.deleted |= name in _DELETED
        elif name == "t":
            text = (element.text or "").translate(_NO_BREAKS)
            parts.append(text)
            plain, bold = (plain, bold + len(text.strip())) if heavy else (plain + len(text.strip()), bold)
        elif name == "sym":
            parts.append(_symbol(element))
        elif name == "br":
            parts.append(" " if value(element, "type") in ("page", "column") else "\n")
        elif name in _WRITTEN:
            parts.append(_WRITTEN[name])
        elif name != "r" or is_on(child(element, "rPr", "vanish")) is not True:
            if name == "r":
                own = is_on(child(element, "rPr", "b"))
                heavy = heavy if own is None else own
            waiting += [(each, heavy) for each in reversed(element)]
    found.text = "".join(parts)
    found.bold = bold > 0 and not plain
    return found


_NO_BREAKS: Final = {
    0: None,
    ord("\r"): " ",
    ord("\n"): " ",
    0xAD: None,
    0x2028: " ",
    0x2029: " ",
    0x0B: " ",
    0x0C: " ",
}


def _symbol(element: Any) -> str:
    told = value(element, "char")
    try:
        code = int(told, 16) & 0xFF if int(told, 16) >= 0xF000 else int(told, 16)
    except ValueError:
        return ""
    if value(element, "font").lower() == "symbol":
        return SYMBOLS.get(chr(code), chr(code) if 32 <= code < 127 else "")
    return ""


_LONGEST_CELL: Final = 1000
_WIDEST: Final = 60
_LONGEST_LABEL: Final = 60


@dataclass(slots=True)
class Cell:
    """A cell.

    Attributes:
        element: With its paragraphs.
        goes_on: Whether it goes on with the cell above it, or is what one to its left spans: it has no words.
        plain: Whether words of it are not bold, as far as they were read.
        words: Whether it has any.
    """

    element: Any
    goes_on: bool = False
    plain: bool = False
    words: bool = False

    def note(self, found: ParagraphText) -> None:
        """Take notice of a paragraph of it."""
        if found.text.strip():
            self.words = True
            self.plain |= not found.bold


def cells_of(row: Any) -> Iterator[Cell]:
    """The cells of a row, one a column: what spans several is followed by empty ones."""
    for element in row:
        if local(element) == "tc":
            properties = child(element, "tcPr")
            merged = child(properties, "vMerge")
            yield Cell(element, goes_on=merged is not None and value(merged) != "restart")
            told = value(child(properties, "gridSpan"))
            for _ in range(min(int(told), _WIDEST) - 1 if told.isascii() and told.isdigit() and len(told) < 4 else 0):
                yield Cell(element, goes_on=True)
        elif local(element) in ("sdt", "sdtContent", "customXml"):
            yield from cells_of(element)


def is_data(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether a table holds data; else it lays out a page: it has one column, or pages of text in a cell."""
    if max(map(len, rows), default=0) < 2:
        return False
    for row in rows:
        for cell in row:
            if not cell.goes_on and _length(cell.element) > _LONGEST_CELL:
                return False
    return True


def header_of(table: Any, rows: Sequence[Sequence[Cell]], texts: Sequence[Sequence[str]]) -> bool:
    """Whether a table's first row is its header.

    It is where Word repeats it on each page, where it alone is bold, where it alone has no numbers; and in tables of
    three and more columns where Word sets the first row off.

    Args:
        table: Its element.
        rows: Its cells, whose words have been read.
        texts: Theirs.
    """
    if len(rows) < 2 or not texts[0] or not any(text.strip() for text in texts[0]):
        return False
    first = next(iter(element for element in table if local(element) == "tr"), None)
    if is_on(child(first, "trPr", "tblHeader")):
        return True
    whole = all(text.strip() for text in texts[0]) and len(texts[0]) > 1
    if not whole or any(len(text) > _LONGEST_LABEL for text in texts[0]):
        return False
    if _bold(rows[0]) and not all(_bold(row) for row in rows[1:]):
        return True
    if any(letter.isdigit() for text in texts[0] for letter in text):
        return False
    columns = zip(*texts[1:], strict=False)
    if any(all(text[:1].isdigit() for text in column) for column in columns):
        return True
    return len(texts[0]) > 2 and _first_row_set_off(table)


def _first_row_set_off(table: Any) -> bool:
    look = child(table, "tblPr", "tblLook")
    if value(look, "firstRow"):
        return value(look, "firstRow") in ("1", "true", "on")
    told = value(look)
    try:
        return bool(int(told, 16) & 0x20) if told else False
    except ValueError:
        return False


def _bold(row: Sequence[Cell]) -> bool:
    return any(cell.words for cell in row) and not any(cell.plain for cell in row)


def _length(element: Any) -> int:
    total = 0
    for paragraph in element:
        if local(paragraph) == "p":
            total += len(paragraph_text(paragraph).text)
        elif local(paragraph) == "tbl":
            return 0
    return total
