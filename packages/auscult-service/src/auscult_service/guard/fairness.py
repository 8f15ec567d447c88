"""Limit the requests of a caller per minute, and decide whose request is computed next.

A caller with a hundred requests delays only themselves: callers take turns, and while others come, nobody gets more
than half of the places. A turn ends when its answer begins, so a client that reads slowly does not keep it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult_service.caller import asker_of, is_probe
from auscult_service.errors import Refusal, too_many
from auscult_service.guard.bodies import is_upload
from auscult_service.layer import Layer


class Rates(Layer):
    """Refuses callers who send more requests per minute than allowed; each caller is counted separately."""

    def __init__(self, app: ASGIApp, per_minute: int) -> None:
        super().__init__(app)
        self._buckets = Buckets(per_minute)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 429."""
        wait = 0.0 if is_probe(scope) else self._buckets.take(asker_of(scope))
        if wait:
            raise too_many(wait)
        await self.app(scope, receive, send)


_MOST_BUCKETS: Final = 10_000


class Buckets:
    """Token buckets by name. A bucket has room for the tokens of a minute and fills evenly.

    Args:
        per_minute: Tokens per minute; 0 for no limit.
        clock: Returns the time in seconds.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = float(per_minute)
        self._clock = clock
        # Tokens left, and the time of that count. The most recently used bucket is last.
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> float:
        """Take a token. Return 0, or the seconds until the next token where the bucket is empty."""
        if not self._size:
            return 0.0
        now = self._clock()
        left, then = self._left.pop(name, (self._size, now))
        left = min(self._size, left + (now - then) * self._size / 60)
        wait = 0.0 if left >= 1 else (1 - left) * 60 / self._size
        self._left[name] = (left if wait else left - 1, now)
        if len(self._left) > _MOST_BUCKETS:
            self._left.popitem(last=False)
        return wait


_WHILE: Final = 5.0
_QUICK: Final = ("/static/", "/api/v1/metrics")


class Turns:
    """Gives turns to callers in rotation.

    Args:
        slots: Turns at once; one caller gets at most half of them while others come.
        waiting: Requests that may wait; one caller may have at most half of them.
        clock: Returns the time in seconds.
    """

    def __init__(self, slots: int, waiting: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = slots
        self._share = max(1, slots // 2)
        self._most = waiting
        self._clock = clock
        self._count = 0
        self._running: Counter[str] = Counter()
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        # Time of the last request by caller, oldest first.
        self._came: OrderedDict[str, float] = OrderedDict()

    async def begin(self, asker: str) -> None:
        """Wait for a turn.

        Raises:
            Refusal: Too many requests wait, of all callers or of this one.
        """
        self._came.pop(asker, None)
        self._came[asker] = self._clock()
        if asker not in self._queues and self._may(asker):
            self._take(asker)
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
                self.end(asker)
            elif (queue := self._queues.get(asker)) is not None:
                with suppress(ValueError):
                    queue.remove(mine)
                    self._count -= 1
                if not queue:
                    del self._queues[asker]
            raise

    def end(self, asker: str) -> None:
        """End a turn, and begin the turns of those who are next."""
        self._free += 1
        self._running[asker] -= 1
        if not self._running[asker]:
            del self._running[asker]
        while (following := next((waiting for waiting in self._queues if self._may(waiting)), None)) is not None:
            queue = self._queues.pop(following)
            turn = queue.popleft()
            self._count -= 1
            if queue:
                # The caller's other requests go to the end of the rotation.
                self._queues[following] = queue
            if not turn.done():
                self._take(following)
                turn.set_result(None)

    def _may(self, asker: str) -> bool:
        """Return whether a caller may begin a turn now."""
        if not self._free:
            return False
        while self._came and next(iter(self._came.values())) < self._clock() - _WHILE:
            self._came.popitem(last=False)
        is_alone = not self._came.keys() - {asker}
        return is_alone or self._running[asker] < self._share

    def _take(self, asker: str) -> None:
        self._free -= 1
        self._running[asker] += 1


class Fairness(Layer):
    """Gives requests their turns. Uploads take long to arrive and have places of their own (`guard.uploads`)."""

    def __init__(self, app: ASGIApp, slots: int, waiting: int) -> None:
        super().__init__(app)
        self._turns = Turns(slots, waiting)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on when it is its turn, or refuse it with 429 or 503."""
        if is_upload(scope) or is_probe(scope) or scope["path"].startswith(_QUICK):
            await self.app(scope, receive, send)
            return
        turns, asker = self._turns, asker_of(scope)
        await turns.begin(asker)
        has_turn = True

        async def sending(message: Message) -> None:
            nonlocal has_turn
            if has_turn and message["type"] == "http.response.start":
                has_turn = False
                turns.end(asker)
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            if has_turn:
                turns.end(asker)
