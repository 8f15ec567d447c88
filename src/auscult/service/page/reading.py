"""A document as it is read: passages with headings, paragraphs and lists of whole sentences, and the answer marked.

Sentences are numbered for links. Nothing of the original's markup is shown: text is text. Characters between sentences
(bullets) are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from auscult.documents import Document, Passage, Sentence
from auscult.search.spans import Span, SpanFinder

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
    """Return a document's passages in order."""
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
    """Return the bullet or number that a text begins with, with the blank behind it, and the rest."""
    marker = _MARKER.match(text)
    cut = marker.end() if marker else 0
    return text[:cut], text[cut:]


def _new(before: tuple[str, ...], path: tuple[str, ...], title: str) -> tuple[tuple[int, str], ...]:
    """Return the headings of a path that did not already stand over the passage before; its own always does."""
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


_STEPS: Final = 40
_SPAN: Final = re.compile(r"(\d{1,7})-(\d{1,7})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is marked.

    Attributes:
        first: Number of its first sentence.
        last: One past its last.
        chain: Stretches from the smallest to the largest, each in the next, that are stepped through.
        at: Which of them is marked.
        top: Sentences that the hit of its passage marks.
    """

    first: int
    last: int
    chain: tuple[tuple[int, int], ...]
    at: int
    top: frozenset[int]

    @property
    def smaller(self) -> str:
        """The next smaller one, as an address has it; empty where there is none."""
        return "-".join(map(str, self.chain[self.at - 1])) if self.at else ""

    @property
    def larger(self) -> str:
        """The next larger one."""
        return "-".join(map(str, self.chain[self.at + 1])) if self.at + 1 < len(self.chain) else ""


def answer_in(
    finder: SpanFinder, parts: list[Part], passage_id: str, given: str, marked: Callable[[int], frozenset[int]]
) -> Answer | None:
    """Return what to mark of a document; None where it has no sentence.

    Args:
        finder: Of the document, with its sentences' scores.
        parts: Its passages.
        passage_id: That was found; empty, or one of another document, for the best stretch of all.
        given: "first-last" of an address; what fits no sentences is as if it were not there.
        marked: Which sentences of a passage a hit marks, both by their numbers.
    """
    part = next((each for each in parts if each.passage_id == passage_id and each.last > each.first), None)
    first, last = map(int, found.groups()) if (found := _SPAN.fullmatch(given)) else (0, 0)
    if first < last <= len(finder.scores):
        span: Span | None = finder.span(first, last)
    else:
        span = finder.best(part.first, part.last) if part else finder.best()
    if span is None:
        return None
    chain = [span]
    while len(chain) < _STEPS and (smaller := finder.shrink(chain[0])) != chain[0]:
        chain.insert(0, smaller)
    at = len(chain) - 1
    while len(chain) < at + _STEPS and (larger := finder.grow(chain[-1])) != chain[-1]:
        chain.append(larger)
    if part is None:
        best = max(range(span.first, span.last), key=lambda number: finder.scores[number])
        part = next(each for each in parts if each.first <= best < each.last)
    return Answer(
        first=span.first,
        last=span.last,
        chain=tuple((each.first, each.last) for each in chain),
        at=at,
        top=frozenset(part.first + number for number in marked(part.number)),
    )
