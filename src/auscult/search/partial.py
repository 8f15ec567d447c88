"""Answers while some servers of an index are away: from the documents of the others, with a note of what was left out.

Every server has the words and vectors of all passages. A search therefore ranks passages that it cannot read. As long
as no such passage is among the hits, the answer is that of the whole collection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from auscult.errors import ShareAwayError
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


def ask_what_is_there(searcher: Searcher, ask: Callable[[Searcher], _T]) -> tuple[_T, LeftOut | None]:
    """Return an answer, and what was left out of the search for it; None where all documents were searched.

    Args:
        searcher: A searcher over all documents.
        ask: Computes the answer. If a server is away, it is called again with a searcher over fewer documents.

    Raises:
        ShareAwayError: All servers are away.
    """
    available, left_out = searcher, None
    away: frozenset[int] = frozenset()
    while True:
        try:
            return ask(available), left_out
        except ShareAwayError as error:
            if error.share in away or len(away) + 1 == error.shares:
                raise
            away |= {error.share}
            available = searcher.without_shares(away)
            all_documents, searched = (
                searcher.index.manifest.counts.documents,
                available.index.manifest.counts.documents,
            )
            left_out = LeftOut(
                tuple(share + 1 for share in sorted(away)), error.shares, all_documents - searched, all_documents
            )
