"""Which generations of an index are read at a server, so that rows go when nobody can see them any more.

A reader has a shared advisory lock on the generation that it reads, over a connection of its own. The server lets go of
it when the reader ends, however it ends, and a reader needs no right to write. One that loses its connection is not
waited for: where rows are gone that it needs, it says so.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress
from typing import Any, Final

from auscult.errors import ShareAwayError
from auscult_engines.postgres_server import PostgresServer
from auscult_engines.shares import Shares

PATIENCE: Final = 15.0
"""Seconds that a publisher waits for readers of earlier generations. A service opens the next one within a few."""
_PAUSE: Final = 0.2
_LOCK: Final = "SELECT pg_advisory_lock_shared(hashtext(%s), %s)"
_OLDEST: Final = (
    "SELECT min(objid::bigint) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND classid::bigint = hashtext(%s)::bigint & 4294967295"
)


class Presence:
    """Says at the servers of an index that a generation of it is read, until it is closed.

    Args:
        shares: The servers; those that are away are left out.
        schema: Of the index' tables.
        generation: That is read.

    Raises:
        EngineError: No server can be reached, or one refuses.
    """

    def __init__(self, shares: Shares, schema: str, generation: int) -> None:
        self._process = os.getpid()
        self._open = ExitStack()

        def enter(server: PostgresServer) -> None:
            self._open.enter_context(server.connection()).execute(_LOCK, [schema, generation])

        for share in range(len(shares)):
            with suppress(ShareAwayError):
                shares.on(share, enter)

    def close(self) -> None:
        """Stop to say so."""
        # A copy of the process must not end the connection of the one that it was made of.
        if os.getpid() == self._process:
            self._open.close()


def oldest_read(run: Any, schema: str, latest: int, until: float) -> int:
    """Wait for the readers of earlier generations than the latest. Return the oldest generation that somebody reads.

    Args:
        run: A connection to the server.
        schema: Schema of the index's tables.
        latest: The published generation.
        until: Time when waiting ends, by `time.monotonic`.
    """
    while True:
        oldest_number = run.execute(_OLDEST, [schema]).fetchone()[0]
        oldest = latest if oldest_number is None else min(oldest_number, latest)
        if oldest == latest or time.monotonic() >= until:
            return oldest
        time.sleep(_PAUSE)
