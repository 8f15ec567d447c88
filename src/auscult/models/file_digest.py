"""One digest of several files, to tell whether a saved model is whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest_of(files: Iterable[Path], folder: Path) -> str:
    """SHA-256 over names and contents of files.

    Args:
        files: In any order.
        folder: Names count from here.
    """
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as opened:
            total.update(hashlib.file_digest(opened, "sha256").digest())
    return total.hexdigest()


__all__ = ["digest_of"]
