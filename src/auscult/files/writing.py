"""Files and folders that appear whole or not at all, and whether and under what name they can be written.

Each is written to a temporary neighbour and then renamed. Whatever ends the writing before that, an error or an
interrupt, leaves what was there as it was and takes the neighbour away; only a killed process leaves a neighbour, which
the next writing takes for its own. What the system refuses is told as an error that names the place and the cause.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from auscult.errors import DataError


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[Path]:
    """Write beside a file and put it in place at the end; an error leaves the old file as it was.

    Args:
        path: Where the file will be; missing folders are made.

    Yields:
        Where to write to.

    Raises:
        DataError: The place cannot be written to.
    """
    partial = partial_of(path)
    with _naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partial
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def put_file(fresh: Path, path: Path) -> None:
    """Move a file that is whole to its place on the same disk, instead of one that may be there.

    For what is not written at once, such as a download that is taken up again; all else is `whole_or_nothing`'s.

    Raises:
        DataError: The place cannot be written to.
    """
    with _naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.replace(path)


def partial_of(path: Path) -> Path:
    """Return where a file or folder is until it is whole; a killed process leaves it there."""
    return path.with_name(path.name + ".part")


def write_text(path: Path, content: str) -> None:
    """Write a text in UTF-8; whole or not at all.

    Raises:
        DataError: The place cannot be written to.
    """
    with whole_or_nothing(path) as partial:
        partial.write_text(content, encoding="utf-8")


def write_json(path: Path, content: Any) -> None:
    """Write a record, or a list of them, as JSON; whole or not at all.

    Raises:
        DataError: The place cannot be written to.
    """
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Write a folder beside its place and put it there at the end, instead of one that may be there.

    Args:
        path: Where the folder will be; the folders above it are made.

    Yields:
        The new folder, empty.

    Raises:
        DataError: The place cannot be written to.
    """
    partial = partial_of(path)
    with _naming(path):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            yield partial
            put_folder(partial, path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def put_folder(fresh: Path, path: Path) -> None:
    """Move a folder to a place on the same disk; one that is there gives way, and stays where the move fails.

    Raises:
        DataError: The place cannot be written to.
    """
    with _naming(path):
        if not path.is_dir():
            fresh.rename(path)
            return
        with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as scratch:
            stale = path.rename(Path(scratch, path.name))
            try:
                fresh.rename(path)
            except BaseException:
                stale.rename(path)
                raise


@contextmanager
def renewed_folder(path: Path, *, last: str = "", without: Sequence[str] = ()) -> Iterator[Path]:
    """Write files and folders into a folder at once, instead of those of the same names; others in it stay.

    They are moved there one by one: a process that is killed in between leaves old ones beside new ones. Where `last`
    holds digests of the others, such a mix is told from a whole folder.

    Args:
        path: The folder, made when missing.
        last: The file that is moved after all others.
        without: Names that the folder shall not have any more, where they are not written anew.

    Yields:
        An empty folder to write to.

    Raises:
        DataError: The folder cannot be written to.
    """
    with _naming(path):
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path) as scratch:
            fresh, stale = Path(scratch, "fresh"), Path(scratch, "stale")
            fresh.mkdir()
            stale.mkdir()
            yield fresh
            names = {each.name for each in fresh.iterdir()} | {*without}
            for name in sorted(names, key=lambda name: (name == last, name)):
                new, old = fresh / name, path / name
                # Only a file gives way to a file in one step.
                if old.exists() and not (old.is_file() and new.is_file()):
                    old.rename(stale / name)
                if new.exists():
                    new.replace(old)


def check_file(path: Path) -> None:
    """Check that a file could be written there, before the work is done. Makes nothing.

    Raises:
        DataError: It is a folder, or lies where nothing can be written.
    """
    if path.is_dir():
        raise DataError("a file to write", f"{path}, which is a folder", "name a file in it")
    check_folder(path.parent)


def check_folder(path: Path) -> None:
    """Check that files could be written into a folder, which need not exist yet. Makes nothing.

    Raises:
        DataError: It, or the nearest folder above it that exists, is none or cannot be written to.
    """
    nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise DataError("a folder to write to", f"{nearest}, which is a file", "choose another path")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise DataError("a writable place", f"{nearest}, which may not be written to", "choose another path")


def file_name(label: str) -> str:
    """Return a label as part of a file's name: lower case, letters, digits and "+-." kept, "_" for the rest."""
    return re.sub(r"(?:[^\w+\-.]|_)+", "_", label.lower()).strip("_")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError("a writable place", f"{path}: {error.strerror or error}", "choose another path") from error
