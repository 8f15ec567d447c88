"""Words of office files: the characters in the XML of their parts, by libxml2.

Specifications: ECMA-376 (Office Open XML), OpenDocument 1.3.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from auscult.readers.archives import names_in
from auscult.readers.contract import DraftDocument
from auscult_readers.package import Package
from auscult_readers.source_words.part import (
    HIDDEN,
    SHOWN_OTHERWISE,
    STRUCK,
    UNSAVED,
    PartWords,
    Rules,
    add_tree,
    parsed_xml,
)
from auscult_readers.word.package import child, children, local, value
from auscult_readers.word.styles import is_on

_FURNITURE: Final = "header, footer, date or number"
_DELETED: Final = "deleted in a tracked change"
_COMMENT: Final = "comment"
_CONTENTS: Final = "table of contents"
_CHART: Final = "chart"
_DIAGRAM: Final = "diagram"


def _read_parts(content: bytes, kind: str, named: dict[str, str]) -> Iterator[tuple[str, Any, str]]:
    """Yield name, root and reason of the parts whose names match a pattern, ordered by name.

    Args:
        content: The file.
        kind: Kind of file, for errors ("a Word file").
        named: Why the words of a part need not be kept ("" if they must be), by a pattern of its name.
    """
    package = Package(content, kind)
    for name in sorted(names_in(content)):
        for pattern, reason in named.items():
            if re.fullmatch(pattern, name):
                yield name, parsed_xml(package.read(name)), reason


_WORD_PARTS: Final = {
    r"word/document\d*\.xml": "",
    r"word/(?:footnotes|endnotes)\.xml": "",
    r"word/(?:header|footer)\d*\.xml": _FURNITURE,
    r"word/comments\w*\.xml": _COMMENT,
    r"word/charts/chart\d*\.xml": _CHART,
    r"word/diagrams/data\d*\.xml": _DIAGRAM,
}
_WORD_TEXTS: Final = frozenset({"t", "delText", "v", "equation"})
_WORD_PARTING: Final = frozenset({
    "p", "tc", "tab", "br", "cr", "ptab", "txbxContent", "pt", "rt", "rubyBase", "num", "den", "sub", "sup", "e",
    "equation",
})  # fmt: skip
_EQUATION: Final = re.compile(r"\s*EQ\b(.*)", re.IGNORECASE | re.DOTALL)
_EQUATION_SIGNS: Final = re.compile(r"\\[a-z]+", re.IGNORECASE)
_NOTES_OF_TEXT: Final = ("", "normal")


def words_of_word(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of each part of a Word file.

    Raises:
        UnreadableError: The file is broken or encrypted.
    """
    package = Package(content, "a Word file")
    styles = package.read("word/styles.xml")
    unseen = _unseen_styles(parsed_xml(styles)) if styles else {}
    rules = Rules(partial(_reason_in_word, unseen), _WORD_PARTING.__contains__, _WORD_TEXTS, frozenset({"txbxContent"}))
    for name, root, reason in _read_parts(content, "a Word file", _WORD_PARTS):
        _show_equations(root)
        words = PartWords()
        add_tree(words, root, rules, reason)
        yield words.draft(name)
    yield from _embedded_sheets(package)


def _embedded_sheets(package: Package) -> Iterator[DraftDocument]:
    """Yield the words of workbooks inside a Word file. Those of its charts are not shown."""
    relations = package.read("word/_rels/document.xml.rels")
    for relation in parsed_xml(relations) if relations else ():
        target = value(relation, "Target")
        if re.fullmatch(r"embeddings/[^/]+\.xlsx", target):
            words = PartWords()
            for sheet in words_of_workbook(package.read(f"word/{target}")):
                words.add(sheet.text, "embedded sheet")
                words.end_word()
            yield words.draft(f"word/{target}")


def _show_equations(root: Any) -> None:
    """Turn the instructions of equation fields into texts: Word draws "EQ f(1;2)" as a fraction."""
    for element in root.iter("{*}instrText"):
        if found := _EQUATION.match(element.text or ""):
            element.tag, element.text = "equation", _EQUATION_SIGNS.sub(" ", found[1]).replace(";", " ; ")


