"""The servers of a whole index, each with a share of its documents.

The document of key K is on server K modulo the number of servers, with its passages and its file. Every server has the
search structures. If a server is away, only its own documents are missing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from auscult.errors import ServerAwayError, ShareAwayError
from auscult_engines.postgres_server import PostgresServer
from auscult_engines.waiting import REACH

_T = TypeVar("_T")
_PAUSE: Final = 3.0
"""Seconds in which a server that was away is not asked again."""
_TRYING: Final = 20.0
"""Seconds in which one question finds out whether a server is back, while others do not wait for it."""


class Shares:
    """All servers of an index.

    Args:
        servers: In the order of their shares.

    Attributes:
        name: Of all of them, for people.
    """

    def __init__(self, servers: Sequence[PostgresServer]) -> None:
        self.servers = tuple(servers)
        self.name = ", ".join(server.name for server in servers)
        self._turns = count()
        self._one = threading.Lock()
        # By share, until when it is not asked.
        self._resting: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self.servers)

    def share_of(self, document: int) -> int:
        """Return the share that a document is on, by its key."""
        return document % len(self)

    def are_on(self, documents: npt.NDArray[np.int64], shares: Collection[int]) -> npt.NDArray[np.bool_]:
        """Return a mask of the documents that are on some shares, by their keys, (documents,)."""
        return np.isin(documents % len(self), [*shares])

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the rows of what every server has, from one that answers.

        Raises:
            EngineError: None can be reached, or one refuses or takes too long.
        """
        first = next(self._turns)
        for number in range(len(self) - 1):
            try:
                return self.rows_on((first + number) % len(self), query, values)
            except ShareAwayError:
                continue
        return self.rows_on((first - 1) % len(self), query, values)

    def rows_on(self, share: int, query: str, values: Sequence[object] = (), seen_by: str | None = None) -> list[Any]:
        """Return the rows of one share (`PostgresServer.rows`).

        Raises:
            ShareAwayError: It cannot be reached, and there are others.
            EngineError: It cannot be reached, refuses, or takes too long.
        """
        return self.on(share, lambda server: server.rows(query, values, seen_by))

    def on(self, share: int, action: Callable[[PostgresServer], _T]) -> _T:
        """Do something on one share's server.

        Raises:
            ShareAwayError: It cannot be reached, and there are others. For some seconds it is not tried again.
            EngineError: It cannot be reached, refuses, or takes too long.
        """
        server = self.servers[share]
        if len(self) == 1:
            return action(server)
        now = time.monotonic()
        with self._one:
            if now < self._resting.get(share, now):
                raise self._away(share)
            if share in self._resting:
                self._resting[share] = now + _TRYING
        is_away = False
        try:
            return action(server)
        except ServerAwayError as error:
            is_away = True
            raise self._away(share) from error
        finally:
            with self._one:
                self._resting.pop(share, None)
                if is_away:
                    self._resting[share] = time.monotonic() + _PAUSE

    def on_each(self, actions: Mapping[int, Callable[[PostgresServer], _T]]) -> list[_T]:
        """Do something on several servers at once.

        Args:
            actions: By share.

        Raises:
            EngineError: As `on`.
        """
        if len(actions) < 2:
            return [self.on(share, action) for share, action in actions.items()]
        with ThreadPoolExecutor(len(actions)) as pool:
            return [*pool.map(self.on, actions.keys(), actions.values())]

    def close(self) -> None:
        """End the connections that nobody uses just now; the next question makes others."""
        for server in self.servers:
            server.close()

    def _away(self, share: int) -> ShareAwayError:
        return ShareAwayError(share, len(self), self.servers[share].name, REACH)
