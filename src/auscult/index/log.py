"""Check the write-ahead log of the database: whether the next process would still find all commits.

While the database is open, SQLite finds pages of the log by a table in memory and does not check them. The next process
that opens the database replays the log up to the first frame with a wrong checksum, and drops the rest.
Format: https://www.sqlite.org/fileformat2.html#walformat
"""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from auscult.errors import IndexFolderError
from auscult.index.store import Store, marker_of

_HEADER: Final = 32
_FRAME_HEADER: Final = 24
#: Frames that are checked at once: 16 MB of pages of 4,096 bytes.
_CHUNK: Final = 4096
#: A writer may write the log while it is read.
_ATTEMPTS: Final = 3


def check_log(database: Path) -> None:
    """Check that the last generation would still be found if the log had to be replayed.

    Args:
        database: Path of a database that can be opened.

    Raises:
        IndexFolderError: The log is damaged.
    """
    log = database.with_name(f"{database.name}-wal")
    for _ in range(_ATTEMPTS):
        if not log.is_file() or not log.stat().st_size:
            return
        store = Store(database)
        try:
            marker = store.manifest_marker()
        finally:
            store.close()
        replayed = replayed_log(log.read_bytes())
        # Every commit writes the manifest, so a log with a commit has one.
        if marker in replayed or (not replayed and _is_in_database(database, marker)):
            return
    remedy = "write the index anew with auscult optimize, before the processes that have it open end"
    raise IndexFolderError(f"the last generation in {log}", "a damaged log", remedy)


def replayed_log(content: bytes) -> bytes:
    """Return the part of a log that SQLite would replay: its frames up to the last whole transaction."""
    if len(content) < _HEADER:
        return b""
    magic, _, page, _, *salt, first, second = struct.unpack(">8I", content[:_HEADER])
    if magic not in (0x377F0682, 0x377F0683) or page not in {1 << n for n in range(9, 17)}:
        return b""
    words = np.dtype(">u4" if magic & 1 else "<u4")
    sums = _following((0, 0), 3, _terms(np.frombuffer(content, words, 6).reshape(1, 6))[0])
    if sums != (first, second):
        return b""
    size = _FRAME_HEADER + page
    frames = np.frombuffer(content, np.uint8, (len(content) - _HEADER) // size * size, _HEADER).reshape(-1, size)
    end = 0
    for begin in range(0, len(frames), _CHUNK):
        chunk = frames[begin : begin + _CHUNK]
        heads = np.ascontiguousarray(chunk[:, :_FRAME_HEADER]).view(">u4")
        summed = np.ascontiguousarray(np.delete(chunk, np.s_[8:_FRAME_HEADER], axis=1)).view(words)
        for number, (head, term) in enumerate(zip(heads.tolist(), _terms(summed), strict=True), begin + 1):
            sums = _following(sums, (8 + page) // 8, term)
            if head[2:4] != salt or (head[4], head[5]) != sums:
                return content[: _HEADER + end * size] if end else b""
            if head[1]:
                end = number
    return content[: _HEADER + end * size] if end else b""


@cache
def _powers(pairs: int) -> list[tuple[int, int, int]]:
    """Return powers 0 to `pairs` of the matrix ((1, 1), (1, 2)): first row and last number of each."""
    powers = [(1, 0, 1)]
    for _ in range(pairs):
        a, b, c = powers[-1]
        powers.append(((a + b) & 0xFFFFFFFF, (b + c) & 0xFFFFFFFF, (b + 2 * c) & 0xFFFFFFFF))
    return powers


def _following(sums: tuple[int, int], pairs: int, term: tuple[int, int]) -> tuple[int, int]:
    """Return the checksum after some pairs of words, from the one before and the term of the pairs (`_terms`)."""
    a, b, c = _powers(pairs)[pairs]
    return (a * sums[0] + b * sums[1] + term[0]) & 0xFFFFFFFF, (b * sums[0] + c * sums[1] + term[1]) & 0xFFFFFFFF


def _terms(words: npt.NDArray[np.uint32]) -> list[tuple[int, int]]:
    """Return the term that each row adds to the checksum.

    SQLite adds two words at a time: s0 += x0 + s1, then s1 += x1 + s0. That is a product with ((1, 1), (1, 2)), and
    (x0, x0 + x1) added; a row is then a sum of such products, which NumPy computes for all rows at once.
    """
    pairs = words.shape[1] // 2
    powers = np.array(_powers(pairs)[pairs - 1 :: -1], np.uint32).T
    odd = words[:, 0::2].astype(np.uint32)
    both = odd + words[:, 1::2].astype(np.uint32)
    first = (odd * powers[0] + both * powers[1]).sum(axis=1, dtype=np.uint32)
    second = (odd * powers[1] + both * powers[2]).sum(axis=1, dtype=np.uint32)
    return list(zip(first.tolist(), second.tolist(), strict=True))


def _is_in_database(database: Path, marker: bytes) -> bool:
    """Return whether the manifest is in the database file itself."""
    # Through SQLite: closing another descriptor of the file would release this process' locks on it.
    name = f"file:{quote(str(database.absolute()))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(name, uri=True)) as connection:
        try:
            row = connection.execute("SELECT sum, content FROM state WHERE id = 1").fetchone()
        except sqlite3.Error:
            return False
    return row is not None and marker_of(*row) == marker
