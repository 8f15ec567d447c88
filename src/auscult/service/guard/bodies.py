"""Bodies of requests that upload nothing: read whole before anything else sees them, within a length and a time.

So nobody who sends slowly holds a thread or a turn. JSON is checked for what a reader would stumble over. Uploads are
passed on as they arrive (`guard.uploads`).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult.service.errors import Refusal
from auscult.service.guard.json_bodies import json_refusal
from auscult.service.guard.rates import is_probe
from auscult.service.guard.refusing import asker_of, refuse, too_many

UPLOADED_TO: Final = frozenset({"/api/v1/documents", "/add"})
"""Addresses that take files; forms of files to any other are short bodies."""
_FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")


class Bodies:
    """Refuses bodies that are too long, too slow, or no good JSON.

    Args:
        app: Behind it.
        most: Bytes of a body.
        seconds: For a whole body.
        at_once: Bodies of one caller that may be arriving.
    """

    def __init__(self, app: ASGIApp, most: int, seconds: float = 15.0, at_once: int = 32) -> None:
        self.app = app
        self._most = most
        self._seconds = seconds
        self._at_once = at_once
        self._arriving: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 400, 408, 413 or 429."""
        if scope["type"] != "http" or is_upload(scope) or is_probe(scope):
            await self.app(scope, receive, send)
            return
        try:
            body = await self._read(scope, receive)
        except Refusal as refusal:
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

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        headers = Headers(scope=scope)
        if declared_length(headers) > self._most:
            raise too_large(self._most)
        asker = asker_of(scope)
        if self._arriving[asker] >= self._at_once:
            raise too_many(1)
        self._arriving[asker] += 1
        try:
            async with asyncio.timeout(self._seconds):
                body = await _whole(receive, self._most)
        except TimeoutError:
            message = f"expected a body within {self._seconds:g} seconds, got a part of it"
            raise Refusal(408, "too_slow", message, "send it at once", {"Connection": "close"}) from None
        finally:
            self._arriving[asker] -= 1
            if not self._arriving[asker]:
                del self._arriving[asker]
        is_form = headers.get("content-type", "").lower().startswith(_FORMS)
        refusal = json_refusal(body) if body and not is_form else None
        if refusal is not None:
            raise refusal
        return body


def is_upload(scope: Scope) -> bool:
    """Whether a request brings files to an address that takes some."""
    kind = Headers(scope=scope).get("content-type", "").lower()
    return scope["method"] == "POST" and scope["path"] in UPLOADED_TO and kind.startswith("multipart/form-data")


def declared_length(headers: Headers) -> float:
    """Length of a body as its header says it; endless where that is no number, 0 where nothing is said."""
    length = headers.get("content-length", "0")
    return int(length[:20]) if length.isascii() and length.isdecimal() else float("inf")


def too_large(most: int) -> Refusal:
    """The refusal of a body that is too long."""
    message = f"expected a body of {most:,} bytes at most, got more"
    return Refusal(413, "too_large", message, "send less at once", {"Connection": "close"})


async def _whole(receive: Receive, most: int) -> bytes:
    """Read a body.

    Raises:
        Refusal: It is longer.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise too_large(most)
        if not message.get("more_body", False):
            return b"".join(parts)
