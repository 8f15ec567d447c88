"""Reader of Word files (.docx): headings begin sections, lists keep their markers, each row of a table is a line.

Tracked deletions, hidden and struck-out text, comments, headers, footers and tables of contents are left out. Tracked
insertions are read. Text boxes follow the paragraph to which they are attached; footnotes are at the end. The XML of a
Word file is no source for people to look at, so `word_source` writes a plain one: the texts of all paragraphs in the
order of the file, including those of cells, each with a line break after it. Runs have offsets in this source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.dates import iso_date
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.flow import BLOCK, LINE, Flow, has_words
from auscult.readers.html.reader import role_of
from auscult.readers.registry import Registry
from auscult.readers.tables import Cells, merged_header, parting, readable_rows, repeated
from auscult.readers.tree import Element, Piece, written
from auscult.readers.typesetting import Typesetter
from auscult_readers.drawings import chart_of, diagram_of, words_only
from auscult_readers.records.xml import parse_xml
from auscult_readers.word.package import InsidePart, WordParts, child, is_word_package, local, value, word_parts
from auscult_readers.word.styles import Lists, Styles
from auscult_readers.word.text import INSIDE, Cell, ParagraphText, cells_of, header_rows, is_data, paragraph_text

MEDIA_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_DULL_TITLE: Final = re.compile(
    r"(?:word document|document\d*|untitled.*|title|microsoft word.*|.*\.(?:docx?|dotx?|pdf))|[\W\d_]+", re.IGNORECASE
)
_LONGEST_BOLD: Final = 100
_AROUND: Final = ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag", "AlternateContent", "Choice")
_DRAWN: Final = {"chart": chart_of, "diagramData": diagram_of}
_DEEPEST: Final = 20
_MOST_INSIDE: Final = 3
# Web pages packed as mail. Without this, their bytes would be read as text.
_PACKED: Final = (".mht", ".mhtml", ".eml", "")


class DocxReader:
    """Reads Word files."""

    name = "Word"
    suffixes: tuple[str, ...] = (".docx", ".docm", ".dotx")

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file is an archive with a Word document, or an archive with a suffix of Word."""
        if not file.head.startswith(b"PK"):
            return False
        return file.suffix in self.suffixes or is_word_package(file.content)

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the one document of the file.

        Raises:
            UnreadableError: The file is broken, encrypted or malicious, or it has no words.
        """
        yield _draft(file.content, 0)


def _draft(content: bytes, depth: int) -> DraftDocument:
    parts = word_parts(content)
    walk = _Walk(parts, depth)
    walk.all()
    if not has_words(walk.flow.text):
        raise _without_words(parts.pictures, walk.remarks)
    draft = draft_of(walk.flow, walk.facts(), media_type=MEDIA_TYPE, encoding="")
    return replace(draft, remarks=(*draft.remarks, *dict.fromkeys(walk.remarks)))


def word_source(content: bytes) -> str:
    """Return the plain source to which runs refer: the texts of all paragraphs, each with a line break after it.

    Raises:
        UnreadableError: Same reasons as for `DocxReader.read`.
    """
    walk = _Walk(word_parts(content))
    walk.all()
    return "".join(walk.source)


class _Walk:
    """Reads the text of a Word file in one pass, from top to bottom."""

    def __init__(self, parts: WordParts, depth: int = 0) -> None:
        self.flow = Flow()
        self.flow.left_out.update(parts.around)
        self.source: list[str] = []
        self.remarks: list[str] = []
        self._parts = parts
        # Number of files around this one, for files that are part of another.
        self._inside = depth
        # The drop cap of the next paragraph. In Word it is a separate paragraph.
        self._initial: list[Piece] = []
        self._styles, self._lists = Styles(parts.styles), Lists(parts.numbering)
        self._at = 0
        body = child(parts.document, "body")
        self._body = body if body is not None else ()
        self._title = ""
        self._lower, self._by_bold = self._shape()

    def all(self) -> None:
        """Read the text, then its notes."""
        self._blocks(self._body, 0)
        self._lines(self._initial, [])
        self.flow.block()
        notes = [*self._notes(self._parts.footnotes), *self._notes(self._parts.endnotes)]
        if notes:
            self.flow.begin_heading(2)
            self.flow.add(written("Footnotes"))
            self.flow.end_heading()
        for note in notes:
            self._blocks(note, 0)

    def facts(self) -> Facts:
        """Return title, author and dates from the properties of the file."""
        told = {local(each): (each.text or "").strip() for each in _held(self._parts.properties) if not len(each)}
        title = "" if _DULL_TITLE.fullmatch(told.get("title", "")) else " ".join(told.get("title", "").split())
        created, modified = iso_date(told.get("created", "")), iso_date(told.get("modified", ""))
        said = {"author": told.get("creator", ""), "created": created, "date": modified or created}
        metadata = {name: held for name, held in said.items() if held}
        return Facts(title=self._title or title, metadata=metadata)

    def _shape(self) -> tuple[int, bool]:
        """Return the number of levels to add to headings, and whether bold lines are headings for want of styles."""
        titles = highest = headings = 0
        for paragraph in _paragraphs(self._body):
            style = self._styles.of(paragraph)
            titles += style.title
            highest += style.level == 1
            headings += style.level > 0
        # Level 1 is for the title: a paragraph in the title style, or the only heading of the highest level.
        alone = not titles and highest == 1
        if alone and headings == 1:
            bold = any(self._is_bold_line(paragraph_text(each, self._styles)) for each in _paragraphs(self._body))
            return (0 if bold else 1), bold
        return (0 if alone else 1), not headings

    def _blocks(self, holder: Any, depth: int) -> None:
        for element in holder:
            name = local(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element, depth)
            elif name == "altChunk":
                self._file(self._parts.inside.get(value(element, "id")))
            elif name == "sdt" and _is_contents(element):
                words = " ".join(paragraph_text(each).text for each in _paragraphs(element))
                self.flow.left_out["table of contents"] += len(words.split())
            elif name in _AROUND and depth < _DEEPEST:
                self._blocks(element, depth + 1)

    def _paragraph(self, paragraph: Any) -> None:
        style = self._styles.of(paragraph)
        content = self._text(paragraph)
        pieces = self._placed(content)
        if (
            value(child(paragraph, "pPr", "framePr"), "dropCap") in ("drop", "margin")
            and len(content.text.split()) == 1
        ):
            self._initial += pieces
            return
        initial: list[Piece] = []
        if has_words(content.text):
            initial, self._initial = self._initial, []
        marker = (
            self._lists.marker(style.list_id, style.list_level) if style.list_id and has_words(content.text) else ""
        )
        level = self._level(style.title, style.level, content, bool(marker))
        if style.contents:
            self.flow.left_out["table of contents"] += len(content.text.split())
        elif not content.text.strip():
            pass
        elif level:
            self.flow.begin_heading(level)
            for piece in initial:
                self.flow.add(piece)
            for number, piece in enumerate(pieces):
                if number:
                    self.flow.add(written(" "))
                self.flow.add(piece)
            self.flow.end_heading()
        elif marker:
            self.flow.marker(marker)
            self._lines(initial, pieces)
        else:
            self.flow.block()
            self._lines(initial, pieces)
            self.flow.block()
        for box in content.boxes:
            self._box(box, 0)

    def _level(self, title: bool, level: int, content: ParagraphText, marked: bool) -> int:
        """Return the heading level of a paragraph: 1 for the title, 0 for a paragraph that is no heading."""
        words = content.text.strip()
        if title and not self._title:
            self._title = " ".join(words.split())
            return 1
        if level or title:
            return max(level, 1) + self._lower
        return 2 if self._by_bold and not marked and self._is_bold_line(content) else 0

    @staticmethod
    def _is_bold_line(found: ParagraphText) -> bool:
        words = found.text.strip()
        return found.bold and len(words) <= _LONGEST_BOLD and words[-1:] not in ".,;" and has_words(words)

    def _lines(self, initial: list[Piece], pieces: list[Piece]) -> None:
        """Join the lines of a paragraph; a drop cap comes before the first."""
        for piece in initial:
            self.flow.add(piece)
        for number, piece in enumerate(pieces):
            if number:
                self.flow.line()
            self.flow.add(piece)

    def _table(self, table: Any, depth: int) -> None:
        rows = [[*cells_of(row)] for row in _rows(table)]
        if not is_data(rows) or any(self._styles.of(each).level for each in _paragraphs(table)):
            for row in rows:
                for cell in row:
                    if depth < _DEEPEST and not (cell.goes_on or cell.across):
                        self._blocks(cell.element, depth + 1)
            return
        boxes: list[Any] = []
        lines = [[self._cell(cell, boxes) for cell in row] for row in rows]
        texts = [[" ".join(piece.text for piece, _ in cell) for cell in row] for row in lines]
        for row, said in zip(rows, texts, strict=True):
            for at, cell in enumerate(row):
                said[at] = said[at - 1] if cell.across and at else said[at]
        above = header_rows(table, rows, texts)
        self.flow.block()
        header = merged_header(texts[:above]) or None
        self.flow.add_lines(readable_rows(header, _filled(rows[above:], lines[above:]), written))
        self.flow.block()
        for box in boxes:
            self._box(box, depth + 1)

    def _cell(self, cell: Cell, boxes: list[Any]) -> list[tuple[Piece, str]]:
        """Return the lines of a cell, each with the separator before it. Its text boxes are appended to `boxes`."""
        if cell.goes_on or cell.across:
            return []
        lines: list[tuple[Piece, str]] = []
        for paragraph in _paragraphs(cell.element):
            content = self._text(paragraph)
            cell.note(content)
            boxes += content.boxes
            gap = BLOCK
            for piece in self._placed(content):
                if piece.text.strip():
                    lines.append((piece, gap))
                    gap = LINE
        return lines

    def _box(self, box: Any, depth: int) -> None:
        """Read a text box, a chart, a diagram or an embedded file."""
        name = local(box)
        if name not in INSIDE:
            self._blocks(box, depth)
            return
        part = self._parts.inside.get(value(box, INSIDE[name]))
        if name == "OLEObject":
            if value(box, "DrawAspect") == "Icon":
                self.remarks.append("a file inside is not read: only its icon is shown")
            else:
                self._file(part)
            return
        try:
            if part is None or part.kind not in _DRAWN:
                raise UnreadableError("unknown kind", "a chart or diagram", "another", "")
            self._drawing(_DRAWN[part.kind](words_only(parse_xml(part.read())[0])))
        except UnreadableError as error:
            self.remarks.append(f"a {'chart' if name == 'chart' else 'diagram'} is not read: {error.kind}")

    def _drawing(self, elements: list[Element]) -> None:
        """Add the lines of a chart or diagram as blocks."""
        root, flow = Element(""), Flow()
        root.children += elements
        Typesetter(flow, role_of, lambda element: 1).set(root)
        self.flow.left_out.update(flow.left_out)
        self.source += [flow.text, "\n"]
        self.flow.block()
        self.flow.verbatim(Piece(flow.text, self._at, self._at + len(flow.text)))
        self.flow.block()
        self._at += len(flow.text) + 1

    def _file(self, part: InsidePart | None) -> None:
        """Read a file of another format that is part of the text."""
        try:
            if part is None:
                raise UnreadableError("missing file", "a file inside", "none", "")
            content = part.read()
            file = SourceFile(part.name, content)
            if file.suffix in _PACKED or self._inside >= _MOST_INSIDE:
                raise UnreadableError(
                    "a kind that is not read there", "a page or a text", part.name, "paste it into the file"
                )
            if DocxReader().recognises(file):
                drafts = [_draft(content, self._inside + 1)]
            else:
                drafts = [*Registry().reader_of(file).read(file)]
            if any(draft.to_rewrite for draft in drafts):
                raise UnreadableError("old Office file", "a file in a newer form", part.name, "save it in a newer form")
        except UnreadableError as error:
            self.remarks.append(f"a file inside is not read: {error.kind}")
            return
        for draft in drafts:
            self._insert(draft)

    def _insert(self, draft: DraftDocument) -> None:
        """Insert the text of another document, with its headings."""
        text, base, place = draft.text, self._at, 0
        self.source += [text, "\n"]
        self._at += len(text) + 1
        self.remarks += draft.remarks
        paths = draft.heading_paths or [()] * len(draft.sections)
        # A heading is in the text before its section, with no other words between them.
        heads = [(draft.title, text.find(draft.title) + len(draft.title), 1)] if draft.title in text[:300] else []
        heads += [
            (section.heading, len(text[: section.start].rstrip()), 2 + len(path))
            for section, path in zip(draft.sections, paths, strict=True)
        ]
        for words, end, level in [*heads, ("", len(text), 0)]:
            start = end - len(words)
            if start < place or text[start:end] != words:
                continue
            body = text[place:start]
            begin = place + len(body) - len(body.lstrip())
            self.flow.block()
            self.flow.verbatim(Piece(body.strip(), base + begin, base + begin + len(body.strip())))
            self.flow.block()
            if words:
                self.flow.begin_heading(level)
                self.flow.add(Piece(words, base + start, base + end))
                self.flow.end_heading()
            place = end

    def _text(self, paragraph: Any) -> ParagraphText:
        found = paragraph_text(paragraph, self._styles)
        self.flow.left_out.update(found.left_out)
        return found

    def _placed(self, content: ParagraphText) -> list[Piece]:
        """Append a paragraph to the source and return its lines with their offsets there."""
        self.source += [content.text, "\n"]
        pieces, at = [], self._at
        for line in content.text.split("\n"):
            pieces.append(Piece(line, at, at + len(line)))
            at += len(line) + 1
        self._at = at
        return pieces

    def _notes(self, root: Any) -> Iterator[Any]:
        for note in _held(root):
            # The lines that separate notes from the text are stored as notes of a special type.
            is_note = local(note) in ("footnote", "endnote") and value(note, "type") in ("", "normal")
            if is_note and has_words("".join(paragraph_text(each).text for each in _paragraphs(note))):
                yield note


def _filled(rows: Sequence[Sequence[Cell]], lines: Sequence[Sequence[list[tuple[Piece, str]]]]) -> list[Cells]:
    """Return the cells of a table's rows, each on one line. A cell that spans rows is repeated in each."""
    filled: list[Cells] = []
    above: dict[int, list[Piece]] = {}
    for row, cells_lines in zip(rows, lines, strict=True):
        cells: Cells = []
        for at, (cell, parts) in enumerate(zip(row, cells_lines, strict=True)):
            if cell.across:
                cells.append(None)
            elif cell.goes_on:
                cells.append(above.get(at, []))
            else:
                pieces: list[Piece] = []
                for piece, gap in parts:
                    pieces += [written(parting(pieces[-1].text, piece.text, gap)), piece] if pieces else [piece]
                above[at] = repeated(" ".join("".join(piece.text for piece in pieces).split()))
                cells.append(pieces)
        filled.append(cells)
    return filled


