"""Uploads on their way in: who may send one is asked first, then there is a place for it, then it is passed on.

A body is passed on as it arrives and is counted, whether it says its length or not. Until the caller's role is known to
be enough and a place is free, not a byte of it is read, and no "100 Continue" is sent. A turn to compute is taken when
all of it has come.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult.service.caller import ANYONE, Caller, may_upload
from auscult.service.errors import Refusal
from auscult.service.guard.bodies import declared_length, is_upload, too_large
from auscult.service.guard.fairness import Turns
from auscult.service.guard.places import Arrival, Places
from auscult.service.guard.refusing import asker_of, refuse


class Uploads:
    """Refuses uploads of callers who may not, that are too long, or too slow.

    Args:
        app: Behind it.
        places: For those that arrive.
        most: Bytes of one.
        changes: Whether the service takes any.
        slots: Uploads that are stored at once.
    """

    def __init__(self, app: ASGIApp, places: Places, most: int, changes: bool = True, slots: int = 1) -> None:
        self.app = app
        self._places = places
        self._most = most
        self._changes = changes
        self._storing = Turns(slots, _NO_LIMIT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 401, 403, 408, 413, 429 or 503."""
        if scope["type"] != "http" or not is_upload(scope):
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        caller: Caller = state.get("caller", ANYONE)
        try:
            may_upload(caller, self._changes)
        except Refusal as refusal:
            state["audit"] = {"action": "upload"}
            await refuse(refusal, scope, receive, send)
            return
        try:
            if declared_length(Headers(scope=scope)) > self._most:
                raise too_large(self._most)
            arrival = await self._places.take(asker_of(scope))
        except Refusal as refusal:
            await refuse(refusal, scope, receive, send)
            return
        try:
            late = await self._pass_on(scope, receive, send, arrival)
        finally:
            self._places.leave(arrival)
        if late is not None:
            await refuse(late, scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, arrival: Arrival) -> Refusal | None:
        """Pass an upload on; return what it is refused with where nothing has been answered."""
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
            # The reader ends as with a lost connection; what it then says is replaced.
            return {"type": "http.disconnect"}

        async def sending(message: Message) -> None:
            nonlocal has_begun, has_turn
            if refusal is not None and not has_begun:
                return
            if not has_begun:
                has_begun = True
                # Before anything is sent: who does not read their answer holds neither.
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
"""More than there are places for: who has sent a whole upload is not refused for others."""
