"""Limit uploads while they arrive: who may send one, how many at once, and how fast.

The caller's role is checked first. Then the upload waits for a place; until it has one, not a byte is read, and no
"100 Continue" is sent. The body is passed on as it arrives, and its bytes are counted, whether a length was declared
or not. When the whole body has arrived, it waits for a turn to be stored.

An upload takes seconds or minutes to arrive. It costs hardly any computing, but memory and disk. So the number of
uploads at once is limited, and a caller gets at most a quarter of the places. A slow upload loses its place:

- An upload must keep a least rate. It may fall behind by some seconds, and catch up with later bytes.
- While others wait for a place, there is no such tolerance: an upload slower than the least rate is ended.
- The whole upload has a time limit, whatever its rate.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult_service.caller import ANYONE, Caller, asker_of, check_upload
from auscult_service.errors import Refusal, too_many
from auscult_service.guard.bodies import declared_length, is_upload, too_large
from auscult_service.guard.fairness import Turns
from auscult_service.layer import Layer

_JUDGED: Final = 5.0
"""Seconds that others must have waited for a place, and an upload must have had, before a slow upload is ended."""
_LONGEST_WAIT: Final = 60
"""Seconds that an upload waits for a place before it is refused."""
_CLOSE: Final = {"Connection": "close"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Limits on the time of an upload.

    Attributes:
        rate: Least bytes a second; 0 for no limit.
        patience: Seconds that it may fall behind that rate.
        seconds: Limit on the time of the whole upload.
    """

    rate: int
    patience: float
    seconds: float


class Arrival:
    """One upload while it arrives.

    Args:
        asker: Name of the caller, for limits.
        pace: Limits on its time.

    Attributes:
        size: Bytes that have arrived.
    """

    def __init__(self, asker: str, pace: Pace) -> None:
        self.asker = asker
        self.size = 0
        self._pace = pace
        self._clock = asyncio.get_running_loop().time
        self._ends = self._clock() + pace.seconds
        # Seconds that this service has waited for the sender; its own work does not count.
        self._waited = 0.0
        self._left = pace.patience
        self._waits_since = 0.0
        self._timeout: asyncio.Timeout | None = None
        self._is_cut = False

    async def next(self, receive: Receive) -> Message:
        """Receive the next piece.

        Raises:
            Refusal: 408 where the piece is late, 503 where the upload was ended for others.
        """
        # A cut that came after the last piece had arrived has no effect.
        self._is_cut = False
        self._waits_since = self._clock()
        whole = self._ends - self._waits_since
        try:
            async with asyncio.timeout(min(self._left, whole)) as self._timeout:
                message = await receive()
        except TimeoutError:
            raise self._refusal(is_whole=whole <= self._left) from None
        finally:
            self._timeout = None
        waited = self._clock() - self._waits_since
        size = len(message.get("body", b""))
        self._waited += waited
        self.size += size
        won = size / self._pace.rate if self._pace.rate else self._pace.patience
        self._left = min(self._pace.patience, self._left - waited + won)
        return message

    @property
    def lag(self) -> float:
        """Seconds by which the upload is behind the least rate; 0 where it is not, or was not watched long enough."""
        if self._timeout is None:
            return 0.0
        waited = self._waited + self._clock() - self._waits_since
        behind = waited - self.size / self._pace.rate if self._pace.rate else 0.0
        return max(0.0, behind) if waited >= _JUDGED else 0.0

    def cut(self) -> None:
        """End the wait for the next piece now."""
        if self._timeout is not None and not self._timeout.expired():
            self._is_cut = True
            self._timeout.reschedule(self._clock())

    def _refusal(self, *, is_whole: bool) -> Refusal:
        if self._is_cut:
            message = f"expected {self._pace.rate:,} bytes a second of an upload while others wait, got fewer"
            return Refusal(503, "busy", message, "send it again in a while", {"Retry-After": "30", **_CLOSE})
        if is_whole:
            message = f"expected an upload within {self._pace.seconds:,.0f} seconds, got a part of it"
            return Refusal(408, "too_slow", message, "send fewer files at once", _CLOSE)
        message = f"expected {self._pace.rate:,} bytes a second of an upload, got fewer"
        return Refusal(408, "too_slow", message, "send it over a faster line", _CLOSE)


