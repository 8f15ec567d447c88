"""What a re-ranker learns from: written questions, each with the first hits of a search for it.

A hit with the text of the question's passage answers, the others do not. Of the passage it is known which sentences
hold the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from auscult.documents import Document, Passage
from auscult.encoders.general.readers import MOST_CHARACTERS
from auscult.encoders.reranker import Pair, chosen, label, pair
from auscult.search import Searcher
from study.shipped.written import WrittenQuestion, is_held_out, read_questions, right_passages, shares_most

HITS: Final = 20
"""First hits of a question that it is trained with."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A passage as it was found for a question.

    Attributes:
        passage_id: The passage.
        label: Title and heading.
        sentences: Its sentences.
        scores: How near each is to the question.
    """

    passage_id: str
    label: str
    sentences: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question with passages.

    Attributes:
        collection: Name of the collection.
        question: The question.
        right: The passage it was written for.
        answering: Numbers of the sentences of `right` that hold the answer.
        wrong: First hits that do not answer, the first one first.
        held_out: Whether it is not trained on.
    """

    collection: str
    question: str
    right: Seen
    answering: frozenset[int]
    wrong: tuple[Seen, ...]
    held_out: bool


def lessons(searcher: Searcher, collection: str, documents: Sequence[Document], folder: Path) -> Iterator[Lesson]:
    """Yield the questions about some documents, with the first hits of a search for each.

    Args:
        searcher: Searcher of an index of the documents.
        collection: Name of the collection.
        documents: The documents.
        folder: Folder of the written questions.
    """
    by_id = {document.doc_id: document for document in documents}
    asked = [each for each in read_questions(folder) if each.collection == collection and each.doc_id in by_id]
    for question, right in zip(asked, right_passages(asked, documents), strict=True):
        document = by_id[question.doc_id]
        own = document.passages[question.passage]
        same = {by_id[doc_id].passages[number].passage_id for doc_id, number in right}
        hits = searcher.search(question.question, HITS)
        scores = {hit.passage_id: tuple(each.score for each in hit.sentences) for hit in hits}
        wrong = [
            Seen(
                hit.passage_id,
                label(hit.title, hit.heading),
                tuple(each.text for each in hit.sentences),
                scores[hit.passage_id],
            )
            for hit in hits
            if hit.passage_id not in same and hit.sentences
        ]
        sentences = tuple(document.text[each.start : each.end] for each in own.sentences)
        near = scores.get(own.passage_id, (0.0,) * len(sentences))
        seen = Seen(own.passage_id, label(document.title, own.heading), sentences, near)
        if sentences and wrong:
            answering = frozenset(_answering(question, own))
            held_out = is_held_out(question.doc_id)
            yield Lesson(collection, question.question, seen, answering, tuple(wrong), held_out)


def _answering(question: WrittenQuestion, passage: Passage) -> Iterator[int]:
    """Yield the numbers of the sentences that share most of themselves, or of the answer, with the answer."""
    for number, sentence in enumerate(passage.sentences):
        begin, end = sentence.start - passage.start, sentence.end - passage.start
        if any(shares_most(begin, end, *answer) for answer in question.answers):
            yield number


class Pairs:
    """Turns questions and passages into tokens.

    Args:
        tokenizer: Tokenizer of the `tokenizers` library.
        most: Tokens of a passage that are read.
    """

    def __init__(self, tokenizer: Any, most: int) -> None:
        self._tokenizer, self._most = tokenizer, most
        first, last = tokenizer.encode("").ids
        self._marks: tuple[int, int] = first, last
        self._kept: dict[tuple[str, ...], list[list[int]]] = {}

    def question(self, text: str) -> list[int]:
        """Return the tokens of a question."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def of(self, question: list[int], seen: Seen, *, labelled: bool = True) -> Pair:
        """Return the tokens of a question with a passage.

        Args:
            question: Tokens of the question.
            seen: The passage.
            labelled: Whether its title and heading are read.
        """
        # Not by identifier: passages of two collections may have the same.
        texts = (seen.label, *seen.sentences)
        if texts not in self._kept:
            found = self._tokenizer.encode_batch_fast(
                [text[:MOST_CHARACTERS] for text in texts], add_special_tokens=False
            )
            self._kept[texts] = [each.ids for each in found]
        told, *sentences = self._kept[texts]
        return pair(self._marks, question, told if labelled else [], chosen(sentences, seen.scores, self._most))


def nearer_first(wrong: Sequence[Seen], count: int, chance: np.random.Generator) -> list[Seen]:
    """Return some wrong passages by chance, the first hits more likely: in proportion to 1 / (rank + 1)."""
    weights = 1 / (2.0 + np.arange(len(wrong)))
    taken = chance.choice(len(wrong), size=min(count, len(wrong)), replace=False, p=weights / weights.sum())
    return [wrong[place] for place in taken.tolist()]


def by_collection(every: Sequence[Lesson]) -> Mapping[str, list[Lesson]]:
    """Return lessons by the name of their collection."""
    found: dict[str, list[Lesson]] = {}
    for each in every:
        found.setdefault(each.collection, []).append(each)
    return found
