"""Write files and folders atomically, and check whether and under what name they can be written.

Each is written under a temporary name beside its place and then renamed. An error or an interrupt before that removes
the temporary file and leaves the old one unchanged. Only a killed process leaves a temporary file, which the next
writing replaces. If the system refuses to write, the error names the place and the cause.
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
    """Write a temporary file and put it in place at the end; an error leaves the old file unchanged.

    Args:
        path: The final path; missing folders are created.

    Yields:
        The path to write to.

    Raises:
        DataError: The place cannot be written to.
    """
    partial = partial_of(path)
    with _name_place(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partial
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def put_file(fresh: Path, path: Path) -> None:
    """Move a complete file to its place on the same disk, replacing one that may be there.

    It is for files that are written in several runs, such as a resumed download; for others use `whole_or_nothing`.

    Raises:
        DataError: The place cannot be written to.
    """
    with _name_place(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.replace(path)


def partial_of(path: Path) -> Path:
    """Return the temporary path of an incomplete file or folder, where a killed process leaves it."""
    return path.with_name(path.name + ".part")


def write_text(path: Path, content: str) -> None:
    """Write a text in UTF-8, atomically.

    Raises:
        DataError: The place cannot be written to.
    """
    with whole_or_nothing(path) as partial:
        partial.write_text(content, encoding="utf-8")


def write_json(path: Path, content: Any) -> None:
    """Write a record, or a list of records, as JSON, atomically.

    Raises:
        DataError: The place cannot be written to.
    """
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Write a temporary folder and put it in place at the end, replacing one that may be there.

    Args:
        path: The final path; missing parent folders are created.

    Yields:
        The new folder, empty.

    Raises:
        DataError: The place cannot be written to.
    """
    partial = partial_of(path)
    with _name_place(path):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            yield partial
            put_folder(partial, path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def put_folder(fresh: Path, path: Path) -> None:
    """Move a folder to a place on the same disk; it replaces one that is there, which stays if the move fails.

    Raises:
        DataError: The place cannot be written to.
    """
    with _name_place(path):
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
    """Write files and folders into a folder, replacing those of the same names; others in it stay.

    They are moved there one by one at the end, so a killed process may leave old ones beside new ones. If `last`
    contains digests of the others, readers can detect such a mix.

    Args:
        path: The folder, created if missing.
        last: Name of the file that is moved after all others.
        without: Names to remove from the folder, unless they are written again.

    Yields:
        An empty folder to write to.

    Raises:
        DataError: The folder cannot be written to.
    """
    with _name_place(path):
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path) as scratch:
            fresh, stale = Path(scratch, "fresh"), Path(scratch, "stale")
            fresh.mkdir()
            stale.mkdir()
            yield fresh
            names = {each.name for each in fresh.iterdir()} | {*without}
            for name in sorted(names, key=lambda name: (name == last, name)):
                new, old = fresh / name, path / name
                # Only a file can replace a file in one step.
                if old.exists() and not (old.is_file() and new.is_file()):
                    old.rename(stale / name)
                if new.exists():
                    new.replace(old)


def check_file(path: Path) -> None:
    """Check that a file can be written, before the work is done. Nothing is created.

    Raises:
        DataError: The path is a folder, or its place is not writable.
    """
    if path.is_dir():
        raise DataError("a file to write", f"{path}, which is a folder", "name a file in it")
    check_folder(path.parent)


def check_folder(path: Path) -> None:
    """Check that files can be written into a folder, which need not exist yet. Nothing is created.

    Raises:
        DataError: It, or its nearest existing parent, is not a folder or is not writable.
    """
    nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise DataError("a folder to write to", f"{nearest}, which is a file", "choose another path")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise DataError("a writable place", f"{nearest}, which may not be written to", "choose another path")


def file_name(label: str) -> str:
    """Return a label as part of a file name: lower-case letters, digits and "+-." stay, the rest becomes "_"."""
    return re.sub(r"(?:[^\w+\-.]|_)+", "_", label.lower()).strip("_")


@contextmanager
def _name_place(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError("a writable place", f"{path}: {error.strerror or error}", "choose another path") from error
