"""Reading order of a PDF page, and removal of running headers, footers, page numbers and line numbers.

Columns are read one after the other, tables row by row. A gutter is a vertical strip that few pieces of lines cross.
Pieces that cross it, such as a title, divide the page into zones. A zone with text on both sides of the gutter is two
columns if one side was drawn before the other, or if both sides are full of prose. Otherwise it is a table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import Final, NamedTuple

from auscult_readers.pdf.words import Piece, rows_of

_NARROWEST_GUTTER: Final = 5.0
# The same in letter sizes: blanks between words of justified lines are narrower.
_NARROWEST_OF_SIZE: Final = 0.7
# Changes from side to side per line of the shorter side, from which on two sides were drawn line by line.
_BY_LINES: Final = 1.6
"""Points. For large letters a gutter must be wider: 0.7 of their size."""
_MOST_CROSSING: Final = 0.34
"""Share of a page's lines that may cross a gutter."""
_FEWEST_LINES: Final = 3
_PROSE_LINES: Final = 8
_PROSE_FILL: Final = 0.75
_PROSE_WORDS: Final = 4
_DEEPEST: Final = 6
_BIN: Final = 2.0


def regions(pieces: Sequence[Piece], depth: int = 0) -> list[list[Piece]]:
    """Divide pieces into regions in reading order. A region is read from top to bottom, each row from left to right."""
    gutter = _gutter(pieces) if depth < _DEEPEST and len(pieces) >= 2 * _FEWEST_LINES else None
    if gutter is None:
        return [list(pieces)] if pieces else []
    ordered: list[list[Piece]] = []
    goes_on = False
    for crossing, zone in _zones(pieces, gutter):
        left = [piece for piece in zone if _middle(piece) < gutter]
        right = [piece for piece in zone if _middle(piece) >= gutter]
        if not crossing and _columns(left, right):
            leftwards = 2 * sum(piece.leftwards for piece in zone) > len(zone)
            first, second = (right, left) if leftwards else (left, right)
            ordered += [*regions(first, depth + 1), *regions(second, depth + 1)]
            goes_on = False
        elif goes_on:
            ordered[-1].extend(zone)
        else:
            ordered.append(zone)
            goes_on = True
    return ordered


def _middle(piece: Piece) -> float:
    return (piece.left + piece.right) / 2


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """Return the middle of the gutter between pieces, in points; None if there is no gutter."""
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
        if width < max(_NARROWEST_GUTTER, _NARROWEST_OF_SIZE * size):
            continue
        if (
            min(sum(piece.right <= middle for piece in pieces), sum(piece.left >= middle for piece in pieces))
            < _FEWEST_LINES
        ):
            continue
        rank = (float(min(covering[begin : end + 1])), -width, middle)
        best = rank if best is None or rank < best else best
    return best[2] if best else None


def _thinnest(places: Sequence[int], covering: Sequence[int], more: int) -> tuple[int, int]:
    """Return the first and last bin of the longest run that at most `more` pieces above the minimum cross."""
    least = min(covering[place] for place in places) + more
    stretches = [[*run] for few, run in groupby(places, key=lambda place: covering[place] <= least) if few]
    longest = max(stretches, key=len)
    return longest[0], longest[-1]


def _zones(pieces: Sequence[Piece], gutter: float) -> list[tuple[bool, list[Piece]]]:
    """Divide pieces, from top to bottom, into zones that cross the gutter (True) and zones that do not."""
    parted: list[tuple[bool, list[Piece]]] = []
    for row in rows_of(pieces):
        crosses = any(piece.left < gutter < piece.right for piece in row)
        if parted and parted[-1][0] == crosses:
            parted[-1][1].extend(row)
        else:
            parted.append((crosses, list(row)))
    return parted


