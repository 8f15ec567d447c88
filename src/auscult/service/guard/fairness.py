"""Turns: so many requests at once, and each caller's in turn with those of others.

Somebody with a hundred requests waits for themselves: whoever comes with one is next but for what is being answered. A
turn ends when its answer begins, so that nobody who reads slowly holds one.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult.service.errors import Refusal
from auscult.service.guard.bodies import is_upload
from auscult.service.guard.refusing import asker_of, refuse, too_many

_QUICK: Final = ("/static/", "/health", "/ready", "/api/v1/health", "/api/v1/ready", "/metrics", "/api/v1/metrics")


class Turns:
    """Who is next.

    Args:
        slots: How many at once.
        waiting: How many may wait; half of them of one asker.
    """

    def __init__(self, slots: int, waiting: int) -> None:
        self._free = slots
        self._most = waiting
        self._count = 0
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    async def begin(self, asker: str) -> None:
        """Wait for a turn.

        Raises:
            Refusal: Too many wait, of all or of this asker.
        """
        if self._free:
            self._free -= 1
            return
        if len(self._queues.get(asker, ())) >= max(1, self._most // 2):
            raise too_many(1)
        if self._count >= self._most:
            message = "expected fewer requests at once, got more than the limit"
            raise Refusal(503, "busy", message, "wait as long as Retry-After says", {"Retry-After": "1"})
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(asker, deque()).append(mine)
        self._count += 1
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self.end()
            else:
                self._forget(asker, mine)
            raise

    def end(self) -> None:
        """Let the next one begin."""
        while self._queues:
            asker, queue = self._queues.popitem(last=False)
            following = queue.popleft()
            self._count -= 1
            if queue:
                self._queues[asker] = queue
            if not following.done():
                following.set_result(None)
                return
        self._free += 1

    def _forget(self, asker: str, mine: asyncio.Future[None]) -> None:
        queue = self._queues.get(asker)
        if queue is None:
            return
        with suppress(ValueError):
            queue.remove(mine)
            self._count -= 1
        if not queue:
            del self._queues[asker]


class Fairness:
    """Gives requests their turns; uploads, which take long to arrive, have turns of their own."""

    def __init__(self, app: ASGIApp, slots: int, waiting: int) -> None:
        self.app = app
        self._asking = Turns(slots, waiting)
        self._uploading = Turns(slots, waiting)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on when it is its turn, or refuse it with 429 or 503."""
        if scope["type"] != "http" or scope["path"].startswith(_QUICK):
            await self.app(scope, receive, send)
            return
        turns = self._uploading if is_upload(scope) else self._asking
        try:
            await turns.begin(asker_of(scope))
        except Refusal as refusal:
            await refuse(refusal, scope, receive, send)
            return
        has_turn = True

        async def sending(message: Message) -> None:
            nonlocal has_turn
            if has_turn and message["type"] == "http.response.start":
                has_turn = False
                turns.end()
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            if has_turn:
                turns.end()
