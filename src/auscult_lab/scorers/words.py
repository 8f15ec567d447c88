"""The words of queries and passages that rankers read: normalised and stemmed."""

from __future__ import annotations

from auscult.documents import Document, Passage
from auscult.documents.analysis import Analyzer
from auscult.understanding import Query
from auscult.understanding.query import query_text

_analyse = Analyzer()


def query_words(query: Query) -> list[str]:
    """The words a ranker reads of a query: entity and aspects, or the question where there are none."""
    return _analyse(query_text(query))


def passage_words(document: Document, passage: Passage) -> list[list[str]]:
    """The words a ranker reads of a passage, sentence by sentence: its text only, no title and no heading."""
    return [_analyse(document.slice(sentence)) for sentence in passage.sentences]
