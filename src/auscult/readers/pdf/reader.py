"""PDF: the text layer in the order of reading, with a box for each word, and sections by headings.

The text is rebuilt from where words stand on the page: columns, paragraphs, lists and tables; headings by the size and
weight of letters and by the outline. Words parted at a line's end are joined, compounds keep their hyphen. Running
headers, footers and page numbers are left out and counted. A scanned page is recognised where an engine for that is
installed (`scans`), else named; a document of such pages alone is refused. What is filled into forms is read; comments
are not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from itertools import groupby
from statistics import fmean
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.documents.building import Section
from auscult.documents.original import WORD
from auscult.files.json_text import parse_json
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.flow import with_note_headings
from auscult.readers.pdf.headings import body_style, joined_headings, levels, title_of
from auscult.readers.pdf.layout import PagePieces, regions, without_furniture
from auscult.readers.pdf.paragraphs import Block, blocks_of, continued
from auscult.readers.pdf.pdfium import Bookmark, Pdf, opened
from auscult.readers.pdf.pictures import Pictures
from auscult.readers.pdf.scans import Scans, is_installed, longer_scans
from auscult.readers.pdf.words import SLANTED, PageContent, Piece, Rule, Word, lines_of, outside_texts, pieces_of
from auscult.readers.tables import readable_rows

_SOFT: Final = "\u00ad"
_ENDS_PARTED: Final = re.compile(rf"[^\W_][-\u2010{_SOFT}]$")
# Chinese and Japanese, with their signs: no blanks stand between words.
_WITHOUT_BLANKS: Final = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60]")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
# No word of its own, though a list of words may have it, and so never a half of a compound.
_BEGINNINGS: Final = re.compile(
    r"(?:ab|ad|an|auto|be|bi|con|de|dis?|en|ex|extra|hyd?ro|hyper|hypo|im|in|infra|inter|intra|ir|iso|macro|mal|micro|"
    r"mini|mis|mono|multi|neo|out|over|par|para|per|peri|poly|pre|pro|pseudo|psycho|re|su[bpr]|super|trans|tri|ultra|un|"
    r"under|ver|vor|ein|aus|auf|zer|ent|unter)$"
)
_ENDINGS: Final = re.compile(
    r"(?:ness|ally|ably|abil\w+|able|ible|ions?|ings?|ment\w*|less|ful|ship|ate|ic|al|um|us|ly)$"
)
# "pre- and postnatal", "Haut- und Haarpflege": the hyphen stands for what comes later.
_ELIDED: Final = frozenset(("and", "or", "to", "und", "oder", "bzw", "bis", "sowie", "et", "ou", "y", "e", "o"))
_SEPARATOR: Final = "\n\n"

Token = tuple[str, Word | None]
"""A piece of text, and the word on a page that it shows; None for what stands on none."""


class Text:
    """A text that grows, and where its words stand."""

    def __init__(self, known: frozenset[str], compounds: frozenset[str]) -> None:
        """Begin an empty one.

        Args:
            known: Words of the document that are written in one, in lower case.
            compounds: Its words with a hyphen in them, in lower case.
        """
        self._known, self._compounds = known, compounds
        self._parts: list[str] = []
        self._rows: list[tuple[int, int, int, float, float, float, float]] = []
        self.length = 0

    def add(self, block: Block, *, close: bool = False) -> tuple[int, int]:
        """Append a block; its range. `close`: to the one before, as list items stand."""
        if self.length:
            self._write("\n" if close else _SEPARATOR, None)
        start = self.length
        for number, line in enumerate(self._table(block) if block.rows else [self._flowing(block)]):
            if number:
                self._write("\n", None)
            for piece, word in line:
                self._write(piece, word)
        return start, self.length

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._parts)

    @property
    def words(self) -> npt.NDArray[Any]:
        """Where its words stand, (words,) of `documents.original.WORD`."""
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
        """A line's last word, and what stands between it and the next line."""
        shown = _shown(last)
        if first is None:
            return [(shown, last)]
        if _WITHOUT_BLANKS.match(last.text[-1]) and _WITHOUT_BLANKS.match(first.text[0]):
            return [(shown, last)]
        letters = _LETTERS.match(first.text.lower())
        elided = first.text.lower().strip(".,;") in _ELIDED
        if not _ENDS_PARTED.search(last.text) or not first.text[:1].isalnum() or elided:
            return [(shown, last), (" ", None)]
        parted = letters is not None and first.text[:1].islower() and last.text[-2:-1].isalpha()
        joined = parted and last.text[-1] != _SOFT and self._one_word(last.text, first.text)
        return [(shown[:-1] if joined else shown, last)]

    def _one_word(self, last: str, first: str) -> bool:
        """Whether two halves are one word: it is written so elsewhere, or they are not both words of their own."""
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
        labels = None if header is None else ["".join(piece for piece, _ in cell) for cell in rows[0]]
        return readable_rows(labels, rows if header is None else rows[1:], lambda piece: (piece, None))


