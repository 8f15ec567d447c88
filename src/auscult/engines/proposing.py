"""An index of which servers propose passages by their vectors, and no vectors are here but those of the proposed.

Servers find, and the index tells how well a passage answers. Scores are those of a folder to the last bit, since the
proposed passages are compared again with the vectors of the index' segments, of which only their rows are read. What is
not proposed may be missed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

import numpy as np

from auscult.engines.contract import Filters, Proposer
from auscult.engines.postgres import nearest_on
from auscult.engines.shares import Shares
from auscult.engines.tables import EVERYBODY, groups_told
from auscult.index import ANY, Between, GenerationReader, GroupBy, PassageIndex, Where
from auscult.index.passage_index import RowArray, ScoreArray, best_exactly
from auscult.interfaces import FloatArray

_MORE: Final = 16
_ROUNDING: Final = 1e-5
_PROPOSED: Final = 200
"""How many passages are proposed by their vectors, where all evidence is weighed."""


class ShareProposer:
    """Finds passages of an index by the graphs of the PostgreSQL servers that it is on.

    Args:
        shares: The servers.
    """

    def __init__(self, shares: Shares) -> None:
        self._shares = shares

    def nearest(self, vector: FloatArray, k: int, filters: Filters) -> list[int]:
        """Return the keys of the nearest passages (`Proposer`)."""
        seen_by = EVERYBODY if filters.groups is None else groups_told(filters.groups)
        look = partial(nearest_on, vector=vector, k=k, filters=filters, seen_by=seen_by)
        asked = [share for share in range(len(self._shares)) if share not in filters.left_out]
        found = self._shares.on_each(dict.fromkeys(asked, look))
        return [key for _, key in sorted(each for some in found for each in some)[:k]]


class ProposedIndex(PassageIndex):
    """An opened index with what proposes its passages.

    The proposer is asked for more until the last that it proposes is worse than all that are shown: neither its
    rounding nor its order of equals changes an answer.

    Args:
        reader: Of the index.
        proposer: Of its passages.
        groups: Who asks, where the reader is a view; None for all passages.
        left_out: Shares that the reader is a view without.
    """

    def __init__(
        self,
        reader: GenerationReader,
        proposer: Proposer,
        groups: frozenset[str] | None = None,
        left_out: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(reader)
        self._proposer = proposer
        self._groups_asking = groups
        self._left_out = left_out

    def seen_by(self, groups: Collection[str]) -> PassageIndex:
        """Return the index as these groups may see it: what they may is proposed, and the view shows no other."""
        reader = self.reader.seen_by(groups)
        if reader is self.reader:
            return self
        return ProposedIndex(reader, self._proposer, frozenset(groups), self._left_out)

    def without(self, reader: GenerationReader, shares: frozenset[int]) -> ProposedIndex:
        """Return the index without what is on some shares; `reader` is a view without it."""
        return ProposedIndex(reader, self._proposer, self._groups_asking, shares)

    def search(
        self,
        query_vector: FloatArray,
        k: int = 10,
        *,
        group_by: GroupBy = "passage",
        where: Where = ANY,
        documents: Sequence[str] = (),
    ) -> tuple[RowArray, ScoreArray]:
        """Search as in a folder, among the passages that are proposed."""
        query = self._checked(query_vector, k)
        filters = self._filters_of(where, documents)
        groups = self._groups(group_by)

        asked = k + _MORE
        while True:
            keys = self._proposer.nearest(query, asked, filters)
            rows, scores = best_exactly(self.reader.passage_vectors, query, self._rows_of(keys), len(keys) + 1)
            found = best_exactly(self.reader.passage_vectors, query, np.sort(rows), k, groups)
            # What was not proposed is as good as the last that was, at most: it must not tie with what is shown.
            if len(keys) < asked or (len(found[1]) == k and scores[-1] < found[1][-1] - _ROUNDING):
                return found
            asked *= 4

    def proposed(self, direction: FloatArray, where: Where = ANY, documents: Sequence[str] = ()) -> RowArray:
        """Return rows of the passages that are proposed as nearest to a direction, rising."""
        # A query without a vector is near to none.
        if not direction.any():
            return np.zeros(0, np.int64)
        return self._rows_of(self._proposer.nearest(direction, _PROPOSED, self._filters_of(where, documents)))

    def _rows_of(self, keys: Sequence[int]) -> RowArray:
        """Return rows of passages by their keys, rising; without those that another generation has, or that hide."""
        held, sought = self.reader.passage_keys, np.unique(np.array(keys, np.int64))
        rows = np.minimum(np.searchsorted(held, sought), len(held) - 1)
        rows = rows[held[rows] == sought]
        found: RowArray = np.setdiff1d(rows, self.reader.wordless)
        return found

    def _filters_of(self, where: Where, documents: Sequence[str]) -> Filters:
        if where or documents:
            # Says what is no field, value or id of this index.
            self._allowed(where, frozenset(documents))
        wanted = {
            name: value if isinstance(value, Between) else frozenset([value] if isinstance(value, str) else value)
            for name, value in where.items()
        }
        return Filters(wanted, frozenset(documents), self._groups_asking, self._left_out)
