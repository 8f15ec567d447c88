"""Answers without an author's boundaries: the stretch of a document's sentences that answers a query best.

A document is read as one level of scores with one raised stretch in it. The stretch from sentence i to j, of n out of N
sentences, is found where the contrast is greatest:

    contrast(i, j) = (mean inside - mean outside) / deviation · (n · (N - n) / N) ^ POWER

With a POWER of a half that is circular binary segmentation (olshen2004), the likelihood of two levels against one; a
smaller one prefers a shorter stretch that stands out more, above all in long documents. Each end that parts a
paragraph, or a list and its lead-in, costs INSIDE, in standard deviations of one sentence. Means come from prefix sums,
so that all spans of a document are weighed in O(sentences · most), after O(sentences · dim) for the scores. A span
never crosses a heading (`Frame`).

What a span may take in is what the hit of its passage may mark (`search.subjects`): of a document about many subjects
only the entries about the one that was asked for, and always the marked sentences (`find_answer`).

A sentence is scored by its aspect share where an aspect is asked for, since what a span may take in is all about the
entity; else by the model's whole. The asked words, which find documents, mark sentences that name the entity rather
than those that answer: `benchmarks/spans.py` measures both.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.concepts.names import normalise_name
from auscult.documents.document import Document
from auscult.errors import ConfigError, QueryError
from auscult.search.marks import begins_block
from auscult.search.searcher import Searcher, SearchOptions
from auscult.understanding.query import Query

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Frame:
    """Offsets, blocks and sections of a document's sentences, in order; all arrays are (sentences,).

    Attributes:
        starts: Offset of each sentence in the text.
        ends: One past its last character.
        blocks: Number of its block, rising. A list and the paragraph before it that ends in a colon are one block.
        sections: Number of its section, rising.
    """

    starts: IntArray
    ends: IntArray
    blocks: IntArray
    sections: IntArray

    @property
    def begins_block(self) -> BoolArray:
        """Whether a sentence is the first of its block."""
        return np.diff(self.blocks, prepend=-1) > 0


def frame_of(document: Document, others: Collection[int] = ()) -> Frame:
    """Return the blocks (a paragraph, or a list with its lead-in) and sections of a document's sentences.

    A section ends where a passage with another heading begins. A passage with the same heading, or without one,
    continues the section: long sections are often split into several passages.

    Args:
        document: The document.
        others: Numbers of sentences about other subjects: a section ends before and after them.
    """
    sentences = document.sentences
    sections = _sections(document)
    if others:
        is_other = np.zeros(len(sections), bool)
        is_other[[*others]] = True
        turns = (np.diff(sections, prepend=0) != 0) | (np.diff(is_other, prepend=is_other[0]) != 0)
        sections = np.cumsum(turns).tolist()
    blocks, block = [], -1
    for number in range(len(sentences)):
        same_section = number > 0 and sections[number] == sections[number - 1]
        if not same_section or begins_block(sentences, number, document.text):
            block += 1
        blocks.append(block)
    return Frame(
        np.array([sentence.start for sentence in sentences], np.int64),
        np.array([sentence.end for sentence in sentences], np.int64),
        np.array(blocks, np.int64),
        np.array(sections, np.int64),
    )


def _sections(document: Document) -> list[int]:
    numbers: list[int] = []
    section, current = -1, ""
    for passage in document.passages:
        heading = normalise_name(passage.heading)
        if section < 0 or (heading and heading != current):
            section, current = section + 1, heading
        numbers += [section] * len(passage.sentences)
    return numbers


Scores = npt.NDArray[np.float64]
POWER: Final = 0.2
INSIDE: Final = 1.0


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of sentences of one document.

    Attributes:
        start: Offset of its first character in the document text.
        end: One past its last character.
        first: Number of its first sentence in the document, from 0.
        last: One past its last sentence.
        score: Mean of its sentences' scores.
    """

    doc_id: str
    start: int
    end: int
    first: int
    last: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanLimits:
    """How long a span that is looked for may be; a section that is shorter than the least is taken whole.

    Attributes:
        fewest: Sentences at least.
        most: Sentences at most.
        shortest: Characters at least.
        longest: Characters at most; a single sentence may be longer.
    """

    fewest: int = 1
    most: int = 20
    shortest: int = 200
    longest: int = 6_000

    def __post_init__(self) -> None:
        if not (1 <= self.fewest <= self.most and 0 <= self.shortest <= self.longest):
            raise ConfigError("limits of a span in order, from 1 sentence on", str(self), "correct them")


DEFAULT: Final = SpanLimits()
SHOWN: Final = 10
"""Hits of the search from which a document is opened, whose patients a question may tell apart."""


