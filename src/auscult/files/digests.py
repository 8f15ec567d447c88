"""SHA-256 digests of files, which tell whether what is there is what was meant."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest_of_file(path: Path) -> str:
    """Return the digest of a file's bytes, in hexadecimal.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def digest_of_unpacked(path: Path) -> str:
    """Return the digest of what a gzip file holds, in hexadecimal: the same however it was compressed.

    Raises:
        OSError, EOFError, zlib.error: It cannot be read, is no gzip file, or is cut short.
    """
    digest = hashlib.sha256()
    with gzip.open(path) as opened:
        while chunk := opened.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def digest_of_files(files: Iterable[Path], folder: Path) -> str:
    """Return the digest of the names and bytes of files, in hexadecimal.

    Args:
        files: In the order that counts.
        folder: Names count from here.

    Raises:
        OSError: One cannot be read.
    """
    total = hashlib.sha256()
    for path in files:
        total.update(path.relative_to(folder).as_posix().encode())
        total.update(bytes.fromhex(digest_of_file(path)))
    return total.hexdigest()