def _unseen_styles(root: Any) -> dict[str, str]:
    """Return the ids of styles whose words are left out, each with the reason.

    The words are hidden, struck out, or in a table of contents.
    """
    styles = {value(style, "styleId"): style for style in children(root, "style")}
    reasons: dict[str, str] = {}
    for name, style in styles.items():
        # A style inherits from the one that it is based on. The chain of these may be a ring.
        for _ in range(len(styles)):
            if reason := _look_reason(child(style, "rPr")):
                reasons.setdefault(name, reason)
            if re.fullmatch(r"toc \d", value(child(style, "name")), re.IGNORECASE):
                reasons.setdefault(name, _CONTENTS)
            style = styles.get(value(child(style, "basedOn")))
            if style is None or name in reasons:
                break
    return reasons


def _look_reason(properties: Any) -> str:
    if is_on(child(properties, "vanish")):
        return HIDDEN
    return STRUCK if is_on(child(properties, "strike")) or is_on(child(properties, "dstrike")) else ""


def _reason_in_word(unseen: dict[str, str], element: Any) -> str | None:
    name = local(element)
    if name in ("footnote", "endnote") and value(element, "type") not in _NOTES_OF_TEXT:
        return None
    if name in ("del", "moveFrom", "delText"):
        return _DELETED
    if name in ("Fallback", "rt"):
        return SHOWN_OTHERWISE
    if name == "r":
        properties = child(element, "rPr")
        return _look_reason(properties) or unseen.get(value(child(properties, "rStyle")), "")
    if name == "p":
        return unseen.get(value(child(element, "pPr", "pStyle")), "")
    if name == "sdt" and "Table of Contents" in value(child(element, "sdtPr", "docPartObj", "docPartGallery")):
        return _CONTENTS
    merged = child(element, "tcPr", "vMerge") if name == "tc" else None
    return SHOWN_OTHERWISE if merged is not None and value(merged) != "restart" else ""


_SLIDE_PARTS: Final = {
    r"ppt/slides/slide\d+\.xml": "",
    r"ppt/notesSlides/notesSlide\d+\.xml": "",
    r"ppt/charts/chart\d*\.xml": "",
    r"ppt/diagrams/data\d*\.xml": "",
    r"ppt/comments/\w+\.xml": _COMMENT,
}
_SLIDE_FURNITURE: Final = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})
_SLIDE_FIELDS: Final = ("slidenum", "datetime")
_SLIDE_PARTING: Final = frozenset({"p", "tc", "br", "tab", "sp", "pt", "v", "cm"})


