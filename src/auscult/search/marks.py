"""The sentences of a passage that answer: as many as there are, a list with its lead-in, nothing beside them.

A sentence scores by what it holds of the question, and by what it means:

    score = the share of the question's words that it holds, those of the entity counting LITTLE
            + COSINES · (its aspect part's cosine + its question part's cosine)

Words of the entity count less, since they stand in sentences that name it rather than in those that answer. Of aspects
without a question in words the names count LITTLE, and the entity not at all.

The best sentence is marked. Further ones are, the best first, where they score nearly as much, or hold words of the
question that no marked one holds:

    its score / the best score + the share of such words >= NEAR

They are MOST in all, within REACH letters of the best. Then a list item brings its lead-in ("Symptoms include:"), and a
lead-in that is the best, or of whose list no item is marked, brings its list as far as that is within REACH. Where
nothing speaks for any of several sentences, none is marked.

The constants were chosen on one half of cpgQA, on BioASQ's snippets in their abstracts, and on sections of NHS pages
and of MedQuAD's training documents. Others near them do as well. `benchmarks/marks.py` measures them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.documents import Passage, Sentence
from auscult.index.words import analyse
from auscult.interfaces import FloatArray, SentenceScore
from auscult.understanding import Query

LITTLE: Final = 0.25
COSINES: Final = 0.5
NEAR: Final = 0.92
MOST: Final = 3
REACH: Final = 1_000
EXCERPT: Final = 360
"""Letters of a passage that are shown at least."""


class Marker:
    """Marks sentences for one query.

    Args:
        query: As it was understood.
        vector: Of the query, (dim,); a part that it does not fill is zero.
        parts: Its columns, as (first, one past the last); none where it is one.
        words: The share of each of the question's words; none where vectors alone count.
    """

    def __init__(
        self, query: Query, vector: FloatArray, parts: Mapping[str, tuple[int, int]], words: Mapping[str, float]
    ) -> None:
        of_aspects = bool(query.aspects) and not query.asked
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

    def marked(self, passage: Passage, text: str, vectors: npt.NDArray[np.floating]) -> frozenset[int]:
        """Return which sentences of a passage are marked, by their numbers in it.

        Args:
            passage: With its sentences.
            text: Of the passage.
            vectors: Of its sentences, (sentences, dim).
        """
        sentences = passage.sentences
        held = [self._holding(text[each.start - passage.start : each.end - passage.start]) for each in sentences]
        scores = (vectors.astype(np.float32) @ self._direction).tolist()
        for number, terms in enumerate(held):
            scores[number] += self._share(terms)
        return frozenset(_with_lists(self._best(sentences, held, scores), sentences, text, passage.start))

    def _best(
        self, sentences: Sequence[Sentence], held: Sequence[frozenset[str]], scores: Sequence[float]
    ) -> list[int]:
        """Return the marked sentences without what their lists bring, best first."""
        order = sorted(range(len(scores)), key=lambda number: -scores[number])
        if len(order) < 2 or scores[order[0]] <= 0:
            return order if len(order) == 1 else []
        best = order[0]
        marked, said = [best], held[best]
        for number in order[1:]:
            enough = scores[number] / scores[best] + self._share(held[number] - said) >= NEAR
            if enough and _stretch(sentences, number, best) <= REACH:
                marked.append(number)
                said |= held[number]
                if len(marked) == MOST:
                    break
        return marked

    def _share(self, terms: frozenset[str]) -> float:
        return sum(map(self._weights.__getitem__, terms))


def _stretch(sentences: Sequence[Sentence], one: int, other: int) -> int:
    """Return how many letters lie between the outer ends of two sentences."""
    return sentences[max(one, other)].end - sentences[min(one, other)].start


def _with_lists(marked: Sequence[int], sentences: Sequence[Sentence], text: str, start: int) -> set[int]:
    """Return marked sentences, best first, with the lead-ins of items, and the lists of lead-ins that answer."""
    found = set(marked)
    lead = -1
    items: list[int] = []
    for number, sentence in enumerate((*sentences, None)):
        if sentence is not None and sentence.list_item and number:
            if not sentences[number - 1].list_item and not begins_block(sentences, number, text, start):
                lead, items = number - 1, []
            items.append(number)
            continue
        # A list has ended, or there was none.
        if lead in found and (lead == marked[0] or found.isdisjoint(items)):
            found.update(item for item in items if _stretch(sentences, lead, item) <= REACH)
        elif lead >= 0 and not found.isdisjoint(items):
            found.add(lead)
        lead, items = -1, []
    return found


def begins_block(sentences: Sequence[Sentence], number: int, text: str, start: int = 0) -> bool:
    """Whether a sentence is the first of a paragraph, or of a list with the paragraph before it that ends in a colon.

    Args:
        sentences: In order.
        number: Of the sentence among them.
        text: That holds them.
        start: Offset of the text.
    """
    each = sentences[number]
    if not number or not each.begins_paragraph:
        return not number
    before = sentences[number - 1]
    goes_on = before.list_item or text[before.start - start : before.end - start].endswith((":", "\uff1a"))
    return not (each.list_item and goes_on)


def excerpt(sentences: Sequence[SentenceScore], least: int = EXCERPT) -> range:
    """Return which of a hit's sentences to show: all marked ones, and those around them up to a length.

    It grows to the side whose next sentence scores more.

    Args:
        sentences: All of the hit, at least one.
        least: Letters to show, where there are so many.
    """
    marked = [number for number, each in enumerate(sentences) if each.marked]
    marked = marked or [max(range(len(sentences)), key=lambda number: sentences[number].score)]
    first, last = marked[0], marked[-1] + 1
    length = sum(each.end - each.start for each in sentences[first:last])
    while length < least and last - first < len(sentences):
        if last == len(sentences) or (first > 0 and sentences[first - 1].score > sentences[last].score):
            first -= 1
            length += sentences[first].end - sentences[first].start
        else:
            length += sentences[last].end - sentences[last].start
            last += 1
    return range(first, last)
