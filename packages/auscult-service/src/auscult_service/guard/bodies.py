"""Read and check the body of a request before its route runs; discard it when the request is refused.

A body that is not an upload is read completely first, within limits on length and time, so a slow sender occupies
neither a thread nor a turn. JSON is checked for what would make a parser fail. Uploads are passed on as they arrive
(`guard.uploads`).
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import Final

import numpy as np
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult_service.caller import asker_of, is_probe
from auscult_service.errors import Refusal, too_many
from auscult_service.layer import Layer, put_back

UPLOADED_TO: Final = frozenset({"/api/v1/documents", "/add"})
"""Paths that accept files. Forms sent to other paths are limited like any body."""
_FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")


class Bodies(Layer):
    """Refuses bodies that are too long, too slow, or unsafe JSON.

    Args:
        most: Limit on the bytes of a body.
        seconds: Limit on the time for a whole body.
        at_once: Limit on the number of bodies that arrive at once from one caller.
    """

    def __init__(self, app: ASGIApp, most: int, seconds: float = 15.0, at_once: int = 32) -> None:
        super().__init__(app)
        self._most = most
        self._seconds = seconds
        self._at_once = at_once
        self._arriving: Counter[str] = Counter()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 400, 408, 413 or 429."""
        if not (is_upload(scope) or is_probe(scope)):
            body = await self._read(scope, receive)
            receive = put_back({"type": "http.request", "body": body, "more_body": False}, receive)
        await self.app(scope, receive, send)

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
        if body and not is_form:
            check_json(body)
        return body


def is_upload(scope: Scope) -> bool:
    """Return whether a request uploads files to a path that accepts them."""
    kind = Headers(scope=scope).get("content-type", "").lower()
    return scope["method"] == "POST" and scope["path"] in UPLOADED_TO and kind.startswith("multipart/form-data")


def declared_length(headers: Headers) -> float:
    """Return the length in the header; 0 without a header, infinity where it is not a number."""
    length = headers.get("content-length", "0")
    return int(length[:20]) if length.isascii() and length.isdecimal() else float("inf")


def too_large(most: int) -> Refusal:
    """Return the refusal for a body that is too long."""
    message = f"expected a body of {most:,} bytes at most, got more"
    return Refusal(413, "too_large", message, "send less at once", {"Connection": "close"})


async def _whole(receive: Receive, most: int) -> bytes:
    """Read a whole body.

    Raises:
        Refusal: It is longer than the limit.
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


DEEPEST: Final = 32
_STRINGS: Final = re.compile(rb'"(?:[^"\\]+|\\.)*+"', re.DOTALL)
_OPENING, _CLOSING = (np.frombuffer(each, np.uint8) for each in (b"[{", b"]}"))
_NO_NUMBERS: Final = re.compile(rb"NaN|Infinity")


def check_json(body: bytes) -> None:
    """Check a body of JSON before it is parsed.

    Raises:
        Refusal: It is nested too deeply, or has a number that is not finite.
    """
    bare = _STRINGS.sub(b"", body)
    letters = np.frombuffer(bare, np.uint8)
    steps = np.isin(letters, _OPENING).astype(np.int32) - np.isin(letters, _CLOSING)
    wrong = ""
    if len(steps) and int(np.cumsum(steps).max()) > DEEPEST:
        wrong = f"expected JSON nested {DEEPEST} deep at most, got deeper"
    elif _NO_NUMBERS.search(bare):
        wrong = "expected JSON, whose numbers are finite, got NaN or Infinity"
    if wrong:
        raise Refusal(400, "bad_json", wrong, "send JSON as /openapi.json describes it")


_LINGER: Final = 2.0


class Unread(Layer):
    """Closes the connection after a refused body, whose rest would otherwise be read as the next request.

    The rest of the body is discarded for some seconds, so that the client can read the answer.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back."""
        headers = Headers(scope=scope)
        if not ("transfer-encoding" in headers or headers.get("content-length", "0") != "0"):
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
                # Reading on would invite a sender that waits with "Expect: 100-continue" to begin.
                if not is_read and "expect" not in headers:
                    await throw_away(0)
                if not is_read:
                    others = [pair for pair in message.get("headers", ()) if pair[0].lower() != b"connection"]
                    message = {**message, "headers": [*others, (b"connection", b"close")]}
            elif not is_read and not message.get("more_body", False):
                await send({**message, "more_body": True})
                await throw_away(_LINGER)
                message = {"type": "http.response.body"}
            await send(message)

        await self.app(scope, reading, sending)
