"""Around every request: its id, and one shape and one line in the log for what nobody foresaw."""

from __future__ import annotations

import logging
import traceback
from typing import Final
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult.service.errors import error_response, unforeseen

_LOG: Final = logging.getLogger("auscult.service")
_HEADER: Final = b"x-request-id"


class Requests:
    """Gives each request an id, and answers a fault in the one shape.

    The log gets the fault's kind and place; what it says may be a patient's name.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = [*message.get("headers", ()), (_HEADER, request_id.encode())]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except Exception as error:
            _LOG.error("request %s failed: %s at %s", request_id, type(error).__name__, _place(error))
            if not begun:
                await error_response(unforeseen(), request_id)(scope, receive, sending)


def _place(error: BaseException) -> str:
    """Where it happened: file and line of the innermost frames, without what stood there."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames))