class UploadPlaces:
    """The places for uploads that arrive at once.

    Args:
        number: Number of places. A caller gets at most a quarter of them, but always one.
        waiting: Uploads that may wait for a place; one caller may have at most half of them.
        pace: Limits on the time of each upload.
    """

    def __init__(self, number: int, waiting: int, pace: Pace) -> None:
        self._number = max(1, number)
        self._share = max(1, number // 4)
        self._most = waiting
        self._pace = pace
        self._arriving: set[Arrival] = set()
        self._taken: Counter[str] = Counter()
        self._queue: list[tuple[str, asyncio.Future[Arrival]]] = []

    async def take(self, asker: str) -> Arrival:
        """Wait for a place.

        Raises:
            Refusal: Too many uploads wait, of all callers or of this one; or no place became free within a minute.
        """
        if sum(name == asker for name, _ in self._queue) >= max(1, self._most // 2):
            raise too_many(1)
        if len(self._queue) >= self._most:
            raise _no_place()
        place: asyncio.Future[Arrival] = asyncio.get_running_loop().create_future()
        entry = (asker, place)
        self._queue.append(entry)
        self._give_out()
        try:
            for second in range(_LONGEST_WAIT):
                if (await asyncio.wait({place}, timeout=1))[0]:
                    return place.result()
                if second + 1 >= _JUDGED and self._taken[asker] < self._share:
                    slowest = max(self._arriving, key=lambda each: each.lag)
                    if slowest.lag:
                        slowest.cut()
            raise _no_place()
        except BaseException:
            if place.done():
                self.leave(place.result())
            with suppress(ValueError):
                self._queue.remove(entry)
            raise

    def leave(self, arrival: Arrival) -> None:
        """Give a place back. A second call has no effect."""
        if arrival in self._arriving:
            self._arriving.remove(arrival)
            self._taken[arrival.asker] -= 1
            if not self._taken[arrival.asker]:
                del self._taken[arrival.asker]
            self._give_out()

    def _give_out(self) -> None:
        """Give free places to waiting uploads: first to the caller with the fewest places, then in order of arrival."""
        while len(self._arriving) < self._number:
            entitled = [entry for entry in self._queue if self._taken[entry[0]] < self._share]
            if not entitled:
                return
            entry = min(entitled, key=lambda each: self._taken[each[0]])
            self._queue.remove(entry)
            asker, place = entry
            arrival = Arrival(asker, self._pace)
            self._arriving.add(arrival)
            self._taken[asker] += 1
            place.set_result(arrival)


def _no_place() -> Refusal:
    message = "expected fewer uploads at once, got more than the limit"
    return Refusal(503, "busy", message, "wait as long as Retry-After says", {"Retry-After": "10", **_CLOSE})


class Uploads(Layer):
    """Refuses uploads that are not allowed, too long or too slow.

    Args:
        places: The places for uploads that arrive.
        most: Limit on the bytes of an upload.
        changes: Whether the service accepts uploads at all.
        slots: Uploads that are stored at once.
    """

    def __init__(self, app: ASGIApp, places: UploadPlaces, most: int, changes: bool = True, slots: int = 1) -> None:
        super().__init__(app)
        self._places = places
        self._most = most
        self._changes = changes
        self._storing = Turns(slots, _NO_LIMIT)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 401, 403, 408, 413, 429 or 503."""
        if not is_upload(scope):
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        caller: Caller = state.get("caller", ANYONE)
        try:
            check_upload(caller, self._changes)
        except Refusal:
            state["audit"] = {"action": "upload"}
            raise
        if declared_length(Headers(scope=scope)) > self._most:
            raise too_large(self._most)
        arrival = await self._places.take(asker_of(scope))
        try:
            late = await self._pass_on(scope, receive, send, arrival)
        finally:
            self._places.leave(arrival)
        if late is not None:
            raise late

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, arrival: Arrival) -> Refusal | None:
        """Pass an upload on. Return the refusal where it was refused and no answer has begun."""
        refusal: Refusal | None = None
        is_whole = has_turn = has_begun = False

        async def counting() -> Message:
            nonlocal refusal, is_whole, has_turn
            if is_whole:
                return await receive()
            if refusal is None:
                try:
                    message = await arrival.next(receive)
                    if arrival.size > self._most:
                        raise too_large(self._most)
                except Refusal as found:
                    refusal = found
                else:
                    is_whole = not message.get("more_body", False)
                    if is_whole and message["type"] == "http.request":
                        await self._storing.begin(arrival.asker)
                        has_turn = True
                    return message
            # The route sees a lost connection; its answer is replaced by the refusal.
            return {"type": "http.disconnect"}

        async def sending(message: Message) -> None:
            nonlocal has_begun, has_turn
            if refusal is not None and not has_begun:
                return
            if not has_begun:
                has_begun = True
                # Before anything is sent, so that a client that does not read its answer keeps neither.
                self._places.leave(arrival)
                if has_turn:
                    has_turn = False
                    self._storing.end(arrival.asker)
            await send(message)

        try:
            await self.app(scope, counting, sending)
        except Exception:
            if refusal is None:
                raise
        finally:
            if has_turn:
                self._storing.end(arrival.asker)
        return None if has_begun else refusal


_NO_LIMIT = 1_000_000
"""Larger than the number of places, so that a complete upload is never refused because others wait."""
