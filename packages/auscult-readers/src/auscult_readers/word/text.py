"""Paragraphs and tables of Word files: their words as Word prints them.

Tracked insertions are read. Deletions, hidden and struck-out text and field codes are left out. Check boxes, the values
of form fields and the descriptions of pictures become text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from auscult.readers.signs import BOXES, EMPTY, TICKED, is_file_name, shown, sign
from auscult.readers.typesetting import raises
from auscult_readers.fields import field_text
from auscult_readers.word.package import child, children, local, value
from auscult_readers.word.styles import Look, Styles, is_on, look_of
from auscult_readers.word_equations import beside, omml_text

_LEFT_OUT: Final = frozenset(
    {"rPr", "pPr", "sdtPr", "sdtEndPr", "Fallback", "rt", "tbl", "commentReference", "footnoteReference",
     "endnoteReference", "annotationRef", "footnoteRef", "endnoteRef"}
)  # fmt: skip
INSIDE: Final = {"chart": "id", "relIds": "dm", "OLEObject": "id"}
"""Elements that show another part of the file, with the attribute that refers to it."""
_DELETED: Final = ("del", "moveFrom", "delText", "delInstrText")
_WRITTEN: Final = {"tab": " ", "cr": "\n", "noBreakHyphen": "-", "ptab": " "}
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
_BESIDE_BOX: Final = re.compile(rf"(?<=[{BOXES}])(?=\w)|(?<=\w)(?=[{BOXES}])")
# Descriptions of pictures that Word generates.
_BY_WORD: Final = re.compile(
    r"\s*(?:(?:AI-generated content|Description) .*(?:incorrect|generated)\.?|decorative)\s*$", re.I | re.S
)


@dataclass(slots=True)
class ParagraphText:
    """The content of a paragraph.

    Attributes:
        text: Its words, with the author's line breaks.
        bold: Whether all of its words are bold.
        boxes: What is attached to it: elements with the paragraphs of text boxes, and elements that refer to a chart, a
            diagram or an embedded file.
        left_out: Number of words that were left out, by reason.
    """

    text: str = ""
    bold: bool = False
    boxes: list[Any] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Field:
    """A field whose end has not been read.

    Attributes:
        value: Value of a form field; "" for others.
        before: Number of texts before it.
        instruction: Its instruction so far.
    """

    value: str
    before: int
    instruction: str = ""


@dataclass(slots=True)
class _Parts:
    """Collects the words of a paragraph."""

    found: ParagraphText
    texts: list[str] = field(default_factory=list)
    raised: list[bool] = field(default_factory=list)
    plain: int = 0
    bold: int = 0
    # Open fields, outermost first.
    fields: list[_Field] = field(default_factory=list)

    def add(self, text: str, look: Look) -> None:
        if look.hidden or look.struck:
            self.found.left_out["hidden" if look.hidden else "struck out"] += len(text.split())
        elif text:
            self.texts.append(text)
            self.raised.append(bool(look.raised))
            if look.bold:
                self.bold += len(text.strip())
            else:
                self.plain += len(text.strip())

    def write(self, element: Any, look: Look) -> bool:
        """Add the text of an element that has no other elements in it. Return whether it is one."""
        name = local(element)
        if name == "t":
            self.add(shown(look.font or "", (element.text or "").translate(_NO_BREAKS)), look)
        elif name == "sym":
            self.add(_symbol(element), look)
        elif name == "br":
            self.add(" " if value(element, "type") in ("page", "column") else "\n", look)
        elif name in _WRITTEN:
            self.add(_WRITTEN[name], look)
        elif name == "oMath":
            self.add_beside(omml_text(element).translate(_NO_BREAKS), look)
        elif name == "docPr":
            described = _BY_WORD.sub("", value(element, "descr")).translate(_NO_BREAKS).strip()
            if described and not is_file_name(described):
                self.add(f" {described} ", Look(hidden=look.hidden))
        elif name == "fldChar":
            kind = value(element, "fldCharType")
            if kind == "begin":
                self.fields.append(_Field(_filled_in(child(element, "ffData")), len(self.texts)))
            elif kind == "end":
                self.end_field(look)
        elif name == "instrText":
            if self.fields:
                self.fields[-1].instruction += element.text or ""
        else:
            return False
        return True

    def add_beside(self, text: str, look: Look) -> None:
        """Add a text of its own, such as a fraction, with a blank between it and a number before it."""
        if self.texts and beside(self.texts[-1], text):
            self.add(" ", look)
        self.add(text, look)

    def end_field(self, look: Look) -> None:
        """Close the innermost field. Its value is added if no text came after its beginning."""
        if self.fields:
            ended = self.fields.pop()
            text = ended.value or field_text(ended.instruction)
            if text and not "".join(self.texts[ended.before :]).strip():
                self.add_beside(text, look)

    def joined(self) -> str:
        text = ""
        for raised, together in groupby(zip(self.texts, self.raised, strict=True), lambda each: each[1]):
            part = "".join(each for each, _ in together)
            text += f"^{part}" if raised and raises(text[-8:], part) else part
        return _BESIDE_BOX.sub(" ", text)


def paragraph_text(paragraph: Any, styles: Styles | None = None) -> ParagraphText:
    """Return the words of a paragraph.

    Args:
        paragraph: The element `w:p`.
        styles: Styles of the file.
    """
    parts = _Parts(ParagraphText())
    content = parts.found
    first = styles.look_of_paragraph(paragraph) if styles else Look()
    look = first
    waiting = [(node, first) for node in reversed(paragraph)]
    while waiting:
        element, look = waiting.pop()
        name = local(element)
        if name == "txbxContent" or name in INSIDE:
            content.boxes.append(element)
        elif name == "fldSimple" and not any(local(node) in ("t", "sym") for node in element.iter()):
            parts.add_beside(field_text(value(element, "instr")), look)
        elif name in _DELETED:
            content.left_out["tracked deletions"] += sum(
                len((node.text or "").split()) for node in element.iter() if local(node) in ("t", "delText")
            )
        elif not name or name in _LEFT_OUT or parts.write(element, look):
            continue
        elif name == "AlternateContent":
            waiting += [(node, look) for node in reversed(_shown_choice(element))]
        else:
            box = child(element, "sdtPr", "checkbox") if name == "sdt" else None
            if box is not None and not any(local(node) in ("t", "sym") for node in element.iter()):
                parts.add(TICKED if is_on(child(box, "checked")) else EMPTY, look)
            if name == "r":
                properties = child(element, "rPr")
                own = look_of(properties)
                named = value(child(properties, "rStyle"))
                look = own.over(styles.look(named).over(first) if styles and named else first)
            waiting += [(node, look) for node in reversed(element)]
    while parts.fields:
        parts.end_field(look)
    content.text = parts.joined()
    content.bold = parts.bold > 0 and not parts.plain
    return content


def _shown_choice(element: Any) -> Any:
    """Return the alternative of `mc:AlternateContent` to read: the first with words, or else the newest."""
    forms = [each for each in element if local(each) in ("Choice", "Fallback")]
    for form in forms:
        if any(local(each) == "t" and (each.text or "").strip() for each in form.iter()):
            return form
    return forms[0] if forms else ()


def _filled_in(data: Any) -> str:
    """Return the value of a form field: a box that is ticked or not, the selected entry, or the default."""
    if data is None:
        return ""
    if (box := child(data, "checkBox")) is not None:
        ticked = is_on(child(box, "checked"))
        return TICKED if (is_on(child(box, "default")) if ticked is None else ticked) else EMPTY
    if (choices := child(data, "ddList")) is not None:
        entries = [value(each) for each in children(choices, "listEntry")]
        told = value(child(choices, "result")) or value(child(choices, "default")) or "0"
        return entries[int(told)] if told.isdigit() and len(told) < 6 and int(told) < len(entries) else ""
    return value(child(data, "textInput", "default"))


def _symbol(element: Any) -> str:
    try:
        code = int(value(element, "char"), 16)
    except ValueError:
        return ""
    return sign(value(element, "font"), code) if code < 0x110000 else ""


_LONGEST_CELL: Final = 1000
_WIDEST: Final = 60
_LONGEST_LABEL: Final = 60


@dataclass(slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        element: The element that contains its paragraphs.
        goes_on: Whether it continues the cell above.
        across: Whether a cell to its left spans it.
        plain: Whether any of the words read so far are not bold.
        words: Whether any words were read so far.
    """

    element: Any
    goes_on: bool = False
    across: bool = False
    plain: bool = False
    words: bool = False

    def note(self, content: ParagraphText) -> None:
        """Update `plain` and `words` with a paragraph of the cell."""
        if content.text.strip():
            self.words = True
            self.plain |= not content.bold


