"""Reader of PDF files: the text layer in reading order, with a box for each word, divided into sections.

Columns, paragraphs, lists and tables are rebuilt from the positions of words; headings come from the size and weight of
letters and from the outline. Words divided at the end of a line are joined; compounds keep their hyphen. Running
headers, footers and page numbers are removed and counted in a remark. Scanned pages are recognised if an engine is
installed (`scans`); otherwise a remark names them. A document without any words is refused. Values of form fields are
read, and so is text that was typed onto a page; comments are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from itertools import groupby
from statistics import fmean
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.documents.document import Section
from auscult.documents.original import WORD
from auscult.files.json_text import parse_json
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.drafting import with_note_headings
from auscult.readers.tables import readable_rows
from auscult_readers.pdf.glyphs import SLANTED, PageContent, Rule
from auscult_readers.pdf.headings import body_style, joined_headings, levels, title_of
from auscult_readers.pdf.layout import PagePieces, regions, without_furniture
from auscult_readers.pdf.paragraphs import Block, blocks_of, continued, is_box
from auscult_readers.pdf.pdfium import Bookmark, Pdf, opened
from auscult_readers.pdf.pictures import Pictures
from auscult_readers.pdf.scans import Scans, is_installed, longer_scans
from auscult_readers.pdf.words import Piece, Word, lines_of, outside_texts, pieces_of

_SOFT: Final = "\u00ad"
_ENDS_PARTED: Final = re.compile(rf"[^\W_][-\u2010{_SOFT}]$")
# Chinese and Japanese letters and punctuation: these scripts have no blanks between words.
_WITHOUT_BLANKS: Final = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60]")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
# Prefixes and suffixes. A list of words may contain them, but they are no halves of a compound with a hyphen.
_BEGINNINGS: Final = re.compile(
    r"(?:ab|ad|an|auto|be|bi|con|de|dis?|en|ex|extra|hyd?ro|hyper|hypo|im|in|infra|inter|intra|ir|iso|macro|mal|micro|"
    r"mini|mis|mono|multi|neo|out|over|par|para|per|peri|poly|pre|pro|pseudo|psycho|re|su[bpr]|super|trans|tri|ultra|un|"
    r"under|ver|vor|ein|aus|auf|zer|ent|unter)$"
)
_ENDINGS: Final = re.compile(
    r"(?:ness|ally|ably|abil\w+|able|ible|ions?|ings?|ment\w*|less|ful|ship|ate|ic|al|um|us|ly)$"
)
# "pre- and postnatal", "Haut- und Haarpflege": the hyphen replaces the end of a word.
_ELIDED: Final = frozenset(("and", "or", "to", "und", "oder", "bzw", "bis", "sowie", "et", "ou", "y", "e", "o"))
_SEPARATOR: Final = "\n\n"

Token = tuple[str, Word | None]
"""A piece of text and its word on a page; None for text that no page shows, such as blanks and labels."""


class Text:
    """Builder of a document's text, which records the position of each word on its page."""

    def __init__(self, known: frozenset[str], compounds: frozenset[str]) -> None:
        """Create an empty text.

        Args:
            known: Words of the document without a hyphen, in lower case.
            compounds: Words of the document with a hyphen, in lower case.
        """
        self._known, self._compounds = known, compounds
        self._parts: list[str] = []
        self._rows: list[tuple[int, int, int, float, float, float, float]] = []
        self.length = 0
        self.repeated: list[tuple[int, int]] = []
        """Ranges of lines that repeat on several pages."""

    def add(self, block: Block, *, close: bool = False) -> tuple[int, int]:
        """Append a block and return its range. `close`: separate it by one line break only, as list items are."""
        if self.length:
            self._write("\n" if close else _SEPARATOR, None)
        start = self.length
        for number, line in enumerate(self._table(block) if block.rows else [self._flowing(block)]):
            if number:
                self._write("\n", None)
            for piece, word in line:
                self._write(piece, word)
        if block.repeated:
            self.repeated.append((start, self.length))
        return start, self.length

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    @property
    def words(self) -> npt.NDArray[Any]:
        """Positions of the words, (words,) of `documents.original.WORD`."""
        return np.array(self._rows, WORD)

    def _write(self, piece: str, word: Word | None) -> None:
        if word is not None and piece:
            self._rows.append((self.length, self.length + len(piece), word.page, *word.box))
        self._parts.append(piece)
        self.length += len(piece)

    def _flowing(self, block: Block) -> list[Token]:
        tokens: list[Token] = []
        firsts: list[Word | None] = [line.words[0] for line in block.lines[1:]]
        for line, first in zip(block.lines, [*firsts, None], strict=True):
            for word in line.words[:-1]:
                tokens += [(_shown(word), word), (" ", None)]
            tokens += self._at_end(line.words[-1], first)
        return tokens

    def _at_end(self, last: Word, first: Word | None) -> list[Token]:
        """Return the last word of a line, without its hyphen if the next line completes it, and the blank after it."""
        text = _shown(last)
        if first is None:
            return [(text, last)]
        if _WITHOUT_BLANKS.match(last.text[-1]) and _WITHOUT_BLANKS.match(first.text[0]):
            return [(text, last)]
        letters = _LETTERS.match(first.text.lower())
        elided = first.text.lower().strip(".,;") in _ELIDED
        if not _ENDS_PARTED.search(last.text) or not first.text[:1].isalnum() or elided:
            return [(text, last), (" ", None)]
        parted = letters is not None and first.text[:1].islower() and last.text[-2:-1].isalpha()
        joined = parted and last.text[-1] != _SOFT and self._one_word(last.text, first.text)
        return [(text[:-1] if joined else text, last)]

    def _one_word(self, last: str, first: str) -> bool:
        """Whether two parts are one word: it is known, or one of the parts is no word by itself."""
        head, tail = _LETTERS.findall(last.lower())[-1], _LETTERS.findall(first.lower())[0]
        if f"{head}-{tail}" in self._compounds or len(head) == 1:
            return False
        words = _english_words()
        if head + tail in self._known or head + tail in words:
            return True
        if _BEGINNINGS.match(head) or _ENDINGS.match(tail):
            return True
        return not all(half in self._known or half in words for half in (head, tail))

    def _table(self, block: Block) -> list[list[Token]]:
        rows = [[_cell(cell) for cell in row] for row in block.rows]
        header = _header(block)
        labels = None if header is None else ["".join(piece for piece, _ in cell).rstrip(" :") for cell in rows[0]]
        return readable_rows(labels, rows if header is None else rows[1:], lambda piece: (piece, None))


