"""Durable files: synced writes, growing arrays, and generations published by one atomic rename.

An index folder holds numbered generations and a one-line file, CURRENT, that names the live one. A writer
fills a new generation, syncs it, and replaces CURRENT. Whenever a machine stops, CURRENT names a whole one.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from auscult.errors import IndexFolderError
from auscult.index.layout import CURRENT, LOCK
from auscult.index.manifest import FileRecord

_GENERATION = re.compile(r"generation-(\d{6,})(\.added)?")
_CURRENT_DRAFT = CURRENT + ".draft"


class ArrayFile:
    """A .npy file that grows by rows; only its header is rewritten, when it is closed.

    Args:
        path: The file to create.
        dtype: Type of an element or record.
        width: Columns of a matrix; None for a vector.
    """

    def __init__(self, path: Path, dtype: np.dtype[Any], width: int | None = None) -> None:
        self._dtype = dtype
        self._width = width
        self._rows = 0
        self._file = path.open("wb")
        self._write_header()
        self._data_start = self._file.tell()

    def append(self, rows: npt.NDArray[Any]) -> None:
        """Append rows; they are cast to the file's type."""
        self._file.write(np.ascontiguousarray(rows, dtype=self._dtype).tobytes())
        self._rows += len(rows)

    def close(self) -> None:
        """Write the true row count and sync."""
        self._file.seek(0)
        self._write_header()
        # NumPy pads the header so that the first axis may grow; otherwise data would be overwritten here.
        if self._file.tell() != self._data_start:
            raise RuntimeError(f"the .npy header of {self._file.name} changed its length")
        _sync_and_close(self._file)

    def discard(self) -> None:
        """Close without finishing; the file is not an array yet."""
        self._file.close()

    def _write_header(self) -> None:
        shape = (self._rows,) if self._width is None else (self._rows, self._width)
        np.lib.format.write_array_header_1_0(
            self._file, {"descr": np.lib.format.dtype_to_descr(self._dtype), "fortran_order": False, "shape": shape}
        )


class ByteFile:
    """A file of concatenated byte strings."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self.size = 0

    def append(self, data: bytes) -> None:
        """Append; `size` is the offset of the next piece."""
        self._file.write(data)
        self.size += len(data)

    def close(self) -> None:
        """Sync and close."""
        _sync_and_close(self._file)

    def discard(self) -> None:
        """Close without syncing."""
        self._file.close()


def write_synced(path: Path, data: bytes) -> None:
    """Write a whole file and wait until it is on the disk."""
    file = path.open("wb")
    file.write(data)
    _sync_and_close(file)


def sync_tree(path: Path) -> None:
    """Sync a file, or every file and folder below a folder."""
    if path.is_dir():
        for child in sorted(path.iterdir()):
            sync_tree(child)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def file_records(generation: Path) -> dict[str, FileRecord]:
    """Size and checksum of every file below a folder, by relative path."""
    records = {}
    for path in sorted(generation.rglob("*")):
        if path.is_file():
            records[path.relative_to(generation).as_posix()] = file_record(path)
    return records


def file_record(path: Path) -> FileRecord:
    """Size and checksum of one file, read in blocks."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return FileRecord(file.tell(), digest.hexdigest())


def current_generation(folder: Path) -> Path | None:
    """The live generation's folder; None where no index has been committed yet.

    Raises:
        IndexFolderError: CURRENT does not name a generation.
    """
    try:
        raw = (folder / CURRENT).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        raise IndexFolderError(
            "the folder of an index", f"{str(folder)[:80]!r} ({reason})", "correct the path"
        ) from error
    name = raw.decode("utf-8", "replace").strip()
    match = _GENERATION.fullmatch(name)
    if match is None or match.group(2):
        raise IndexFolderError(
            f"the name of a generation in {folder / CURRENT}", repr(name[:80]), "build the index again"
        )
    return folder / name


def new_generation(folder: Path, suffix: str = "") -> Path:
    """Make the folder of the generation after the live one."""
    current = current_generation(folder)
    match = _GENERATION.fullmatch(current.name) if current else None
    generation = folder / f"generation-{int(match.group(1)) + 1 if match else 1:06d}{suffix}"
    generation.mkdir()
    return generation


def publish(folder: Path, generation: Path) -> None:
    """Make a finished, synced generation the live one: the single moment at which an index changes."""
    sync_tree(generation)
    draft = folder / _CURRENT_DRAFT
    write_synced(draft, f"{generation.name}\n".encode())
    _sync_directory(folder)
    os.replace(draft, folder / CURRENT)  # noqa: PTH105
    _sync_directory(folder)


def remove_leftovers(folder: Path) -> None:
    """Remove every generation but the live one, and an unpublished CURRENT; other files are never touched."""
    current = current_generation(folder)
    for path in folder.iterdir():
        if path.name == _CURRENT_DRAFT:
            path.unlink()
        elif _GENERATION.fullmatch(path.name) and path != current:
            shutil.rmtree(path)


def prepare_folder(folder: Path) -> None:
    """Make the index folder; refuse one that holds somebody's other files.

    Raises:
        IndexFolderError: The path is a file, or a folder with other things in it and no index.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise IndexFolderError("a folder for the index", f"a file at {folder}", "name another folder") from error
    if (folder / CURRENT).exists():
        return
    strangers = [p.name for p in folder.iterdir() if p.name not in (LOCK, _CURRENT_DRAFT)]
    strangers = [name for name in strangers if not _GENERATION.fullmatch(name)]
    if strangers:
        raise IndexFolderError(
            "an empty folder or an index",
            f"a folder with other files ('{min(strangers)}') at {folder}",
            "name a new folder for the index",
        )


@contextmanager
def storage_errors(folder: Path) -> Iterator[None]:
    """Turn a full disk, a missing permission or a failing device into an error the user can act on."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        remedy = "free some space" if error.errno == errno.ENOSPC else "check the disk and the folder's permissions"
        raise IndexFolderError(
            f"to be able to write the index in {folder}",
            f"'{reason}'",
            f"{remedy} and run again; the folder's last committed index is whole",
        ) from error


def _sync_and_close(file: Any) -> None:
    with file:
        file.flush()
        os.fsync(file.fileno())


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
