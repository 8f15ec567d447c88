"""Are the files that lie here the ones the catalogue means?"""

from __future__ import annotations

import zlib
from enum import StrEnum
from pathlib import Path

from auscult.corpora.catalogue import DataFile, sha256_of
from auscult.errors import DataError


class FileState(StrEnum):
    """What a file turned out to be.

    `SAME`: byte for byte the catalogue's. `SAME_CONTENT`: packed differently, same uncompressed bytes.
    `DIFFERENT`: readable, but other content, or not readable to its end. `MISSING`: not there.
    """

    SAME = "same"
    SAME_CONTENT = "same content"
    DIFFERENT = "different"
    MISSING = "missing"


def check_file(file: DataFile, path: Path) -> FileState:
    """Compare the file at `path` with the catalogue's digests."""
    if not path.exists():
        return FileState.MISSING
    if sha256_of(path) == file.sha256:
        return FileState.SAME
    try:
        content = sha256_of(path, uncompressed=True)
    except (OSError, EOFError, zlib.error):
        return FileState.DIFFERENT
    return FileState.SAME_CONTENT if content == file.content_sha256 else FileState.DIFFERENT


def require_same(file: DataFile, path: Path, remedy: str) -> None:
    """Refuse a file whose content is not the catalogue's.

    Raises:
        DataError: Naming the file, with `remedy`.
    """
    state = check_file(file, path)
    if state in (FileState.DIFFERENT, FileState.MISSING):
        raise DataError(f"{file.path} with the catalogue's checksum", f"a {state.value} file at {path}", remedy)


__all__ = ["FileState", "check_file", "require_same"]
