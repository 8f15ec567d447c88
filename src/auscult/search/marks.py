"""The sentences of a passage that answer. A list is marked together with its lead-in.

A sentence scores by the question's words that it holds, and by its vector:

    score = the share of the question's words that it holds, those of the entity counting LITTLE
            + COSINES · (its aspect part's cosine + its question part's cosine)

Words of the entity count less, since sentences that name it are not those that answer. For aspects without a question
in words, the words of the aspects count LITTLE, and those of the entity not at all.

The best sentence is marked. Others are marked, best first, where they score nearly as much, or hold words of the
question that no marked one holds:

    its score / the best score + the share of such words >= NEAR

In a passage that a re-ranker read (`search.reranking`), it says which sentence holds the answer. The likeliest is
marked, and others that are at least ALIKE times as likely.

At most MOST are marked, all within REACH letters of the best. Then a marked list item brings its lead-in ("Symptoms
include:"). A marked lead-in brings the items within REACH, if it is the best sentence or none of its items is marked.
If no sentence of several scores above 0, none is marked.

The constants were chosen on one half of cpgQA, on BioASQ's snippets in their abstracts, and on sections of NHS pages
and of MedQuAD's training documents. Others near them do as well. `benchmarks/marks.py` measures them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.documents.document import Passage, Sentence
from auscult.encoders.contract import FloatArray
from auscult.index.words import analyse
from auscult.search.hits import SentenceScore
from auscult.understanding.query import Query

LITTLE: Final = 0.25
COSINES: Final = 0.5
NEAR: Final = 0.92
ALIKE: Final = 0.5
MOST: Final = 3
REACH: Final = 1_000
EXCERPT: Final = 360
"""Letters of a passage that are shown at least."""


class Marker:
    """Marks sentences for one query.

    Args:
        query: The query, understood.
        vector: Vector of the query, (dim,); a part that it does not fill is zero.
        parts: Columns of each part, as (first, one past the last); empty for a vector without parts.
        words: Share of each of the question's words, by idf; empty where vectors alone count.
    """

    def __init__(
        self, query: Query, vector: FloatArray, parts: Mapping[str, tuple[int, int]], words: Mapping[str, float]
    ) -> None:
        of_aspects = bool(query.aspects) and not query.text
        naming, other = (0.0, LITTLE) if of_aspects else (LITTLE, 1.0)
        named = {term for name in query.all_names for term in analyse(name)}
        self._weights = {term: share * (naming if term in named else other) for term, share in words.items()}
        self._holding = analyse.holding(words)
        # Parts of a sentence's vector have equal length, together one.
        self._direction = np.zeros(len(vector), np.float32)
        parts = parts or {"question": (0, len(vector))}
        for name in parts.keys() & {"aspect", "question"}:
            columns = slice(*parts[name])
            if length := float(np.linalg.norm(vector[columns])):
                self._direction[columns] = vector[columns] * (COSINES * len(parts) ** 0.5 / length)

    def marked(
        self,
        passage: Passage,
        text: str,
        vectors: npt.NDArray[np.floating],
        others: frozenset[int] = frozenset(),
        read: Mapping[int, float] = MappingProxyType({}),
    ) -> frozenset[int]:
        """Return the numbers of the sentences of a passage that are marked.

        Args:
            passage: The passage, with its sentences.
            text: Text of the passage.
            vectors: Vectors of its sentences, (sentences, dim).
            others: Numbers of sentences about another subject (`search.subjects`), which are never marked.
            read: What a re-ranker says of sentences, by number (`encoders.reranker.Read`); empty without one.
        """
        sentences = passage.sentences
        if likely := {number: odds for number, odds in read.items() if number not in others}:
            best = _choose_likeliest(likely, sentences)
            return frozenset(_complete_lists(best, sentences, text, passage.start) - others)
        sentence_terms = [
            self._holding(text[sentence.start - passage.start : sentence.end - passage.start]) for sentence in sentences
        ]
        scores = (vectors.astype(np.float32) @ self._direction).tolist()
        for number, terms in enumerate(sentence_terms):
            scores[number] += self._share(terms)
        best = self._choose_best(sentences, sentence_terms, scores, others)
        return frozenset(_complete_lists(best, sentences, text, passage.start) - others if best else ())

    def _choose_best(
        self,
        sentences: Sequence[Sentence],
        sentence_terms: Sequence[frozenset[str]],
        scores: Sequence[float],
        others: frozenset[int],
    ) -> list[int]:
        """Return the numbers of the marked sentences, best first, before lists are completed."""
        order = sorted(frozenset(range(len(scores))) - others, key=lambda number: (-scores[number], number))
        if len(order) < 2 or scores[order[0]] <= 0:
            return order if len(order) == 1 else []
        best = order[0]
        marked, covered = [best], sentence_terms[best]
        for number in order[1:]:
            enough = scores[number] / scores[best] + self._share(sentence_terms[number] - covered) >= NEAR
            if enough and _count_letters(sentences, number, best) <= REACH:
                marked.append(number)
                covered |= sentence_terms[number]
                if len(marked) == MOST:
                    break
        return marked

    def _share(self, terms: frozenset[str]) -> float:
        return sum(map(self._weights.__getitem__, terms))


def _choose_likeliest(read: Mapping[int, float], sentences: Sequence[Sentence]) -> list[int]:
    """Return the numbers of the sentences that most likely hold the answer, the likeliest first."""
    order = sorted(read, key=lambda number: (-read[number], number))
    least = read[order[0]] + math.log(ALIKE)
    near = [each for each in order if read[each] >= least and _count_letters(sentences, each, order[0]) <= REACH]
    return near[:MOST]


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
