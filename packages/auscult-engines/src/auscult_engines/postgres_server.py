"""Connections to a PostgreSQL server: with reconnection, time limits and plain error messages.

The only file that imports `psycopg`. The password comes from PGPASSWORD or a password file, and TLS from the address
(`?sslmode=verify-full`) or from PGSSLMODE, as libpq reads them.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from auscult.errors import EngineError, ServerAwayError
from auscult.telemetry import naming_extra
from auscult_engines.waiting import REACH, first_line, patiently

_T = TypeVar("_T")
MILLISECONDS: Final = 60_000
"""For a transaction."""
_READ_MILLISECONDS: Final = 10_000
"""For a statement that reads rows by their keys."""
_SECONDS: Final = 5
#: Keep-alive settings that detect a machine that is gone.
_SILENT: Final[Mapping[str, Any]] = {
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
#: A transaction waits for a model, and ends within two minutes when the machine of its writer is gone.
_LONG_WORK: Final = (
    "statement_timeout = 0",
    "idle_in_transaction_session_timeout = 0",
    "tcp_keepalives_idle = 60",
    "tcp_keepalives_interval = 10",
    "tcp_keepalives_count = 6",
)
_GRACE: Final = 2.0
"""Seconds after a statement's time limit in which the server must report it. Otherwise the server has stopped."""
#: Idle connections that are kept.
_KEPT: Final = 8


