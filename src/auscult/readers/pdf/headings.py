"""Which blocks of a PDF are headings, and of which level: by the size and weight of their letters, and by its outline.

The size of most letters is the body's. What is short, and larger or bolder than the body, is a heading; the larger it
is, the higher it stands. In the body's letters a heading is a short line in capitals, or one of several whose numbers
count through the document with text below each. Where the outline names a block, it is a heading, however it looks. A
slanted line is none: it is a watermark or a stamp.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from auscult.readers.pdf.paragraphs import Block
from auscult.readers.pdf.pdfium import Bookmark

_LARGER: Final = 1.12
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
    """What most letters of a document look like."""

    size: float
    bold: bool


def body_style(blocks: Sequence[Block]) -> Style:
    """The size of most letters, and whether most of that size are bold."""
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
    """Blocks in which the lines of a large heading, broken by hand, are one block."""
    found: list[Block] = []
    for block in blocks:
        before = found[-1] if found else None
        if before is not None and _one_heading(before, block, body):
            before.lines.extend(block.lines)
        else:
            found.append(block)
    return found


def levels(blocks: Sequence[Block], body: Style, outline: Sequence[Bookmark]) -> list[int | None]:
    """Per block, the level of the heading that it is, 0 for the highest; None for what is none."""
    named = _outlined(blocks, outline)
    plain = _counted(blocks) | _in_capitals(blocks, body)
    styled = [
        not block.slanted and ((_looks(block, body) and not _in_list(blocks, place)) or place in plain)
        for place, block in enumerate(blocks)
    ]
    ranks = [_rank(block, body) for block in blocks]
    ranked = sorted({rank for rank, looks in zip(ranks, styled, strict=True) if looks}, reverse=True)
    by_style = _by_style(ranks, named) if 2 * len(named) >= sum(styled) else {}
    below = 1 + max(named.values(), default=-1) if by_style else 0
    found: list[int | None] = []
    for place, (rank, looks) in enumerate(zip(ranks, styled, strict=True)):
        if by_style and place in named:
            found.append(named[place])
        elif looks:
            found.append(by_style[rank] if rank in by_style else below + ranked.index(rank))
        else:
            found.append(below + len(ranked) if place in named else None)
    return found


def _by_style(ranks: Sequence[Rank], named: Mapping[int, int]) -> dict[Rank, int]:
    """The level that the outline gives most headings of a size and weight."""
    counted: dict[Rank, Counter[int]] = {}
    for place, level in named.items():
        counted.setdefault(ranks[place], Counter())[level] += 1
    return {rank: most.most_common(1)[0][0] for rank, most in counted.items()}


def title_of(blocks: Sequence[Block], found: Sequence[int | None], body: Style, told: str) -> tuple[str, int | None]:
    """The document's title, and which block of its first page shows it, where one does.

    Args:
        blocks: Of the document.
        found: Their levels as headings.
        body: What most letters look like.
        told: The title that the file's metadata names.
    """
    first = [
        place
        for place, (block, level) in enumerate(zip(blocks, found, strict=True))
        if level is not None and block.words[0].page == blocks[0].words[0].page
    ]
    largest = max(first, key=lambda place: (_rounded(blocks[place].size), -place), default=None)
    told = "" if _DULL_TITLE.fullmatch(told) or not 3 <= len(told) <= 300 else told
    for place in first:
        if told and _plain(_shown(blocks[place])) == _plain(told):
            return told, place
    if largest is not None and blocks[largest].size >= _TITLE_LARGER * body.size:
        rivals = sum(
            level is not None and _rank(blocks[place], body) == _rank(blocks[largest], body)
            for place, level in enumerate(found)
        )
        if rivals == 1 or not told:
            shown = _shown(blocks[largest])
            # What the file's own title does not say stays a heading: it would be in no passage.
            said = {*_plain(shown).split()} <= {*_plain(told or shown).split()}
            return told or shown, largest if rivals == 1 and said else None
    return told, None


def _one_heading(before: Block, block: Block, body: Style) -> bool:
    if not before.lines or not block.lines or block.marked or before.slanted or block.slanted:
        return False
    last, first = before.lines[-1], block.lines[0]
    alike = _rounded(before.size) == _rounded(block.size) and before.bold == block.bold
    near = -before.size < first.top - last.bottom <= 0.35 * before.size
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
    bolder = block.bold and not body.bold and block.size >= 0.9 * body.size
    may_be = len(text) <= _LONGEST_BOLD and text[-1] not in ".,;"
    return bolder and may_be and (not block.marked or bool(_numbers(block)))


def _numbers(block: Block) -> list[tuple[int, ...]]:
    """The number that a block begins with: 4 for "4.", 4 and 8 for "4.8"; for "I." both one and the ninth letter."""
    first = block.lines[0].words[0].text if block.lines and len(block.lines[0].words) > 1 else ""
    if match := _NUMBER.fullmatch(first):
        return [tuple(map(int, match[1].split(".")))]
    letters = first.strip("().").upper()
    if first[-1:] not in (".", ")") or not letters:
        return []
    found: list[tuple[int, ...]] = [(_ROMAN.index(letters) + 1,)] if letters in _ROMAN else []
    if len(letters) == 1 and "A" <= letters <= "Z":
        found.append((ord(letters) - ord("A") + 1,))
    return found


def _follows(number: tuple[int, ...], last: tuple[int, ...]) -> bool:
    """Whether a number is the next one: 5, 4.9 and 4.8.1 are behind 4.8."""
    after = [(*last, 1), *((*last[:depth], last[depth] + 1) for depth in range(len(last)))]
    return number in after


def _in_list(blocks: Sequence[Block], place: int) -> bool:
    """Whether a numbered block stands in a list of its like, with nothing between them: no heading then."""
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
    """Which blocks are numbered lines, at least three, that count through the document with text below each."""
    found: set[int] = set()
    # Open counts, the innermost last: places, the last number, and whether each may be a heading with text below it.
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
                found.update(counts[at][0])
        elif any(number in ((1,), (1, 1)) for number in _numbers(block)):
            counts.append(([place], (1,) if (1,) in _numbers(block) else (1, 1), short))
    return found


def _alike(one: Block, other: Block) -> bool:
    """Whether two numbered blocks look like items of one count."""
    near = abs(one.lines[0].left - other.lines[0].left) <= one.size
    return one.bold == other.bold and _rounded(one.size) == _rounded(other.size) and near


def _in_capitals(blocks: Sequence[Block], body: Style) -> set[int]:
    """Which blocks are short lines in capitals above a text that is in none."""
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
        and block.size >= 0.9 * body.size
        and (not block.marked or _numbers(block))
        and len(_shown(block)) <= _LONGEST_CAPITALS
        and _shown(block)[-1] not in ".,;"
        and any(letter.islower() for letter in _shown(following))
    }


def _is_upper(text: str) -> bool:
    """Whether a text is words in capitals, rather than an abbreviation or a code."""
    return text.isupper() and re.search(r"[^\W\d_]{4}", text) is not None and not re.search(r"\d{3}", text)


def _rank(block: Block, body: Style) -> Rank:
    """What orders headings: the size, the weight; in letters of the body the number's depth and whether in capitals."""
    size = _rounded(block.size)
    if size >= _LARGER * body.size or not block.lines:
        return size, block.bold, 0, False
    numbers = _numbers(block)
    return size, block.bold, -len(numbers[0]) if numbers else -_DEEPEST, _is_upper(_shown(block))


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _outlined(blocks: Sequence[Block], outline: Sequence[Bookmark]) -> Mapping[int, int]:
    """Which blocks the outline names: place to level."""
    places: dict[tuple[int, str], list[int]] = {}
    for place, block in enumerate(blocks):
        if block.lines and not block.slanted and len(block.lines) <= _MOST_LINES:
            places.setdefault((block.words[0].page, _plain(_shown(block))), []).append(place)
    found: dict[int, int] = {}
    for mark in outline:
        here = places.get((mark.page, _plain(mark.title)))
        if here and _plain(mark.title):
            found[here.pop(0)] = mark.level
    return found


def _shown(block: Block) -> str:
    return " ".join(word.text for word in block.words)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.lower()).strip()
