"""Files that appear whole or not at all, and whether and under what name they can be written."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
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
    partial = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partial
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise DataError("a writable place", f"{path}: {error.strerror}", "choose another path") from error


def write_json(path: Path, content: Any) -> None:
    """Write a record, or a list of them, as JSON; whole or not at all.

    Raises:
        DataError: The place cannot be written to.
    """
    with whole_or_nothing(path) as partial:
        partial.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def check_file(path: Path) -> None:
    """Whether a file could be written there, for asking before the work is done. Makes nothing.

    Raises:
        DataError: It is a folder, or lies where nothing can be written.
    """
    if path.is_dir():
        raise DataError("a file to write", f"{path}, which is a folder", "name a file in it")
    check_folder(path.parent)


def check_folder(path: Path) -> None:
    """Whether files could be written into a folder, which need not exist yet. Makes nothing.

    Raises:
        DataError: It, or the nearest folder above it that exists, is none or cannot be written to.
    """
    nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise DataError("a folder to write to", f"{nearest}, which is a file", "choose another path")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise DataError("a writable place", f"{nearest}, which may not be written to", "choose another path")


def file_name(label: str) -> str:
    """A label as part of a file's name: lower case, letters, digits and "+-." kept, "_" for the rest."""
    return re.sub(r"(?:[^\w+\-.]|_)+", "_", label.lower()).strip("_")
