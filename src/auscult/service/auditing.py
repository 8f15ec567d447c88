"""Every request that touches what is served leaves one record in the audit log, before its answer goes out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult.service.audit import AuditLog
from auscult.service.caller import address_of
from auscult.service.errors import Refusal, refuse

_FAILED: Final = frozenset({401, 403})
_LONGEST: Final = 200
#: Of "/api/v1/documents/ID", all but the id.
_SEGMENTS: Final = 4
_FULL: Final = Refusal(
    503,
    "audit_unavailable",
    "expected to note this request in the audit log, got a log that cannot be written",
    "ask whoever runs this service to make room on its disk",
    {"Retry-After": "30"},
)


class Auditing:
    """Notes what routes say that they do (`request.state.audit`), and every refused caller.

    Args:
        goes_on: Answer although the log cannot be written.
    """

    def __init__(self, app: ASGIApp, log: AuditLog, goes_on: bool = False) -> None:
        self.app = app
        self._log = log
        self._goes_on = goes_on

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; its answer waits for the record."""
        if scope["type"] != "http":
            await self._live(scope, receive, send)
            return
        noted = refused = False

        async def sending(message: Message) -> None:
            nonlocal noted, refused
            if message["type"] == "http.response.start" and not noted:
                noted = True
                if not await self._note(scope, message["status"]):
                    refused = True
                    await refuse(_FULL, scope, receive, send)
            if message["type"] == "http.response.start" and scope["path"].endswith("/health"):
                troubles = "; ".join(self._log.troubles).encode()
                if troubles:
                    message["headers"] = [*message["headers"], (b"x-auscult-trouble", troubles)]
            if not refused:
                await send(message)

        try:
            await self.app(scope, receive, sending)
        except Exception:
            if not noted:
                await self._note(scope, 500)
            raise

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open the log with the app and close it with the app."""

        async def sending(message: Message) -> None:
            if message["type"] == "lifespan.shutdown.complete":
                self._log.close()
            await send(message)

        if scope["type"] == "lifespan":
            self._log.open()
        await self.app(scope, receive, sending)

    async def _note(self, scope: Scope, status: int) -> bool:
        """Write a request's record where it needs one; whether it may be answered."""
        said: Mapping[str, Any] | None = scope.get("state", {}).get("audit")
        if said is None and status not in _FAILED:
            return True
        try:
            await asyncio.wrap_future(self._log.write(self._record(scope, status, said or {"action": "refused"})))
        except OSError:
            return self._goes_on
        return True

    def _record(self, scope: Scope, status: int, said: Mapping[str, Any]) -> dict[str, Any]:
        state = scope.get("state", {})
        caller = state.get("caller")
        # The pattern of the address, without what fills it; of a request that no route has seen, where it begins.
        route = getattr(scope.get("route"), "path", None)
        begin = "/".join(str(scope["path"]).split("/")[:_SEGMENTS])[:_LONGEST]
        purpose = said.get("purpose") or Headers(scope=scope).get("x-purpose", "")
        record = {
            "who": getattr(caller, "name", ""),
            "role": getattr(caller, "role", "") if getattr(caller, "name", "") else "",
            "from": address_of(scope),
            "action": said["action"],
            "method": scope["method"],
            "route": begin if route is None else str(route),
            "index": said.get("index") or "",
            "documents": [str(each) for each in said.get("doc_ids") or ()],
            "result": said.get("result"),
            "status": status,
            "purpose": "".join(filter(str.isprintable, str(purpose)))[:_LONGEST],
            "request": state.get("request_id", ""),
        }
        query = said.get("query")
        return {**record, **self._log.query(query)} if query else record
