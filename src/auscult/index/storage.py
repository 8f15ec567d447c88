"""Durable files: synced writes, stores published by one atomic rename, and the lock that lets one writer in.

An index folder holds a store, and a small file, CURRENT, that names it and its last generation. A new build fills
another store, syncs it, and replaces CURRENT. A change within a store is a transaction of its database; CURRENT is
replaced after it. Whenever a machine stops, CURRENT names a whole store.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from auscult.errors import IndexBusyError, IndexFolderError
from auscult.files.json_text import parse_json
from auscult.index.current import OLD_NAME, STORE_NAME, Current, current_store
from auscult.index.manifest import CURRENT, LOCK, STORE

_CURRENT_DRAFT = CURRENT + ".draft"


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


def new_store(folder: Path) -> Path:
    """Make the folder of the store after the live one."""
    try:
        current = current_store(folder)
    except IndexFolderError:
        # Of an older format, or damaged: it is replaced.
        current = None
    match = STORE_NAME.fullmatch(current.name) if current else None
    store = folder / f"store-{int(match.group(1)) + 1 if match else 1:06d}"
    if store.exists():
        shutil.rmtree(store)
    store.mkdir()
    return store


def publish(folder: Path, store: Path, generation: int, checksum: str) -> None:
    """Make a finished store the live one: the single moment at which an index that is built changes.

    Args:
        folder: Of the index.
        store: Folder of the store, in it.
        generation: Number of the generation that the store holds.
        checksum: Of its manifest.
    """
    sync_tree(store)
    write_current(folder, Current(store.name, generation, checksum))


def write_current(folder: Path, current: Current) -> None:
    """Replace CURRENT and wait until that is on the disk."""
    draft = folder / _CURRENT_DRAFT
    write_synced(draft, current.to_bytes())
    sync_directory(folder)
    os.replace(draft, folder / CURRENT)  # noqa: PTH105
    sync_directory(folder)


def remove_leftovers(folder: Path, keep: Collection[str] | None = None) -> None:
    """Remove every store but the live one, and what no generation of it needs; other files are never touched.

    Args:
        folder: Of the index.
        keep: Names of the live store's segments; None leaves all.
    """
    current = current_store(folder)
    for path in folder.iterdir():
        if path.name == _CURRENT_DRAFT:
            path.unlink()
        elif (STORE_NAME.fullmatch(path.name) or OLD_NAME.fullmatch(path.name)) and path != current:
            shutil.rmtree(path)
    if current is not None and keep is not None:
        for path in current.iterdir():
            if path.name not in keep and not path.name.startswith(STORE):
                path.unlink()


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
    strangers = [name for name in strangers if not (STORE_NAME.fullmatch(name) or OLD_NAME.fullmatch(name))]
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


def _sync_and_close(file: BinaryIO) -> None:
    with file:
        file.flush()
        os.fsync(file.fileno())


def sync_directory(path: Path) -> None:
    """Sync a folder's entries."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def signs_of_change(folder: Path) -> object:
    """What changes with every commit to an index, and is looked at without opening anything; None where none is."""
    try:
        named = (folder / CURRENT).read_bytes()
        store = folder / named.decode("utf-8", "replace").partition("\n")[0] / STORE
        files = [path.stat() for path in (store, store.with_name(f"{STORE}-wal")) if path.exists()]
    except OSError:
        return None
    return named, [(each.st_ino, each.st_size, each.st_mtime_ns) for each in files]


class FolderLock:
    """Held by the writer of an index folder.

    The kernel owns the lock, so that it ends with its process however that ends: a dead process' lock is
    taken over at once, and a re-used process number cannot keep one alive. The content only tells people who
    holds it.

    Args:
        folder: The index folder; it exists.

    Raises:
        IndexBusyError: Another writer holds the lock.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._descriptor = self._acquire()
        since = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps(holder).encode(), 0)

    @property
    def held(self) -> bool:
        """Whether it has not been released."""
        return self._descriptor >= 0

    def release(self) -> None:
        """Remove the lock file and let the next writer in; harmless when called twice."""
        if self.held:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = -1

    def _acquire(self) -> int:
        while True:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                holder = _describe(os.pread(descriptor, 4096, 0))
                os.close(descriptor)
                raise IndexBusyError(
                    f"no other writer at {self._path.parent}",
                    f"an index locked by {holder}",
                    "wait until it has finished, or end that process",
                ) from error
            except OSError:
                os.close(descriptor)
                raise
            if self._is_at_path(descriptor):
                return descriptor
            # The holder before us removed the file after we had opened it: nobody else can see this one.
            os.close(descriptor)

    def _is_at_path(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self._path.stat())
        except FileNotFoundError:
            return False


def _describe(content: bytes) -> str:
    try:
        holder = parse_json(content)
        return f"pid {holder['pid']} on host {holder['host']} since {holder['since']}"
    except (ValueError, KeyError, TypeError):
        return "another process"
