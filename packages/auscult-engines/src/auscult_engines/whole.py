"""A whole index on a PostgreSQL server: searchers need the model and a bounded cache, but no folder.

The readers of a folder and of a server differ only in where rows and blocks come from, so that answers are the same.
Blocks are read on demand and cached up to a limit. Arrays that every search reads whole stay in memory, as those of an
opened folder do: numbers of passages, lengths of texts and, if all passages are compared, their vectors. If passages
are proposed (`proposing.py`), only their vectors are read.
"""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from weakref import finalize

import numpy as np
import numpy.typing as npt

from auscult.engines.contract import Engine, Proposer
from auscult.errors import EngineError
from auscult.index import GenerationReader
from auscult.index.blocks import BLOCK, BlockFile, Buffer
from auscult.index.manifest import Manifest
from auscult_engines.connecting import open_engine
from auscult_engines.proposing import ProposedIndex, ShareProposer
from auscult_engines.readers import Presence
from auscult_engines.served import ServedIndex
from auscult_engines.shares import Shares
from auscult_engines.tables import PublishedState, ServedStore, schema_of, shares_at, state_of_all, whole_places

CACHE: Final = 256 * 2**20
"""Bytes of blocks and vectors that a searcher keeps of each index."""
#: Blocks of one request: 16 MB.
_AT_ONCE: Final = 256
#: Requests of more blocks than this are not cached: the caller keeps whole arrays.
_FEW: Final = 64


