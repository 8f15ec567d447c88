"""An index on servers, which answers while some of them are away: from the documents of the others.

Every server has the words and vectors of all passages. A search therefore ranks passages that it cannot read. As long
as no such passage is among the hits, the answer is that of the whole collection.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Final, TypeVar, cast

from auscult.concepts import KnowledgeBase
from auscult.errors import ShareAwayError
from auscult.index import GenerationReader, PassageIndex
from auscult.search.partial import LeftOut
from auscult.search.searcher import Searcher
from auscult_engines.tables import ServedStore

_T = TypeVar("_T")
_PARTS: Final = 8
"""How many searchers over a part of the documents an index keeps."""


class ServedIndex(PassageIndex):
    """An opened index at an address; its store is a `ServedStore`."""

    def __init__(self, reader: GenerationReader) -> None:
        super().__init__(reader)
        self._part_of = lru_cache(_PARTS)(PartSearcher)

    def without_shares(self, shares: frozenset[int]) -> ServedIndex:
        """Return the view of the index without the documents on some of its servers, by their numbers."""
        store = cast("ServedStore", self.reader.store)
        hidden = store.shares.are_on(self.reader.document_keys, shares)
        return self._available(self.reader.without(hidden, store.without(shares)), shares)

    def _available(self, reader: GenerationReader, left_out: frozenset[int]) -> ServedIndex:
        return ServedIndex(reader)

    def ask_what_is_there(self, searcher: Searcher, ask: Callable[[Searcher], _T]) -> tuple[_T, LeftOut | None]:
        """Return an answer of the servers that are there (`search.partial.AnswersInPart`).

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
                available = self._part_of(searcher, away)
                every, searched = (each.index.manifest.counts.documents for each in (searcher, available))
                numbers = tuple(share + 1 for share in sorted(away))
                left_out = LeftOut(numbers, error.shares, every - searched, every)


class PartSearcher(Searcher):
    """A searcher over the documents of all other servers, with all names, while some servers are away.

    Args:
        whole: Searcher over all documents of a `ServedIndex`.
        away: Numbers of the servers that are away, as in `ShareAwayError`.
    """

    def __init__(self, whole: Searcher, away: frozenset[int]) -> None:
        index = cast("ServedIndex", whole.index).without_shares(away)
        super().__init__(index, whole.encoder, whole=whole)
        self._all = whole

    @cached_property
    def knowledge_base(self) -> KnowledgeBase | None:
        """The whole index's knowledge base, without the names of newer documents if they cannot be read."""
        try:
            return self._all.knowledge_base
        except ShareAwayError:
            return self._all.saved_knowledge

    @cached_property
    def named_by(self) -> Searcher | None:
        """The searcher over all documents, if its names can be read."""
        try:
            return self._all if self.knowledge_base is self._all.knowledge_base else None
        except ShareAwayError:
            return None
