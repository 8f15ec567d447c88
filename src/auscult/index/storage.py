"""Durable files: synced writes, and stores published by one atomic rename.

An index folder holds a store, and a one-line file, CURRENT, that names it. Who builds an index anew fills another
store, syncs it, and replaces CURRENT; a change within a store is a transaction of its database. Whenever a machine
stops, CURRENT names a whole store.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from auscult.errors import IndexFolderError
from auscult.files.json_text import parse_json
from auscult.index.layout import CURRENT, FORMAT_VERSION, LOCK, STORE

_STORE = re.compile(r"store-(\d{6,})")
_OLD = re.compile(r"generation-(\d{6,})(\.added)?")
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


def current_store(folder: Path) -> Path | None:
    """The folder of the live store; None where no index has been committed yet.

    Raises:
        IndexFolderError: CURRENT does not name a store.
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
    if _OLD.fullmatch(name):
        raise IndexFolderError(
            f"an index of format {FORMAT_VERSION}",
            f"one of an older format at {folder}",
            f"build it again with: {_built_by(folder, name)}",
        )
    if not _STORE.fullmatch(name) or raw != f"{name}\n".encode():
        raise IndexFolderError(f"the name of a store in {folder / CURRENT}", repr(raw[:80]), "build the index again")
    return folder / name


def _built_by(folder: Path, generation: str) -> str:
    """The command that builds an index of an older format again, as far as it tells of what it was made."""
    corpus, model = "CORPUS", ""
    try:
        told = parse_json((folder / generation.removesuffix(".added") / "manifest.json").read_text(encoding="utf-8"))
        corpus, model = str(told["corpus"] or corpus), str(told["model"]["path"])
    except (OSError, ValueError, KeyError, TypeError):
        # Damaged, or not of this kind: what is missing is for whoever reads it to fill in.
        pass
    return shlex.join(["auscult", "index", corpus, "--out", str(folder), *(["--model", model] if model else [])])


def new_store(folder: Path) -> Path:
    """Make the folder of the store after the live one."""
    try:
        current = current_store(folder)
    except IndexFolderError:
        # Of an older format, or damaged: it is replaced.
        current = None
    match = _STORE.fullmatch(current.name) if current else None
    store = folder / f"store-{int(match.group(1)) + 1 if match else 1:06d}"
    if store.exists():
        shutil.rmtree(store)
    store.mkdir()
    return store


def publish(folder: Path, store: Path) -> None:
    """Make a finished store the live one: the single moment at which an index that is built changes."""
    sync_tree(store)
    draft = folder / _CURRENT_DRAFT
    write_synced(draft, f"{store.name}\n".encode())
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
        elif (_STORE.fullmatch(path.name) or _OLD.fullmatch(path.name)) and path != current:
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
    strangers = [name for name in strangers if not (_STORE.fullmatch(name) or _OLD.fullmatch(name))]
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
        store = folder / named.decode("utf-8", "replace").strip() / STORE
        files = [path.stat() for path in (store, store.with_name(f"{STORE}-wal")) if path.exists()]
    except OSError:
        return None
    return named, [(each.st_ino, each.st_size, each.st_mtime_ns) for each in files]
