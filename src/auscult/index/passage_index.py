"""Exact search over passage vectors. The order of the k best rows does not depend on how scores are computed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import FloatArray
from auscult.errors import ModelError, QueryError
from auscult.index.fields import ANY, Between, Where
from auscult.index.reader import GenerationReader, open_current

#: Number of filters whose passages are cached.
_KEPT = 64
#: Number of values of a field that an error lists.
_NAMED = 12
GroupBy = str
"""What gives one hit: each "passage", each "document", or each value of the field of this name."""
RowArray = npt.NDArray[np.int64]
ScoreArray = npt.NDArray[np.float64]
_Filters = frozenset[tuple[str, Between | frozenset[str]]]


class PassageIndex:
    """An opened index, which finds the exact nearest passages by one matrix-vector product.

    Costs, for P passages of dim d: 4·P·d bytes are read per query (16,407 passages × 256: 17 MB). An opened index is a
    snapshot: it answers from its generation also when a writer has published the next one.
    """

    def __init__(self, reader: GenerationReader) -> None:
        self.reader = reader
        self.manifest = reader.manifest
        self._filters: dict[object, npt.NDArray[np.bool_]] = {}

    @classmethod
    def open(cls, folder: str | Path) -> PassageIndex:
        """Open an index folder.

        Raises:
            IndexFolderError: The folder has no index, a damaged one, or one of a newer format.
        """
        return cls(open_current(Path(folder)))

    def seen_by(self, groups: Collection[str]) -> PassageIndex:
        """Return the index as these groups see it (`GenerationReader.seen_by`); the same one if nothing is hidden."""
        reader = self.reader.seen_by(groups)
        return self if reader is self.reader else type(self)(reader)

    def verify(self) -> None:
        """Check everything that is stored; raise IndexFolderError for the first damage."""
        self.reader.verify()

    def search(
        self,
        query_vector: FloatArray,
        k: int = 10,
        *,
        group_by: GroupBy = "passage",
        where: Where = ANY,
        documents: Sequence[str] = (),
    ) -> tuple[RowArray, ScoreArray]:
        """Find the k best passages by exact mean sentence cosine.

        Args:
            query_vector: Shape (dim,), unit length.
            k: Number of passages, at least 1.
            group_by: "document" gives only the best passage of each document; the name of a field gives the best
                passage of each of its values, with documents without the field as one group.
            where: Only documents whose fields (`index.fields`) have these values; empty for all.
            documents: Only documents with these ids; empty for all.

        Returns:
            Passage rows and scores, best first, ties in row order; fewer than k if fewer passages are eligible.
            Passages without sentences have no score and are never returned.

        Raises:
            QueryError: `k` is below 1, or the grouping, a field, a value or a document id is not in this index.
            ModelError: The dimension of the vector differs from that of the index.
        """
        query = self._check_query(query_vector, k)
        scores = self._exclude(self.reader.passage_vectors @ query, where, documents)
        return select(self.reader.passage_vectors, query, scores, k, self._groups(group_by))

    def proposed(self, direction: FloatArray, where: Where = ANY, documents: Sequence[str] = ()) -> RowArray | None:
        """Return the sorted rows of the passages that a server finds nearest to a direction; None without a server.

        Args:
            direction: Vector whose products with passages are large for good ones, (dim,).
            where: As in `search`.
            documents: As in `search`.
        """
        return None

    def best(
        self,
        scores: FloatArray,
        k: int = 10,
        *,
        group_by: GroupBy = "passage",
        where: Where = ANY,
        documents: Sequence[str] = (),
        rows: RowArray | None = None,
    ) -> tuple[RowArray, ScoreArray]:
        """Return the k best passages by given scores, of all passages or of the candidates `rows`; else as `search`."""
        _check_number(k)
        if rows is not None:
            groups = self._groups(group_by)
            places, best = take_best(scores.astype(np.float32), k, None if groups is None else groups[rows])
            return rows[places], best
        eligible = self._exclude(scores.astype(np.float32), where, documents)
        return take_best(eligible, k, self._groups(group_by))

    def counts(self, field: str) -> dict[str, int]:
        """Count the documents by value of a field (`index.fields`), most frequent first.

        Raises:
            QueryError: No document has the field.
        """
        values, having = self._values(field)
        counts = np.bincount(having[having >= 0], minlength=len(values)).tolist()
        return dict(sorted(zip(values, counts, strict=True), key=lambda pair: -pair[1]))

    def _check_query(self, query_vector: FloatArray, k: int) -> FloatArray:
        _check_number(k)
        dim = self.manifest.model.dim
        if query_vector.shape != (dim,):
            raise ModelError(f"a query vector of shape ({dim},)", str(query_vector.shape), "use the index' own model")
        return np.asarray(query_vector, dtype=np.float32)

    def _exclude(self, scores: FloatArray, where: Where, documents: Sequence[str]) -> FloatArray:
        """Set the scores of passages that must not be returned to minus infinity, in place, and return them."""
        if where or documents:
            scores[~self._mask_passages(where, frozenset(documents))] = -np.inf
        scores[self.reader.wordless] = -np.inf
        return scores

    def _groups(self, group_by: GroupBy) -> npt.NDArray[np.integer] | None:
        """Return the group of each passage; None where each passage is a group."""
        if group_by == "passage":
            return None
        owners = self.reader.passage_documents
        return owners if group_by == "document" else self._values(group_by)[1][owners]

    def _values(self, field: str) -> tuple[list[str], npt.NDArray[np.int32]]:
        if field not in self.reader.fields:
            raise QueryError(
                f"a field of this index ({', '.join(self.reader.fields)})", f"'{field}'", "name one of these"
            )
        return self.reader.values(field)

    def documents_where(self, where: Where = ANY) -> RowArray:
        """Return the sorted rows of the documents whose fields have these values.

        Raises:
            QueryError: A field or a value is not in this index.
        """
        return np.flatnonzero(self._match_documents(_key_of(where), frozenset()))

    def _mask_passages(self, where: Where, documents: frozenset[str]) -> npt.NDArray[np.bool_]:
        key = _key_of(where), documents
        if key not in self._filters:
            if len(self._filters) >= _KEPT:
                self._filters.clear()
            self._filters[key] = self._match_documents(*key)[self.reader.passage_documents]
        return self._filters[key]

    def _match_documents(self, where: _Filters, documents: frozenset[str]) -> npt.NDArray[np.bool_]:
        """Return which documents match, (documents,)."""
        allowed = self.reader.living.copy()
        for field, wanted in where:
            values, having = self._values(field)
            if isinstance(wanted, Between):
                chosen = [number for number, value in enumerate(values) if wanted.holds(value)]
            else:
                numbers = {value: number for number, value in enumerate(values)}
                unknown = sorted(wanted - numbers.keys())
                if unknown:
                    known = ", ".join(values[:_NAMED]) + (", ..." if len(values) > _NAMED else "")
                    raise QueryError(f"a {field} of this index ({known})", f"'{unknown[0]}'", "name one of these")
                chosen = [numbers[value] for value in wanted]
            allowed &= np.isin(having, chosen)
        if documents:
            rows = []
            for doc_id in sorted(documents):
                if (row := self.reader.row_of(doc_id)) is None:
                    raise QueryError("a document id of this index", f"'{doc_id}'", "check the id")
                rows.append(row)
            named = np.zeros_like(allowed)
            named[rows] = True
            allowed &= named
        return allowed


def _key_of(where: Where) -> _Filters:
    """Return filters as a key for the cache."""
    wanted = {field: (value,) if isinstance(value, str) else value for field, value in where.items()}
    return frozenset(
        (field, condition if isinstance(condition, Between) else frozenset(condition))
        for field, condition in wanted.items()
    )


def select(
    vectors: FloatArray, query: FloatArray, rough: FloatArray, k: int, groups: npt.NDArray[np.integer] | None = None
) -> tuple[RowArray, ScoreArray]:
    """Return the k best rows by exact score, ties in row order.

    A single-precision product finds the few rows that can be among the best; only those are scored exactly.

    Args:
        vectors: Shape (rows, dim).
        query: Shape (dim,), unit length.
        rough: Single-precision scores, shape (rows,); -inf for rows that must not be returned.
        k: Number of rows, at least 1.
        groups: Group number per row, from -1; if given, each group gives only its best row.

    Returns:
        Rows and their exact scores, best first; fewer than k if fewer are eligible.
    """
    # Bound on the rounding errors of two sums of dim products of unit vectors.
    margin = 2 * len(query) * float(np.finfo(np.float32).eps)
    rows = _find_near_best(rough, k, groups, margin)
    return best_exactly(vectors, query, rows, k, groups)


def best_exactly(
    vectors: FloatArray, query: FloatArray, rows: RowArray, k: int, groups: npt.NDArray[np.integer] | None = None
) -> tuple[RowArray, ScoreArray]:
    """Return the k best of some rows by exact score, otherwise as `select`."""
    # In double precision, so that equal rows get equal scores at any position. A BLAS product in single precision does
    # not guarantee that, as it computes the last rows of a block differently.
    scores: ScoreArray = np.multiply(vectors[rows], query, dtype=np.float64).sum(axis=1)
    return _sort_best(rows, scores, k, groups)


def take_best(scores: FloatArray, k: int, groups: npt.NDArray[np.integer] | None = None) -> tuple[RowArray, ScoreArray]:
    """Return the k best rows by given scores, otherwise as `select`."""
    rows = _find_near_best(scores, k, groups, 0.0)
    return _sort_best(rows, scores[rows].astype(np.float64), k, groups)


def _find_near_best(scores: FloatArray, k: int, groups: npt.NDArray[np.integer] | None, margin: float) -> RowArray:
    """Return the rows at most a margin below the k-th best row, or the best row of the k-th best group."""
    heads = scores if groups is None else _best_of_groups(scores, groups)
    lowest = -np.inf if k >= len(heads) else float(np.partition(heads, len(heads) - k)[len(heads) - k])
    return np.flatnonzero((scores >= lowest - margin) & (scores > -np.inf))


def _sort_best(
    rows: RowArray, scores: ScoreArray, k: int, groups: npt.NDArray[np.integer] | None
) -> tuple[RowArray, ScoreArray]:
    order = np.lexsort((rows, -scores))
    if groups is not None:
        _, first = np.unique(groups[rows[order]], return_index=True)
        order = order[np.sort(first)]
    order = order[:k]
    return rows[order], scores[order]


def _check_number(k: int) -> None:
    if k < 1:
        raise QueryError("a number of hits of at least 1", str(k), "ask for more")


def _best_of_groups(scores: FloatArray, groups: npt.NDArray[np.integer]) -> FloatArray:
    if not len(scores):
        return scores
    changes = np.diff(groups)
    if (changes < 0).any():
        best = np.full(int(groups.max()) + 2, -np.inf, np.float32)
        # Group -1, of documents without the field, is the last element.
        np.maximum.at(best, groups, scores)
        return best
    heads: FloatArray = np.maximum.reduceat(scores, np.flatnonzero(np.r_[True, changes != 0]))
    return heads