class PostgresServer:
    """A database for several threads, each with a connection of its own.

    Args:
        url: As libpq takes it, without a password.
        names: Names of tables and indexes, by the NAME in queries ({NAME}).
        waits: Seconds before a transaction is tried again when the connection was lost; None for those of `contract`.
        seen_by: Value of the setting `auscult.groups`, which row policies read; None to leave it.

    Attributes:
        name: Name for people.

    Raises:
        MissingExtraError: `psycopg` is not installed.
    """

    def __init__(
        self,
        url: str,
        names: Mapping[str, str],
        waits: Sequence[float] | None = None,
        seen_by: str | None = None,
    ) -> None:
        with naming_extra("postgres", "psycopg"):
            import psycopg
            from psycopg import sql

        class Connection(psycopg.Connection[Any]):
            """Does not wait for a server that has stopped without closing its connections."""

            patience: float | None = None

            def wait(self, gen: Any, *more: Any, **options: Any) -> Any:
                return super().wait(self._limited(gen), *more, **options)

            def _limited(self, gen: Any) -> Any:
                until = time.monotonic() + (self.patience or inf)
                try:
                    awaited = next(gen)
                    while True:
                        ready = yield awaited
                        if not ready and time.monotonic() > until:
                            raise psycopg.OperationalError(f"it has said nothing for {self.patience:.0f} s")
                        awaited = gen.send(ready)
                except StopIteration as end:
                    return end.value

        self._library, self._kind = psycopg, Connection
        self._url = url
        parts = urlsplit(url)
        self.name = f"the PostgreSQL server {parts.hostname or 'here'}{parts.path}"
        self._names = {each: sql.Identifier(*name.split(".")) for each, name in names.items()}
        self._waits, self._seen_by = waits, seen_by
        self._idle: list[tuple[Any, str | None]] = []
        self._one = threading.Lock()
        self._process = os.getpid()

    def composed(self, query: str) -> Any:
        """Return a query with the names of tables and indexes filled in."""
        return self._library.sql.SQL(query).format(**self._names)

    def transact(self, action: Callable[[Any], _T], limit: int = MILLISECONDS, seen_by: str | None = None) -> _T:
        """Run one transaction. It may run twice.

        Args:
            action: Called with the connection.
            limit: Milliseconds for each statement; 0 for no limit.
            seen_by: Value of `auscult.groups` in place of the server's.

        Raises:
            EngineError: The server cannot be reached, refuses, or takes too long.
        """

        def run() -> _T:
            with self._connected(seen_by or self._seen_by, limit) as connection, connection.transaction():
                connection.execute(f"SET LOCAL statement_timeout = {limit}")
                return action(connection)

        return self._attempt(run, limit)

    def rows(self, query: str, values: Sequence[object] = (), seen_by: str | None = None) -> list[Any]:
        """Return the rows of a statement that reads.

        Args:
            query: Statement with names in braces.
            values: Values of its parameters.
            seen_by: Value of `auscult.groups` in place of the server's.

        Raises:
            EngineError: The server cannot be reached, refuses, or takes too long.
        """

        def run() -> list[Any]:
            with self._connected(seen_by or self._seen_by, _READ_MILLISECONDS) as connection:
                rows: list[Any] = connection.execute(self.composed(query), values or None, binary=True).fetchall()
                return rows

        return self._attempt(run, _READ_MILLISECONDS)

    @contextmanager
    def alone(self, key: str, *, patient: bool = False) -> Iterator[Any]:
        """Yield a connection that holds the lock of a key; it is not reopened when it is lost.

        Args:
            key: Name of the lock.
            patient: Wait for the holder of the lock.

        Raises:
            EngineError: Another connection holds the lock, or the server cannot be reached.
        """
        with self.connection() as connection:
            if patient:
                connection.execute("SELECT pg_advisory_lock(hashtext(%s))", [key])
            elif not connection.execute("SELECT pg_try_advisory_lock(hashtext(%s))", [key]).fetchone()[0]:
                raise EngineError(f"no other publisher on {self.name}", "one at work", "wait until it has finished")
            try:
                yield connection
            finally:
                # The server may notice the end of the connection later than the next publisher asks.
                if connection.info.transaction_status == self._library.pq.TransactionStatus.IDLE:
                    connection.execute("SELECT pg_advisory_unlock(hashtext(%s))", [key])

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """Yield a connection for long work; it is not reopened when it is lost.

        Raises:
            EngineError: The server cannot be reached, or refuses.
        """
        with self._errors(0), self._connect() as connection:
            for setting in _LONG_WORK:
                connection.execute(f"SET {setting}")
            yield connection

    def close(self) -> None:
        """Close the idle connections; the next transaction opens a new one."""
        with self._one:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _connect(self) -> Any:
        return self._kind.connect(
            self._url, connect_timeout=_SECONDS, autocommit=True, application_name="auscult", **_SILENT
        )

    @contextmanager
    def _connected(self, seen_by: str | None, limit: int) -> Iterator[Any]:
        with self._one:
            if self._process != os.getpid():
                # After a fork, the connections belong to the parent process.
                self._idle, self._process = [], os.getpid()
            connection, groups = self._idle.pop() if self._idle else (None, None)
        if connection is None:
            connection = self._connect()
            connection.execute(f"SET statement_timeout = {_READ_MILLISECONDS}")
        connection.patience = limit / 1000 + _GRACE if limit else None
        try:
            if seen_by is not None and seen_by != groups:
                connection.execute("SELECT set_config('auscult.groups', %s, false)", [seen_by])
                groups = seen_by
            yield connection
        finally:
            with self._one:
                # A connection whose statement has not ended cannot be used again.
                is_at_rest = connection.info.transaction_status == self._library.pq.TransactionStatus.IDLE
                is_kept = is_at_rest and len(self._idle) < _KEPT
                if is_kept:
                    self._idle.append((connection, groups))
            if not is_kept:
                connection.close()

    def _attempt(self, action: Callable[[], _T], limit: int) -> _T:
        """Run an action, also again when the connection was lost, and word its errors."""
        with self._errors(limit):
            return patiently(action, self._is_lost, self.close, self.name, self._waits)

    @contextmanager
    def _errors(self, limit: int) -> Iterator[None]:
        try:
            yield
        except self._library.errors.QueryCanceled as error:
            remedy = "ask again when it has less to do, or give it more processors"
            raise EngineError(f"{self.name} to answer in {limit // 1000} s", "no answer", remedy) from error
        except self._library.Error as error:
            if self._is_lost(error):
                got = f"none ({first_line(error)})"
                raise ServerAwayError(f"an answer of {self.name}", got, REACH) from error
            raise EngineError(f"{self.name} to do it", first_line(error), "see the server's log") from error

    def _is_lost(self, error: Exception) -> bool:
        errors = self._library.errors
        # An error without a code comes from the connection, not from the server.
        unsaid = isinstance(error, self._library.OperationalError) and error.sqlstate is None
        ended = errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.ConnectionException
        return unsaid or isinstance(error, (*ended, self._library.InterfaceError))
