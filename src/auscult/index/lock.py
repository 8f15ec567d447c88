"""One writer at a time: an operating-system lock on the file `lock`, which names its holder."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path

from auscult.errors import IndexBusyError
from auscult.files.json_text import parse_json
from auscult.index.layout import LOCK


class FolderLock:
    """Held by the writer of an index folder.

    The kernel owns the lock, so that it ends with its process however that ends: a dead process' lock is
    taken over at once, and a re-used process number cannot keep one alive. The content only tells people who
    holds it.

    Args:
        folder: The index folder; it exists.

    Raises:
        IndexBusyError: Another writer holds the lock.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._descriptor = self._acquire()
        since = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps(holder).encode(), 0)

    @property
    def held(self) -> bool:
        """Whether it has not been released."""
        return self._descriptor >= 0

    def release(self) -> None:
        """Remove the lock file and let the next writer in; harmless when called twice."""
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
                holder = _describe(os.pread(descriptor, 4096, 0))
                os.close(descriptor)
                raise IndexBusyError(
                    f"no other writer at {self._path.parent}",
                    f"an index locked by {holder}",
                    "wait until it has finished, or end that process",
                ) from error
            except OSError:
                os.close(descriptor)
                raise
            if self._is_at_path(descriptor):
                return descriptor
            # The holder before us removed the file after we had opened it: nobody else can see this one.
            os.close(descriptor)

    def _is_at_path(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self._path.stat())
        except FileNotFoundError:
            return False


def _describe(content: bytes) -> str:
    try:
        holder = parse_json(content)
        return f"pid {holder['pid']} on host {holder['host']} since {holder['since']}"
    except (ValueError, KeyError, TypeError):
        return "another process"
