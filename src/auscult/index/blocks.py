"""Named arrays in one file. Every block of it is checked when it is first read in a process.

    array, array, …        each at a multiple of 64 bytes
    table                  JSON: type, shape and position of every array, and the writer's notes
    checksums              CRC-32 of every block of arrays and table, uint32
    end                    bytes of the table, bytes of the checksums (int64 each), and a CRC-32 of both

The checksums detect changed bytes, but not another complete file. Against that, the checksum at the end must be given
to open a file.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.errors import IndexFolderError

#: A query reads a few blocks of the words, and all blocks of the vectors.
BLOCK: Final = 1 << 16
"""Bytes of a block, which has one checksum."""
_ALIGNMENT: Final = 64
_END: Final = struct.Struct("<qqI")
REPAIR: Final = "mend it with: auscult verify INDEX --repair"
Buffer = bytes | memoryview


class BlockWriter:
    """Writes arrays to a file, one after the other. An array may be appended in pieces."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb")
        self._table: dict[str, tuple[str, list[int], int]] = {}
        self._sums: list[int] = []
        self._open = bytearray()
        self._size = 0

    def begin(self, name: str, dtype: npt.DTypeLike, width: int | None = None) -> None:
        """Begin an array with some columns (None for a vector). `append` adds rows to it until the next one begins."""
        self._write(bytes(-self._size % _ALIGNMENT))
        self._table[name] = (np.dtype(dtype).str, [0] if width is None else [0, width], self._size)
        self._name = name

    def append(self, rows: npt.NDArray[Any]) -> None:
        """Append rows to the current array; they are cast to its type."""
        dtype, shape, _ = self._table[self._name]
        shape[0] += len(rows)
        self._write(np.ascontiguousarray(rows, dtype=dtype).tobytes())

    def add(self, name: str, array: npt.NDArray[Any], dtype: npt.DTypeLike) -> None:
        """Write a whole array of one or two dimensions."""
        self.begin(name, dtype, array.shape[1] if array.ndim == 2 else None)
        self.append(array)

    def close(self, notes: Mapping[str, Any]) -> int:
        """Write the table with notes, sync, and return the checksum at the end, which identifies the file."""
        table = json.dumps({"arrays": self._table, "notes": notes}).encode("ascii")
        self._write(table)
        if self._open:
            self._sums.append(zlib.crc32(self._open))
        sums = np.array(self._sums, "<u4").tobytes()
        total = zlib.crc32(struct.pack("<qq", len(table), len(sums)), zlib.crc32(sums))
        with self._file as file:
            file.write(sums + _END.pack(len(table), len(sums), total))
            file.flush()
            os.fsync(file.fileno())
        return total

    def discard(self) -> None:
        """Close the file without completing it, and delete it."""
        self._file.close()
        self.path.unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._size += len(data)
        self._open += data
        whole = len(self._open) // BLOCK * BLOCK
        if whole:
            blocks = memoryview(self._open)
            self._sums += [zlib.crc32(blocks[at : at + BLOCK]) for at in range(0, whole, BLOCK)]
            blocks.release()
            del self._open[:whole]


def end_of(path: Path) -> int:
    """Return the checksum at the end of a file of `BlockWriter`, which may be that of damaged content.

    Raises:
        OSError: There is no such file, or it is too short.
    """
    with path.open("rb") as file:
        file.seek(-_END.size, os.SEEK_END)
        total: int = _END.unpack(file.read())[2]
    return total


