"""At the door: every request learns who asks; who shows nothing good comes no further than what is everybody's."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from auscult.service.access.gate import Gate, shown_in
from auscult.service.access.sessions import shown_by_cookie
from auscult.service.caller import NOBODY, allowed
from auscult.service.errors import Refusal
from auscult.service.guard.rates import PROBES, is_probe
from auscult.service.guard.refusing import address_of, refuse, too_many

PUBLIC: Final = PROBES | {"/openapi.json"}
"""Addresses that need no key: they tell nothing of what is served."""
LOGIN: Final = "/login"
_SAFE: Final = frozenset({"GET", "HEAD"})


class Gatekeeper:
    """Puts the caller into a request's state.

    Pages may be asked by nobody: they lead to where a key is typed. All else needs one, before its body is read.
    """

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if is_probe(scope):
            # What is shown is not looked at: somebody who showed wrong keys too often still hears that it lives.
            scope.setdefault("state", {})["caller"] = NOBODY
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        # A session is not asked where a key is shown: whoever shows one means it.
        said = headers.get("authorization")
        shown = shown_by_cookie(scope, headers.get("cookie", "")) if said is None else shown_in(said)
        caller = await self._gate.caller(shown)
        scope.setdefault("state", {})["caller"] = caller
        if caller == NOBODY:
            wait = self._gate.failures.take(address_of(scope)) if shown else 0.0
            if wait:
                await refuse(too_many(wait), scope, receive, send)
                return
            if not _is_for_all(scope):
                if "text/html" in headers.get("accept", "") and not scope["path"].startswith("/api/"):
                    # A form of somebody whose session has ended.
                    scope["state"]["audit"] = {"action": "refused"}
                    await RedirectResponse(LOGIN, 303)(scope, receive, send)
                else:
                    await refuse(_no_key(), scope, receive, send)
                return
        await self.app(scope, receive, send)


def _is_for_all(scope: Scope) -> bool:
    path = scope["path"]
    if path in PUBLIC or path == LOGIN:
        return True
    return scope["method"] in _SAFE and not path.startswith("/api/") and path != "/metrics"


def _no_key() -> Refusal:
    try:
        allowed(NOBODY, "read")
    except Refusal as refusal:
        return refusal
    raise AssertionError("nobody may ask nothing")
