"""Durable files: synced writes, stores published by one atomic rename, and the lock that admits one writer.

An index folder has a store and a small file, CURRENT, that names the store and its last committed generation. A new
build fills another store, syncs it, and replaces CURRENT. A change within a store is a transaction of its database,
after which CURRENT is replaced. Whenever the machine stops, CURRENT names a complete store.

The last commits may be only in the database's write-ahead log, and SQLite silently drops the end of a damaged log. So
the generation is also recorded in CURRENT, outside the log, before its commit is reported as done.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from auscult.errors import IndexBusyError, IndexFolderError
from auscult.files.locking import FileLock
from auscult.index.manifest import CURRENT, LOCK, STORE, Manifest

STORE_NAME = re.compile(r"store-(\d{6,})")
_SEALED = re.compile(rb"(store-\d{6,})\ngeneration (\d+)\nmanifest ([0-9a-f]{64})\nsum ([0-9a-f]{8})\n")
_LOST = "put a backup in its place, or build the index again"


@dataclass(frozen=True, slots=True)
class Current:
    """The content of CURRENT.

    Attributes:
        store: Name of the live store's folder.
        generation: Number of the last reported commit.
        checksum: SHA-256 of its manifest, in hexadecimal digits.
    """

    store: str
    generation: int
    checksum: str

    def to_bytes(self) -> bytes:
        """Return the file's content."""
        lines = f"{self.store}\ngeneration {self.generation}\nmanifest {self.checksum}\n".encode()
        return lines + f"sum {zlib.crc32(lines):08x}\n".encode()

    def check(self, manifest: Manifest, checksum: str, store: Path) -> None:
        """Refuse a database whose generation is neither the last reported one nor the next one.

        A writer that was killed between its commit and the replacement of CURRENT leaves the next one. That generation
        is complete, but was not reported.

        Args:
            manifest: The manifest in the database.
            checksum: Checksum of that manifest.
            store: Path of the database, for the error.

        Raises:
            IndexFolderError: A commit is missing, or the generation belongs to another copy of the index.
        """
        if self.checksum in (checksum, manifest.before):
            return
        expected = f"generation {self.generation} in {store}, the last that {CURRENT} names"
        if manifest.generation < self.generation:
            remedy = f"put the file {store.name}-wal that belongs to it back, or a backup, or build the index again"
            raise IndexFolderError(expected, f"generation {manifest.generation}, to which commits are missing", remedy)
        remedy = f"{_LOST}; copy an index with: auscult backup"
        raise IndexFolderError(expected, f"another generation, with number {manifest.generation}", remedy)


def read_current(folder: Path) -> Current | None:
    """Read CURRENT; None where no index has been committed yet.

    Raises:
        IndexFolderError: The file is damaged.
    """
    path = folder / CURRENT
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        raise IndexFolderError(
            "the folder of an index", f"{str(folder)[:80]!r} ({reason})", "correct the path"
        ) from error
    if parts := _SEALED.fullmatch(raw):
        current = Current(parts[1].decode(), int(parts[2]), parts[3].decode())
        if current.to_bytes() == raw:
            return current
    raise IndexFolderError(f"the name and generation of a store in {path}", repr(raw[:80]), _LOST)


def current_store(folder: Path) -> Path | None:
    """Return the folder of the live store; None where no index has been committed yet.

    Raises:
        IndexFolderError: CURRENT does not name a store.
    """
    current = read_current(folder)
    return None if current is None else folder / current.store


_CURRENT_DRAFT = CURRENT + ".draft"


def write_synced(path: Path, data: bytes) -> None:
    """Write a whole file and wait until it is on the disk."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_tree(path: Path) -> None:
    """Sync a file, or every file and folder below a folder."""
    if path.is_dir():
        for child in sorted(path.iterdir()):
            sync_tree(child)
    sync(path)


def new_store(folder: Path) -> Path:
    """Create the folder of the next store."""
    try:
        current = current_store(folder)
    except IndexFolderError:
        # CURRENT is damaged; it will be replaced.
        current = None
    match = STORE_NAME.fullmatch(current.name) if current else None
    store = folder / f"store-{int(match.group(1)) + 1 if match else 1:06d}"
    if store.exists():
        shutil.rmtree(store)
    store.mkdir()
    return store


def publish(folder: Path, store: Path, generation: int, checksum: str) -> None:
    """Make a complete store the live one. At this moment readers see the new build.

    Args:
        folder: The index folder.
        store: Folder of the store, in the index folder.
        generation: Number of the store's generation.
        checksum: Checksum of its manifest.
    """
    sync_tree(store)
    write_current(folder, Current(store.name, generation, checksum))


def write_current(folder: Path, current: Current) -> None:
    """Replace CURRENT, and wait until it is on the disk."""
    draft = folder / _CURRENT_DRAFT
    write_synced(draft, current.to_bytes())
    sync(folder)
    os.replace(draft, folder / CURRENT)  # noqa: PTH105
    sync(folder)


def remove_leftovers(folder: Path, keep: Collection[str] | None = None) -> None:
    """Delete all stores but the live one, and its files that are no longer needed. Other files are never touched.

    Args:
        folder: The index folder.
        keep: Names of the files to keep in the live store; None keeps all.
    """
    current = current_store(folder)
    for path in folder.iterdir():
        if path.name == _CURRENT_DRAFT:
            path.unlink()
        elif STORE_NAME.fullmatch(path.name) and path != current:
            shutil.rmtree(path)
    if current is not None and keep is not None:
        for path in current.iterdir():
            if path.name not in keep and not path.name.startswith(STORE):
                path.unlink()


def prepare_folder(folder: Path) -> None:
    """Create the index folder; refuse one with other files.

    Raises:
        IndexFolderError: The path is a file, or a folder with other files and no index.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise IndexFolderError("a folder for the index", f"a file at {folder}", "name another folder") from error
    if (folder / CURRENT).exists():
        return
    names = [path.name for path in folder.iterdir()]
    if strangers := [name for name in names if name not in (LOCK, _CURRENT_DRAFT) and not STORE_NAME.fullmatch(name)]:
        raise IndexFolderError(
            "an empty folder or an index",
            f"a folder with other files ('{min(strangers)}') at {folder}",
            "name a new folder for the index",
        )


@contextmanager
def storage_errors(folder: Path) -> Iterator[None]:
    """Turn a full disk, a missing permission or a failing device into an error that says what to do."""
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


def sync(path: Path) -> None:
    """Sync a file, or the entries of a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def signs_of_change(folder: Path) -> object:
    """Return a value that changes with every commit to an index, without opening the index; None without an index."""
    try:
        named = (folder / CURRENT).read_bytes()
        store = folder / named.decode("utf-8", "replace").partition("\n")[0] / STORE
        files = [path.stat() for path in (store, store.with_name(f"{STORE}-wal")) if path.exists()]
    except OSError:
        return None
    return named, [(each.st_ino, each.st_size, each.st_mtime_ns) for each in files]


def lock_folder(folder: Path) -> FileLock:
    """Lock an index folder, which exists, for one writer.

    Raises:
        IndexBusyError: Another writer has the lock.
    """
    remedy = "wait until it has finished, or end that process"
    return FileLock(
        folder / LOCK,
        lambda holder: IndexBusyError(f"no other writer at {folder}", f"an index locked by {holder}", remedy),
    )