@cache
def _english_words() -> frozenset[str]:
    """Return frequent English words, in lower case: the vocabulary of the shipped model."""
    file = resources.files("auscult") / "encoders" / "pretrained" / "fast" / "tokenizer.json"
    return frozenset(word for word in parse_json(file.read_bytes())["model"]["vocab"] if word.isalpha())


def text_for(blocks: Sequence[Block]) -> Text:
    """Return an empty text that knows the words of a document's blocks."""
    known: set[str] = set()
    compounds: set[str] = set()
    for block in blocks:
        for line in block.lines:
            for word in line.words[1:-1]:
                lower = word.text.lower()
                (compounds if "-" in lower[1:-1] else known).update([lower.strip("-.,;:!?()[]'\"“”’")])
    return Text(frozenset(known), frozenset(compounds))


def _shown(word: Word) -> str:
    return word.text.replace(_SOFT, "") or word.text


def _cell(cell: Sequence[Any]) -> list[Token]:
    tokens: list[Token] = []
    for piece in cell:
        for word in piece.words:
            if tokens:
                tokens.append((" ", None))
            tokens.append((_shown(word), word))
    return tokens


def _header(block: Block) -> list[str] | None:
    """Return the texts of a table's first row if it is a header; None otherwise.

    A header is the only row in bold, or it has no digits and a column below it begins with numbers in every row. If
    columns below have only boxes to tick, the others may be without a heading.
    """
    if len(block.rows) < 2:
        return None
    first, others = block.rows[0], block.rows[1:]
    ticked = [all(map(_is_boxes, column)) for column in zip(*others, strict=True)]
    is_label = [bool(cell) and not _is_boxes(cell) for cell in first]
    if any(ticked) and all(label for label, boxes in zip(is_label, ticked, strict=True) if boxes):
        return [" ".join(piece.text for piece in cell) for cell in first]
    if not all(first) or any(word.in_field for cell in first for piece in cell for word in piece.words):
        return None
    texts = [" ".join(piece.text for piece in cell) for cell in first]
    bold = all(piece.bold for cell in first for piece in cell)
    others_bold = all(piece.bold for row in others for cell in row for piece in cell)
    if bold and not others_bold:
        return texts
    if any(any(letter.isdigit() for letter in text) for text in texts):
        return None
    columns = zip(*others, strict=False)
    numbers = (all(any(piece.text[:1].isdigit() for piece in cell) for cell in column) for column in columns)
    return texts if any(numbers) else None