class Cache:
    """A cache of what was used last.

    Args:
        limit: Size in bytes.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._contents: OrderedDict[object, bytes] = OrderedDict()
        self._one = threading.Lock()

    def get(self, keys: Sequence[object]) -> dict[object, bytes]:
        """Return the contents of the keys that are cached."""
        with self._one:
            cached = {key: self._contents[key] for key in keys if key in self._contents}
            for key in cached:
                self._contents.move_to_end(key)
        return cached

    def put(self, contents: dict[Any, bytes]) -> None:
        """Add contents; those that were used least recently are dropped."""
        with self._one:
            for key, content in contents.items():
                if key not in self._contents:
                    self._size += len(content)
                self._contents[key] = content
            while self._size > self._limit:
                self._size -= len(self._contents.popitem(last=False)[1])


class ServedFile(BlockFile):
    """A segment's file on a server. Its blocks are read on demand and checked.

    Args:
        path: Name of the file.
        end: As `BlockFile` takes it.
        shares: The servers, any of which has the file.
        cache: Cache of blocks and rows.

    Raises:
        EngineError: The file is missing, or no server can be reached.
        IndexFolderError: The file is damaged.
    """

    def __init__(self, path: Path, end: int, shares: Shares, cache: Cache) -> None:
        self.path = path
        self._shares, self._cache = shares, cache
        self._file = path.name, end
        sizes = shares.rows("SELECT size FROM {segments} WHERE name = %s AND ending = %s", self._file)
        if not sizes:
            raise self._gone()
        self._whole: dict[str, npt.NDArray[Any]] = {}
        self.size = sizes[0][0]
        self._begin(end)

    def array(self, name: str, first: int = 0, last: int | None = None) -> npt.NDArray[Any]:
        """Return rows of an array. A whole array is kept in memory from then on."""
        if first or last is not None:
            return super().array(name, first, last)
        if name not in self._whole:
            self._whole[name] = super().array(name)
        return self._whole[name]

    def rows(self, name: str, numbers: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
        """Return some rows of an array of two dimensions. The server cuts them out of blocks, without checksums."""
        dtype, (_, width), begin = self._arrays[name]
        size = width * dtype.itemsize
        sought = [(self._file, name, number) for number in numbers.tolist()]
        cached = self._cache.get(sought)
        missing = [number for number in dict.fromkeys(numbers.tolist()) if (self._file, name, number) not in cached]
        pieces = []
        for number in missing:
            block, at = divmod(begin + number * size, BLOCK)
            pieces.append((number, block, at, min(size, BLOCK - at)))
            if at + size > BLOCK:
                pieces.append((number, block + 1, 0, at + size - BLOCK))
        if pieces:
            query = (
                "SELECT row, substring(content FROM at + 1 FOR size) FROM"
                " unnest(%s::bigint[], %s::int[], %s::int[], %s::int[]) AS piece (row, block, at, size)"
                " JOIN {blocks} ON number = block WHERE name = %s AND ending = %s ORDER BY row, block"
            )
            fresh: dict[object, bytes] = dict.fromkeys(((self._file, name, number) for number in missing), b"")
            for number, content in self._shares.rows(query, [*map(list, zip(*pieces, strict=True)), *self._file]):
                fresh[self._file, name, number] += content
            if any(len(content) != size for content in fresh.values()):
                raise self._gone()
            self._cache.put(fresh)
            cached |= fresh
        return np.frombuffer(b"".join(map(cached.__getitem__, sought)), dtype).reshape(-1, width)

    def _unchecked(self, begin: int, end: int) -> Buffer:
        return self._cut(begin, end, self._fetch(range(begin // BLOCK, -(-end // BLOCK))))

    def _bytes(self, begin: int, end: int) -> Buffer:
        numbers = range(begin // BLOCK, -(-end // BLOCK))
        if len(numbers) > _FEW:
            return self._cut(begin, end, self._checked_of(numbers))
        cached = self._cache.get([(self._file, number) for number in numbers])
        missing = [number for number in numbers if (self._file, number) not in cached]
        if missing:
            fresh: dict[object, bytes] = {
                (self._file, number): block for number, block in self._checked_of(missing).items()
            }
            self._cache.put(fresh)
            cached |= fresh
        return self._cut(begin, end, {number: cached[self._file, number] for number in numbers})

    def verify(self) -> None:
        """Check every block."""
        self._checked_of(range(len(self._sums)))

    def _checked_of(self, numbers: Sequence[int]) -> dict[int, bytes]:
        blocks = self._fetch(numbers)
        for number, block in blocks.items():
            at = number * BLOCK
            if zlib.crc32(block[: self._size - at]) != self._sums[number]:
                raise self._damaged(at, f"other bytes in the {BLOCK:,} that begin there")
        return blocks

    def _fetch(self, numbers: Sequence[int]) -> dict[int, bytes]:
        query = "SELECT number, content FROM {blocks} WHERE name = %s AND ending = %s AND number = ANY(%s)"
        blocks: dict[int, bytes] = {}
        for first in range(0, len(numbers), _AT_ONCE):
            batch = [*numbers[first : first + _AT_ONCE]]
            blocks |= dict(self._shares.rows(query, [*self._file, batch]))
        if len(blocks) != len(numbers):
            raise self._gone()
        return blocks

    def _gone(self) -> EngineError:
        remedy = "open the index again, as a later generation has been published"
        return EngineError(f"'{self.path.name}' on {self._shares.name}", "none", remedy)

    @staticmethod
    def _cut(begin: int, end: int, blocks: dict[int, bytes]) -> Buffer:
        numbers = sorted(blocks)
        content = blocks[numbers[0]] if len(numbers) == 1 else b"".join(map(blocks.__getitem__, numbers))
        first = numbers[0] * BLOCK if numbers else begin
        return memoryview(content)[begin - first : end - first]


def open_index(address: str) -> ServedIndex:
    """Open the index at an address, without a copy on this machine.

    Args:
        address: "postgresql://USER@HOST/DATABASE#COLLECTION", or several servers with commas between them. Servers
            that are away are not waited for (`ShareAwayError`, `ServedIndex`).

    Raises:
        ConfigError: The address is not valid.
        EngineError: No server can be reached, or one has no whole index, another share, or one of a newer version.
        IndexFolderError: The index is damaged, or has another version's format.
    """
    shares = _shares(address)
    state, presence = _begin_reading(shares, address)
    store, cache = ServedStore(shares, state.manifest), Cache(CACHE)
    try:
        reader = GenerationReader(
            store.path, store, where=shares.name, opens=lambda path, end: ServedFile(path, end, shares, cache)
        )
    except BaseException:
        presence.close()
        raise
    finalize(reader, presence.close)
    store.document_keys = reader.document_keys
    store.firsts = np.concatenate([np.zeros(0, np.int64), *(segment.firsts for segment in reader.segments)])
    if not state.found_by.approximate:
        return ServedIndex(reader)
    return ProposedIndex(reader, _open_proposer(shares, state, reader.manifest))


def _begin_reading(shares: Shares, address: str) -> tuple[PublishedState, Presence]:
    """Return the published generation, and the presence that keeps its rows until it is closed.

    Raises:
        EngineError: Nothing is published.
    """
    while True:
        state = state_of_all(shares)
        if state is None:
            remedy = f"publish one: auscult publish FOLDER {address}"
            raise EngineError(f"an index on {shares.name}", "none", remedy)
        presence = Presence(shares, schema_of(whole_places(address)[0]), state.generation)
        # Its rows may have been deleted before the servers knew of this reader.
        if state_of_all(shares) == state:
            return state, presence
        presence.close()


@lru_cache(maxsize=64)
def _engine(address: str) -> Engine:
    """Return the engine at an address; all searchers share its connection."""
    return open_engine(address)


def _open_proposer(shares: Shares, state: PublishedState, manifest: Manifest) -> Proposer:
    """Return the proposer of an index's passages.

    Raises:
        EngineError: An engine cannot be reached, or does not have the passages of this generation.
    """
    candidates = state.found_by.candidates
    if not candidates:
        return ShareProposer(shares)
    engine = _engine(candidates)
    published = engine.published()
    if published is None or published.store != manifest.identity or published.generation < manifest.generation:
        got = "none" if published is None else "those of another index, or of an earlier generation"
        remedy = f"publish the index again, with --candidates {candidates}"
        raise EngineError(f"the vectors of {shares.name} on {engine.name}", got, remedy)
    return engine


def manifest_at(address: str) -> Manifest | None:
    """Return the manifest of the generation that is published at an address; None where there is none.

    Raises:
        ConfigError: The address is none.
        EngineError: The server cannot be reached, or has an index of a newer version.
        IndexFolderError: The manifest is of another version's format.
    """
    shares = _shares(address)
    state = state_of_all(shares)
    return None if state is None else Manifest.parse(state.manifest, shares.name)


@lru_cache(maxsize=64)
def _shares(address: str) -> Shares:
    """Return the servers of an address; their connections are shared by all who read there."""
    # Whoever asks is told at once; the next question finds out whether one is there again.
    return shares_at(address, waits=(0.0,))
