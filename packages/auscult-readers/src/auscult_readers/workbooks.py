"""Sheets of Excel files since 2007 (.xlsx, .xlsm): cells with number formats and fonts, text boxes and charts.

The parts are read one event at a time. Specification: ECMA-376, part 1, SpreadsheetML.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from auscult.readers.contract import UnreadableError
from auscult.readers.tree import Element
from auscult_readers.drawings import chart_of, paragraphs_of, words_only
from auscult_readers.number_formats import BUILT_IN, general, shown_number, shown_text
from auscult_readers.package import Package
from auscult_readers.records.xml import parse_xml
from auscult_readers.records.xml_events import parse_events
from auscult_readers.sheet_cells import Font, Notes, Sheet, name_of_cell, text_of_runs

_MAIN: Final = "xl/workbook.xml"
_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")
_REFERENCE: Final = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_HEADER_CODE: Final = re.compile(r'&(?:"[^"]*"|\d+|K[0-9A-F]{6}|[A-Z])')
_AROUND: Final = re.compile(r"(?:odd|even|first)(?:Header|Footer)")
_TEXTS: Final = ("s", "str", "inlineStr")
_OTHER_EPOCH: Final = 1904
_SHORT: Final = 16
"""Whole numbers with fewer digits are shown as they are."""
_OFF: Final = ("0", "false", "off")
_Run = tuple[str, Font | None]


def read_workbook(package: Package, notes: Notes) -> Iterator[Sheet]:
    """Yield the sheets of a workbook in order, without sheets of charts.

    Raises:
        UnreadableError: A part is broken or harmful.
    """
    root, related = _parsed(package, _MAIN), _related(package, _MAIN)
    properties = root.child("workbookPr")
    since_1904 = properties is not None and properties.get(f"date{_OTHER_EPOCH}") in ("1", "true")
    named = dict(related.values())
    styles = _Styles(_parsed(package, named.get("styles", "xl/styles.xml")))
    strings = _Strings()
    if content := package.read(named.get("sharedStrings", "xl/sharedStrings.xml")):
        parse_events(content, strings)
    for described in root.all("sheet"):
        kind, target = related.get(described.get("id"), ("", ""))
        if kind == "worksheet" and target in package:
            sheet = Sheet(described.get("name"))
            parse_events(package.read(target), _Cells(sheet, styles, strings.texts, notes, since_1904=since_1904))
            try:
                _read_around(package, target, sheet, notes)
            except UnreadableError as error:
                # The cells are useful without what lies above them.
                notes.remarks.append(f"a part of a sheet is not read: {error.kind}")
            yield sheet


def _parsed(package: Package, name: str) -> Element:
    """Return the root of a part, with words without offsets; an empty element if there is no such part."""
    return words_only(parse_xml(package.read(name))[0]) if name in package else Element("")


def _related(package: Package, name: str) -> dict[str, tuple[str, str]]:
    """Return kind and name of the parts that a part refers to, by the ids of the references."""
    folder, stem = posixpath.split(name)
    return {
        each.get("Id"): (
            each.get("Type").rpartition("/")[2],
            posixpath.normpath(posixpath.join("/", folder, each.get("Target"))).lstrip("/"),
        )
        for each in _parsed(package, f"{folder}/_rels/{stem}.rels").elements
        if each.get("TargetMode") != "External"
    }


def _read_around(package: Package, name: str, sheet: Sheet, notes: Notes) -> None:
    """Read what lies above the cells of a sheet, and count the words of its comments."""
    parts = [*_related(package, name).values()]
    kinds = {kind for kind, _ in parts}
    for kind, target in parts:
        # Comments with answers are also stored as plain ones, for older programs.
        if kind == "threadedComment" or (kind == "comments" and "threadedComment" not in kinds):
            for comment in _parsed(package, target).all("comment", "threadedComment"):
                notes.leave_out(" ".join(each.words() for each in comment.all("text")), "comments")
        elif kind == "drawing":
            for shape in _parsed(package, target).all("sp"):
                sheet.drawn += paragraphs_of(shape, bullets=False)
            for inner, chart in _related(package, target).values():
                if inner == "chart":
                    sheet.drawn += chart_of(_parsed(package, chart))
                elif inner not in ("image", "hyperlink", "chartUserShapes"):
                    notes.remarks.append(f"a part of a sheet is not read: {inner}")


class _Styles:
    """Number formats and fonts of cells, by number of the style.

    Args:
        root: Root of the part with styles.
    """

    def __init__(self, root: Element) -> None:
        defined = {each.get("numFmtId"): each.get("formatCode") for each in root.all("numFmt")}
        fonts = [_font(each) for part in root.all("fonts") for each in part.elements]
        self._known = dict[str, tuple[str, Font | None]]()
        for place, style in enumerate(each for part in root.all("cellXfs") for each in part.elements):
            number, font = style.get("numFmtId"), style.get("fontId")
            code = defined.get(number, BUILT_IN.get(int(number), "") if number.isdecimal() and len(number) < 6 else "")
            named = fonts[int(font)] if font.isdecimal() and int(font) < len(fonts) else Font()
            self._known[str(place)] = code, None if named.is_plain else named

    def of(self, number: str) -> tuple[str, Font | None]:
        """Return the number format of a style, and its font, None for a plain one."""
        return self._known.get(number, ("", None))


def _font(properties: Element) -> Font:
    name = raised = ""
    struck = False
    for each in properties.elements:
        if each.tag in ("name", "rFont"):
            name = each.get("val")
        elif each.tag == "strike":
            struck = each.get("val") not in _OFF
        elif each.tag == "vertAlign":
            raised = each.get("val")
    return Font(name, struck, raised == "superscript")


class _Runs:
    """Collects the runs of one string: text, and the font if the run has one."""

    def __init__(self) -> None:
        self.runs = list[_Run]()
        self._font: Font | None = None
        self._text: str | None = None
        self._phonetic = False

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        if name == "t":
            self._text = None if self._phonetic else ""
        elif name == "rPh":
            self._phonetic = True
        elif name == "rPr":
            self._font = Font()
        elif self._font is not None and name == "rFont":
            self._font = replace(self._font, name=attributes.get("val", ""))
        elif self._font is not None and name == "strike":
            self._font = replace(self._font, struck=attributes.get("val") not in _OFF)
        elif self._font is not None and name == "vertAlign":
            self._font = replace(self._font, raised=attributes.get("val") == "superscript")

    def end(self, name: str) -> None:
        if name == "t" and self._text is not None:
            self.runs.append((_unescaped(self._text), self._font))
            self._text = None
        elif name == "rPh":
            self._phonetic = False
        elif name == "r":
            self._font = None

    def text(self, text: str) -> None:
        if self._text is not None:
            self._text += text


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _content_of(runs: list[_Run]) -> str | list[_Run]:
    """Return the runs of a string, or only its text if no run has a font of its own."""
    if len(runs) == 1 and runs[0][1] is None:
        return runs[0][0].strip()
    text = "".join(text for text, _ in runs).strip()
    return text if not text or all(font is None for _, font in runs) else runs


class _Strings:
    """Collects the strings that cells share. One without fonts of its own is only its text."""

    def __init__(self) -> None:
        self.texts = list[str | list[_Run]]()
        self._runs = _Runs()

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        if name == "si":
            self._runs.runs = []
        else:
            self._runs.begin(name, attributes)

    def end(self, name: str) -> None:
        """End an element."""
        if name == "si":
            self.texts.append(_content_of(self._runs.runs))
        else:
            self._runs.end(name)

    def text(self, text: str) -> None:
        """Take characters."""
        self._runs.text(text)


class _Cells:
    """Reads the cells of a sheet into `sheet`."""

    def __init__(
        self, sheet: Sheet, styles: _Styles, strings: list[str | list[_Run]], notes: Notes, *, since_1904: bool
    ) -> None:
        self._sheet, self._styles, self._strings, self._notes = sheet, styles, strings, notes
        self._since_1904 = since_1904
        self._row = self._column = -1
        self._kind = self._style = self._value = ""
        self._formula = self._takes = False
        self._inline: _Runs | None = None

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        if name == "c":
            self._begin_cell(attributes)
        elif name == "v":
            self._takes = True
        elif self._inline is not None:
            self._inline.begin(name, attributes)
        elif name == "f":
            self._formula = True
        elif name == "is":
            self._inline = _Runs()
        elif name == "row":
            number = attributes.get("r", "")
            self._row = int(number) - 1 if number.isdecimal() and 0 < len(number) < 8 else self._row + 1
            self._column = -1
        elif name == "mergeCell":
            ends = [*map(_place, attributes.get("ref", "").split(":"))]
            if len(ends) == 2 and ends[0] and ends[1]:
                self._sheet.merged.append((*ends[0], *ends[1]))
        elif _AROUND.fullmatch(name):
            self._takes, self._value = True, ""

    def end(self, name: str) -> None:
        """End an element."""
        if name == "c":
            self._end_cell()
        elif name == "v":
            self._takes = False
        elif self._inline is not None:
            self._inline.end(name)
        elif self._takes:
            self._takes = False
            self._notes.leave_out(_HEADER_CODE.sub(" ", self._value), "headers and footers")

    def text(self, text: str) -> None:
        """Take characters."""
        if self._takes:
            self._value += text
        elif self._inline is not None:
            self._inline.text(text)

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        place = _place(attributes.get("r", ""))
        self._row, self._column = place or (max(self._row, 0), self._column + 1)
        self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "0")
        self._value, self._formula, self._inline = "", False, None

    def _end_cell(self) -> None:
        code, font = self._styles.of(self._style)
        content = self._content(code)
        if content is None:
            return
        if isinstance(content, str):
            text = content if font is None else text_of_runs([(content, font)], self._notes)
        else:
            text = text_of_runs([(part, own or font or Font()) for part, own in content], self._notes)
        if text and code and self._kind in _TEXTS:
            text = shown_text(text, code)
        self._sheet.put(self._row, self._column, text)

    def _content(self, code: str) -> str | list[_Run] | None:
        """Return the text of the cell as its number format shows it; "" if it is left out, None for an empty cell."""
        if self._inline is not None:
            content, self._inline = _content_of(self._inline.runs), None
            return content or None
        value = self._value.strip()
        if self._kind == "n" and not code and len(value) < _SHORT and value.isdecimal():
            return str(int(value))
        if self._kind == "s":
            at = int(value) if value.isdecimal() else -1
            return (self._strings[at] if 0 <= at < len(self._strings) else "") or None
        if value:
            return self._shown_value(value, code)
        if self._formula and self._kind != "str":
            self._notes.unsaved.append(f"{self._sheet.name}!{name_of_cell(self._row, self._column)}")
            return ""
        return None

    def _shown_value(self, value: str, code: str) -> str:
        """Return a value that is no shared string, as the sheet shows it."""
        if self._kind == "b":
            return "yes" if value == "1" else "no"
        if self._kind == "str":
            return _unescaped(value)
        if self._kind == "d":
            return value.replace("T", " ").removesuffix(" 00:00:00")
        if self._kind == "e":
            return value
        try:
            number = float(value)
        except ValueError:
            return value
        shown = shown_number(number, code, since_1904=self._since_1904)
        if not shown:
            self._notes.leave_out(general(number), "hidden")
        return shown


def _place(reference: str) -> tuple[int, int] | None:
    """Return row and column of a cell's name, from 0; None if it is none."""
    found = _REFERENCE.fullmatch(reference) or _REFERENCE.fullmatch(reference.replace("$", ""))
    return (int(found[2]) - 1, _column(found[1])) if found else None


@lru_cache(maxsize=1024)
def _column(letters: str) -> int:
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - ord("A") + 1
    return column - 1
