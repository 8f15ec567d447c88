"""Headings of a PDF and their levels, from the size and weight of letters and from the outline.

The most frequent size is that of the body. A short block in larger or bolder letters is a heading; larger letters mean
a higher level. In letters of the body, two kinds of lines are headings: short lines in capitals, and lines whose
numbers count through the document with text below each. A block that the outline names is a heading, whatever it looks
like. A slanted line is never one: it is a watermark or a stamp.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from auscult_readers.pdf.paragraphs import Block
from auscult_readers.pdf.pdfium import Bookmark

_LARGER: Final = 1.12
# Bold letters and capitals are headings at the size of the body, and a little below: fonts of one size differ.
_NOT_SMALLER: Final = 0.9
# Gap between the lines of one heading, in letter sizes. A paragraph is further away.
_WITHIN_HEADING: Final = 0.35
_LONGEST: Final = 200
_LONGEST_BOLD: Final = 110
_MOST_LINES: Final = 4
_TITLE_LARGER: Final = 1.3
_DULL_TITLE: Final = re.compile(
    r"untitled.*|microsoft (?:word|powerpoint).*|.*\.(?:docx?|pdf|indd|qxd|tex|dvi|pptx?|rtf|xlsx?)|[\W\d_]+|\S+_\S+|"
    r"(?:document|layout|slide|title|print)\s*\d*|\(?anonymous\)?|unspecified",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\(?(\d{1,2}(?:\.\d{1,2}){0,3})[.):]?")
_ROMAN: Final = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_DEEPEST: Final = 9
_LONGEST_CAPITALS: Final = 80
_MOST_IN_CAPITALS: Final = 0.34
Rank = tuple[float, bool, int, bool]


@dataclass(frozen=True, slots=True)
class Style:
    """Size (points) and weight of most letters of a document."""

    size: float
    bold: bool


def body_style(blocks: Sequence[Block]) -> Style:
    """Return the most frequent size of letters, and whether most letters of that size are bold."""
    counted: dict[tuple[float, bool], int] = {}
    for block in blocks:
        for word in block.words:
            key = (_rounded(word.size), word.bold)
            counted[key] = counted.get(key, 0) + len(word.text)
    sizes: dict[float, int] = {}
    for (size, _), letters in counted.items():
        sizes[size] = sizes.get(size, 0) + letters
    size = max(sizes, key=lambda each: (sizes[each], -each), default=0.0)
    return Style(size, counted.get((size, True), 0) > counted.get((size, False), 0))


def joined_headings(blocks: Sequence[Block], body: Style) -> list[Block]:
    """Join the blocks of a large heading whose lines were broken by hand."""
    joined: list[Block] = []
    for block in blocks:
        before = joined[-1] if joined else None
        if before is not None and _one_heading(before, block, body):
            before.lines.extend(block.lines)
        else:
            joined.append(block)
    return joined


def levels(blocks: Sequence[Block], body: Style, outline: Sequence[Bookmark]) -> list[int | None]:
    """Return the heading level of each block: 0 for the highest, None for a block that is no heading."""
    named = _outlined(blocks, outline)
    plain = _counted(blocks) | _in_capitals(blocks, body)
    styled = [
        not (block.slanted or block.repeated)
        and ((_looks(block, body) and not _in_list(blocks, place)) or place in plain)
        for place, block in enumerate(blocks)
    ]
    ranks = [_rank(block, body) for block in blocks]
    ranked = sorted({rank for rank, looks in zip(ranks, styled, strict=True) if looks}, reverse=True)
    by_style = _by_style(ranks, named) if 2 * len(named) >= sum(styled) else {}
    below = 1 + max(named.values(), default=-1) if by_style else 0
    heading_levels: list[int | None] = []
    for place, (rank, looks) in enumerate(zip(ranks, styled, strict=True)):
        if by_style and place in named:
            heading_levels.append(named[place])
        elif looks:
            heading_levels.append(by_style[rank] if rank in by_style else below + ranked.index(rank))
        else:
            heading_levels.append(below + len(ranked) if place in named else None)
    return heading_levels


def _by_style(ranks: Sequence[Rank], named: Mapping[int, int]) -> dict[Rank, int]:
    """Return, by rank, the level that the outline gives most headings of that rank."""
    counted: dict[Rank, Counter[int]] = {}
    for place, level in named.items():
        counted.setdefault(ranks[place], Counter())[level] += 1
    return {rank: most.most_common(1)[0][0] for rank, most in counted.items()}


def title_of(
    blocks: Sequence[Block], heading_levels: Sequence[int | None], body: Style, metadata_title: str
) -> tuple[str, int | None]:
    """Return the document's title, and the index of the block that shows it; None if no block does.

    Args:
        blocks: Blocks of the document.
        heading_levels: Result of `levels` for them.
        body: Style of most letters.
        metadata_title: Title in the file's metadata; "" if there is none.
    """
    first = [
        place
        for place, (block, level) in enumerate(zip(blocks, heading_levels, strict=True))
        if level is not None and block.words[0].page == blocks[0].words[0].page
    ]
    largest = max(first, key=lambda place: (_rounded(blocks[place].size), -place), default=None)
    metadata_title = (
        "" if _DULL_TITLE.fullmatch(metadata_title) or not 3 <= len(metadata_title) <= 300 else metadata_title
    )
    for place in first:
        if metadata_title and _plain(_shown(blocks[place])) == _plain(metadata_title):
            return metadata_title, place
    if largest is not None and blocks[largest].size >= _TITLE_LARGER * body.size:
        rivals = sum(
            level is not None and _rank(blocks[place], body) == _rank(blocks[largest], body)
            for place, level in enumerate(heading_levels)
        )
        if rivals == 1 or not metadata_title:
            printed = _shown(blocks[largest])
            # A printed title with words that the metadata lacks stays a heading, so that a passage has them.
            is_covered = {*_plain(printed).split()} <= {*_plain(metadata_title or printed).split()}
            return metadata_title or printed, largest if rivals == 1 and is_covered else None
    return metadata_title, None


def _one_heading(before: Block, block: Block, body: Style) -> bool:
    if not before.lines or not block.lines or block.marked or before.slanted or block.slanted:
        return False
    last, first = before.lines[-1], block.lines[0]
    alike = _rounded(before.size) == _rounded(block.size) and before.bold == block.bold
    near = -before.size < first.top - last.bottom <= _WITHIN_HEADING * before.size
    large = before.size >= _LARGER * body.size and len(before.lines) < _MOST_LINES
    return alike and near and large and last.words[0].page == first.words[0].page


def _looks(block: Block, body: Style) -> bool:
    if not block.lines or len(block.lines) > _MOST_LINES:
        return False
    text = _shown(block)
    if len(text) > _LONGEST or not any(letter.isalpha() for letter in text):
        return False
    if block.size >= _LARGER * body.size:
        return not block.marked or block.bold
    bolder = block.bold and not body.bold and block.size >= _NOT_SMALLER * body.size
    may_be = len(text) <= _LONGEST_BOLD and text[-1] not in ".,;"
    return bolder and may_be and (not block.marked or bool(_numbers(block)))


def _numbers(block: Block) -> list[tuple[int, ...]]:
    """Return the possible numbers of a block: (4, 8) for "4.8"; for "I." (1,), as Roman, and (9,), as a letter."""
    first = block.lines[0].words[0].text if block.lines and len(block.lines[0].words) > 1 else ""
    if match := _NUMBER.fullmatch(first):
        return [tuple(map(int, match[1].split(".")))]
    letters = first.strip("().").upper()
    if first[-1:] not in (".", ")") or not letters:
        return []
    numbers: list[tuple[int, ...]] = [(_ROMAN.index(letters) + 1,)] if letters in _ROMAN else []
    if len(letters) == 1 and "A" <= letters <= "Z":
        numbers.append((ord(letters) - ord("A") + 1,))
    return numbers


def _follows(number: tuple[int, ...], last: tuple[int, ...]) -> bool:
    """Whether a number may come next: 5, 4.9 and 4.8.1 follow 4.8."""
    after = [(*last, 1), *((*last[:depth], last[depth] + 1) for depth in range(len(last)))]
    return number in after


def _in_list(blocks: Sequence[Block], place: int) -> bool:
    """Whether the block before or after a numbered block has the adjacent number: then it is a list item."""
    block = blocks[place]
    if not block.marked:
        return False
    for near in (place - 1, place + 1):
        other = blocks[near] if 0 <= near < len(blocks) else None
        if other is None or not other.marked or other.bold != block.bold:
            continue
        one, two = (other, block) if near < place else (block, other)
        if any(
            len(number) == len(last) and _follows(number, last) for number in _numbers(two) for last in _numbers(one)
        ):
            return True
    return False


def _counted(blocks: Sequence[Block]) -> set[int]:
    """Return the indexes of numbered lines, at least three, that count through the document with text below each."""
    numbered: set[int] = set()
    # Open counts, the innermost last: indexes of blocks, the last number, and whether all may be headings.
    counts: list[tuple[list[int], tuple[int, ...], bool]] = []
    for place, block in enumerate(blocks):
        text = _shown(block)
        short = 0 < len(block.lines) <= 2 and len(text) <= _LONGEST_BOLD and text[-1] not in ".,;:"
        fitting = [
            (parted == short, at, number)
            for number in _numbers(block)
            for at, (places, last, parted) in enumerate(counts)
            if _follows(number, last) and _alike(blocks[places[0]], block)
        ]
        if fitting:
            _, at, number = max(fitting)
            places, _, parted = counts[at]
            parted = parted and short and any(len(blocks[each].words) > 3 for each in range(places[-1] + 1, place))
            counts[at:] = [([*places, place], number, parted)]
            if parted and len(places) >= 2:
                numbered.update(counts[at][0])
        elif any(number in ((1,), (1, 1)) for number in _numbers(block)):
            counts.append(([place], (1,) if (1,) in _numbers(block) else (1, 1), short))
    return numbered


def _alike(one: Block, other: Block) -> bool:
    """Whether two numbered blocks have the same style and nearly the same indent."""
    near = abs(one.lines[0].left - other.lines[0].left) <= one.size
    return one.bold == other.bold and _rounded(one.size) == _rounded(other.size) and near


def _in_capitals(blocks: Sequence[Block], body: Style) -> set[int]:
    """Return the indexes of short lines in capitals above text in small letters."""
    upper = [bool(block.lines) and _is_upper(_shown(block)) for block in blocks]
    lengths = [sum(len(word.text) for word in block.words) for block in blocks]
    if sum(length for length, in_capitals in zip(lengths, upper, strict=True) if in_capitals) > _MOST_IN_CAPITALS * sum(
        lengths
    ):
        return set()
    return {
        place
        for place, (block, following) in enumerate(pairwise(blocks))
        if upper[place]
        and not upper[place + 1]
        and len(block.lines) <= 2
        and block.size >= _NOT_SMALLER * body.size
        and (not block.marked or _numbers(block))
        and len(_shown(block)) <= _LONGEST_CAPITALS
        and _shown(block)[-1] not in ".,;"
        and any(letter.islower() for letter in _shown(following))
    }


def _is_upper(text: str) -> bool:
    """Whether a text is written in capitals and is no abbreviation or code."""
    return text.isupper() and re.search(r"[^\W\d_]{4}", text) is not None and not re.search(r"\d{3}", text)


def _rank(block: Block, body: Style) -> Rank:
    """Return the sort key of a heading: size and weight; in body letters also depth of its number and capitals."""
    size = _rounded(block.size)
    if size >= _LARGER * body.size or not block.lines:
        return size, block.bold, 0, False
    numbers = _numbers(block)
    return size, block.bold, -len(numbers[0]) if numbers else -_DEEPEST, _is_upper(_shown(block))


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _outlined(blocks: Sequence[Block], outline: Sequence[Bookmark]) -> Mapping[int, int]:
    """Return the levels of blocks that the outline names, by index of the block."""
    places: dict[tuple[int, str], list[int]] = {}
    for place, block in enumerate(blocks):
        if block.lines and not block.slanted and len(block.lines) <= _MOST_LINES:
            places.setdefault((block.words[0].page, _plain(_shown(block))), []).append(place)
    level_at: dict[int, int] = {}
    for mark in outline:
        here = places.get((mark.page, _plain(mark.title)))
        if here and _plain(mark.title):
            level_at[here.pop(0)] = mark.level
    return level_at


def _shown(block: Block) -> str:
    return " ".join(word.text for word in block.words)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.lower()).strip()
