"""A document as it is read: passages with their headings, paragraphs and lists of whole sentences, numbered for links.

Nothing of the original's markup is shown: text is text. What stands between sentences (bullets) is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from auscult.documents import Document, Passage, Sentence

_MARKER: Final = re.compile(r"(?:[-*+•‣◦▪●○·–—]|\(?\d{1,2}[.)]|\(?[a-z][)])\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSentence:
    """One sentence, verbatim.

    Attributes:
        number: In the document, from 0: its anchor is "s" and the number.
        marker: The bullet or number that it begins with, with the blank behind it; empty for none.
        text: The sentence behind its marker; both together are what the document has.
        glue: What stands between this sentence and the one before, in the same paragraph.
    """

    number: int
    marker: str
    text: str
    glue: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, or a list item."""

    sentences: tuple[ShownSentence, ...]
    list_item: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A passage.

    Attributes:
        number: In the document, from 0: its anchor is "p" and the number.
        headings: (level, words) of those that begin here, outermost first; levels from 2.
        groups: Paragraphs, those of one list together.
        first: Number of its first sentence.
        last: One past its last.
    """

    number: int
    passage_id: str
    headings: tuple[tuple[int, str], ...]
    groups: tuple[tuple[bool, tuple[Paragraph, ...]], ...]
    first: int
    last: int


def parts_of(document: Document) -> list[Part]:
    """A document's passages in order."""
    parts: list[Part] = []
    first = 0
    path: tuple[str, ...] = ()
    for number, passage in enumerate(document.passages):
        paragraphs = list(_paragraphs(document, passage, first))
        last = first + len(passage.sentences)
        above = (*passage.above, passage.heading) if passage.heading else passage.above
        parts.append(
            Part(
                number=number,
                passage_id=passage.passage_id,
                headings=_new(path, above, document.title),
                groups=tuple(_groups(paragraphs)),
                first=first,
                last=last,
            )
        )
        path, first = above, last
    return parts


def parted(text: str) -> tuple[str, str]:
    """The bullet or number that a text begins with, with the blank behind it, and the rest."""
    marker = _MARKER.match(text)
    cut = marker.end() if marker else 0
    return text[:cut], text[cut:]


def _new(before: tuple[str, ...], path: tuple[str, ...], title: str) -> tuple[tuple[int, str], ...]:
    """The headings of a path that did not already stand over the passage before; its own always does."""
    shared = 0
    while shared < min(len(before), len(path) - 1) and before[shared] == path[shared]:
        shared += 1
    # A document's title stands over all of it.
    begins = 1 if path[:1] == (title,) and len(path) > 1 else 0
    return tuple((min(2 + level - begins, 6), path[level]) for level in range(max(shared, begins), len(path)))


def _paragraphs(document: Document, passage: Passage, first: int) -> Iterator[Paragraph]:
    held: list[ShownSentence] = []
    item = False
    before: Sentence | None = None
    for place, sentence in enumerate(passage.sentences):
        begins = sentence.begins_paragraph or before is None or before.ends_paragraph
        if begins and held:
            yield Paragraph(tuple(held), item)
            held = []
        text = document.slice(sentence)
        marker, rest = parted(text) if begins and sentence.list_item else ("", text)
        between = document.text[before.end : sentence.start] if before and held else ""
        glue = between if between.strip() else " " if held else ""
        held.append(ShownSentence(number=first + place, marker=marker, text=rest, glue=glue))
        item = sentence.list_item if begins else item
        before = sentence
    if held:
        yield Paragraph(tuple(held), item)


def _groups(paragraphs: list[Paragraph]) -> Iterator[tuple[bool, tuple[Paragraph, ...]]]:
    held: list[Paragraph] = []
    for paragraph in paragraphs:
        if held and paragraph.list_item != held[0].list_item:
            yield held[0].list_item, tuple(held)
            held = []
        held.append(paragraph)
    if held:
        yield held[0].list_item, tuple(held)