def cells_of(row: Any) -> Iterator[Cell]:
    """Yield the cells of a row, one per column. A cell that spans several columns is followed by empty ones."""
    for _ in range(_count(child(row, "trPr", "gridBefore"), 0)):
        yield Cell(())
    for element in row:
        if local(element) == "tc":
            properties = child(element, "tcPr")
            merged, beside = child(properties, "vMerge"), child(properties, "hMerge")
            across = beside is not None and value(beside) != "restart"
            goes_on = merged is not None and value(merged) != "restart"
            yield Cell(element, goes_on=goes_on, across=across)
            for _ in range(_count(child(properties, "gridSpan"), 1) - 1):
                yield Cell(element, goes_on=goes_on, across=True)
        elif local(element) in ("sdt", "sdtContent", "customXml"):
            yield from cells_of(element)


def _count(element: Any, otherwise: int) -> int:
    told = value(element)
    return min(int(told), _WIDEST) if told.isascii() and told.isdigit() and len(told) < 4 else otherwise


def is_data(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether a table contains data. Otherwise it is for layout: it has one column, or very long text in a cell."""
    if max(map(len, rows), default=0) < 2:
        return False
    for row in rows:
        for cell in row:
            if not (cell.goes_on or cell.across) and _length(cell.element) > _LONGEST_CELL:
                return False
    return True


def header_rows(table: Any, rows: Sequence[Sequence[Cell]], texts: Sequence[Sequence[str]]) -> int:
    """Return the number of a table's first rows that are its header.

    These are the rows that Word repeats on each page. If there are none, the first row may be a header (`_is_header`),
    together with rows into which its cells extend.

    Args:
        table: The element `w:tbl`.
        rows: Cells of its rows, whose words were read.
        texts: Texts of the cells; that of a cell that spans columns is in each of them.
    """
    elements = [each for each in table if local(each) == "tr"]
    count = 0
    while count < len(elements) and is_on(child(elements[count], "trPr", "tblHeader")):
        count += 1
    if not 0 < count < len(rows):
        count = int(_is_header(table, rows, texts))
    while (
        0 < count < len(rows) - 1
        and any(cell.goes_on for cell in rows[count])
        and any(cell.across for cell in rows[count - 1])
    ):
        count += 1
    return count


def _is_header(table: Any, rows: Sequence[Sequence[Cell]], texts: Sequence[Sequence[str]]) -> bool:
    """Whether a table's first row is its header.

    It is if only this row is bold or only this row has no numbers. In tables of three or more columns it also is if
    Word formats the first row differently.

    Args:
        table: The element `w:tbl`.
        rows: Cells of its rows, whose words were read.
        texts: Texts of the cells.
    """
    if len(rows) < 2 or not texts[0] or not any(text.strip() for text in texts[0]):
        return False
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