class SpanFinder:
    """The scored sentences of one document, and spans of them.

    Args:
        document: The document.
        scores: Scores of its sentences, in order, (sentences,).
        limits: Limits of the spans to find.
        others: Numbers of sentences about other subjects. A span ends before them, unless it grows.
    """

    def __init__(
        self,
        document: Document,
        scores: Sequence[float] | Scores,
        limits: SpanLimits = DEFAULT,
        others: Collection[int] = (),
    ) -> None:
        self.document = document
        self.scores: Scores = np.asarray(scores, np.float64)
        self.limits = limits
        self.frame: Frame = frame_of(document, others)
        self._is_other: BoolArray = np.isin(np.arange(len(self.frame.starts)), [*others])
        if len(self.scores) != len(self.frame.starts):
            raise ConfigError(f"scores of {len(self.frame.starts)} sentences", str(len(self.scores)), "score them all")
        self._sums = np.concatenate([np.zeros(1), np.cumsum(self.scores)])

    def mean(self, first: int, last: int) -> float:
        """Return the mean score of sentences first to last, exclusive."""
        return float((self._sums[last] - self._sums[first]) / (last - first))

    def span(self, first: int, last: int) -> Span:
        """Return the span of sentences first to last, exclusive.

        Raises:
            QueryError: There are no such sentences.
        """
        if not 0 <= first < last <= len(self.scores):
            raise QueryError(f"sentences from 0 to {len(self.scores)}", f"{first} to {last}", "correct the numbers")
        start, end = int(self.frame.starts[first]), int(self.frame.ends[last - 1])
        return Span(self.document.doc_id, start, end, first, last, self.mean(first, last))

    def best(self, first: int = 0, last: int | None = None, marked: Collection[int] = ()) -> Span | None:
        """Return the best span inside sentences first to last, exclusive; None where none is about what was asked.

        Args:
            first: First sentence.
            last: One past the last sentence; None for all.
            marked: Numbers of sentences in that range that the span has to have, or those of one section.
        """
        last = len(self.scores) if last is None else last
        if first >= last:
            return None
        kept: list[int] = []
        if marked:
            # Those in the section of the best one.
            sections = self.frame.sections
            section = sections[max(marked, key=lambda number: (self.scores[number], -number))]
            kept = sorted(number for number in marked if sections[number] == section)
        weighed = self._weigh_spans()[first:last]
        begins = np.arange(first, last)[:, None]
        ends = begins + np.arange(1, weighed.shape[1] + 1)
        inside = (ends <= last) & ~self._is_other[begins]
        if kept:
            inside &= (begins <= kept[0]) & (ends > kept[-1])
        weighed = np.where(inside, weighed, -np.inf)
        row, further = divmod(int(np.argmax(weighed)), weighed.shape[1])
        if np.isfinite(weighed[row, further]):
            return self.span(first + row, first + row + further + 1)
        if kept:
            return self.span(kept[0], kept[-1] + 1)
        if self._is_other[first:last].any():
            return None
        # The range is shorter than the shortest span.
        return self.span(first, min(last, first + self.limits.most))

    def grow(self, span: Span) -> Span:
        """Return the next larger span: whole blocks, then one more block, then whole sections; else the same span."""
        first, last = self._widen(self.frame.blocks, span.first, span.last)
        if (first, last) != (span.first, span.last):
            return self.span(first, last)
        begin, end = self._widen(self.frame.sections, first, last)
        units = self.frame.sections if (begin, end) == (first, last) else self.frame.blocks
        low, high = (0, len(self.scores)) if units is self.frame.sections else (begin, end)
        before = self._widen(units, first - 1, first)[0] if first > low else first
        behind = self._widen(units, last, last + 1)[1] if last < high else last
        if before == first and behind == last:
            return span
        if behind == last or (before < first and self.mean(before, first) > self.mean(last, behind)):
            return self.span(before, last)
        return self.span(first, behind)

    def shrink(self, span: Span) -> Span:
        """Return the span without the weaker of its outer sections, blocks or sentences; never less than a sentence."""
        first, last = span.first, span.last
        if last - first == 1:
            return span
        for units in (self.frame.sections, self.frame.blocks):
            if units[first] != units[last - 1]:
                break
        else:
            units = np.arange(len(self.scores))
        second = int(np.searchsorted(units, units[first], "right"))
        end = int(np.searchsorted(units, units[last - 1], "left"))
        if self.mean(first, second) < self.mean(end, last):
            return self.span(second, last)
        return self.span(first, end)

    def _widen(self, units: npt.NDArray[np.int64], first: int, last: int) -> tuple[int, int]:
        """Return the range of the sentences of all units that overlap sentences first to last."""
        return (
            int(np.searchsorted(units, units[first], "left")),
            int(np.searchsorted(units, units[last - 1], "right")),
        )

    def _weigh_spans(self) -> Scores:
        """Return the contrast of spans by start and length, (sentences, most); minus infinity where not allowed."""
        frame, limits, count = self.frame, self.limits, len(self.scores)
        lengths = np.arange(1, min(limits.most, count) + 1)
        firsts = np.arange(count)
        ends = np.minimum(firsts[:, None] + lengths, count)
        sums = self._sums[ends] - self._sums[:-1, None]
        outside = np.maximum(count - lengths, 1)
        means_apart = sums / lengths - (self._sums[-1] - sums) / outside
        deviation = float(self.scores.std()) or 1.0
        # Nothing lies outside of the whole document, which then has no contrast.
        factor = (lengths * (count - lengths) / count) ** POWER / deviation
        begins_block = frame.begins_block
        ends_block = np.append(begins_block[1:], True)[:count]
        scores = means_apart * factor - INSIDE * ~begins_block[:, None] - INSIDE * ~ends_block[ends - 1]
        characters = frame.ends[ends - 1] - frame.starts[:, None]
        begin = np.searchsorted(frame.sections, frame.sections, "left")
        end = np.searchsorted(frame.sections, frame.sections, "right")
        # A section that is shorter than the least is long enough.
        shortest = np.minimum(limits.shortest, frame.ends[end - 1] - frame.starts[begin])
        fewest = np.minimum(limits.fewest, end - begin)
        fits = (
            (firsts[:, None] + lengths <= end[:, None])
            & (characters >= shortest[:, None])
            & (lengths >= fewest[:, None])
            & ((characters <= limits.longest) | (lengths == 1))
        )
        weighed: Scores = np.where(fits, scores, -np.inf)
        return weighed


