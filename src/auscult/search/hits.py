"""Hits with their evidence, ranked passages, and the names of documents for people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from auscult.schema import Assertion

_SHOWN = 80
"""Number of characters of the answer in a printed hit."""

DATES: Final = ("date", "last_reviewed", "updated", "modified", "published")
"""Metadata fields with a date; the first one that a document has is used."""

EVIDENCE: Final = (
    "question_text",
    "question_label",
    "question_document",
    "question_together",
    "question_sentence",
    "question_expansion",
    "entity_document",
    "entity_passage",
    "entity_title",
    "aspect_heading",
    "entity_vector",
    "aspect_vector",
    "question_vector",
)
"""The reasons of a hit by all evidence (`search.evidence`), in the order of the columns of their arrays."""
SENTENCE: Final = EVIDENCE.index("question_sentence")

# Between digits, as in a date, a hyphen stays.
_FOR_BLANK = re.compile(r"[\s_]+|(?<!\d)-+|-+(?!\d)")


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """A sentence of a hit with its scores.

    Attributes:
        start: Offset in the document text.
        end: End of the half-open range.
        text: Text of the sentence.
        score: Cosine of the sentence with the query, in [-1, 1]. With all evidence, the share of the question's words
            that the sentence has is added.
        entity_score: The part of the cosine from the entity half of the vectors.
        aspect_score: The part of the cosine from the aspect half.
        marked: Whether the sentence answers, and is highlighted (`search.marks`).
        assertions: What it says about its mentions of the entity (`search.assertions`); empty without a mention.
    """

    start: int
    end: int
    text: str
    score: float
    entity_score: float
    aspect_score: float
    marked: bool = False
    assertions: tuple[Assertion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One retrieved passage with its evidence.

    Attributes:
        rank: From 1.
        title: Title of the document; in a book of many articles, of the article.
        start: Offset of the passage in the document text; `end` is exclusive.
        score: The sum of all evidence. Where only the model scores: the mean sentence cosine (arnold2020 Eq. 14), in
            [-1, 1], or the cosine of a passage vector for a `PassageEncoder`.
        entity_score: The part of the model's score from the entity half of its vectors.
        aspect_score: The part from the aspect half.
        sentences: All sentences of the passage with their scores, in order.
        evidence: What each reason adds to the score (`search.evidence`); empty where only the model scores.
        probability: Probability that the passage answers; None where only the model scores, or where the model does
            not read the languages of both question and passage.
        language: Code of ISO 639-1 of the passage's language; empty where it is not sure, or the index is of 0.1.0.
        unread: Whether the model does not (`search.languages`).
        above: The headings above its own, outermost first.
        book: Title of the document, where `title` is that of an article.
        file: The file's path below the indexed one; may be empty.
        place: Where in the file the answer is, such as "page 3", "sheet Doses" or "line 12"; may be empty.
    """

    rank: int
    passage_id: str
    doc_id: str
    title: str
    heading: str
    source: str
    url: str
    text: str
    start: int
    end: int
    score: float
    entity_score: float
    aspect_score: float
    sentences: tuple[SentenceScore, ...] = field(default=())
    metadata: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, float] = field(default_factory=dict)
    probability: float | None = None
    above: tuple[str, ...] = ()
    book: str = ""
    file: str = ""
    place: str = ""
    language: str = ""
    unread: bool = False

    @property
    def name(self) -> str:
        """The document's name for people (`display_name`); in a book of many articles, the book's title."""
        return self.book or display_name(self.title, self.doc_id, self.file)

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings above the passage and its own, outermost first; no empty ones."""
        return tuple(filter(None, (*self.above, self.heading)))

    @property
    def answer(self) -> SentenceScore | None:
        """The best marked sentence, or the best of all where none is marked; None without sentences."""
        marked = [sentence for sentence in self.sentences if sentence.marked]
        return max(marked or self.sentences, key=lambda sentence: sentence.score, default=None)

    def __str__(self) -> str:
        """Return the score, the headings of the passage, and the first words of its best sentence, on one line."""
        place = " › ".join((self.title or self.name, *self.headings))
        words = " ".join((self.answer.text if self.answer else self.text).split())
        return (
            f"{self.score:.2f}  {place}: {words if len(words) <= _SHOWN else words[:_SHOWN].rsplit(' ', 1)[0] + ' …'}"
        )


def display_name(title: str, doc_id: str, file: str) -> str:
    """Return a document's name for people: its title, else the name of its file in words ("note 3"), else its id.

    Args:
        title: The title; may be empty.
        doc_id: The id.
        file: The file's path; empty without a file. Only a document that is a whole file is called after it.
    """
    name = file.rpartition("/")[2] if doc_id.endswith(file) else ""
    return title or _FOR_BLANK.sub(" ", name.rpartition(".")[0] or name).strip() or doc_id


def date_of(metadata: Mapping[str, str], names: Sequence[str] = DATES) -> str:
    """Return the date of a document by its metadata; empty where no field of these names has one."""
    return next((metadata[name] for name in names if metadata.get(name)), "")


@dataclass(frozen=True, slots=True)
class Ranking:
    """One query's ranked passages, best first.

    Attributes:
        query_id: Id of the query.
        passage_ids: Ids of the passages, best first.
        scores: Their scores, non-increasing; higher is better.
    """

    query_id: str
    passage_ids: tuple[str, ...]
    scores: tuple[float, ...]