def words_of_slides(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of slides, their notes, charts and diagrams.

    Raises:
        UnreadableError: The file is broken or encrypted.
    """
    used = _parts_of_slides(content)
    for name, root, reason in _read_parts(content, "a PowerPoint file", _SLIDE_PARTS):
        texts = frozenset({"t", "v"} if "/charts/" in name else {"t", "text"})
        words = PartWords()
        unused = "" if name in used or reason else "part that no slide shows"
        add_tree(words, root, Rules(_reason_in_slide, _SLIDE_PARTING.__contains__, texts), reason or unused)
        yield words.draft(name)


def _parts_of_slides(content: bytes) -> set[str]:
    """Return the names of the slides of a presentation, and of the parts that they refer to."""
    package = Package(content, "a PowerPoint file")
    names, waiting = set[str](), ["ppt/presentation.xml"]
    while waiting:
        folder, stem = posixpath.split(waiting.pop())
        relations = package.read(f"{folder}/_rels/{stem}.rels")
        for relation in parsed_xml(relations) if relations else ():
            placed = posixpath.join("/", folder, value(relation, "Target"))
            name = posixpath.normpath(placed).lstrip("/")
            if value(relation, "TargetMode") != "External" and name not in names:
                names.add(name)
                # Layouts and masters are not followed: they refer to slides that are not shown.
                waiting += [name] if re.match(r"ppt/(?:slides|notesSlides)/", name) else []
    return names


def _reason_in_slide(element: Any) -> str | None:
    name = local(element)
    if name in ("numCache", "numLit"):
        return SHOWN_OTHERWISE
    if name == "Fallback" or (name in ("cat", "xVal") and _follows_series(element)):
        return SHOWN_OTHERWISE
    if name == "sp":
        placeholder = child(element, "nvSpPr", "nvPr", "ph")
        return _FURNITURE if value(placeholder, "type") in _SLIDE_FURNITURE else ""
    if name in ("r", "fld"):
        struck = value(child(element, "rPr"), "strike") not in ("", "noStrike")
        return STRUCK if struck else _FURNITURE if value(element, "type").startswith(_SLIDE_FIELDS) else ""
    return SHOWN_OTHERWISE if name == "tc" and (value(element, "hMerge") or value(element, "vMerge")) else ""


def _follows_series(element: Any) -> bool:
    """Return whether an earlier series of the chart has the same categories."""
    before = element.getparent().itersiblings(preceding=True)
    return any(local(each) == "ser" for each in before)


_SHEET_PARTS: Final = {
    r"xl/worksheets/sheet\d+\.xml": "",
    r"xl/(?:comments|comments/comment|threadedComments/threadedComment)\d*\.xml": _COMMENT,
    r"xl/drawings/drawing\d*\.xml": "text box",
    r"xl/charts/chart\d*\.xml": _CHART,
}
_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")
_HEADER_CODE: Final = re.compile(r'&(?:"[^"]*"|\d+|K[0-9A-F]{6}|[A-Z])')
_AROUND_CELLS: Final = re.compile(r"(?:odd|even|first)(?:Header|Footer)")


def words_of_workbook(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of the cells of each sheet: texts, and the units that number formats add.

    The digits of numbers and dates are left out, as their formats write them in many ways. How LibreOffice shows them
    is another part (`markup.words_of_sheets_as_shown`).

    Raises:
        UnreadableError: The file is broken or encrypted.
    """
    package = Package(content, "a spreadsheet")
    shared = package.read("xl/sharedStrings.xml")
    strings = [*children(parsed_xml(shared), "si")] if shared else []
    styles = package.read("xl/styles.xml")
    looks = _cell_looks(parsed_xml(styles)) if styles else []
    for name, root, reason in _read_parts(content, "a spreadsheet", _SHEET_PARTS):
        words = PartWords()
        if reason:
            texts = Rules(
                lambda each: None if local(each) == "authors" else "",
                lambda name: name == "p",
                frozenset({"t", "text"}),
            )
            add_tree(words, root, texts, reason)
        else:
            _add_cells(words, root, strings, looks)
        yield words.draft(name)


_LITERAL: Final = re.compile(r'"([^"]*)"|\\(.)|(%)')
_PERCENT_FORMATS: Final = ("9", "10")


def _cell_looks(root: Any) -> list[tuple[str, bool]]:
    """Return for each cell format what it writes beside a number, and whether it strikes the cell out."""
    formats = {value(each, "numFmtId"): value(each, "formatCode") for each in root.iter("{*}numFmt")}
    struck = [bool(is_on(child(each, "strike"))) for fonts in root.iter("{*}fonts") for each in fonts]
    looks: list[tuple[str, bool]] = []
    for each in (xf for table in root.iter("{*}cellXfs") for xf in table):
        code = formats.get(value(each, "numFmtId"), "%" if value(each, "numFmtId") in _PERCENT_FORMATS else "")
        literals = "".join("".join(found) for found in _LITERAL.findall(code.partition(";")[0]))
        font = value(each, "fontId")
        looks.append((literals, font.isdecimal() and int(font) < len(struck) and struck[int(font)]))
    return looks


def _add_string(words: PartWords, item: Any, reason: str) -> None:
    """Add the characters of a string, without phonetic guides."""
    for run in (item, *children(item, "r")):
        why = STRUCK if is_on(child(run, "rPr", "strike")) else reason
        for each in children(run, "t"):
            words.add(_ESCAPED.sub(lambda found: chr(int(found[1], 16)), each.text or ""), why)


def _add_cells(words: PartWords, sheet: Any, strings: list[Any], looks: list[tuple[str, bool]]) -> None:
    for element in sheet.iter():
        name = local(element)
        if name == "c":
            kind, held = value(element, "t"), child(element, "v")
            text = (held.text or "") if held is not None and kind in ("s", "str") else ""
            number = value(element, "s")
            unit, struck = looks[int(number)] if number.isdecimal() and int(number) < len(looks) else ("", False)
            reason = STRUCK if struck else ""
            if kind == "str":
                words.add(text, reason)
            elif kind == "s" and text.isdecimal() and int(text) < len(strings):
                _add_string(words, strings[int(text)], reason)
            elif kind == "inlineStr" and (inline := child(element, "is")) is not None:
                _add_string(words, inline, reason)
            elif kind in ("", "n") and held is not None and held.text:
                words.add(unit, reason)
            words.end_word()
            if child(element, "f") is not None and (held is None or not held.text):
                words.add("formula", UNSAVED)
                words.end_word()
        elif name and _AROUND_CELLS.fullmatch(name):
            words.add(_HEADER_CODE.sub(" ", element.text or ""), _FURNITURE)
            words.end_word()


_OBJECT: Final = "object, such as a chart"
_ODF_PARTS: Final = {
    "content.xml": "",
    "styles.xml": _FURNITURE,
    r"Object [^/]+/content\.xml": _OBJECT,
}
_ODF_PARTING: Final = frozenset({
    "p", "h", "table-cell", "s", "tab", "line-break", "list-item", "page", "frame", "note", "note-body", "title",
    "desc",
})  # fmt: skip
_ODF_WORDLESS: Final = frozenset({
    "automatic-styles", "styles", "font-face-decls", "scripts", "binary-data", "event-listeners", "meta", "settings",
    "page-thumbnail", "note-citation", "forms", "page-number", "page-count", "date", "time", "sheet-name", "file-name",
})  # fmt: skip
_ODF_REASONS: Final = {
    "tracked-changes": _DELETED,
    "annotation": _COMMENT,
    "ruby-text": SHOWN_OTHERWISE,
    "covered-table-cell": SHOWN_OTHERWISE,
    "object": _OBJECT,
    "master-styles": _FURNITURE,
    **dict.fromkeys(("table-of-content", "alphabetical-index", "table-index", "illustration-index"), _CONTENTS),
}


def words_of_open_document(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of an OpenDocument text, presentation or spreadsheet: an archive, or one file of XML.

    Raises:
        UnreadableError: The file is broken or encrypted.
    """
    kind = "an OpenDocument file"
    packed = content.startswith(b"PK")
    parts = [*_read_parts(content, kind, _ODF_PARTS)] if packed else [("file", parsed_xml(content), "")]
    unseen = {name: why for _, root, _ in parts for name, why in _unseen_in(root)}
    is_text = any(local(each) == "text" for _, root, _ in parts for body in root.iter("{*}body") for each in body)
    rules = Rules(
        partial(_reason_in_open_document, unseen),
        _ODF_PARTING.__contains__,
        apart=frozenset({"note", "annotation", "frame"}),
    )
    for name, root, reason in parts:
        words = PartWords()
        # A sheet or slide has a header that is not on the screen.
        add_tree(words, root, rules, reason if is_text or name != "styles.xml" else SHOWN_OTHERWISE)
        yield words.draft(name)


def _unseen_in(root: Any) -> Iterator[tuple[str, str]]:
    """Yield the names of styles whose words are not shown, each with the reason."""
    for style in root.iter("{*}style"):
        look = child(style, "text-properties")
        if value(look, "display") == "none":
            yield value(style, "name"), HIDDEN
        elif (value(look, "text-line-through-style") or value(look, "text-line-through-type")) not in ("", "none"):
            yield value(style, "name"), STRUCK


def _reason_in_open_document(unseen: dict[str, str], element: Any) -> str | None:
    name = local(element)
    if name in _ODF_WORDLESS:
        return None
    if name == "table-cell" and value(element, "value-type") == "date":
        return SHOWN_OTHERWISE
    return _ODF_REASONS.get(name) or unseen.get(value(element, "style-name"), "")
