"""Write one audit record for every request that touches documents, before its answer is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult_service.audit import AuditLog
from auscult_service.caller import address_of
from auscult_service.errors import Refusal, refuse
from auscult_service.layer import Layer

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


class Auditing(Layer):
    """Records what routes note in `request.state.audit`, and every refused caller.

    Args:
        goes_on: Answer requests even while the log cannot be written.
    """

    def __init__(self, app: ASGIApp, log: AuditLog, goes_on: bool) -> None:
        super().__init__(app)
        self._log = log
        self._goes_on = goes_on

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; open the log with the app, and close it with the app."""

        async def sending(message: Message) -> None:
            if message["type"] == "lifespan.shutdown.complete":
                self._log.close()
            await send(message)

        if scope["type"] == "lifespan":
            self._log.open()
            await self.app(scope, receive, sending)
        else:
            await super().__call__(scope, receive, send)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. Its answer is sent when the record is written."""
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

    async def _note(self, scope: Scope, status: int) -> bool:
        """Write the record of a request that needs one. Return whether the request may be answered."""
        details: Mapping[str, Any] | None = scope.get("state", {}).get("audit")
        if details is None and status not in _FAILED:
            return True
        try:
            await asyncio.wrap_future(
                self._log.write(self._make_record(scope, status, details or {"action": "refused"}))
            )
        except OSError:
            return self._goes_on
        return True

    def _make_record(self, scope: Scope, status: int, details: Mapping[str, Any]) -> dict[str, Any]:
        state = scope.get("state", {})
        caller = state.get("caller")
        # The pattern of the route, without its values; the beginning of the path where no route matched.
        route = getattr(scope.get("route"), "path", None)
        begin = "/".join(str(scope["path"]).split("/")[:_SEGMENTS])[:_LONGEST]
        purpose = details.get("purpose") or Headers(scope=scope).get("x-purpose", "")
        record = {
            "who": getattr(caller, "name", ""),
            "role": getattr(caller, "role", "") if getattr(caller, "name", "") else "",
            "from": address_of(scope),
            "action": details["action"],
            "method": scope["method"],
            "route": begin if route is None else str(route),
            "index": details.get("index") or "",
            "documents": [str(each) for each in details.get("doc_ids") or ()],
            "result": details.get("result"),
            "status": status,
            "purpose": "".join(filter(str.isprintable, str(purpose)))[:_LONGEST],
            "request": state.get("request_id", ""),
        }
        query = details.get("query")
        return {**record, **self._log.query(query)} if query else record