def _is_boxes(cell: Sequence[Piece]) -> bool:
    return bool(cell) and all(is_box(word) for piece in cell for word in piece.words)


_DATE: Final = re.compile(r"(?:D:)?(\d{4})(\d{2})?(\d{2})?")
_UNMAPPED_SHARE: Final = 0.1
_PREAMBLE: Final = 1024


class PdfReader:
    """Reads PDF files."""

    name = "PDF"
    suffixes: tuple[str, ...] = (".pdf",)

    def recognises(self, file: SourceFile) -> bool:
        """Whether the PDF signature is in the first 1,024 bytes; other bytes may precede it."""
        return b"%PDF-" in file.head[:_PREAMBLE]

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the one document of the file.

        Raises:
            UnreadableError: The file is broken or encrypted, or it has no words.
        """
        with opened(file.content) as pdf:
            yield page_draft(pdf, _without_text)


def page_draft(
    pdf: Pdf | Pictures,
    without_text: Callable[
        [Scans, Sequence[tuple[float, float]], Sequence[tuple[int, str]], Sequence[int]], UnreadableError
    ],
) -> DraftDocument:
    """Return the one document of a file of pages.

    Args:
        pdf: The open file.
        without_text: Returns the error for a file without words. Its arguments are the recognised scans, the sizes of
            the pages, the pages without text (and what they have instead), and the pages with unknown letters.

    Raises:
        UnreadableError: The file is damaged or has no words.
    """
    properties, outline = pdf.metadata(), pdf.outline()
    pages, scans = _Pages(), Scans(pdf)
    for number in range(len(pdf)):
        pages.add(number, pdf.page(number), scans)
    furnished = without_furniture(pages.pieces)
    repeated = {(word.page, word.order) for piece in furnished.repeated for word in piece.words}
    blocks = [
        block
        for page, (turn, rules) in zip(furnished.kept, pages.drawn, strict=True)
        for block in _blocks_of_page(page, turn, rules)
    ]
    for block in blocks if repeated else ():
        block.repeated = any((word.page, word.order) in repeated for word in block.words)
    if not any(letter.isalnum() for block in blocks for word in block.words for letter in word.text):
        if pages.struck and not pages.bare:
            got = f"{_listed([*pages.struck])} with nothing but struck-out words"
            raise UnreadableError("struck-out PDF", "a PDF with words that are not struck out", got, "leave it out")
        raise without_text(scans, pages.sizes, pages.bare, pages.unmapped)
    remarks = [*_left_out(furnished.dropped), *_unread(pages), *_recognised(scans), *_unseen(pages)]
    draft = _assembled(continued(blocks), properties, outline, pages.sizes, remarks)
    if not scans.confidence:
        return draft
    confidence = f"{fmean(scans.confidence.values()):.2f}"
    return replace(draft, metadata={**draft.metadata, "scan_confidence": confidence})


@dataclass(slots=True)
class _Pages:
    """The pages of a file, which count from 0.

    Attributes:
        sizes: Their widths and heights in points.
        pieces: Their lines. Lines of another direction are handled as a separate page.
        drawn: Direction and rules of each of `pieces`.
        bare: Pages without text, and what they have instead.
        unmapped: Pages with many letters that a font does not name.
        struck: Number of struck-out words, by page.
        outside: Number of words outside of what is shown, by page.
        comments: Number of comments and stamps whose text is not read, by page and kind.
    """

    sizes: list[tuple[float, float]] = field(default_factory=list)
    pieces: list[PagePieces] = field(default_factory=list)
    drawn: list[tuple[int, Sequence[Rule]]] = field(default_factory=list)
    bare: list[tuple[int, str]] = field(default_factory=list)
    unmapped: list[int] = field(default_factory=list)
    struck: dict[int, int] = field(default_factory=dict)
    outside: dict[int, int] = field(default_factory=dict)
    comments: dict[int, Mapping[str, int]] = field(default_factory=dict)

    def add(self, number: int, content: PageContent, scans: Scans) -> None:
        """Add the next page. Its picture is recognised if it has no text."""
        self.sizes.append((content.width, content.height))
        lines = lines_of(content, number)
        written = any(letter.isalnum() for pieces in lines.values() for piece in pieces for letter in piece.text)
        if not written and content.images and (recognised := scans.words(number, content.width)):
            lines = {0: pieces_of(recognised)}
        elif not written and not content.struck and (content.images or content.drawings):
            self.bare.append((number, "a scan" if content.images else "drawings only"))
        if content.unmapped > _UNMAPPED_SHARE * max(len(content.glyphs), 1):
            self.unmapped.append(number)
        if content.struck:
            self.struck[number] = len(content.struck.split())
        if content.unread:
            self.comments[number] = content.unread
        if unseen := outside_texts(content):
            self.outside[number] = len(unseen)
        self.pieces += [PagePieces(*page_size(content, turn), pieces) for turn, pieces in lines.items()]
        self.drawn += [(turn, () if turn else content.rules) for turn in lines]


def _blocks_of_page(pieces: Sequence[Piece], turn: int, rules: Sequence[Rule]) -> Iterator[Block]:
    """Yield the blocks of lines of one direction. Each slanted line is a block."""
    if turn == SLANTED:
        yield from (Block(lines=[piece], slanted=True) for piece in pieces)
        return
    for region in regions(pieces):
        yield from blocks_of(region, rules)


def page_size(content: PageContent, turn: int) -> tuple[float, float]:
    """Return the width and height of a page that is turned so that lines of a direction are level."""
    return (content.height, content.width) if turn in (1, 3) else (content.width, content.height)


def _assembled(
    blocks: Sequence[Block],
    properties: dict[str, str],
    outline: Sequence[Bookmark],
    sizes: Sequence[tuple[float, float]],
    remarks: Sequence[str],
) -> DraftDocument:
    body = body_style(blocks)
    blocks = joined_headings(blocks, body)
    heading_levels = levels(blocks, body, outline)
    title, shown_at = title_of(blocks, heading_levels, body, properties.get("Title", ""))
    text = text_for(blocks)
    parts = _sections(blocks, heading_levels, shown_at, text)
    shown_title = title if shown_at is not None else ""
    sections, paths = with_note_headings(text.text, *parts, shown_title, text.repeated)
    metadata = {"pages": str(len(sizes))}
    if date := _date(properties.get("CreationDate", "")) or _date(properties.get("ModDate", "")):
        metadata["date"] = date
    if properties.get("Author", "anonymous").strip("()") != "anonymous":
        metadata["author"] = properties["Author"]
    return DraftDocument(
        text=text.text,
        sections=sections,
        title=title,
        heading_paths=paths,
        media_type="application/pdf",
        words=text.words,
        pages=tuple(sizes),
        metadata=metadata,
        remarks=remarks,
    )


def _sections(
    blocks: Sequence[Block], heading_levels: Sequence[int | None], title_at: int | None, text: Text
) -> tuple[list[Section], list[tuple[str, ...]]]:
    """Append the blocks to the text. Return the sections, and per section the headings above its own."""
    spans: list[tuple[str, tuple[str, ...], int, int]] = []
    above: list[tuple[int, str]] = []
    heading, path = "", tuple[str, ...]()
    own: tuple[int, int] | None = None
    start = end = -1
    for place, (block, level) in enumerate(zip(blocks, heading_levels, strict=True)):
        follows = place > 0 and block.marked and blocks[place - 1].marked
        begin, stop = text.add(block, close=follows)
        if level is None:
            start, end = (begin if start < 0 else start), stop
            continue
        deeper = bool(above) and level > above[-1][0]
        spans += _closed(heading, path, start, end, None if deeper else own)
        start = end = -1
        if place == title_at:
            heading, path, own, above = "", (), None, []
            continue
        while above and above[-1][0] >= level:
            above.pop()
        heading, path = " ".join(word.text for word in block.words), tuple(title for _, title in above)
        above.append((level, heading))
        own = begin, stop
    spans += _closed(heading, path, start, end, own)
    if not spans:  # The document is only a title.
        spans.append(("", (), 0, text.length))
    whole = text.text
    return [Section(head, whole[a:b], start=a) for head, _, a, b in spans], [path for _, path, _, _ in spans]


def _closed(
    heading: str, path: tuple[str, ...], start: int, end: int, own: tuple[int, int] | None
) -> list[tuple[str, tuple[str, ...], int, int]]:
    """Return the section that ends; if it has no text and no heading below it, its own heading is its text.

    Args:
        heading: Heading of the section.
        path: Headings above it.
        start: Start of its text; -1 if it has none.
        end: End of its text.
        own: Range of its heading; None if the heading may not be its text.
    """
    if start >= 0:
        return [(heading, path, start, end)]
    return [(heading, path, *own)] if own is not None else []


def _left_out(furniture: Sequence[Piece]) -> list[str]:
    """Return a remark on the headers, footers and numbers that were left out, or none."""
    if not furniture:
        return []
    lines = Counter(piece.text for piece in furniture if any(letter.isalpha() for letter in piece.text))
    count = len(furniture) - lines.total()
    parts = [f"{count:,} page or line number{'s' if count > 1 else ''}"] if count else []
    if lines:
        several = "s" if lines.total() > 1 else ""
        such = lines.most_common(1)[0][0][:80]
        parts.append(f"{lines.total():,} header or footer line{several}, such as {such!r}")
    return [f"left out: {' and '.join(parts)}"]


def _unread(pages: _Pages) -> list[str]:
    """Return remarks on the pages without text or with unknown letters."""
    remarks = []
    for what in ("a scan", "drawings only"):
        if numbers := [number for number, kind in pages.bare if kind == what]:
            has = "has" if len(numbers) == 1 else "have"
            remarks.append(f"{_listed(numbers)} {has} no text layer: {what}")
    if pages.unmapped:
        remarks.append(f"{_listed(pages.unmapped)}: a font does not say which letters it shows; they are left out")
    return remarks


def _unseen(pages: _Pages) -> list[str]:
    """Return remarks on words that are outside of what a page shows or struck out, and on comments."""
    remarks = []
    if pages.outside:
        count = sum(pages.outside.values())
        several = "s stand" if count > 1 else " stands"
        remarks.append(f"{_listed([*pages.outside])}: {count:,} word{several} outside of what is shown, and left out")
    if pages.struck:
        count = sum(pages.struck.values())
        words = f"{count:,} struck-out words are" if count > 1 else "a struck-out word is"
        remarks.append(f"{_listed([*pages.struck])}: {words} left out")
    for kind in ("comment", "stamp"):
        if numbers := [number for number, unread in pages.comments.items() if unread.get(kind)]:
            count = sum(pages.comments[number][kind] for number in numbers)
            remarks.append(f"{_listed(numbers)}: {count:,} {kind}{'s are' if count > 1 else ' is'} not read")
    return remarks


def _recognised(scans: Scans) -> list[str]:
    remarks = []
    if scans.confidence:
        sure = fmean(scans.confidence.values())
        remarks.append(f"{_listed([*scans.confidence])}: recognised from a scan (confidence {sure:.0%}), not copied")
    if scans.late:
        remarks.append(f"{_listed(scans.late)}: no time was left to recognise the scan; {longer_scans()}")
    return remarks


def _listed(numbers: Sequence[int]) -> str:
    """Return indexes of pages as people write them, counted from 1: "page 3", "pages 2-4, 9"."""
    runs = []
    for _, run in groupby(enumerate(numbers), lambda each: each[1] - each[0]):
        pages = [number + 1 for _, number in run]
        runs.append(str(pages[0]) if len(pages) == 1 else f"{pages[0]}-{pages[-1]}")
    return f"{'page' if len(numbers) == 1 else 'pages'} {', '.join(runs)}"


def _without_text(
    scans: Scans, sizes: Sequence[tuple[float, float]], bare: Sequence[tuple[int, str]], unmapped: Sequence[int]
) -> UnreadableError:
    number = f"{len(sizes)} page{'s' if len(sizes) != 1 else ''}"
    remedy = "recognise its text first, for instance with: ocrmypdf FILE.pdf FILE-with-text.pdf"
    if not is_installed():
        remedy = f"install auscult[scans], or {remedy}"
    if unmapped:
        got = f"{number} whose fonts do not say which letters they show"
        return UnreadableError("PDF without letters", "a PDF whose text can be copied", got, remedy)
    if scans.late:
        got = f"{number} of scans and no time to recognise them"
        return UnreadableError("scanned PDF", "a PDF with a text layer", got, longer_scans())
    if bare:
        return UnreadableError("scanned PDF", "a PDF with a text layer", f"{number} without one", remedy)
    return UnreadableError("empty PDF", "a PDF with text", f"{number} with nothing on", "leave it out")


def _date(text: str) -> str:
    """Return the date of a PDF as ISO 8601, with month and day if it has them; "" if it is no date."""
    match = _DATE.match(text)
    if match is None or not "1900" <= match[1] <= "2100":
        return ""
    month, day = match[2] or "", match[3] or ""
    if not "01" <= month <= "12":
        return match[1]
    return f"{match[1]}-{month}-{day}" if "01" <= day <= "31" else f"{match[1]}-{month}"
