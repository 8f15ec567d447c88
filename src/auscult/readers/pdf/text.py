"""The text that a PDF's words make, each at its offset; words parted at a line's end are joined where that is sure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.documents.original import WORD
from auscult.readers.pdf.paragraphs import Block
from auscult.readers.pdf.words import Word
from auscult.readers.tables import readable_rows

_SOFT: Final = "\u00ad"
_ENDS_PARTED: Final = re.compile(rf"[^\W\d_]{{2,}}[-\u2010{_SOFT}]$")
# Chinese and Japanese, with their signs: no blanks stand between words.
_WITHOUT_BLANKS: Final = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60]")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
# No word of its own, and so never the second half of a compound.
_ENDINGS: Final = re.compile(
    r"(?:[a-z]{0,3}(?:tions?|sions?|ments?|ically|ously|ologists?|itis|osis|a?emia|ectomy|opathy|graphy|scopy|ively)|"
    r"ness|ities|ity|ances?|ences?|ables?|ibles?|cians?|ing|ings|ed|ers|tive|sive|ous|ly|al|ally|ic|ical|tic|tary|tory|"
    r"sis|tis|tients?|cal|cally|eases?|mon|tern|ple|cult|ents?|ants?)$"
)
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
        if not _ENDS_PARTED.search(last.text) or not first.text[:1].isalpha():
            return [(shown, last), (" ", None)]
        if last.text.endswith(_SOFT):
            return [(shown, last)]
        if first.text[:1].isupper():
            return [(shown, last)]
        return [(shown[:-1] if self._one_word(last.text, first.text) else shown, last)]

    def _one_word(self, last: str, first: str) -> bool:
        """Whether two halves are surely one word: it is written so elsewhere, or the second half is no word."""
        head, tail = _LETTERS.findall(last.lower())[-1], _LETTERS.findall(first.lower())[0]
        if f"{head}-{tail}" in self._compounds:
            return False
        if head + tail in self._known:
            return True
        return tail not in self._known and _ENDINGS.match(tail) is not None

    def _table(self, block: Block) -> list[list[Token]]:
        rows = [[_cell(cell) for cell in row] for row in block.rows]
        header = _header(block)
        labels = None if header is None else ["".join(piece for piece, _ in cell) for cell in rows[0]]
        return readable_rows(labels, rows if header is None else rows[1:], lambda piece: (piece, None))


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
