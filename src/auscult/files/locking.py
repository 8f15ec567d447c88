"""A lock that one process at a time has on a file.

The kernel owns the lock, so it always ends with its process. Process numbers do not matter; the content of the file
only tells people who has the lock. A killed process leaves the file, which then locks nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from auscult.errors import AuscultError
from auscult.files.json_text import parse_json


class FileLock:
    """A lock, from its creation until `release` or the end of the process.

    Args:
        path: The lock's file, which only locks. Its folder exists.
        busy: Returns the error for a lock that another process has, called with words for that process.

    Raises:
        AuscultError: `busy`: another process has the lock.
        OSError: The file cannot be written.
    """

    def __init__(self, path: Path, busy: Callable[[str], AuscultError]) -> None:
        self._path, self._busy = path, busy
        self._descriptor = self._acquire()
        since = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps(holder).encode(), 0)

    @property
    def held(self) -> bool:
        """Whether the lock has not been released."""
        return self._descriptor >= 0

    def release(self) -> None:
        """Delete the lock file and release the lock. A second call has no effect."""
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
                holder = "another process"
                with suppress(ValueError, KeyError, TypeError):
                    stored = parse_json(os.pread(descriptor, 4096, 0))
                    holder = f"pid {stored['pid']} on host {stored['host']} since {stored['since']}"
                os.close(descriptor)
                raise self._busy(holder) from error
            except OSError:
                os.close(descriptor)
                raise
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), self._path.stat()):
                    return descriptor
            # The previous holder deleted the file after it was opened here, so it locks nothing: try again.
            os.close(descriptor)