def score_document(searcher: Searcher, query: Query, doc_id: str) -> SpanFinder:
    """Score the sentences of a document of an index for a query. Return the finder of its spans.

    Args:
        searcher: An opened index.
        query: As for `Searcher.search`.
        doc_id: Id of the document.

    Raises:
        QueryError: The query is empty, or the id unknown.
    """
    reader = searcher.index.reader
    row = reader.row_of(doc_id)
    if row is None:
        raise QueryError("a document id of this index", f"'{doc_id}'", "take one from the output of search")
    document = reader.document(row)
    vector = searcher.encode([query])[0]
    none = np.zeros((0, len(vector)), np.float16)
    vectors = np.concatenate([none, *(reader.stored(passage).vectors for passage in reader.passages_of(row))])
    by_aspect = bool(query.aspects) and "aspect" in reader.manifest.model.parts
    scores = searcher.shares(vectors, vector)[:, 1 if by_aspect else 2]
    return SpanFinder(document, scores)


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """The answer in an opened document.

    Attributes:
        finder: Finder of its spans.
        passage: Number of the passage that answers, in the document.
        span: The best span; None where no sentence is about what was asked.
        marked: Numbers of the sentences that the hit of the passage marks, in the document.
    """

    finder: SpanFinder
    passage: int
    span: Span | None
    marked: frozenset[int]


def find_answer(searcher: Searcher, query: Query, doc_id: str, passage_id: str = "") -> FoundAnswer:
    """Find where a document answers, as the hit of its passage does.

    The span has the sentences that the hit marks, and others only where they are about what was asked: where title or
    headings say so, all that are not about another subject; of an entry, that entry; else those between the marks.

    Args:
        searcher: An opened index.
        query: As for `Searcher.search`.
        doc_id: Id of the document.
        passage_id: The passage that was found; empty or unknown for the document's best one.

    Raises:
        QueryError: The query is empty, or the id unknown.
        ModelError: The model has no vector for the query.
    """
    scored = score_document(searcher, query, doc_id)
    passages = scored.document.passages
    numbers = [number for number, passage in enumerate(passages) if passage.sentences]
    if not numbers:
        return FoundAnswer(scored, 0, None, frozenset())
    found = searcher.find(query, SHOWN)
    rows = searcher.index.reader.passages_of(searcher.index.reader.document_rows[doc_id])
    number = next((each for each in numbers if passages[each].passage_id == passage_id), -1)
    if number < 0:
        of_document = [row for row in found.rows if row in rows]
        best = of_document or searcher.find(query, 1, SearchOptions(documents=(doc_id,))).rows
        number = best[0] - rows.start
    first = sum(len(passage.sentences) for passage in passages[:number])
    last = first + len(passages[number].sentences)
    marked = frozenset(first + place for place in searcher.marked(query, rows[number], found.subject))
    about = found.subject.about(rows[number])
    if about is None:
        others = set(range(first, last)).difference(range(min(marked, default=first), max(marked, default=last) + 1))
    else:
        others = set(range(first, last)).difference(marked, (first + place for place in about))
    restricted = SpanFinder(scored.document, scored.scores, others=others)
    return FoundAnswer(restricted, number, restricted.best(first, last, marked), marked)
