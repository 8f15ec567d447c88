"""The text of a document for its page: passages with headings, paragraphs and lists, and the marked answer.

Sentences are numbered, as targets of links. Markup of the original is shown as plain text. Characters between
sentences, such as bullets, are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from auscult.documents import Document, Passage, Sentence
from auscult.search.spans import FoundAnswer

_MARKER: Final = re.compile(r"(?:[-*+•‣◦▪●○·–—]|\(?\d{1,2}[.)]|\(?[a-z][)])\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSentence:
    """One sentence, verbatim.

    Attributes:
        number: Its number in the document, from 0; its anchor is "s" and the number.
        marker: Bullet or number at its beginning, with the space after it; empty for none.
        text: The rest of the sentence.
        glue: Characters between this sentence and the one before in the same paragraph.
    """

    number: int
    marker: str
    text: str
    glue: str


@dataclass(frozen=True, slots=True)
class ShownParagraph:
    """A paragraph, or a list item."""

    sentences: tuple[ShownSentence, ...]
    list_item: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A passage as the page shows it.

    Attributes:
        number: Its number in the document, from 0; its anchor is "p" and the number.
        headings: (level, text) of the headings that begin here, outermost first; levels from 2.
        groups: (whether a list, paragraphs); the items of one list are together.
    """

    number: int
    headings: tuple[tuple[int, str], ...]
    groups: tuple[tuple[bool, tuple[ShownParagraph, ...]], ...]


def parts_of(document: Document) -> list[Part]:
    """Return a document's passages in order."""
    parts: list[Part] = []
    first = 0
    path: tuple[str, ...] = ()
    for number, passage in enumerate(document.passages):
        paragraphs = groupby(_read_paragraphs(document, passage, first), key=lambda paragraph: paragraph.list_item)
        groups = tuple((is_list, tuple(group)) for is_list, group in paragraphs)
        above = (*passage.above, passage.heading) if passage.heading else passage.above
        parts.append(Part(number=number, headings=_find_new_headings(path, above, document.title), groups=groups))
        path, first = above, first + len(passage.sentences)
    return parts


def split_marker(text: str) -> tuple[str, str]:
    """Split a text into the bullet or number at its beginning, with the space after it, and the rest."""
    marker = _MARKER.match(text)
    cut = marker.end() if marker else 0
    return text[:cut], text[cut:]


def _find_new_headings(before: tuple[str, ...], path: tuple[str, ...], title: str) -> tuple[tuple[int, str], ...]:
    """Return the headings of a passage that differ from those of the passage before; the innermost always counts."""
    shared = 0
    while shared < min(len(before), len(path) - 1) and before[shared] == path[shared]:
        shared += 1
    # The title of the document is already shown above everything.
    begins = 1 if path[:1] == (title,) and len(path) > 1 else 0
    return tuple((min(2 + level - begins, 6), path[level]) for level in range(max(shared, begins), len(path)))


def _read_paragraphs(document: Document, passage: Passage, first: int) -> Iterator[ShownParagraph]:
    sentences: list[ShownSentence] = []
    item = False
    before: Sentence | None = None
    for place, sentence in enumerate(passage.sentences):
        begins = sentence.begins_paragraph or before is None or before.ends_paragraph
        if begins and sentences:
            yield ShownParagraph(tuple(sentences), item)
            sentences = []
        text = document.slice(sentence)
        marker, rest = split_marker(text) if begins and sentence.list_item else ("", text)
        between = document.text[before.end : sentence.start] if before and sentences else ""
        glue = between if between.strip() else " " if sentences else ""
        sentences.append(ShownSentence(number=first + place, marker=marker, text=rest, glue=glue))
        item = sentence.list_item if begins else item
        before = sentence
    if sentences:
        yield ShownParagraph(tuple(sentences), item)


_STEPS: Final = 40
_SPAN: Final = re.compile(r"(\d{1,7})-(\d{1,7})")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedAnswer:
    """The marked answer.

    Attributes:
        first: Number of its first sentence.
        last: One past the number of its last sentence.
        chain: Spans from the smallest to the largest, each within the next, for the links "smaller" and "larger".
        at: Index of the marked span in the chain.
        top: Sentences that are highlighted in the hit of the passage.
    """

    first: int
    last: int
    chain: tuple[tuple[int, int], ...]
    at: int
    top: frozenset[int]

    @property
    def smaller(self) -> str:
        """The next smaller span as a URL parameter; empty where there is none."""
        return "-".join(map(str, self.chain[self.at - 1])) if self.at else ""

    @property
    def larger(self) -> str:
        """The next larger span as a URL parameter; empty where there is none."""
        return "-".join(map(str, self.chain[self.at + 1])) if self.at + 1 < len(self.chain) else ""


def answer_in(found: FoundAnswer, given: str) -> MarkedAnswer | None:
    """Return the answer to mark in a document; None where no sentence is about what was asked.

    Args:
        found: What `find_answer` found in the document.
        given: "first-last" from the URL; ignored where the document has no such sentences.
    """
    finder, span = found.finder, found.span
    first, last = map(int, match.groups()) if (match := _SPAN.fullmatch(given)) else (0, 0)
    if first < last <= len(finder.scores):
        span = finder.span(first, last)
    if span is None:
        return None
    chain = [span]
    while len(chain) < _STEPS and (smaller := finder.shrink(chain[0])) != chain[0]:
        chain.insert(0, smaller)
    at = len(chain) - 1
    while len(chain) < at + _STEPS and (larger := finder.grow(chain[-1])) != chain[-1]:
        chain.append(larger)
    return MarkedAnswer(
        first=span.first,
        last=span.last,
        chain=tuple((stretch.first, stretch.last) for stretch in chain),
        at=at,
        top=found.marked,
    )