@cache
def _english_words() -> frozenset[str]:
    """The words that the shipped model knows, in lower case: the frequent ones of English."""
    file = resources.files("auscult") / "encoders" / "pretrained" / "fast" / "tokenizer.json"
    return frozenset(word for word in parse_json(file.read_bytes())["model"]["vocab"] if word.isalpha())


def text_for(blocks: Sequence[Block]) -> Text:
    """An empty text that knows a document's words."""
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
    """A table's first row, where it looks like a header: alone in bold, or alone without numbers above numbers."""
    if len(block.rows) < 2 or not all(block.rows[0]):
        return None
    first, others = block.rows[0], block.rows[1:]
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


_DATE: Final = re.compile(r"(?:D:)?(\d{4})(\d{2})?(\d{2})?")
_UNMAPPED_SHARE: Final = 0.1
_PREAMBLE: Final = 1024


class PdfReader:
    """Reads PDF files."""

    name = "PDF"
    suffixes: tuple[str, ...] = (".pdf",)

    def recognises(self, file: SourceFile) -> bool:
        """Whether it begins as a PDF does, which may stand behind a few bytes of something else."""
        return b"%PDF-" in file.head[:_PREAMBLE]

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """The file's one document.

        Raises:
            UnreadableError: It is broken, encrypted, or has no text layer.
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
        without_text: Makes the error for one without words, of what was recognised, the pages' sizes, the pages
            without text and those with unknown letters.

    Raises:
        UnreadableError: It is damaged, or has no words.
    """
    told, outline = pdf.metadata(), pdf.outline()
    sizes: list[tuple[float, float]] = []
    ways: list[PagePieces] = []
    drawn: list[tuple[int, Sequence[Rule]]] = []
    bare: list[tuple[int, str]] = []
    unmapped: list[int] = []
    struck: list[int] = []
    outside: dict[int, int] = {}
    scans = Scans(pdf)
    for number in range(len(pdf)):
        content = pdf.page(number)
        sizes.append((content.width, content.height))
        lines = lines_of(content, number)
        written = any(letter.isalnum() for each in lines.values() for piece in each for letter in piece.text)
        if not written and content.images and (recognised := scans.words(number, content.width)):
            lines = {0: pieces_of(recognised)}
        elif not written and (what := _bare(content)):
            bare.append((number, what))
        if content.unmapped > _UNMAPPED_SHARE * max(len(content.glyphs), 1):
            unmapped.append(number)
        if content.struck:
            struck.append(number)
        if unseen := outside_texts(content):
            outside[number] = len(unseen)
        # Lines that run another way are as if on a page of their own.
        ways += [PagePieces(*page_size(content, turn), each) for turn, each in lines.items()]
        drawn += [(turn, () if turn else content.rules) for turn in lines]
    kept, furniture = without_furniture(ways)
    blocks = [
        block for page, (turn, rules) in zip(kept, drawn, strict=True) for block in _blocks_of_page(page, turn, rules)
    ]
    remarks = [*_remarks(bare, unmapped, furniture), *_recognised(scans)]
    if outside:
        count = sum(outside.values())
        several = "s stand" if count > 1 else " stands"
        remarks.append(f"{_listed([*outside])}: {count:,} word{several} outside of what is shown, and left out")
    if struck:
        remarks.append(f"{_listed(struck)}: struck-out words are left out")
    if not any(letter.isalnum() for block in blocks for word in block.words for letter in word.text):
        raise without_text(scans, sizes, bare, unmapped)
    draft = _assembled(continued(blocks), told, outline, sizes, remarks)
    if not scans.confidence:
        return draft
    confidence = f"{fmean(scans.confidence.values()):.2f}"
    return replace(draft, metadata={**draft.metadata, "scan_confidence": confidence})


def _blocks_of_page(pieces: Sequence[Piece], turn: int, rules: Sequence[Rule]) -> Iterator[Block]:
    """Yield the blocks that lines of one direction make; each slanted line is one."""
    if turn == SLANTED:
        yield from (Block(lines=[piece], slanted=True) for piece in pieces)
        return
    for region in regions(pieces):
        yield from blocks_of(region, rules)


def page_size(content: PageContent, turn: int) -> tuple[float, float]:
    """A page's width and height to who reads its lines level."""
    return (content.height, content.width) if turn in (1, 3) else (content.width, content.height)


