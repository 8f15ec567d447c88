"""Around every request: its id, its count, and one shape and one line in the log for what nobody foresaw."""

from __future__ import annotations

import logging
import time
import traceback
from typing import Final
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult.service.errors import error_response, unforeseen
from auscult.service.metrics import Metrics

_LOG: Final = logging.getLogger("auscult.service")
API: Final = "/api/v1"
"""What all addresses of the API begin with."""
_HEADER: Final = b"x-request-id"
_KNOWN: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Requests:
    """Gives each request an id, and answers a fault in the one shape.

    The log gets the fault's kind and place; what it says may be a patient's name.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        begun = time.perf_counter()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (_HEADER, request_id.encode())]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except Exception as error:
            self.metrics.failed()
            _LOG.error("request %s failed: %s at %s", request_id, type(error).__name__, _place(error))
            if not status:
                await error_response(unforeseen(), request_id)(scope, receive, sending)
        finally:
            method = scope["method"] if scope["method"] in _KNOWN else "other"
            self.metrics.requested(_route(scope), method, status, time.perf_counter() - begun)


def _route(scope: Scope) -> str:
    """The pattern of the address that was asked, without what filled it."""
    pattern = str(getattr(scope.get("route"), "path", "none"))
    # Routes of an included router know the rest of their address alone.
    return API + pattern if scope["path"].startswith(API) and not pattern.startswith(API) else pattern


def _place(error: BaseException) -> str:
    """Where it happened: file and line of the innermost frames, without what stood there."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames))
