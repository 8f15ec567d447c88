"""What a PDF repeats at the edges of its pages and nobody reads: running headers and footers, and pages' numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from auscult.readers.pdf_words import Piece, rows_of

_EDGE: Final = 0.1
"""The share of a page's height, at its top and at its bottom, in which they stand."""
_MOST_ROWS: Final = 3
_NUMBER: Final = re.compile(r"\d+|\b[ivxlc]+\b(?=$|\s*(?:of|/))")
_PAGE_NUMBER: Final = re.compile(r"(?:page|p\.)\s*#(?:\s*(?:of|/)\s*#)?|[-–—]\s*#\s*[-–—]|#\s*(?:of|/)\s*#")
_APART: Final = 0.5


@dataclass(frozen=True, slots=True)
class PagePieces:
    """Pieces of lines of a page, with its height as they see it."""

    height: float
    pieces: Sequence[Piece]


def without_furniture(pages: Sequence[PagePieces]) -> list[list[Piece]]:
    """Each page's pieces without those that stand at the same edge of other pages, too.

    Digits count as equal in what is no larger than the text. On documents of up to five pages two pages are enough, on longer ones three.
    """
    edges = [_at_edges(page) for page in pages]
    seen: dict[tuple[str, str, int], set[int]] = {}
    for number, found in enumerate(edges):
        for key, _ in found:
            seen.setdefault(key, set()).add(number)
    enough = 2 if len(pages) <= 5 else 3
    kept = []
    for page, found in zip(pages, edges, strict=True):
        dropped = {
            id(piece)
            for key, piece in found
            if len(seen[key]) >= enough or (_PAGE_NUMBER.fullmatch(key[1]) and piece.size <= _usual_size(page))
        }
        kept.append([piece for piece in page.pieces if id(piece) not in dropped])
    return kept


def _at_edges(page: PagePieces) -> list[tuple[tuple[str, str, int], Piece]]:
    rows = rows_of(page.pieces)
    usual = _usual_size(page)
    found: list[tuple[tuple[str, str, int], Piece]] = []
    for edge, ordered in (("top", rows), ("bottom", rows[::-1])):
        taken = _outermost(edge, ordered, page.height)
        for piece in (each for row in taken for each in row):
            # What is larger than the text may be a heading: "2. Treatment" is not "3. Treatment".
            text = _form(piece.text) if piece.size <= usual else piece.text
            found.append(((edge, text, round(piece.size)), piece))
    return found


def _outermost(edge: str, rows: Sequence[list[Piece]], height: float) -> Sequence[list[Piece]]:
    """The rows at an edge that a gap parts from the rest of the page."""
    taken = 0
    for place, row in enumerate(rows[:_MOST_ROWS]):
        middle = sum(piece.top + piece.bottom for piece in row) / (2 * len(row))
        if (middle if edge == "top" else height - middle) > _EDGE * height:
            break
        if place + 1 == len(rows) or _gap(row, rows[place + 1]) >= _APART * row[0].size:
            taken = place + 1
    return rows[:taken]


def _gap(row: Sequence[Piece], other: Sequence[Piece]) -> float:
    tops = max(min(piece.top for piece in row), min(piece.top for piece in other))
    return tops - min(max(piece.bottom for piece in row), max(piece.bottom for piece in other))


def _form(text: str) -> str:
    return _NUMBER.sub("#", " ".join(text.lower().split()))


def _usual_size(page: PagePieces) -> float:
    sizes = sorted(piece.size for piece in page.pieces for _ in piece.words)
    return sizes[len(sizes) // 2] + 0.5