class BlockFile:
    """A file of `BlockWriter`, memory-mapped. Opening it reads its table only.

    Args:
        end: The checksum that `BlockWriter.close` returned.

    Attributes:
        notes: The writer's notes.
        size: Size in bytes.

    Raises:
        FileNotFoundError: The file does not exist.
        IndexFolderError: The file is damaged, or is another one.
    """

    def __init__(self, path: Path, end: int) -> None:
        self.path = path
        with path.open("rb") as file:
            self.size = os.fstat(file.fileno()).st_size
            if self.size < _END.size:
                raise self._damaged(self.size, "the end is missing")
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._begin(end)

    def _begin(self, end: int) -> None:
        """Read checksums and table of a file whose path and size are known."""
        table, sums, total = _END.unpack(self._unchecked(self.size - _END.size, self.size))
        # The sizes are covered by the checksum, which is checked below.
        checksums = self._unchecked(max(0, self.size - _END.size - max(sums, 0)), self.size - _END.size)
        if total != end or zlib.crc32(struct.pack("<qq", table, sums), zlib.crc32(checksums)) != total:
            raise self._damaged(self.size - _END.size, "checksums of other content")
        self._size = self.size - _END.size - sums
        self._sums = np.frombuffer(checksums, "<u4")
        self._checked = bytearray(len(self._sums))
        described = json.loads(bytes(self._bytes(self._size - table, self._size)))
        self._arrays: dict[str, tuple[np.dtype[Any], list[int], int]] = {
            name: (np.dtype(dtype), shape, at) for name, (dtype, shape, at) in described["arrays"].items()
        }
        self.notes: Mapping[str, Any] = described["notes"]

    def copy(self, path: Path) -> int:
        """Write the whole file to another place, sync it, and return the checksum at the end.

        Raises:
            OSError: The place cannot be written to.
        """
        with path.open("wb") as file:
            file.write(self._unchecked(0, self.size))
            file.flush()
            os.fsync(file.fileno())
        total: int = _END.unpack(self._unchecked(self.size - _END.size, self.size))[2]
        return total

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def length(self, name: str) -> int:
        """Return the number of rows of an array."""
        return self._arrays[name][1][0]

    def width(self, name: str) -> int:
        """Return the number of columns of an array of two dimensions."""
        return self._arrays[name][1][1]

    def array(self, name: str, first: int = 0, last: int | None = None) -> npt.NDArray[Any]:
        """Return rows of an array as a view, after checking their blocks.

        Raises:
            IndexFolderError: A block is damaged.
        """
        dtype, shape, begin = self._arrays[name]
        rows = max(0, (shape[0] if last is None else last) - first)
        width = shape[1] if len(shape) == 2 else 1
        at, size = begin + first * width * dtype.itemsize, rows * width * dtype.itemsize
        return np.frombuffer(self._bytes(at, at + size), dtype, rows * width).reshape([rows, *shape[1:]])

    def rows(self, name: str, numbers: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
        """Return some rows of an array of two dimensions, after checking their blocks and no others.

        Raises:
            IndexFolderError: A block is damaged.
        """
        dtype, (count, width), begin = self._arrays[name]
        size = width * dtype.itemsize
        at = begin + size * numbers.astype(np.int64)
        # Not `np.union1d`, whose first call imports numpy.ma: a tenth of the time of a first question.
        needed = np.zeros(len(self._checked), bool)
        needed[at // BLOCK] = needed[(at + size - 1) // BLOCK] = True
        for block in np.flatnonzero(needed > np.frombuffer(self._checked, np.uint8)).tolist():
            self._check(block, block + 1)
        selected: npt.NDArray[Any] = np.frombuffer(self._content, dtype, count * width, begin).reshape(count, width)[
            numbers
        ]
        return selected

    def piece(self, name: str, first: int, last: int) -> bytes:
        """Return a range of an array of bytes, after checking its blocks."""
        begin = self._arrays[name][2]
        return bytes(self._bytes(begin + first, begin + last))

    def content(self) -> bytes:
        """Return the whole file, checked."""
        self.verify()
        return bytes(self._unchecked(0, self.size))

    def verify(self) -> None:
        """Check every block, also those that were checked before.

        Raises:
            IndexFolderError: A block is damaged; the error names the first one.
        """
        self._checked = bytearray(len(self._sums))
        self._check(0, len(self._sums))

    def _unchecked(self, begin: int, end: int) -> Buffer:
        return memoryview(self._content)[begin:end]

    def _bytes(self, begin: int, end: int) -> Buffer:
        """Return bytes before the checksums, after checking their blocks."""
        first, last = begin // BLOCK, -(-end // BLOCK)
        if self._checked.find(0, first, last) >= 0:
            self._check(first, last)
        return memoryview(self._content)[begin:end]

    def _check(self, first: int, last: int) -> None:
        """Check those of some blocks that were not checked yet."""
        with memoryview(self._content) as content:
            for block in range(first, last):
                if not self._checked[block]:
                    at = block * BLOCK
                    if zlib.crc32(content[at : min(at + BLOCK, self._size)]) != self._sums[block]:
                        raise self._damaged(at, f"other bytes in the {BLOCK:,} that begin there")
                    self._checked[block] = 1

    def _damaged(self, at: int, got: str) -> IndexFolderError:
        return IndexFolderError(f"what was written at byte {at:,} of {self.path}", got, REPAIR)


class SortedStrings:
    """Sorted strings in a file, which are looked up by bisection.

    Args:
        file: The file with the strings.
        name: Name that was given to `add_strings`.
    """

    def __init__(self, file: BlockFile, name: str) -> None:
        self._file = file
        self._name = f"{name}/bytes"
        # An element of a memoryview is read several times as fast as one of an array.
        self._starts = file.array(f"{name}/starts").data

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: int) -> str:
        return decode(self._file.piece(self._name, self._starts[number], self._starts[number + 1]))

    def find(self, string: str) -> int | None:
        """Return the number of the first string that equals this one; None where there is none."""
        sought = encode(string)
        low, high = 0, len(self._starts) - 1
        is_there = False
        while low < high:
            middle = (low + high) // 2
            other = self._file.piece(self._name, self._starts[middle], self._starts[middle + 1])
            if other < sought:
                low = middle + 1
            else:
                # The last such string is the result of the bisection.
                high, is_there = middle, other == sought
        return low if is_there else None

    def all(self) -> list[str]:
        """Return all strings."""
        starts = self._starts.tolist()
        content = self._file.piece(self._name, 0, starts[-1])
        return [decode(content[first:last]) for first, last in pairwise(starts)]


def add_strings(writer: BlockWriter, name: str, strings: Iterable[str]) -> None:
    """Write strings for `SortedStrings`.

    Args:
        writer: Writer of the file.
        name: Name of the arrays.
        strings: The strings; sorted, if they are looked up. The order of UTF-8 is that of Python's strings.
    """
    encoded = [*map(encode, strings)]
    writer.add(f"{name}/starts", np.cumsum([0, *map(len, encoded)]), "<i8")
    writer.add(f"{name}/bytes", np.frombuffer(b"".join(encoded), np.uint8), "u1")


def encode(text: str) -> bytes:
    """Return any string as bytes, also one with half of a surrogate pair."""
    return text.encode("utf-8", "surrogatepass")


def decode(content: bytes) -> str:
    """Return the string of `encode`."""
    return content.decode("utf-8", "surrogatepass")
