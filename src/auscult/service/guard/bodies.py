"""Bodies of requests: so long, within such a time, and JSON that can be read safely; before anything else sees them.

What uploads nothing is read whole here, so that nobody slow holds a thread. Uploads are passed on as they come, and
counted, whether they say their length or not.
"""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult.service.errors import Refusal
from auscult.service.guard.json_bodies import json_refusal
from auscult.service.guard.refusing import refuse

_PATIENCE: Final = 15.0
"""Seconds for a whole body, and for each piece of an upload."""
_SLOW: Final = Refusal(
    408, "too_slow", "expected a body within 15 seconds, got none", "send it at once", {"Connection": "close"}
)


class Bodies:
    """Refuses bodies that are too long, too slow, or no good JSON.

    Args:
        app: Behind it.
        body: Bytes of a request that uploads nothing.
        upload: Bytes of one that does.
        patience: Seconds.
    """

    def __init__(self, app: ASGIApp, body: int, upload: int, patience: float = _PATIENCE) -> None:
        self.app = app
        self._body = body
        self._upload = upload
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 400, 408 or 413."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        uploads = is_upload(scope)
        most = self._upload if uploads else self._body
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > most:
            await refuse(_too_large(most), scope, receive, send)
        elif uploads:
            await self._pass_on(scope, receive, send, most)
        else:
            await self._read_first(scope, receive, send, most)

    async def _read_first(self, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        try:
            body = await asyncio.wait_for(_whole(receive, most), self._patience)
        except TimeoutError:
            await refuse(_SLOW, scope, receive, send)
            return
        if body is None:
            await refuse(_too_large(most), scope, receive, send)
            return
        kind = Headers(scope=scope).get("content-type", "application/json")
        refusal = json_refusal(body) if body and not kind.startswith("application/x-www-form-urlencoded") else None
        if refusal is not None:
            await refuse(refusal, scope, receive, send)
            return
        given = False

        async def again() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, again, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        came = 0
        refusal: Refusal | None = None
        has_begun = False

        async def counting() -> Message:
            nonlocal came, refusal
            if refusal is None:
                try:
                    message = await asyncio.wait_for(receive(), self._patience)
                except TimeoutError:
                    refusal = _SLOW
                else:
                    came += len(message.get("body", b""))
                    if came <= most:
                        return message
                    refusal = _too_large(most)
            # The reader ends as with a lost connection; what it then says is replaced.
            return {"type": "http.disconnect"}

        async def sending(message: Message) -> None:
            nonlocal has_begun
            if refusal is None or has_begun:
                has_begun = True
                await send(message)

        try:
            await self.app(scope, counting, sending)
        except Exception:
            if refusal is None:
                raise
        if refusal is not None and not has_begun:
            await refuse(refusal, scope, receive, send)


def is_upload(scope: Scope) -> bool:
    """Whether a request brings files."""
    return Headers(scope=scope).get("content-type", "").lower().startswith("multipart/form-data")


async def _whole(receive: Receive, most: int) -> bytes | None:
    """A body; None where it is longer."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)


def _too_large(most: int) -> Refusal:
    message = f"expected a body of {most:,} bytes at most, got more"
    return Refusal(413, "too_large", message, "send less at once", {"Connection": "close"})
