"""A file of keys as a running service sees it: read again when it has changed, so that revoking needs no restart."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from auscult.errors import ConfigError
from auscult.service.access.keys import Key, find, read

_LOG: Final = logging.getLogger("auscult.service")


class KeyFile:
    """Keys by what is shown.

    Args:
        path: The file.

    Raises:
        ConfigError: It is none of keys.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._signs = _signs(path)
        self._keys: Sequence[Key] = read(path)

    def find(self, shown: str) -> Key | None:
        """The key that was shown, where it is known, not revoked and not expired."""
        signs = _signs(self._path)
        if signs != self._signs:
            # A file that cannot be read opens nothing: it may have been changed to shut somebody out.
            try:
                self._keys = read(self._path)
            except ConfigError as error:
                _LOG.error("no key is taken until the file is mended: %s", error)
                self._keys = ()
            self._signs = signs
        return find(self._keys, shown, datetime.now(UTC))


def _signs(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode
