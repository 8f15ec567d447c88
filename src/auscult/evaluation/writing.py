"""Files that appear whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