def _assembled(
    blocks: Sequence[Block],
    told: dict[str, str],
    outline: Sequence[Bookmark],
    sizes: Sequence[tuple[float, float]],
    remarks: Sequence[str],
) -> DraftDocument:
    body = body_style(blocks)
    blocks = joined_headings(blocks, body)
    found = levels(blocks, body, outline)
    title, shown_at = title_of(blocks, found, body, told.get("Title", ""))
    text = text_for(blocks)
    shown = _sections(blocks, found, shown_at, text)
    sections, paths = with_note_headings(text.text, *shown, title if shown_at is not None else "")
    metadata = {"pages": str(len(sizes))}
    if date := _date(told.get("CreationDate", "")) or _date(told.get("ModDate", "")):
        metadata["date"] = date
    if told.get("Author", "anonymous").strip("()") != "anonymous":
        metadata["author"] = told["Author"]
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
    blocks: Sequence[Block], found: Sequence[int | None], title_at: int | None, text: Text
) -> tuple[list[Section], list[tuple[str, ...]]]:
    """Write the blocks into the text; the sections between headings, and the headings above each one's own."""
    spans: list[tuple[str, tuple[str, ...], int, int]] = []
    above: list[tuple[int, str]] = []
    heading, path = "", tuple[str, ...]()
    own: tuple[int, int] | None = None
    start = end = -1
    for place, (block, level) in enumerate(zip(blocks, found, strict=True)):
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
        heading, path = " ".join(word.text for word in block.words), tuple(each for _, each in above)
        above.append((level, heading))
        own = begin, stop
    spans += _closed(heading, path, start, end, own)
    if not spans:  # Nothing but a title.
        spans.append(("", (), 0, text.length))
    whole = text.text
    return [Section(head, whole[a:b], start=a) for head, _, a, b in spans], [path for _, path, _, _ in spans]


def _closed(
    heading: str, path: tuple[str, ...], start: int, end: int, own: tuple[int, int] | None
) -> list[tuple[str, tuple[str, ...], int, int]]:
    """A section that ends; one of a heading alone, with no other below it, is the heading."""
    if start >= 0:
        return [(heading, path, start, end)]
    return [(heading, path, *own)] if own is not None else []


def _bare(content: PageContent) -> str:
    if content.images:
        return "a scan"
    return "drawings only" if content.drawings else ""


def _remarks(bare: Sequence[tuple[int, str]], unmapped: Sequence[int], furniture: Sequence[Piece]) -> list[str]:
    said = []
    if furniture:
        lines = Counter(piece.text for piece in furniture if any(letter.isalpha() for letter in piece.text))
        count = len(furniture) - lines.total()
        parts = [f"{count:,} page or line number{'s' if count > 1 else ''}"] if count else []
        if lines:
            several = "s" if lines.total() > 1 else ""
            such = lines.most_common(1)[0][0][:80]
            parts.append(f"{lines.total():,} header or footer line{several}, such as {such!r}")
        said.append(f"left out: {' and '.join(parts)}")
    for what in ("a scan", "drawings only"):
        if numbers := [number for number, kind in bare if kind == what]:
            has = "has" if len(numbers) == 1 else "have"
            said.append(f"{_listed(numbers)} {has} no text layer: {what}")
    if unmapped:
        said.append(f"{_listed(unmapped)}: a font does not say which letters it shows; they are left out")
    return said


def _recognised(scans: Scans) -> list[str]:
    said = []
    if scans.confidence:
        sure = fmean(scans.confidence.values())
        said.append(f"{_listed([*scans.confidence])}: recognised from a scan (confidence {sure:.0%}), not copied")
    if scans.late:
        said.append(f"{_listed(scans.late)}: no time was left to recognise the scan; {longer_scans()}")
    return said


def _listed(numbers: Sequence[int]) -> str:
    """Pages, counted from 1, as people name them: "page 3", "pages 2-4, 9"."""
    runs = []
    for _, run in groupby(enumerate(numbers), lambda each: each[1] - each[0]):
        held = [number + 1 for _, number in run]
        runs.append(str(held[0]) if len(held) == 1 else f"{held[0]}-{held[-1]}")
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


def _date(told: str) -> str:
    """A PDF's date as ISO 8601, as far as it is given; empty for none."""
    match = _DATE.match(told)
    if match is None or not "1900" <= match[1] <= "2100":
        return ""
    month, day = match[2] or "", match[3] or ""
    if not "01" <= month <= "12":
        return match[1]
    return f"{match[1]}-{month}-{day}" if "01" <= day <= "31" else f"{match[1]}-{month}"
