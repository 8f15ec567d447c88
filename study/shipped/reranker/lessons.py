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
from auscult.encoders.reranker import Excerpt, Pair, chosen, pair
from auscult.search import Searcher
from auscult.search.reranking import build_excerpt
from auscult.understanding import Query
from study.shipped.written import WrittenQuestion, is_held_out, read_questions, right_passages, shares_most

HITS: Final = 20
"""First hits of a question that it is trained with."""


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
    right: Excerpt
    answering: frozenset[int]
    wrong: tuple[Excerpt, ...]
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
    reader = searcher.index.reader
    for question, right in zip(asked, right_passages(asked, documents), strict=True):
        own = by_id[question.doc_id].passages[question.passage]
        same = {reader.passages_of(reader.document_rows[doc_id])[number] for doc_id, number in right}
        found = searcher.find(searcher.understand(Query("", "", text=question.question)).query, HITS)
        if found.weighed is None or not own.sentences:
            continue
        seen = {row: build_excerpt(reader, found.weighed.asked, row) for row in {*same, *found.rows}}
        wrong = [seen[row] for row in found.rows if row not in same and seen[row].sentences]
        if wrong:
            row = reader.passages_of(reader.document_rows[question.doc_id])[question.passage]
            answering = frozenset(_answering(question, own))
            held_out = is_held_out(question.doc_id)
            yield Lesson(collection, question.question, seen[row], answering, tuple(wrong), held_out)


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
        self._kept: dict[str, list[int]] = {}

    def question(self, text: str) -> list[int]:
        """Return the tokens of a question."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def of(self, question: list[int], seen: Excerpt, *, labelled: bool = True) -> Pair:
        """Return the tokens of a question with a passage.

        Args:
            question: Tokens of the question.
            seen: The passage.
            labelled: Whether its title and heading are read.
        """
        about, told, *sentences = self._tokens([seen.context, seen.label, *seen.sentences])
        read = chosen(sentences, seen.scores, self._most)
        return pair(self._marks, question, about, told if labelled else [], read)

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        missing = [text for text in texts if text not in self._kept]
        if missing:
            found = self._tokenizer.encode_batch_fast(
                [text[:MOST_CHARACTERS] for text in missing], add_special_tokens=False
            )
            self._kept.update(zip(missing, (each.ids for each in found), strict=True))
        return [self._kept[text] for text in texts]


def nearer_first(wrong: Sequence[Excerpt], count: int, chance: np.random.Generator) -> list[Excerpt]:
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
