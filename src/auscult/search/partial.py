"""Answers while some servers of an index are away: from the documents of all others, and with what was left out.

Words and vectors of all passages are on every server, so that a passage that answers is known even where it cannot be
read. As long as nothing of a server that is away is needed for an answer, that is the answer of the whole collection.
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
        of_shares: How many there are.
        documents: How many documents were not searched.
        of_documents: How many there are.
    """

    shares: tuple[int, ...]
    of_shares: int
    documents: int
    of_documents: int

    @property
    def sentence(self) -> str:
        """What was not searched, for people."""
        names = " and ".join(map(str, self.shares))
        return (
            f"A part of the collection was not searched: {self.documents:,} of {self.of_documents:,} documents"
            f" (share {names} of {self.of_shares} does not answer). What they say is missing here; ask again later."
        )


def ask_what_is_there(searcher: Searcher, ask: Callable[[Searcher], _T]) -> tuple[_T, LeftOut | None]:
    """Return an answer, and what was left out of the search for it; None where nothing was.

    Args:
        searcher: Over all documents.
        ask: Makes the answer; called again, with a searcher over fewer documents, where a server is away.

    Raises:
        ShareAwayError: All are away.
    """
    asked, left_out = searcher, None
    away: frozenset[int] = frozenset()
    while True:
        try:
            return ask(asked), left_out
        except ShareAwayError as error:
            if error.share in away or len(away) + 1 == error.shares:
                raise
            away |= {error.share}
            asked = searcher.without_shares(away)
            there, here = searcher.index.manifest.counts.documents, asked.index.manifest.counts.documents
            left_out = LeftOut(tuple(share + 1 for share in sorted(away)), error.shares, there - here, there)
