"""The order in which a PDF page is read, and what is left out: running headers and footers, and page numbers.

Columns are read one after the other, a table row by row. A gutter is a strip that few pieces of lines cross. What
crosses it (a title, a wide picture's legend) parts the page into zones. A zone with text on both sides of the gutter is
two columns where one side was drawn whole before the other, or where both are filled with lines as prose is. Otherwise
it is rows of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import Final

from auscult.readers.pdf.words import Piece, rows_of

_NARROWEST_GUTTER: Final = 5.0
"""Points; and as many as the letters' size, where that is more."""
_MOST_CROSSING: Final = 0.34
"""The share of a page's lines that may cross a gutter."""
_FEWEST_LINES: Final = 3
_PROSE_LINES: Final = 8
_PROSE_FILL: Final = 0.75
_PROSE_WORDS: Final = 4
_DEEPEST: Final = 6
_BIN: Final = 2.0


def regions(pieces: Sequence[Piece], depth: int = 0) -> list[list[Piece]]:
    """Pieces in the order of reading: stretches that are read from top to bottom and, at one height, left to right."""
    gutter = _gutter(pieces) if depth < _DEEPEST and len(pieces) >= 2 * _FEWEST_LINES else None
    if gutter is None:
        return [list(pieces)] if pieces else []
    found: list[list[Piece]] = []
    goes_on = False
    for crossing, zone in _zones(pieces, gutter):
        left = [piece for piece in zone if _middle(piece) < gutter]
        right = [piece for piece in zone if _middle(piece) >= gutter]
        if not crossing and _columns(left, right):
            leftwards = 2 * sum(piece.leftwards for piece in zone) > len(zone)
            first, second = (right, left) if leftwards else (left, right)
            found += [*regions(first, depth + 1), *regions(second, depth + 1)]
            goes_on = False
        elif goes_on:
            found[-1].extend(zone)
        else:
            found.append(zone)
            goes_on = True
    return found


def _middle(piece: Piece) -> float:
    return (piece.left + piece.right) / 2


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """The middle of the strip that parts pieces into left and right, where there is one."""
    left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    bins = int(min((right - left) / _BIN, 10_000)) + 1
    steps = [0] * (bins + 1)
    for piece in pieces:
        steps[max(0, int((piece.left - left) / _BIN))] += 1
        steps[min(bins, int((piece.right - left) / _BIN) + 1)] -= 1
    covering, covered = [], 0
    for step in steps[:bins]:
        covered += step
        covering.append(covered)
    size = median(piece.size for piece in pieces)
    lines = len(rows_of(pieces))
    best: tuple[float, float, float] | None = None
    most = _MOST_CROSSING * lines
    for thin, run in groupby(range(bins), key=lambda place: covering[place] <= most):
        if not thin:
            continue
        begin, end = _thinnest([*run], covering, max(1, lines // 20))
        width, middle = (end - begin + 1) * _BIN, left + (begin + end + 1) / 2 * _BIN
        if width < max(_NARROWEST_GUTTER, 0.7 * size):
            continue
        if (
            min(sum(each.right <= middle for each in pieces), sum(each.left >= middle for each in pieces))
            < _FEWEST_LINES
        ):
            continue
        rank = (float(min(covering[begin : end + 1])), -width, middle)
        best = rank if best is None or rank < best else best
    return best[2] if best else None


def _thinnest(places: Sequence[int], covering: Sequence[int], more: int) -> tuple[int, int]:
    """The longest stretch that hardly more pieces cross than the place with the fewest."""
    least = min(covering[place] for place in places) + more
    stretches = [[*run] for few, run in groupby(places, key=lambda place: covering[place] <= least) if few]
    longest = max(stretches, key=len)
    return longest[0], longest[-1]


def _zones(pieces: Sequence[Piece], gutter: float) -> list[tuple[bool, list[Piece]]]:
    """Pieces from top to bottom, in stretches that cross the gutter and that do not."""
    parted: list[tuple[bool, list[Piece]]] = []
    for row in rows_of(pieces):
        crosses = any(piece.left < gutter < piece.right for piece in row)
        if parted and parted[-1][0] == crosses:
            parted[-1][1].extend(row)
        else:
            parted.append((crosses, list(row)))
    return parted


def _columns(left: Sequence[Piece], right: Sequence[Piece]) -> bool:
    """Whether two sides of a gutter are read one after the other."""
    if len(left) < 2 or len(right) < 2:
        return False
    if min(max(each.bottom for each in side) for side in (left, right)) <= max(
        min(each.top for each in side) for side in (left, right)
    ):
        return False
    drawn = sorted([(piece.words[0].order, 0) for piece in left] + [(piece.words[0].order, 1) for piece in right])
    changes = sum(one[1] != other[1] for one, other in pairwise(drawn))
    if changes <= max(1, min(len(left), len(right)) // 10):
        return True
    # Drawn line by line across all columns, as old programs do: told from a table by lines of many words.
    return changes >= 1.6 * min(len(left), len(right)) and _is_prose(left) and _is_prose(right)


def _is_prose(side: Sequence[Piece], depth: int = 0) -> bool:
    """Whether lines of words fill a column, or the columns that a side is of."""
    if len(side) < _PROSE_LINES or median(len(piece.words) for piece in side) < _PROSE_WORDS:
        return False
    width = max(piece.right for piece in side) - min(piece.left for piece in side)
    if median(piece.right - piece.left for piece in side) >= _PROSE_FILL * width:
        return True
    gutter = _gutter(side) if depth < _DEEPEST else None
    if gutter is None:
        return False
    left = [piece for piece in side if _middle(piece) < gutter]
    right = [piece for piece in side if _middle(piece) >= gutter]
    return _is_prose(left, depth + 1) and _is_prose(right, depth + 1)


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
    found = [[*_at_edges(page), *_titles(page), *_in_margins(page, number)] for number, page in enumerate(pages)]
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
    sizes = sorted(piece.size for piece in page.pieces for _ in piece.words)
    usual = sizes[len(sizes) // 2] + 0.5
    for edge, ordered in (("top", rows), ("bottom", rows[::-1])):
        for piece in (each for row in _outermost(edge, ordered, page.height) for each in row):
            # What is larger than the text may be a heading: "2. Treatment" is not "3. Treatment".
            text = _NUMBER.sub("#", " ".join(piece.text.lower().split())) if piece.size <= usual else piece.text
            yield (edge, text, round(piece.size)), piece


def _in_margins(page: PagePieces, number: int) -> Iterator[tuple[Key, Piece]]:
    """What stands in the margins, with its place; and numbers, by how far they are ahead of the page's own."""
    for piece in page.pieces:
        across = piece.right <= _MARGIN * page.width or piece.left >= (1 - _MARGIN) * page.width
        if across or piece.bottom <= _EDGE * page.height or piece.top >= (1 - _EDGE) * page.height:
            yield ("beside", piece.text, round(piece.left / 3), round(piece.top / 3)), piece
            if piece.text.isdecimal() and len(piece.text) < 6:
                yield ("counting", int(piece.text) - number), piece


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
