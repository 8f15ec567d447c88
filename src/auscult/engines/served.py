"""An index whose candidates a server proposes: it finds, and the index' own files tell how well it answers.

Scores are those of the embedded index to the last bit, since the proposed passages are compared again with the vectors
of its segments, of which only their rows are read. The server is asked for more until the last that it proposes is
worse than all that are shown: neither its rounding nor its order of equals changes an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from auscult.engines.contract import Engine, Filters, open_engine
from auscult.errors import EngineError, IndexFolderError
from auscult.files.json_text import parse_json
from auscult.index import ANY, Between, GroupBy, PassageIndex, Where
from auscult.index.passage_index import RowArray, ScoreArray, best_exactly
from auscult.interfaces import FloatArray

SERVED: Final = "engine.json"
"""The file of an index folder that says where its passages were published."""
_MORE = 16
_ROUNDING = 1e-5
_PROPOSED: Final = 200
"""How many passages are proposed for each reason, where all evidence is weighed."""
_DOCUMENTS = 50


class ServedIndex(PassageIndex):
    """An opened index with its engine.

    Args:
        index: The index.
        engine: That all of it was published to.
        exact: Whether vectors are compared with all, though the engine has a graph.

    Raises:
        EngineError: It holds another index, or an earlier generation.
    """

    def __init__(self, index: PassageIndex, engine: Engine, *, exact: bool = False) -> None:
        super().__init__(index.reader)
        self.engine = engine
        self._exact = exact
        told = engine.published()
        mine = self.manifest.identity, self.manifest.generation
        if told is None or (told.store, told.generation) != mine:
            found = "none"
            if told is not None:
                found = "an earlier or unfinished one" if told.store == mine[0] else "another index"
            folder = index.reader.path.parent
            remedy = f"publish it: auscult publish {folder} URL; or search without: auscult publish {folder} --withdraw"
            raise EngineError(f"generation {mine[1]} of this index on {engine.name}", found, remedy)

    def search(
        self,
        query_vector: FloatArray,
        k: int = 10,
        *,
        group_by: GroupBy = "passage",
        where: Where = ANY,
        documents: Sequence[str] = (),
    ) -> tuple[RowArray, ScoreArray]:
        """As an embedded index, of the passages that the engine proposes."""
        query = self._checked(query_vector, k)
        filters = self._filters_of(where, documents)
        groups = self._groups(group_by)

        asked = k + _MORE
        while True:
            keys = self.engine.nearest(query, asked, filters, exact=self._exact)
            rows, scores = best_exactly(self.reader.passage_vectors, query, self._rows_of(keys), len(keys) + 1)
            found = best_exactly(self.reader.passage_vectors, query, np.sort(rows), k, groups)
            # What was not proposed is as good as the last that was, at most: it must not tie with what is shown.
            if len(keys) < asked or (len(found[1]) == k and scores[-1] < found[1][-1] - _ROUNDING):
                return found
            asked *= 4

    def candidates(
        self, vector: FloatArray, weights: Mapping[str, float], where: Where = ANY, documents: Sequence[str] = ()
    ) -> RowArray:
        """Rows of the passages that are near to a part of a query's vector, or have most of its words.

        With all others of the documents that have most of them: what is asked for may be named elsewhere in a document.
        """
        filters = self._filters_of(where, documents)
        found = self.engine.holding(weights, _PROPOSED, filters)
        owners = np.unique(self.reader.passage_documents[self._rows_of(found[:_DOCUMENTS])])
        beside = [row for owner in owners.tolist() for row in self.reader.passages_of(owner)[:_PROPOSED]]
        for columns in (self.manifest.model.parts or {"all": (0, len(vector))}).values():
            part = np.zeros_like(vector)
            part[slice(*columns)] = vector[slice(*columns)]
            # Where a query has no vector at all, some must still be weighed.
            if part.any() or not vector.any():
                found += self.engine.nearest(part, _PROPOSED, filters, exact=self._exact)
        rows = np.union1d(self._rows_of(found), np.array(beside, np.int64))
        return np.setdiff1d(rows, self.reader.wordless)

    def _rows_of(self, keys: Sequence[int]) -> RowArray:
        """Rows of passages by their keys, rising."""
        held, sought = self.reader.passage_keys, np.unique(np.array(keys, np.int64))
        rows = np.minimum(np.searchsorted(held, sought), len(held) - 1)
        rows = rows[held[rows] == sought]
        found: RowArray = rows[self.reader.living[self.reader.passage_documents[rows]]]
        return found

    def _filters_of(self, where: Where, documents: Sequence[str]) -> Filters:
        if where or documents:
            # Says what is no field, value or id of this index.
            self._allowed(where, frozenset(documents))
        wanted = {
            name: value if isinstance(value, Between) else frozenset([value] if isinstance(value, str) else value)
            for name, value in where.items()
        }
        return Filters(wanted, frozenset(documents))


def open_index(folder: str | Path) -> PassageIndex:
    """An index folder; with the engine that it was published to, where it was.

    Raises:
        IndexFolderError: There is no index, or it is damaged.
        EngineError: Its engine cannot be reached, or has another generation.
    """
    index = PassageIndex.open(folder)
    told = engine_of(Path(folder))
    return index if told is None else ServedIndex(index, open_engine(told))


def engine_of(folder: Path) -> str | None:
    """The address that an index was published to; None where it was not."""
    place = folder / SERVED
    if not place.is_file():
        return None
    try:
        return str(parse_json(place.read_text(encoding="utf-8"))["url"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IndexFolderError(f"an engine's address in {place}", f"{error!r}", "publish the index again") from error
