"""An index whose candidates a server proposes, and its passages on their way there.

The server finds, and the index' own files tell how well a passage answers. Scores are those of the embedded index to
the last bit, since the proposed passages are compared again with the vectors of its segments, of which only their rows
are read. The server is asked for more until the last that it proposes is worse than all that are shown: neither its
rounding nor its order of equals changes an answer.

Documents are published a few at a time and noted at the end, so that what was ended in the middle goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from auscult.engines.contract import LAYOUT, Engine, EngineRow, Filters, Proposer, Published, open_engine
from auscult.errors import EngineError, IndexFolderError
from auscult.files.json_text import parse_json
from auscult.files.writing import write_json
from auscult.index import ANY, Between, GenerationReader, GroupBy, PassageIndex, Where
from auscult.index.fields import fields_of
from auscult.index.passage_index import RowArray, ScoreArray, best_exactly
from auscult.interfaces import FloatArray

SERVED: Final = "engine.json"
"""The file of an index folder that says where its passages were published."""
_MORE = 16
_ROUNDING = 1e-5
_PROPOSED: Final = 200
"""How many passages are proposed by their vectors, where all evidence is weighed."""


class ServedIndex(PassageIndex):
    """An opened index with what finds its passages.

    Args:
        reader: Of the index.
        engine: That all of it was published to (`check_generation`).
        groups: Who asks, where the reader is a view and the engine knows who may see what; None for all passages.
    """

    def __init__(self, reader: GenerationReader, engine: Proposer, groups: frozenset[str] | None = None) -> None:
        super().__init__(reader)
        self.engine = engine
        self._groups_asking = groups

    def search(
        self,
        query_vector: FloatArray,
        k: int = 10,
        *,
        group_by: GroupBy = "passage",
        where: Where = ANY,
        documents: Sequence[str] = (),
    ) -> tuple[RowArray, ScoreArray]:
        """Search as an embedded index, among the passages that the engine proposes."""
        query = self._checked(query_vector, k)
        filters = self._filters_of(where, documents)
        groups = self._groups(group_by)

        asked = k + _MORE
        while True:
            keys = self.engine.nearest(query, asked, filters)
            rows, scores = best_exactly(self.reader.passage_vectors, query, self._rows_of(keys), len(keys) + 1)
            found = best_exactly(self.reader.passage_vectors, query, np.sort(rows), k, groups)
            # What was not proposed is as good as the last that was, at most: it must not tie with what is shown.
            if len(keys) < asked or (len(found[1]) == k and scores[-1] < found[1][-1] - _ROUNDING):
                return found
            asked *= 4

    def proposed(self, direction: FloatArray, where: Where = ANY, documents: Sequence[str] = ()) -> RowArray:
        """Return rows of the passages that the engine finds nearest to a direction, rising."""
        # A query without a vector is near to none.
        if not direction.any():
            return np.zeros(0, np.int64)
        return self._rows_of(self.engine.nearest(direction, _PROPOSED, self._filters_of(where, documents)))

    def _rows_of(self, keys: Sequence[int]) -> RowArray:
        """Return rows of passages by their keys, rising."""
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
        return Filters(wanted, frozenset(documents), self._groups_asking)


def check_generation(index: PassageIndex, engine: Engine) -> None:
    """Refuse an engine that does not hold what an index does.

    Raises:
        EngineError: It holds another index, or an earlier generation.
    """
    told = engine.published()
    mine = index.manifest.identity, index.manifest.generation
    if told is None or (told.store, told.generation) != mine:
        found = "none"
        if told is not None:
            found = "an earlier or unfinished one" if told.store == mine[0] else "another index"
        folder = index.reader.where
        remedy = f"publish it: auscult publish {folder} URL; or search without: auscult publish {folder} --withdraw"
        raise EngineError(f"generation {mine[1]} of this index on {engine.name}", found, remedy)


def open_proposed(folder: Path) -> PassageIndex:
    """Open an index folder; with the engine that its passages were published to, where they were.

    Raises:
        IndexFolderError: There is no index, or it is damaged.
        EngineError: Its engine cannot be reached, or has another generation.
    """
    index = PassageIndex.open(folder)
    told = engine_of(folder)
    if told is None:
        return index
    engine = open_engine(told)
    check_generation(index, engine)
    return ServedIndex(index.reader, engine)


def engine_of(folder: Path) -> str | None:
    """Return the address that an index was published to; None where it was not."""
    place = folder / SERVED
    if not place.is_file():
        return None
    try:
        return str(parse_json(place.read_text(encoding="utf-8"))["url"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IndexFolderError(f"an engine's address in {place}", f"{error!r}", "publish the index again") from error


_PASSAGES = 500


@dataclass(frozen=True, slots=True)
class PublishReport:
    """What was done.

    Attributes:
        written: Documents that the server lacked.
        removed: Documents that the index has no more.
        passages: That the server now has.
        removed_ids: Ids of the first that were removed, where the server tells them.
    """

    written: int
    removed: int
    passages: int
    engine: str
    removed_ids: Sequence[str] = ()


def publish(
    folder: str | Path, url: str, *, approximate: bool = False, progress: Callable[[int, int], None] | None = None
) -> PublishReport:
    """Bring a server's collection to what an index holds now; searches then go there.

    Args:
        folder: Of the index.
        url: As `open_engine` takes it.
        approximate: Look for vectors in a graph (HNSW), which pays from about a million passages on.
        progress: Called with documents written and to be written.

    Raises:
        IndexFolderError: There is no index, or it is damaged.
        EngineError: The server cannot be reached, or the collection is another index'.
    """
    index = PassageIndex.open(folder)
    reader, manifest = index.reader, index.manifest
    engine = open_engine(url)
    try:
        told = Published(manifest.model.dim, manifest.model.fingerprint, manifest.identity, -1, approximate, LAYOUT)
        there = engine.published()
        if there is not None and replace(there, generation=-1) != told:
            remedy = "name another behind #, or remove that one first (auscult publish INDEX --withdraw)"
            raise EngineError(f"a collection of this index on {engine.name}", "another, or made otherwise", remedy)
        if there is None:
            engine.create(told)
        else:
            # Half of two generations is none.
            engine.finish(told)
        keys = reader.document_keys[reader.documents]
        has = engine.documents()
        gone = has - set(keys.tolist())
        if gone:
            engine.drop(gone)
        missing = [row for row, key in zip(reader.documents.tolist(), keys.tolist(), strict=True) if key not in has]
        done = 0
        for documents, rows in _batches(reader, missing):
            engine.put(rows)
            done += documents
            if progress is not None:
                progress(done, len(missing))
        engine.finish(replace(told, generation=manifest.generation))
        write_json(Path(folder) / SERVED, {"url": url})
        return PublishReport(len(missing), len(gone), manifest.counts.passages, engine.name)
    finally:
        engine.close()


def withdraw(folder: str | Path) -> str | None:
    """Remove an index' collection from its server, and search without; the engine's name, None where there was none.

    Raises:
        EngineError: The server cannot be reached; the index is searched without it all the same.
    """
    url = engine_of(Path(folder))
    if url is None:
        return None
    (Path(folder) / SERVED).unlink()
    engine = open_engine(url)
    try:
        told = engine.published()
        if told is not None and told.store == PassageIndex.open(folder).manifest.identity:
            engine.destroy()
    finally:
        engine.close()
    return engine.name


def _batches(reader: GenerationReader, documents: list[int]) -> Iterator[tuple[int, list[EngineRow]]]:
    """Yield how many documents, and their passages that have a sentence."""
    wordless = set(reader.wordless.tolist())
    number, rows = 0, []
    for document in documents:
        number += 1
        record = reader.document_record(document)
        fields = fields_of(record.source, record.metadata)
        key = int(reader.document_keys[document])
        for row in reader.passages_of(document):
            if row in wordless:
                continue
            vector = np.asarray(reader.passage_vectors[[row]][0], np.float32)
            rows.append(EngineRow(int(reader.passage_keys[row]), key, record.doc_id, vector, fields))
        if len(rows) >= _PASSAGES:
            yield number, rows
            number, rows = 0, []
    if number:
        yield number, rows
