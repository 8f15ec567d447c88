"""The sentences of a passage that answer. A list is marked together with its lead-in.

How likely each sentence answers is learned (`search.answering`); in a passage that a re-ranker read
(`search.reranking`), the re-ranker says it. The likeliest is marked, and others that are at least ALIKE times as
likely: at most MOST, all within REACH letters of it. Then a marked list item brings its lead-in ("Symptoms include:").
A marked lead-in brings the items within REACH, if it is the likeliest or none of its items is marked.

`benchmarks/marks.py` and `benchmarks/asking.py` measure what is marked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from auscult.documents.document import Passage, Sentence
from auscult.search.hits import SentenceScore

ALIKE: Final = 0.5
MOST: Final = 3
REACH: Final = 1_000
EXCERPT: Final = 360
"""Letters of a passage that are shown at least."""


def mark_sentences(
    passage: Passage, text: str, log_odds: Mapping[int, float], others: frozenset[int] = frozenset()
) -> frozenset[int]:
    """Return the numbers of the sentences of a passage that are marked.

    Args:
        passage: The passage, with its sentences.
        text: Text of the passage.
        log_odds: How likely sentences hold the answer, by number; those without are not marked.
        others: Numbers of sentences about another subject (`search.subjects`), which are never marked.
    """
    likely = {number: each for number, each in log_odds.items() if number not in others}
    if not likely:
        return frozenset()
    best = _choose_likeliest(likely, passage.sentences)
    return frozenset(_complete_lists(best, passage.sentences, text, passage.start) - others)


def _choose_likeliest(read: Mapping[int, float], sentences: Sequence[Sentence]) -> list[int]:
    """Return the numbers of the sentences that most likely hold the answer, the likeliest first."""
    order = sorted(read, key=lambda number: (-read[number], number))
    likeliest, *others = order
    least = read[likeliest] + math.log(ALIKE)
    near = [each for each in others if read[each] >= least and _count_letters(sentences, each, likeliest) <= REACH]
    return [likeliest, *near][:MOST]


def _count_letters(sentences: Sequence[Sentence], one: int, other: int) -> int:
    """Return how many letters lie between the outer ends of two sentences."""
    return sentences[max(one, other)].end - sentences[min(one, other)].start


def _complete_lists(marked: Sequence[int], sentences: Sequence[Sentence], text: str, start: int) -> set[int]:
    """Return marked sentences with the lead-ins of their list items, and with the items of lead-ins that answer.

    Args:
        marked: Numbers of the marked sentences, best first.
        sentences: All sentences of the passage.
        text: Text of the passage.
        start: Offset of the passage in its document.
    """
    numbers = set(marked)
    lead = -1
    items: list[int] = []
    for number, sentence in enumerate((*sentences, None)):
        if sentence is not None and sentence.list_item and number:
            if not sentences[number - 1].list_item and not begins_block(sentences, number, text, start):
                lead, items = number - 1, []
            items.append(number)
            continue
        # A list has ended, or there was none.
        if lead in numbers and (lead == marked[0] or numbers.isdisjoint(items)):
            numbers.update(item for item in items if _count_letters(sentences, lead, item) <= REACH)
        elif lead >= 0 and not numbers.isdisjoint(items):
            numbers.add(lead)
        lead, items = -1, []
    return numbers


def begins_block(sentences: Sequence[Sentence], number: int, text: str, start: int = 0) -> bool:
    """Return whether a sentence begins a block: a paragraph, or a list with the paragraph that leads to it.

    A paragraph that ends in a colon leads to the list after it.

    Args:
        sentences: All sentences, in order.
        number: Number of the sentence.
        text: Text that the sentences are in.
        start: Offset of that text in the document.
    """
    sentence = sentences[number]
    if not number or not sentence.begins_paragraph:
        return not number
    previous = sentences[number - 1]
    goes_on = previous.list_item or text[previous.start - start : previous.end - start].endswith((":", "\uff1a"))
    return not (sentence.list_item and goes_on)


def excerpt(sentences: Sequence[SentenceScore], least: int = EXCERPT) -> range:
    """Return the numbers of a hit's sentences to show: all marked ones, and those around them up to a length.

    The excerpt grows to the side whose next sentence scores more.

    Args:
        sentences: All sentences of the hit, at least one.
        least: Letters to show at least, if the hit has that many.
    """
    marked = [number for number, sentence in enumerate(sentences) if sentence.marked]
    marked = marked or [max(range(len(sentences)), key=lambda number: sentences[number].score)]
    first, last = marked[0], marked[-1] + 1
    length = sum(sentence.end - sentence.start for sentence in sentences[first:last])
    while length < least and last - first < len(sentences):
        if last == len(sentences) or (first > 0 and sentences[first - 1].score > sentences[last].score):
            first -= 1
            length += sentences[first].end - sentences[first].start
        else:
            length += sentences[last].end - sentences[last].start
            last += 1
    return range(first, last)
