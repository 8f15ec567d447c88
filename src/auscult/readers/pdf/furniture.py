"""What a PDF repeats at the edges of its pages and nobody reads: running headers and footers, and pages' numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from auscult.readers.pdf.words import Piece, rows_of

_EDGE: Final = 0.1
"""The share of a page's height, at its top and at its bottom, in which they stand."""
_MARGIN: Final = 0.18
"""The share of its width, at either side, in which some stand beside the text."""
_MOST_ROWS: Final = 3
_NUMBER: Final = re.compile(r"\d+|\b[ivxlc]+\b(?=$|\s*(?:of|/))")
_PAGE_NUMBER: Final = re.compile(r"(?:page|p\.)\s*#(?:\s*(?:of|/)\s*#)?|[-–—]\s*#\s*[-–—]|#\s*(?:of|/)\s*#")
_APART: Final = 0.5
Key = tuple[str | int, ...]
"""What is one and the same thing on several pages."""


@dataclass(frozen=True, slots=True)
class PagePieces:
    """Pieces of lines of a page, with its size as they see it."""

    width: float
    height: float
    pieces: Sequence[Piece]


def without_furniture(pages: Sequence[PagePieces]) -> list[list[Piece]]:
    """Each page's pieces without those that stand at the same edge of other pages, too.

    Digits count as equal. On documents of up to five pages two pages are enough, on longer ones three. A number that
    counts with the pages is one of theirs.
    """
    found = [
        [*_at_edges(page), *_titles(page), *_beside(page), *_counting(page, number)]
        for number, page in enumerate(pages)
    ]
    seen: dict[Key, set[int]] = {}
    for number, keys in enumerate(found):
        for key, _ in keys:
            seen.setdefault(key, set()).add(number)
    enough = 2 if len(pages) <= 5 else 3
    kept = []
    for page, keys in zip(pages, found, strict=True):
        dropped = {id(piece) for key, piece in keys if len(seen[key]) >= enough or _known(key)}
        kept.append([piece for piece in page.pieces if id(piece) not in dropped])
    return kept


def _known(key: Key) -> bool:
    """Whether something is known by itself, on one page."""
    return key[0] == "title" or _PAGE_NUMBER.fullmatch(str(key[1])) is not None


def _titles(page: PagePieces) -> Iterator[tuple[Key, Piece]]:
    """What stands at the top in small letters, and in larger ones below: a title, and a header that repeats it."""
    larger: dict[str, float] = {}
    for piece in page.pieces:
        larger[piece.text] = max(larger.get(piece.text, 0.0), piece.size)
    for row in _outermost("top", rows_of(page.pieces), page.height):
        for piece in row:
            if larger[piece.text] >= 1.3 * piece.size:
                yield ("title", piece.text), piece


def _at_edges(page: PagePieces) -> Iterator[tuple[Key, Piece]]:
    rows = rows_of(page.pieces)
    usual = _usual_size(page)
    for edge, ordered in (("top", rows), ("bottom", rows[::-1])):
        for piece in (each for row in _outermost(edge, ordered, page.height) for each in row):
            # What is larger than the text may be a heading: "2. Treatment" is not "3. Treatment".
            text = _form(piece.text) if piece.size <= usual else piece.text
            yield (edge, text, round(piece.size)), piece


def _beside(page: PagePieces) -> Iterator[tuple[Key, Piece]]:
    """What stands in the margins beside the text, with its place."""
    for piece in _in_margins(page):
        yield ("beside", piece.text, round(piece.left / 3), round(piece.top / 3)), piece


def _counting(page: PagePieces, number: int) -> Iterator[tuple[Key, Piece]]:
    """Numbers in margins, by how far they are ahead of the page's own."""
    for piece in _in_margins(page):
        if piece.text.isdecimal() and len(piece.text) < 6:
            yield ("counting", int(piece.text) - number), piece


def _in_margins(page: PagePieces) -> Iterator[Piece]:
    for piece in page.pieces:
        across = piece.right <= _MARGIN * page.width or piece.left >= (1 - _MARGIN) * page.width
        if across or piece.bottom <= _EDGE * page.height or piece.top >= (1 - _EDGE) * page.height:
            yield piece


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