def _held(element: Any) -> Any:
    return element if element is not None else ()


def _rows(table: Any) -> Iterator[Any]:
    """Yield the rows of a table, without rows that a tracked change deletes."""
    for element in table:
        if local(element) == "tr":
            if child(element, "trPr", "del") is None:
                yield element
        elif local(element) in _AROUND:
            yield from _rows(element)


def _paragraphs(holder: Any) -> Iterator[Any]:
    """Yield all paragraphs in an element, in order, without those in text boxes."""
    for element in holder:
        name = local(element)
        if name == "p":
            yield element
        elif name not in ("del", "moveFrom", "Fallback"):
            yield from _paragraphs(element)


def _is_contents(element: Any) -> bool:
    """Whether a block is a table of contents that Word generated."""
    gallery = child(element, "sdtPr", "docPartObj", "docPartGallery")
    return value(gallery) == "Table of Contents"


def _without_words(pictures: int, remarks: Sequence[str]) -> UnreadableError:
    if remarks:
        return UnreadableError(
            "empty Word file", "a Word file with words", f"one without: {remarks[0]}", "save it again"
        )
    if pictures:
        remedy = "recognise its text first: print it to a PDF, then run ocrmypdf on that"
        return UnreadableError("scanned Word file", "a Word file with text", "one of pictures alone", remedy)
    return UnreadableError("empty Word file", "a Word file with words", "one without", "leave it out")
