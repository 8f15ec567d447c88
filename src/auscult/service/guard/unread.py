"""Answers to requests whose body was not read to its end: the connection ends with them.

Otherwise a refused caller could go on sending, a byte now and then, on a connection that never ends. What has come
already is thrown away first, so that a short body does not end the connection. After the answer, what still comes is
thrown away for two seconds: a connection that is closed on unread bytes is reset, and the answer may be lost.
"""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LINGER: Final = 2.0


class Unread:
    """Ends connections on which the rest of a refused body would come.

    Args:
        app: Behind it.
        linger: Seconds for which that rest is thrown away.
    """

    def __init__(self, app: ASGIApp, linger: float = _LINGER) -> None:
        self.app = app
        self._linger = linger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back."""
        if scope["type"] != "http" or not _has_body(scope):
            await self.app(scope, receive, send)
            return
        is_read = False
        has_begun = False

        async def reading() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = is_read or not message.get("more_body", False)
            return message

        async def throw_away(seconds: float) -> None:
            try:
                async with asyncio.timeout(seconds):
                    while not is_read:
                        await reading()
            except TimeoutError:
                pass

        async def sending(message: Message) -> None:
            nonlocal has_begun
            if not has_begun:
                has_begun = True
                # Asking for more would tell the sender of "Expect: 100-continue" to begin.
                if not is_read and "expect" not in Headers(scope=scope):
                    await throw_away(0)
                if not is_read:
                    kept = [pair for pair in message.get("headers", ()) if pair[0].lower() != b"connection"]
                    message = {**message, "headers": [*kept, (b"connection", b"close")]}
            elif not is_read and not message.get("more_body", False):
                await send({**message, "more_body": True})
                await throw_away(self._linger)
                message = {"type": "http.response.body"}
            await send(message)

        await self.app(scope, reading, sending)


def _has_body(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
