"""Answers with a note of what was left out of the search, where the index can be searched in part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from auscult.search.searcher import Searcher

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was not searched.

    Attributes:
        shares: Numbers of the shares that did not answer, from 1.
        of_shares: How many shares the collection has.
        documents: How many documents were not searched.
        of_documents: How many documents the collection has.
    """

    shares: tuple[int, ...]
    of_shares: int
    documents: int
    of_documents: int

    @property
    def sentence(self) -> str:
        """The sentence for people that says what was not searched."""
        names = " and ".join(map(str, self.shares))
        return (
            f"A part of the collection was not searched: {self.documents:,} of {self.of_documents:,} documents"
            f" (share {names} of {self.of_shares} does not answer). What they say is missing here; ask again later."
        )


@runtime_checkable
class AnswersInPart(Protocol):
    """An index that can be searched in part while some of its servers are away."""

    def ask_what_is_there(self, searcher: Searcher, ask: Callable[[Searcher], _T]) -> tuple[_T, LeftOut | None]:
        """Return an answer of the servers that are there (`search.partial.ask_what_is_there`).

        Args:
            searcher: A searcher over the whole index.
            ask: Computes the answer. If a server is away, it is called again with a searcher over fewer documents.
        """
        ...


def ask_what_is_there(searcher: Searcher, ask: Callable[[Searcher], _T]) -> tuple[_T, LeftOut | None]:
    """Return an answer, and what was left out of the search for it; None where all documents were searched.

    Args:
        searcher: A searcher over all documents.
        ask: Computes the answer. If a server is away, it is called again with a searcher over fewer documents.

    Raises:
        ShareAwayError: All servers are away.
    """
    if isinstance(searcher.index, AnswersInPart):
        return searcher.index.ask_what_is_there(searcher, ask)
    return ask(searcher), None
