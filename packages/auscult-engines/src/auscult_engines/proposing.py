"""An index whose passages servers propose by their vectors. It reads the vectors of the proposed passages only.

The index scores the proposed passages with the vectors of its segments. Their scores are those of a folder to the last
bit. A passage that is not proposed is missed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

import numpy as np

from auscult.encoders.contract import FloatArray
from auscult.engines.contract import Filters, Proposer
from auscult.index import ANY, Between, GenerationReader, GroupBy, PassageIndex, Where
from auscult.index.passage_index import RowArray, ScoreArray, best_exactly
from auscult_engines.postgres import nearest_on
from auscult_engines.served import ServedIndex
from auscult_engines.shares import Shares
from auscult_engines.tables import EVERYBODY, groups_setting

_MORE: Final = 16
_ROUNDING: Final = 2**-10
"""How much a proposer's product of two unit vectors may differ, as PostgreSQL rounds both to half precision."""
_PROPOSED: Final = 200
"""How many passages are proposed by their vectors, if all evidence is used."""


class ShareProposer:
    """Finds passages of an index by the graphs of the PostgreSQL servers that it is on.

    Args:
        shares: The servers.
    """

    def __init__(self, shares: Shares) -> None:
        self._shares = shares

    def nearest(self, vector: FloatArray, k: int, filters: Filters) -> list[int]:
        """Return the keys of the nearest passages (`Proposer`)."""
        seen_by = EVERYBODY if filters.groups is None else groups_setting(filters.groups)
        look = partial(nearest_on, vector=vector, k=k, filters=filters, seen_by=seen_by)
        shares = [share for share in range(len(self._shares)) if share not in filters.left_out]
        by_share = self._shares.on_each(dict.fromkeys(shares, look))
        return [key for _, key in sorted(each for some in by_share for each in some)[:k]]


class ProposedIndex(ServedIndex):
    """An opened index with a proposer of its passages.

    A search requests more passages until the last proposed one scores lower than all hits. Neither the proposer's
    rounding nor its order of ties changes the hits.

    Args:
        reader: Reader of the index.
        proposer: Proposer of its passages.
        groups: Groups of the caller, if the reader is a view; None for all passages.
        left_out: Shares that the reader, a view, is without.
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
        """Return the index as these groups see it. Only documents that they may see are proposed."""
        reader = self.reader.seen_by(groups)
        if reader is self.reader:
            return self
        return ProposedIndex(reader, self._proposer, frozenset(groups), self._left_out)

    def _available(self, reader: GenerationReader, left_out: frozenset[int]) -> ServedIndex:
        return ProposedIndex(reader, self._proposer, self._groups_asking, left_out)

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
        query = self._check_query(query_vector, k)
        filters = self._filters_of(where, documents)
        groups = self._groups(group_by)

        count = k + _MORE
        while True:
            keys = self._proposer.nearest(query, count, filters)
            rows, scores = best_exactly(self.reader.passage_vectors, query, self._rows_of(keys), len(keys) + 1)
            best = best_exactly(self.reader.passage_vectors, query, np.sort(rows), k, groups)
            # A passage that was not proposed scores at most as the last one. That must not tie with a hit.
            if len(keys) < count or (len(best[1]) == k and scores[-1] < best[1][-1] - _ROUNDING):
                return best
            count *= 4

    def proposed(self, direction: FloatArray, where: Where = ANY, documents: Sequence[str] = ()) -> RowArray:
        """Return rows of the passages that are proposed as nearest to a direction, rising."""
        # A query without a vector is near to none.
        if not direction.any():
            return np.zeros(0, np.int64)
        return self._rows_of(self._proposer.nearest(direction, _PROPOSED, self._filters_of(where, documents)))

    def _rows_of(self, keys: Sequence[int]) -> RowArray:
        """Return rows of passages by their keys, rising, without passages of other generations or hidden ones."""
        index_keys, sought = self.reader.passage_keys, np.unique(np.array(keys, np.int64))
        rows = np.minimum(np.searchsorted(index_keys, sought), len(index_keys) - 1)
        rows = rows[index_keys[rows] == sought]
        proposed: RowArray = np.setdiff1d(rows, self.reader.wordless)
        return proposed

    def _filters_of(self, where: Where, documents: Sequence[str]) -> Filters:
        if where or documents:
            # Raises an error for unknown fields, values and ids.
            self._mask_passages(where, frozenset(documents))
        allowed = {
            name: value if isinstance(value, Between) else frozenset([value] if isinstance(value, str) else value)
            for name, value in where.items()
        }
        return Filters(allowed, frozenset(documents), self._groups_asking, self._left_out)
