"""Which blocks of a PDF are headings, and of which level: by the size and weight of their letters, and by its outline.

The size of most letters is the body's. What is short, and larger or bolder than the body, is a heading; the larger it
is, the higher it stands. Where the outline names a block, it is a heading, however it looks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    styled = [_looks(block, body) for block in blocks]
    ranked = sorted({_rank(block) for block, looks in zip(blocks, styled, strict=True) if looks}, reverse=True)
    by_style = _by_style(blocks, named) if 2 * len(named) >= sum(styled) else {}
    below = 1 + max(named.values(), default=-1) if by_style else 0
    found: list[int | None] = []
    for place, (block, looks) in enumerate(zip(blocks, styled, strict=True)):
        if by_style and place in named:
            found.append(named[place])
        elif looks:
            rank = _rank(block)
            found.append(by_style[rank] if rank in by_style else below + ranked.index(rank))
        else:
            found.append(below + len(ranked) if place in named else None)
    return found


def _by_style(blocks: Sequence[Block], named: Mapping[int, int]) -> dict[tuple[float, bool], int]:
    """The level that the outline gives most headings of a size and weight."""
    counted: dict[tuple[float, bool], Counter[int]] = {}
    for place, level in named.items():
        counted.setdefault(_rank(blocks[place]), Counter())[level] += 1
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
            level is not None and _rank(blocks[place]) == _rank(blocks[largest]) for place, level in enumerate(found)
        )
        if rivals == 1 or not told:
            return told or _shown(blocks[largest]), largest if rivals == 1 else None
    return told, None


def _one_heading(before: Block, block: Block, body: Style) -> bool:
    if not before.lines or not block.lines or block.marked:
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
    return bolder and len(text) <= _LONGEST_BOLD and text[-1] not in ".,;" and not block.marked


def _rank(block: Block) -> tuple[float, bool]:
    return _rounded(block.size), block.bold


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _outlined(blocks: Sequence[Block], outline: Sequence[Bookmark]) -> Mapping[int, int]:
    """Which blocks the outline names: place to level."""
    places: dict[tuple[int, str], list[int]] = {}
    for place, block in enumerate(blocks):
        if block.lines and len(block.lines) <= _MOST_LINES:
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