def _columns(left: Sequence[Piece], right: Sequence[Piece]) -> bool:
    """Whether two sides of a gutter are columns, read one after the other."""
    if len(left) < 2 or len(right) < 2:
        return False
    if min(max(piece.bottom for piece in side) for side in (left, right)) <= max(
        min(piece.top for piece in side) for side in (left, right)
    ):
        return False
    drawn = sorted([(piece.words[0].order, 0) for piece in left] + [(piece.words[0].order, 1) for piece in right])
    changes = sum(one[1] != other[1] for one, other in pairwise(drawn))
    if changes <= max(1, min(len(left), len(right)) // 10):
        return True
    # Old programs draw columns line by line, as tables are drawn. Columns differ by lines of many words.
    return changes >= _BY_LINES * min(len(left), len(right)) and _is_prose(left) and _is_prose(right)


def _is_prose(side: Sequence[Piece], depth: int = 0) -> bool:
    """Whether lines of many words fill a side of a gutter, or each of the columns inside it."""
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
"""Share of a page's height, at the top and at the bottom, in which headers and footers are."""
_MARGIN: Final = 0.18
"""Share of a page's width, at either side, in which page and line numbers are beside the text."""
_MOST_ROWS: Final = 3
_NUMBER: Final = re.compile(r"\d+|^[ivxlc]+$")
_PAGE_NUMBER: Final = re.compile(
    r"(?:page|seite|página|pagina|p\.|s\.)\s*\d+(?:\s*(?:of|von|sur|de|di|van|/)\s*\d+)?|[-–—]\s*\d+\s*[-–—]|"
    r"\d+\s*(?:of|von|sur|/)\s*\d+"
)
_ROMAN: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_APART: Final = 0.5
_FAR_APART: Final = 2.0
_SMALLER: Final = 0.93
_MOST_PAGES: Final = 0.6
_FEW_PAGES: Final = 5
_SHORT_WORDS: Final = 5
_SENTENCE: Final = re.compile(r"[.!?;,:]['\"”’)\]]*$")
_LABELLED: Final = re.compile(r"[^\W\d_][^:]{1,40}:\s*\S")
_NOTE_MARKS: Final = "*†‡§"
_FEWEST_NUMBERS: Final = 5
# Largest gap between two line numbers by the smallest. Numbers of a table's rows are less even.
_EVEN: Final = 1.3
# How much larger a title is than the same words in a running header.
_TITLE_LARGER: Final = 1.3
Key = tuple[str | int, ...]
"""Identifies one header, footer or number on several pages."""


@dataclass(frozen=True, slots=True)
class PagePieces:
    """Pieces of a page's lines of one direction; width and height of the page when these lines are level."""

    width: float
    height: float
    pieces: Sequence[Piece]


class Furnished(NamedTuple):
    """Pages without what repeats at their edges.

    Attributes:
        kept: Pieces of each page.
        dropped: Pieces that were removed.
        repeated: Kept pieces that are no headings: the first copy of a removed line, and labelled lines ("ALLERGIES:
            none") that repeat at one place.
    """

    kept: list[list[Piece]]
    dropped: list[Piece]
    repeated: list[Piece]


def without_furniture(pages: Sequence[PagePieces]) -> Furnished:
    """Remove running headers, footers, page numbers and line numbers.

    A line is removed only if it is surely no content: it is a page number, or it repeats at one height at the edge of
    most pages and differs from the text by its size or by a wide gap. Sentences stay, and so do lines that look like
    the text or its headings. The first copy of a repeated line of many words stays, too.
    """
    usual = _usual_style(pages)
    edges = [[*_at_edges(page, number)] for number, page in enumerate(pages)]
    seen: dict[Key, set[int]] = {}
    for number, lines in enumerate(edges):
        for line in lines:
            for key in line.keys:
                seen.setdefault(key, set()).add(number)
    enough = 2 if len(pages) <= _FEW_PAGES else 3
    # The words of a header change with the chapter; its height does not.
    zones: dict[Key, set[int]] = {}
    for number, lines in enumerate(edges):
        for line in lines:
            if any(len(seen[key]) >= enough for key in line.keys):
                zones.setdefault(line.zone, set()).add(number)
    filled = sum(bool(page.pieces) for page in pages)
    styles, counting = _inner_styles(pages, edges), _margin_numbers(pages)
    furnished = Furnished([], [], [])
    earlier: set[Key] = set()
    for page, lines in zip(pages, edges, strict=True):
        out = {id(piece) for piece in _titles(page)} | counting
        repeated = [
            line
            for line in lines
            if len(zones.get(line.zone, ())) >= max(2, _MOST_PAGES * filled)
            and any(len(seen[key]) >= enough for key in line.keys)
        ]
        numbers = [line for line in lines if line.is_page] + [line for line in repeated if line.is_number]
        out.update(id(line.piece) for line in numbers)
        beside = {line.row for line in numbers}
        # A repeated name beside a value that differs belongs to a table.
        known = {id(line.piece) for line in (*repeated, *numbers)}
        mixed = {line.row for line in lines if id(line.piece) not in known}
        for line in repeated:
            if line.row in mixed:
                continue
            same = max(line.keys, key=lambda key: len(seen[key]))
            sure = _is_furniture(line, usual, styles, filled, beside_number=line.row in beside)
            if sure and (same in earlier or not _says_something(line.piece)):
                out.add(id(line.piece))
            elif sure or _LABELLED.match(line.piece.text):
                furnished.repeated.append(line.piece)
            earlier.add(same)
        furnished.kept.append([piece for piece in page.pieces if id(piece) not in out])
        furnished.dropped.extend(piece for piece in page.pieces if id(piece) in out)
    return furnished


@dataclass(frozen=True, slots=True)
class _EdgeLine:
    """A piece at a page's edge.

    Attributes:
        keys: Equal to those of the same line on other pages. A number that counts with the pages is made relative.
        zone: The edge, and the height of the line in steps of 4 points.
        gap: Distance between the rows at the edge and the text, in sizes of the font.
        row: The edge, and the number of rows further out.
        is_number: Whether it is only a number.
        is_page: Whether it has the form of a page number.
    """

    piece: Piece
    keys: tuple[Key, ...]
    zone: Key
    gap: float
    row: tuple[str, int]
    is_number: bool
    is_page: bool


def _at_edges(page: PagePieces, number: int) -> Iterator[_EdgeLine]:
    rows = rows_of(page.pieces)
    for edge, ordered in (("top", rows), ("bottom", rows[::-1])):
        outermost = _outermost(edge, ordered, page.height)
        inner = ordered[len(outermost)] if len(outermost) < len(ordered) else None
        for place, row in enumerate(outermost):
            # All rows at an edge have the gap of the innermost one.
            gap = _gap(outermost[-1], inner) / max(outermost[-1][0].size, 1.0) if inner else float(_MOST_ROWS)
            for piece in row:
                text = " ".join(piece.text.lower().split())
                height = piece.bottom if edge == "top" else page.height - piece.bottom
                keys = tuple((edge, reading, round(piece.size)) for reading in _readings(text, number))
                has_form = _PAGE_NUMBER.fullmatch(text) is not None
                is_page = has_form and not place and (len(row) == 1 or text[0].isalpha())
                is_number = has_form or _NUMBER.fullmatch(text) is not None
                yield _EdgeLine(piece, keys, (edge, round(height / 4)), gap, (edge, place), is_number, is_page)


def _readings(text: str, number: int) -> Iterator[str]:
    """Yield a text, unless it is a number, and variants with one number replaced by its difference to the page's."""
    if not _NUMBER.fullmatch(text):
        yield text
    for match in [*_NUMBER.finditer(text)][:4]:
        if len(match[0]) < 6:
            ahead = (int(match[0]) if match[0].isdecimal() else _roman(match[0])) - number
            yield f"{text[: match.start()]}#{ahead}#{text[match.end() :]}"


def _roman(text: str) -> int:
    values = [_ROMAN[letter] for letter in text]
    return sum(-one if one < other else one for one, other in zip(values, [*values[1:], 0], strict=True))


def _usual_style(pages: Sequence[PagePieces]) -> tuple[float, bool]:
    """Return the most frequent size of words, and whether most words of that size are bold."""
    counted = Counter((piece.size, piece.bold) for page in pages for piece in page.pieces for _ in piece.words)
    sizes = Counter[float]()
    for (size, _), number in counted.items():
        sizes[size] += number
    size = max(sizes, key=lambda each: (sizes[each], -each), default=0.0)
    return size, counted[size, True] > counted[size, False]


def _inner_styles(pages: Sequence[PagePieces], edges: Sequence[Sequence[_EdgeLine]]) -> set[tuple[float, bool]]:
    """Return the sizes and weights of pieces that are not at the edges of pages."""
    styles: set[tuple[float, bool]] = set()
    for page, lines in zip(pages, edges, strict=True):
        outer = {id(line.piece) for line in lines}
        styles.update((piece.size, piece.bold) for piece in page.pieces if id(piece) not in outer)
    return styles


def _is_furniture(
    line: _EdgeLine, usual: tuple[float, bool], styles: set[tuple[float, bool]], pages: int, *, beside_number: bool
) -> bool:
    """Whether a line that repeats at the edge of most pages is surely not part of the text."""
    piece = line.piece
    if piece.text[0] in _NOTE_MARKS:
        return False
    if piece.size <= _SMALLER * usual[0]:
        return True
    if len(piece.words) > 2 and (_SENTENCE.search(piece.text) or piece.text[0].islower()):
        return False
    if beside_number:
        return True
    if pages <= _FEW_PAGES or line.gap < _FAR_APART:
        return False
    is_heading = (piece.size, piece.bold) in styles and (piece.bold > usual[1] or piece.size > usual[0] / _SMALLER)
    return not is_heading


def _says_something(piece: Piece) -> bool:
    """Whether a line may be more than a name or a date."""
    many = len(piece.words) > _SHORT_WORDS
    return many or (len(piece.words) > 2 and bool(_SENTENCE.search(piece.text) or re.search("[=:]", piece.text)))


def _margin_numbers(pages: Sequence[PagePieces]) -> set[int]:
    """Return the ids of numbers in the margins that count the pages, or the lines of a page."""
    ahead: dict[int, list[tuple[int, Piece]]] = {}
    numbered: list[tuple[int, list[Piece]]] = []
    counters: set[int] = set()
    for number, page in enumerate(pages):
        beside = [
            piece
            for piece in page.pieces
            if piece.text.isdecimal()
            and len(piece.text) < 6
            and (piece.right <= _MARGIN * page.width or piece.left >= (1 - _MARGIN) * page.width)
        ]
        for piece in beside:
            ahead.setdefault(int(piece.text) - number, []).append((number, piece))
        beside.sort(key=lambda piece: (round(piece.right / 3), piece.top))
        for _, column in groupby(beside, lambda piece: round(piece.right / 3)):
            if _counts_lines(lines := [*column]):
                numbered.append((number, lines))
    if len({number for number, _ in numbered}) >= max(2, _MOST_PAGES * len(pages)):
        counters.update(id(piece) for _, lines in numbered for piece in lines)
    for counting in ahead.values():
        if len({number for number, _ in counting}) >= max(3, _MOST_PAGES * len(pages)):
            counters.update(id(piece) for _, piece in counting)
    return counters


def _counts_lines(column: Sequence[Piece]) -> bool:
    """Whether a column of numbers is line numbers: evenly spaced, each one or five more than the number above."""
    if len(column) < _FEWEST_NUMBERS:
        return False
    steps = {int(after.text) - int(before.text) for before, after in pairwise(column)}
    gaps = [after.top - before.top for before, after in pairwise(column)]
    return steps in ({1}, {5}) and max(gaps) <= _EVEN * min(gaps)


def _titles(page: PagePieces) -> Iterator[Piece]:
    """Yield pieces at the top that the page repeats in larger letters: a running header with a title."""
    larger: dict[str, float] = {}
    for piece in page.pieces:
        larger[piece.text] = max(larger.get(piece.text, 0.0), piece.size)
    for row in _outermost("top", rows_of(page.pieces), page.height):
        yield from (piece for piece in row if larger[piece.text] >= _TITLE_LARGER * piece.size)


def _outermost(edge: str, rows: Sequence[list[Piece]], height: float) -> Sequence[list[Piece]]:
    """Return the rows at an edge, the outermost first, that a gap separates from the rest of the page."""
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
