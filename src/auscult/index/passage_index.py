"""Exact search over passage vectors: the k best rows, in an order that never depends on how scores were computed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from auscult.errors import IndexFolderError, ModelError, QueryError
from auscult.index.reader import GenerationReader, open_current
from auscult.interfaces import DocumentEncoder, FloatArray

GroupBy = Literal["passage", "document"]
RowArray = npt.NDArray[np.int64]
ScoreArray = npt.NDArray[np.float64]


class PassageIndex:
    """An opened index: exact nearest passages by one matrix-vector product, and what it takes to show them.

    Costs, for P passages of dim d: 4·P·d bytes are read per query (16,407 passages × 256: 17 MB). An opened
    index is a snapshot: it goes on answering from its generation while a writer publishes the next one.
    """

    def __init__(self, reader: GenerationReader) -> None:
        self.reader = reader
        self.manifest = reader.manifest
        self._allowed = lru_cache(maxsize=64)(self._find_allowed)

    @classmethod
    def open(cls, folder: str | Path) -> PassageIndex:
        """Open an index folder.

        Raises:
            IndexFolderError: The folder holds no index, a damaged one, or one of a newer format.
        """
        return cls(open_current(Path(folder)))

    def check_model(self, encoder: DocumentEncoder) -> None:
        """Refuse an encoder whose vectors cannot be compared with the stored ones.

        Raises:
            IndexFolderError: Its fingerprint differs from the manifest's.
        """
        check_fingerprint(self.reader, encoder)

    def verify(self) -> None:
        """Compare every file with its checksum; raises IndexFolderError at the first that differs."""
        self.reader.verify()

    def search(
        self,
        query_vector: FloatArray,
        k: int = 10,
        *,
        group_by: GroupBy = "passage",
        sources: Sequence[str] = (),
        documents: Sequence[str] = (),
    ) -> tuple[RowArray, ScoreArray]:
        """The k best passages by exact mean sentence cosine.

        Args:
            query_vector: Shape (dim,), unit length.
            k: How many, at least 1.
            group_by: "document" gives each document's best passage only.
            sources: Only documents of these sources; empty for all.
            documents: Only documents with these ids; empty for all.

        Returns:
            Passage rows and scores, best first, ties in row order; fewer than k only where fewer passages are
            eligible. Passages without sentences have no score and are never returned.

        Raises:
            QueryError: k, the grouping, a source or a document id is not one of this index'.
            ModelError: The vector has another length than the index' vectors.
        """
        _check_options(k, group_by)
        dim = self.manifest.model.dim
        if query_vector.shape != (dim,):
            raise ModelError(f"a query vector of shape ({dim},)", str(query_vector.shape), "use the index' own model")
        query = np.asarray(query_vector, dtype=np.float32)
        scores = self._eligible(self.reader.passage_vectors @ query, sources, documents)
        return select(self.reader.passage_vectors, query, scores, k, self._groups(group_by))

    def best(
        self,
        scores: FloatArray,
        k: int = 10,
        *,
        group_by: GroupBy = "passage",
        sources: Sequence[str] = (),
        documents: Sequence[str] = (),
    ) -> tuple[RowArray, ScoreArray]:
        """The k best passages by given scores, (passages,); everything else as in `search`."""
        _check_options(k, group_by)
        eligible = self._eligible(scores.astype(np.float32), sources, documents)
        return take_best(eligible, k, self._groups(group_by))

    def _eligible(self, scores: FloatArray, sources: Sequence[str], documents: Sequence[str]) -> FloatArray:
        """The scores, minus infinity for passages that are not to be returned; changed in place."""
        if sources or documents:
            scores[~self._allowed(frozenset(sources), frozenset(documents))] = -np.inf
        scores[self.reader.wordless] = -np.inf
        return scores

    def _groups(self, group_by: GroupBy) -> npt.NDArray[np.integer] | None:
        return self.reader.passage_documents if group_by == "document" else None

    def _find_allowed(self, sources: frozenset[str], documents: frozenset[str]) -> npt.NDArray[np.bool_]:
        allowed = np.ones(self.manifest.counts.documents, bool)
        if sources:
            numbers = {name: n for n, name in enumerate(self.manifest.sources)}
            unknown = sorted(sources - numbers.keys())
            if unknown:
                raise QueryError(
                    f"a source of this index ({', '.join(sorted(numbers))})", f"'{unknown[0]}'", "name one of these"
                )
            allowed &= np.isin(self.reader.document_sources, [numbers[name] for name in sources])
        if documents:
            unknown = sorted(documents - self.reader.document_rows.keys())
            if unknown:
                raise QueryError("a document id of this index", f"'{unknown[0]}'", "check the id")
            rows = [self.reader.document_rows[doc_id] for doc_id in documents]
            chosen = np.zeros_like(allowed)
            chosen[rows] = True
            allowed &= chosen
        mask: npt.NDArray[np.bool_] = allowed[self.reader.passage_documents]
        return mask


def check_fingerprint(reader: GenerationReader, encoder: DocumentEncoder) -> None:
    """Raise IndexFolderError when an encoder is not the one that made a generation."""
    made_with = reader.manifest.model
    if encoder.fingerprint != made_with.fingerprint:
        raise IndexFolderError(
            f"model '{made_with.name}' ({made_with.fingerprint[:12]}) that made {reader.path.parent}",
            f"model '{encoder.name}' ({encoder.fingerprint[:12]})",
            "search with the index' own model, or build the index again with this one",
        )


def exact_scores(vectors: FloatArray, query: FloatArray) -> ScoreArray:
    """Inner products in double precision, shape (rows,).

    Equal rows get equal scores wherever they stand, which a BLAS product in single precision doesn't promise:
    it treats the last rows of a block otherwise than the first.
    """
    scores: ScoreArray = np.multiply(vectors, query, dtype=np.float64).sum(axis=1)
    return scores


def select(
    vectors: FloatArray, query: FloatArray, rough: FloatArray, k: int, groups: npt.NDArray[np.integer] | None = None
) -> tuple[RowArray, ScoreArray]:
    """The k best rows by exact score, ties in row order.

    A single-precision product finds the few rows that can be among the best; only those are scored exactly.

    Args:
        vectors: Shape (rows, dim).
        query: Shape (dim,), unit length.
        rough: Single-precision scores, shape (rows,); -inf for rows that are not to be returned.
        k: How many, at least 1.
        groups: Non-decreasing group number per row; when given, each group gives only its best row.

    Returns:
        Rows and their exact scores, best first; fewer than k where fewer are eligible.
    """
    # Rounding of a dim-term sum of products of unit vectors, on both sides of the comparison.
    margin = 2 * len(query) * float(np.finfo(np.float32).eps)
    rows = _within(rough, k, groups, margin)
    return _ordered(rows, exact_scores(vectors[rows], query), k, groups)


def take_best(scores: FloatArray, k: int, groups: npt.NDArray[np.integer] | None = None) -> tuple[RowArray, ScoreArray]:
    """The k best rows by the scores as they are, otherwise as `select`."""
    rows = _within(scores, k, groups, 0.0)
    return _ordered(rows, scores[rows].astype(np.float64), k, groups)


def _within(scores: FloatArray, k: int, groups: npt.NDArray[np.integer] | None, margin: float) -> RowArray:
    """Rows at most a margin below the k-th best, or below the k-th best group's best."""
    heads = scores if groups is None else _best_of_groups(scores, groups)
    lowest = -np.inf if k >= len(heads) else float(np.partition(heads, len(heads) - k)[len(heads) - k])
    return np.flatnonzero((scores >= lowest - margin) & (scores > -np.inf))


def _ordered(
    rows: RowArray, scores: ScoreArray, k: int, groups: npt.NDArray[np.integer] | None
) -> tuple[RowArray, ScoreArray]:
    order = np.lexsort((rows, -scores))
    if groups is not None:
        _, first = np.unique(groups[rows[order]], return_index=True)
        order = order[np.sort(first)]
    order = order[:k]
    return rows[order], scores[order]


def _check_options(k: int, group_by: GroupBy) -> None:
    if k < 1:
        raise QueryError("a number of hits of at least 1", str(k), "ask for more")
    if group_by not in ("passage", "document"):
        raise QueryError("hits grouped by passage or document", repr(group_by), "use one of the two")


def _best_of_groups(scores: FloatArray, groups: npt.NDArray[np.integer]) -> FloatArray:
    if not len(scores):
        return scores
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    best: FloatArray = np.maximum.reduceat(scores, starts)
    return best
