"""The protocol of a corpus, and the judgements of those that have queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from auscult.documents.document import Document
from auscult.understanding.query import Query


@dataclass(frozen=True, slots=True)
class Judgement:
    """How relevant a passage is to a query, by a person or a corpus: one line of a qrels file."""

    query_id: str
    passage_id: str
    relevance: int = 1


@runtime_checkable
class Corpus(Protocol):
    """Documents and, in some corpora, queries, judgements and candidates. Lazy and offline."""

    name: str

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Yield the documents of a split, or all, in a stable order."""
        ...

    def queries(self, split: str) -> Sequence[Query]:
        """Return the queries of a split in a stable order; empty where the corpus has none."""
        ...

    def judgements(self, split: str) -> Sequence[Judgement]:
        """Return the relevance judgements of a split."""
        ...

    def candidates(self, split: str) -> Mapping[str, Sequence[str]]:
        """Return the ids of the passages to re-rank by query id. Their order has no meaning and must not be used."""
        ...
